"""The kinds of fault of a hunt, by the part they play, and a fault of a kind with whatever it needs."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from tidemark.nemesis import KINDS, PROFILES, SIMULATED_ONLY, Fault
from tidemark.nemesis.kind import Part, Stop, log_uniform
from tidemark.nemesis.kinds import CONTROLLER_LINKS, DAMAGES, LINK_FAULTS, REASSIGNMENT, kinds_that_need
from tidemark.nemesis.long_lasting import long_lasting
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

_STOPS = dict.fromkeys(
    (
        "crash",
        "restart",
        *(word for word, kind in KINDS.items() if kind.on is Part.PROCESS and isinstance(kind.doing, Stop)),
    )
)
"""In the order in which hunts draw."""
_METADATA = frozenset(kind for kind in SIMULATED_ONLY if KINDS[kind].drawn_with)
"""Without what the file systems do not do that Kafka is run on (docs/faults.md)."""
_APART = frozenset({"from-clients", "bridge", "majorities-ring"})
"""Links cut between some, so that each still hears somebody: where there is no controller whom all hear. No profile has them."""
_ELECTIONS = ("forced-election", "forced-election", "forced-election", "fast-failover", "preferred-election")
_LONG = 0.08
"""Share of faults that last longer than anybody waits."""
_TALKS = 0.1
"""Share of hindrances that disturb a broker's talks with the controller, of which there are many kinds."""


class Kinds:
    """The kinds of fault that a profile has, by the part they play.

    What disturbs a broker's talks with the controller belongs to every hunt: it destroys nothing. Where power is lost, so may
    be metadata; where disks are lost, files may be damaged, unless servers vote or keep ledgers, which promise more than they
    can hold then; where replicas move, they may become more.

    Args:
        profile: a key of :data:`nemesis.PROFILES`.
        votes: whether servers elect their leaders themselves, so that scenes of theirs are played.
        ledgers: the same of bookies.
        without: what the servers cannot suffer.
    """

    def __init__(
        self, profile: str, *, votes: bool = False, ledgers: bool = False, without: Collection[str] = ()
    ) -> None:
        self.votes = votes
        self.ledgers = ledgers
        self.known = frozenset(PROFILES[profile]) | frozenset(CONTROLLER_LINKS)
        if "power" in self.known:
            self.known |= _METADATA
        if "disk" in self.known and not (votes or ledgers):
            self.known |= {*DAMAGES}
        if votes:
            self.known |= _APART
        if REASSIGNMENT in self.known:
            self.known |= kinds_that_need(REASSIGNMENT)
        self.known = known = self.known.difference(without)
        self.profile = profile
        self.hindrances = (*(kind for kind in LINK_FAULTS if kind in known), "pause", "pause", "crash", "restart")
        self.elections = (*_ELECTIONS, *(("unclean-election",) if "unclean-election" in known else ()))
        self.failures = (*(kind for kind in _STOPS if kind in known), "pause", "isolate")
        self.talks = tuple(kind for kind in CONTROLLER_LINKS if kind in known)
        parts = {*self.hindrances, *self.elections, *self.failures, *CONTROLLER_LINKS}
        self.others = tuple(kind for kind in KINDS if kind in known and kind not in parts)
        self._all = (*self.hindrances, *self.elections, *self.failures, *self.others)

    def hindrance(self, rng: Random) -> str:
        """A kind that makes a broker slow, deaf, or absent."""
        return str(rng.choice(self.talks if self.talks and rng.random() < _TALKS else self.hindrances))

    def any(self, rng: Random) -> str:
        """Any kind, those of which much comes more often."""
        return str(rng.choice(self.talks if self.talks and rng.random() < _TALKS / 2 else self._all))

    def among(self, rng: Random, *kinds: str) -> str:
        """One of these, if the profile has any of them; else a pause."""
        return rng.choice([kind for kind in kinds if kind in self.known] or ["pause"])


def some_fault(
    rng: Random, kind: str, at: int, cluster: ClusterSpec, lasts: int | None = None, role: str | None = None
) -> Fault:
    """A fault of a kind, with whatever it needs; what a scene has before the beginning comes at the beginning."""
    if lasts is None:
        lasts = log_uniform(rng, 100 * MS, 1_600 * MS)
        lasts = lasts if KINDS[kind].doing.at_once else some_time(rng, cluster, lasts)
    amount = KINDS[kind].draw_amount(rng, hunt=True)
    target = some_target(rng, cluster)
    if KINDS[kind].aimed_at == "follower" and rng.random() < 0.7:
        target = "follower"
    elif role is not None and rng.random() < 0.7:
        target = role
    partition = rng.randrange(cluster.partitions)
    return Fault(kind, max(at, 0), lasts, target, rng.randrange(12), partition, amount, clients=rng.random() < 0.1)


def some_time(rng: Random, cluster: ClusterSpec, usual: int) -> int:
    """How long a fault lasts: the usual, or now and then longer than anybody waits."""
    return long_lasting(rng, cluster.settings) if rng.random() < _LONG else usual


def some_target(rng: Random, cluster: ClusterSpec) -> str:
    """A role, or a broker by its number."""
    return rng.choice(("leader", "follower", *(f"b{broker}" for broker in cluster.broker_ids())))
