"""The kinds of fault of a hunt, by the part they play, and a fault of a kind with whatever it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nemesis import PROFILES, SIMULATED_ONLY, Fault
from tidemark.nemesis.fault import CONTROLLER_KINDS, CONTROLLER_LINKS, DELETIONS, LINK_FAULTS, REASSIGNMENT
from tidemark.nodes.core.settings import MS

if TYPE_CHECKING:
    from random import Random

    from tidemark.nodes.core.cluster import ClusterSpec

_STOPS = ("crash", "restart", "crash-all", "power", "power-all", "power-metadata", "disk")
_ELECTIONS = ("forced-election", "forced-election", "forced-election", "fast-failover", "preferred-election")
_TALKS = 0.1
"""Share of hindrances that disturb a broker's talks with the controller, of which there are many kinds."""


class Kinds:
    """The kinds of fault that a profile has, by the part they play.

    What disturbs a broker's talks with the controller belongs to every hunt: it destroys nothing. Where power is lost, so may
    be metadata.

    Args:
        profile: a key of :data:`nemesis.PROFILES`.
        votes: whether servers elect their leaders themselves, so that scenes of theirs are played.
    """

    def __init__(self, profile: str, *, votes: bool = False) -> None:
        self.votes = votes
        self.known = frozenset(PROFILES[profile]) | frozenset(CONTROLLER_LINKS)
        if "power" in self.known:
            self.known |= SIMULATED_ONLY
        known = self.known
        self.profile = profile
        self.hindrances = (*(kind for kind in LINK_FAULTS if kind in known), "pause", "pause", "crash", "restart")
        self.elections = (*_ELECTIONS, *(("unclean-election",) if "unclean-election" in known else ()))
        self.failures = (*(kind for kind in _STOPS if kind in known), "pause", "isolate")
        self.others = tuple(kind for kind in (*DELETIONS, REASSIGNMENT, *CONTROLLER_KINDS) if kind in known)
        self._all = (*self.hindrances, *self.elections, *self.failures, *self.others)

    def hindrance(self, rng: Random) -> str:
        """A kind that makes a broker slow, deaf, or absent."""
        return str(rng.choice(CONTROLLER_LINKS if rng.random() < _TALKS else self.hindrances))

    def any(self, rng: Random) -> str:
        """Any kind, those of which much comes more often."""
        return str(rng.choice(CONTROLLER_LINKS if rng.random() < _TALKS / 2 else self._all))

    def among(self, rng: Random, *kinds: str) -> str:
        """One of these, if the profile has any of them; else a pause."""
        return rng.choice([kind for kind in kinds if kind in self.known] or ["pause"])


def some_fault(
    rng: Random, kind: str, at: int, cluster: ClusterSpec, lasts: int | None = None, role: str | None = None
) -> Fault:
    """A fault of a kind, with whatever it needs."""
    if lasts is None:
        lasts = log_uniform(rng, 100 * MS, 1_600 * MS)
    amount = 0
    if kind in {"slow", "slow-controller"} or kind.startswith("late-"):
        amount = log_uniform(rng, 20 * MS, 600 * MS)
    elif kind in {"lossy", "lossy-controller"}:
        amount = rng.choice((200, 500, 800))
    elif kind == "fast-failover":
        amount = log_uniform(rng, 2 * MS, 300 * MS)
    elif kind == "power-metadata":
        amount = log_uniform(rng, 5 * MS, 3_000 * MS)
    elif kind in DELETIONS:
        amount = rng.choice((1000, rng.randrange(1, 1000)))
    target = some_target(rng, cluster)
    if kind in {"forced-election", "fast-failover"} and rng.random() < 0.7:
        target = "follower"
    elif role is not None and rng.random() < 0.7:
        target = role
    partition = rng.randrange(cluster.partitions)
    return Fault(kind, at, lasts, target, rng.randrange(12), partition, amount, clients=rng.random() < 0.1)


def some_target(rng: Random, cluster: ClusterSpec) -> str:
    """A role, or a broker by its number."""
    return rng.choice(("leader", "follower", *(f"b{broker}" for broker in cluster.broker_ids())))


def log_uniform(rng: Random, low: int, high: int) -> int:
    """Short and long are equally likely."""
    return int(low * (high / low) ** rng.random())
