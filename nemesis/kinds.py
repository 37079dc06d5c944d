"""Every kind of fault, a row each; whatever else is said of kinds anywhere is derived from this table.

A new kind is a row here. What is done to a broker in a new way is in the worlds besides (``hinder``, ``stop``, or an effect on
links): in the simulator and on machines. When a fault strikes and when it ends, whatever its kind, is up to
:mod:`tidemark.nemesis.injector`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from tidemark.nemesis.kind import (
    AllowUnclean,
    Amount,
    DeleteRecords,
    Elect,
    FailLogDir,
    FailOver,
    Hinder,
    Kind,
    Move,
    MoveLog,
    OnLinks,
    Part,
    Pause,
    RemoveVoter,
    Retain,
    SetMinIsr,
    Stop,
    SwitchElr,
    TakeBack,
    Unit,
    between,
    one_of,
)
from tidemark.nemesis.links import (
    around_a_bridge,
    between_halves,
    beyond_a_majority,
    from_controller,
    of_controller,
    with_brokers,
    with_clients,
    with_controller,
    with_controller_by_pick,
)
from tidemark.nemesis.sentence import BITS, CHANCE, LATELY, RATE, REPLICAS, SHARE, TIME, Sentence, Words, by_pick
from tidemark.nodes.core.damage import CUT_TAIL, FLIP_BITS
from tidemark.nodes.core.settings import MS

SECOND: Final = 1_000 * MS

MESSAGES: dict[str, tuple[str, str]] = {
    "leadership": ("", "leadership"),
    "isr-changes": ("ISR changes", "ISR answers"),
    "heartbeats": ("heartbeats", "heartbeat answers"),
    "registrations": ("registrations", "registration answers"),
}
"""What the kinds `late-…` and `lost-…` act on: kinds of messages (`nodes.core.messages.KINDS`) to the controller, and from it."""

NOBODY, CUT_OFF, LATE, DEAF, ALL = "nobody", "cut-off", "late", "deaf", "everyone"
"""Whom a kind holds back, besides its ``node`` (docs/history.md)."""
A_CONTROLLER, A_LASTING_CONTROLLER, AN_ISR, REGISTRATIONS = "controller", "lasting-controller", "isr", "registrations"
LOG_START, RETENTION, REASSIGNMENT, UNCLEAN = "log-start", "retention", "reassignment", "unclean-election"
WITHDRAWAL, MEMBERSHIP, SETTINGS, ELR = "withdrawal", "membership", "settings", "elr"
UNCLEAN_SETTING = "unclean-setting"
LOG_DIRECTORIES, DYNAMIC_QUORUM = "log-directories", "dynamic-quorum"
"""What kinds need."""

_WAYS = ("", " (both ways)", " (on the way to the controller only)", " (on the way from the controller only)")
_WAY = by_pick(" (`pick`: both ways, to it, from it)", *_WAYS)
_SAME_WAY = by_pick(" (`pick` as above)", *_WAYS)
_TAKEN_BACK = by_pick(" (`pick`: both, truncations, files)", "", " (both)", " (truncations only)", " (files only)")
_AHEAD_OR_BACK = by_pick("ahead, or back for an odd `pick`,", "ahead", "ahead,", "back,")
_DEAF = by_pick("; by `pick`, the old leader or a bystander may be deaf to the controller meanwhile")
_OR_THE_OTHER = by_pick(" (`pick`: that one, that one, the other)", "", "", "", " (its other one)")
_WHERE = by_pick("; by `pick`, which one, and whether it takes the target's place in the order or the last (odd)")

_OF_FILES = by_pick(" (`pick`: of all, of half, of one)", "", "", " (of half of them)", " (of one of them)")

_CHANCE = one_of(50, 200, 500, 800)
_HUNTED_CHANCE = one_of(200, 500, 800)
_LATE = Amount(Unit.TIME, between(50 * MS, 2_000 * MS), hunted=between(20 * MS, 600 * MS))
_SLOW = Amount(Unit.TIME, between(20 * MS, 600 * MS))
_LOSSY = Amount(Unit.SHARE, _CHANCE, _HUNTED_CHANCE)
_DELETED = Amount(
    Unit.SHARE,
    lambda rng: rng.choice((1000, 1000, rng.randrange(1, 1000))),
    hunted=lambda rng: rng.choice((1000, rng.randrange(1, 1000))),
)
_ASKED_TO_DELETE = Amount(
    Unit.SHARE,
    _DELETED.drawn,
    hunted=lambda rng: rng.choice(
        (1000, 1000, 1000, rng.randrange(1, 1000), rng.randrange(1, 1000), 1000 + between(3, 300)(rng))
    ),
    beyond=True,
)


INTACT, DESTRUCTIVE, MACHINES, CONTROLLERS = "intact", "destructive", "machines", "controllers"
TALKS, DELETED, RETAINED, MOVED = "controller-links", "deletions", "retention", "reassignments"
METADATA, WITHDRAWN, FILES, MEMBERS = "metadata", "withdrawals", "files", "members"
CHANGED, SWITCHED, BETWEEN_DISKS, ALLOWED = "settings", "features", "log-dirs", "unclean"
FAILING_DISKS = "log-dir-failures"
VOTERS = "voters"
"""Sets of kinds that profiles have, in the order of the table: plans are drawn by it."""


def _late_and_lost(what: str, subject: str, these: str, order: str = "", needs: str = "") -> tuple[Kind, Kind]:
    """A broker's talk with the controller about one thing, late, and lost."""
    late = Sentence(f"{subject}, or the answers, take up to ", TIME, f" longer{order}", _SAME_WAY)
    lost = Sentence(Words(f"these {these}", subject, (subject,)), ", or the answers, are lost", _SAME_WAY)
    needed = (A_CONTROLLER,) if not needs else (needs, A_CONTROLLER)
    return (
        Kind(
            f"late-{what}",
            late,
            Part.TALK,
            OnLinks(f"late-{what}", with_controller_by_pick),
            TALKS,
            _LATE,
            needed,
            holds_back=LATE,
        ),
        Kind(f"lost-{what}", lost, Part.TALK, OnLinks(f"lost-{what}", with_controller_by_pick), TALKS, needs=needed),
    )


# A table is read by its rows.
# fmt: off
_TABLE: tuple[Kind, ...] = (
    Kind("isolate", Sentence("cut the target from all other brokers and the controller"),
         Part.LINKS, OnLinks("cut", with_brokers(controller=True, clients=True)), INTACT, holds_back=CUT_OFF),
    Kind("from-peers", Sentence("cut the target from the other brokers; the controller still hears it"),
         Part.LINKS, OnLinks("cut", with_brokers(clients=True)), INTACT, holds_back=CUT_OFF),
    Kind("from-controller", Sentence("cut the target from the controller; brokers and clients still reach it"),
         Part.LINKS, OnLinks("cut", with_controller), INTACT, needs=(A_CONTROLLER,)),
    Kind("from-clients", Sentence("cut the target from all clients; brokers and the controller still reach it"),
         Part.LINKS, OnLinks("cut", with_clients), holds_back=CUT_OFF),
    Kind("halves", Sentence("cut the brokers into two halves; the controller stays with the target's"),
         Part.LINKS, OnLinks("cut", between_halves), INTACT, holds_back=ALL),
    Kind("bridge", Sentence("cut the other brokers into two halves that see only the target; the controller sees everyone"),
         Part.LINKS, OnLinks("cut", around_a_bridge), holds_back=ALL),
    Kind("majorities-ring", Sentence("each broker hears a majority of the brokers, no two the same; the controller sees everyone"),
         Part.LINKS, OnLinks("cut", beyond_a_majority), holds_back=ALL),
    Kind("one-way-in", Sentence("nothing from other brokers and the controller reaches the target"),
         Part.LINKS, OnLinks("cut", with_brokers(controller=True, of=False)), INTACT, holds_back=CUT_OFF),
    Kind("one-way-out", Sentence("nothing from the target reaches other brokers and the controller"),
         Part.LINKS, OnLinks("cut", with_brokers(controller=True, to=False)), INTACT, holds_back=CUT_OFF),
    Kind("slow", Sentence("messages between the target and other brokers take up to ", TIME, " longer"),
         Part.LINKS, OnLinks("slow", with_brokers()), INTACT, _SLOW, holds_back=LATE),
    Kind("lossy", Sentence("messages between the target and other brokers are lost ", CHANCE),
         Part.LINKS, OnLinks("lossy", with_brokers()), INTACT, _LOSSY, by_chance=True),
    Kind("late-leadership", Sentence("the controller's leadership messages reach the target up to ", TIME, " later, out of order"),
         Part.LINKS, OnLinks("late-leadership", from_controller), INTACT, _LATE, holds_back=LATE),
    Kind("lost-leadership", Sentence("the controller's leadership messages to the target are lost"),
         Part.LINKS, OnLinks("lost-leadership", from_controller), INTACT),
    Kind("slow-controller", Sentence("messages between the target and the controller take up to ", TIME, " longer", _WAY),
         Part.TALK, OnLinks("slow", with_controller_by_pick), TALKS, _SLOW, (A_CONTROLLER,), holds_back=LATE),
    Kind("lossy-controller", Sentence("messages between the target and the controller are lost ", CHANCE, _SAME_WAY),
         Part.TALK, OnLinks("lossy", with_controller_by_pick), TALKS, _LOSSY, (A_CONTROLLER,)),
    *_late_and_lost("isr-changes", "ISR changes (AlterPartition) that the target asks of the controller", "requests",
                    ", out of order", AN_ISR),
    *_late_and_lost("heartbeats", "the target's heartbeats", "heartbeats", ", out of order"),
    *_late_and_lost("registrations", "the target's registrations", "registrations", needs=REGISTRATIONS),
    Kind("crash", Sentence("kill -9 the target; it starts again at the end (what was written survives)"),
         Part.PROCESS, Stop("crash"), INTACT, gentler="restart"),
    Kind("crash-all", Sentence("kill -9 all brokers; they start again at the end"),
         Part.PROCESS, Stop("crash", of_all=True), INTACT, gentler="crash", holds_back=ALL),
    Kind("restart", Sentence("shut the target down cleanly; it starts again at the end"),
         Part.PROCESS, Stop("clean"), INTACT),
    Kind("pause", Sentence("SIGSTOP the target, SIGCONT at the end"), Part.PROCESS, Pause(), INTACT),
    Kind("power", Sentence("power loss of the target: what was not synced may be gone"),
         Part.PROCESS, Stop("power"), DESTRUCTIVE, gentler="crash", by_chance=True),
    Kind("power-all", Sentence("power loss of all brokers at once"),
         Part.PROCESS, Stop("power", of_all=True), DESTRUCTIVE, gentler="power", holds_back=ALL, by_chance=True),
    Kind("power-metadata", Sentence("power loss of the target whose file system had not committed the metadata ",
         LATELY, ": truncations and checkpoint files are taken back", _TAKEN_BACK),
         Part.PROCESS, Stop("power", takes_back=True), METADATA, Amount(Unit.TIME, between(5 * MS, 3_000 * MS)),
         gentler="power", by_chance=True, only_simulated=True),
    Kind("power-metadata-by-file", Sentence("power loss of the target whose file system commits the metadata of each file by "
         "itself, and had not committed that of logs ", LATELY, ": truncations and checkpoint files are taken back", _TAKEN_BACK),
         Part.PROCESS, Stop("power", takes_back=True, by_file=True), amount=Amount(Unit.TIME),
         gentler="power-metadata", by_chance=True, only_simulated=True),
    Kind("disk", Sentence("the target loses its disk; it starts again empty at the end"),
         Part.PROCESS, Stop("disk"), DESTRUCTIVE, gentler="power"),
    Kind("preferred-election", Sentence("elect the preferred leader"),
         Part.LEADERSHIP, Elect("preferred"), INTACT, holds_back=NOBODY),
    Kind("forced-election", Sentence("elect the target, if it may lead without loss"),
         Part.LEADERSHIP, Elect("forced"), INTACT, holds_back=NOBODY, aimed_at="follower", by_event=0.5),
    Kind("unclean-election", Sentence("elect the target, in sync or not (an operator's decision)"),
         Part.LEADERSHIP, Elect("unclean"), DESTRUCTIVE, needs=(UNCLEAN,), gentler="forced-election",
         holds_back=NOBODY, aimed_at="any"),
    Kind("fast-failover", Sentence("elect the target and, ", TIME, " later, another replica or the old leader", _DEAF),
         Part.LEADERSHIP, FailOver(), INTACT, Amount(Unit.TIME, between(2 * MS, 500 * MS), hunted=between(2 * MS, 300 * MS)),
         gentler="forced-election", holds_back=DEAF, aimed_at="follower", by_event=0.6),
    Kind("delete-records",
         Sentence("a client deletes records: ", SHARE, " of those from the leader's log start to its high watermark; more than all "
                  "of them are refused"),
         Part.RECORDS, DeleteRecords(), DELETED, _ASKED_TO_DELETE, (LOG_START,), holds_back=NOBODY, aimed_at="leader"),
    Kind("retention",
         Sentence("the target's retention deletes its oldest batches: ", SHARE, " of those below its high watermark"),
         Part.RECORDS, Retain(), RETAINED, _DELETED, (LOG_START, RETENTION), holds_back=NOBODY),
    Kind(REASSIGNMENT, Sentence("move the partition's replica from the target to a broker that has none", _WHERE),
         Part.REPLICAS, Move(), MOVED, needs=(REASSIGNMENT,), holds_back=NOBODY),
    Kind("one-more-replica", Sentence("give the partition one more replica, on a broker that has none"),
         Part.REPLICAS, Move(one_more=True), needs=(REASSIGNMENT,), holds_back=NOBODY),
    Kind("one-fewer-replica", Sentence("take the target's replica of the partition away, unless it is the only one"),
         Part.REPLICAS, Move(one_fewer=True), needs=(REASSIGNMENT,), holds_back=NOBODY),
    Kind("reassignment-taken-back", Sentence("take back the partition's reassignment that is under way, if there is one"),
         Part.REPLICAS, TakeBack(), WITHDRAWN, needs=(WITHDRAWAL, REASSIGNMENT), holds_back=NOBODY,
         by_event=0.8, awaits=("reassign",)),
    Kind("min-isr", Sentence("an operator sets the topic's min.insync.replicas to ", REPLICAS, "; at the end to what it was first"),
         Part.SETTINGS, SetMinIsr(), CHANGED, Amount(Unit.REPLICAS, one_of(1, 1, 2, 3), hunted=one_of(1, 1, 1, 3)),
         needs=(SETTINGS, AN_ISR), holds_back=NOBODY),
    Kind("elr-off", Sentence("an operator switches ELR off (the feature eligible.leader.replicas.version); at the end on again"),
         Part.SETTINGS, SwitchElr(), SWITCHED, needs=(ELR, SETTINGS, AN_ISR), holds_back=NOBODY),
    Kind("unclean-allowed",
         Sentence("an operator sets the topic's unclean.leader.election.enable to true; at the end to what it was first"),
         Part.SETTINGS, AllowUnclean(), ALLOWED, needs=(UNCLEAN_SETTING, AN_ISR), holds_back=NOBODY),
    Kind("move-log-dir",
         Sentence("move the target's replica of the partition to the broker's other log directory, at ", RATE,
                  "; at the end as fast as it can"),
         Part.REPLICAS, MoveLog(), BETWEEN_DISKS, Amount(Unit.RATE, one_of(0, 0, 0, 0, 0, 1, 1_000)), needs=(LOG_DIRECTORIES,),
         holds_back=NOBODY, only_real=True),
    Kind("fail-log-dir",
         Sentence("the log directory with the target's replica of the partition", _OR_THE_OTHER,
                  " fails: each write there is an I/O error; at the end it is mended, and the broker restarts"),
         Part.REPLICAS, FailLogDir(), FAILING_DISKS, needs=(LOG_DIRECTORIES,), only_real=True),
    Kind("lose-log-dir",
         Sentence("the log directory with the target's replica of the partition", _OR_THE_OTHER,
                  " fails: each write there is an I/O error; at the end an empty one takes its place, and the broker restarts"),
         Part.REPLICAS, FailLogDir(emptied=True), FAILING_DISKS, needs=(LOG_DIRECTORIES,), gentler="fail-log-dir", only_real=True),
    Kind("controller-isolated", Sentence("cut the controller from all brokers"),
         Part.CONTROLLER, OnLinks("cut", of_controller), CONTROLLERS, needs=(A_CONTROLLER,), holds_back=ALL),
    Kind("controller-crash",
         Sentence("kill -9 the controller's process; it starts again at the end, with what it wrote"),
         Part.CONTROLLER, Stop("crash"), CONTROLLERS, needs=(A_CONTROLLER, A_LASTING_CONTROLLER), holds_back=ALL),
    Kind("container-kill",
         Sentence("kill the target's container: only what was synced survives; it starts again at the end"),
         Part.MACHINE, Stop("container"), MACHINES, by_chance=True),
    Kind("disconnect", Sentence("take the target off the network: brokers, controller and clients alike"),
         Part.MACHINE, Hinder(), MACHINES, holds_back=CUT_OFF),
    Kind("disk-full",
         Sentence("fill the target's disk; at the end there is room again, and a broker that gave up starts again"),
         Part.MACHINE, Hinder(), MACHINES, only_real=True),
    Kind("slow-disk", Sentence("every write and sync of the target takes ", TIME, " longer"),
         Part.MACHINE, Hinder(of_syncs=True), MACHINES, Amount(Unit.TIME, between(1 * MS, 200 * MS)), only_real=True),
    Kind("clock-jump", Sentence("the target's wall clock jumps ", TIME, " ", _AHEAD_OR_BACK, " and returns at the end"),
         Part.MACHINE, Hinder(signed=True), MACHINES, Amount(Unit.WALL_TIME, between(SECOND, 60 * SECOND)),
         only_real=True),
    Kind(FLIP_BITS, Sentence("kill -9 the target, and flip ", BITS, " in each of its data files", _OF_FILES,
         "; it starts again at the end"),
         Part.FILES, Stop("damage", damages=FLIP_BITS), FILES, Amount(Unit.BITS, between(1, 100)), gentler="crash", by_chance=True),
    Kind(CUT_TAIL, Sentence("kill -9 the target, and cut ", SHARE, " off the end of each of its data files", _OF_FILES,
         "; it starts again at the end"),
         Part.FILES, Stop("damage", damages=CUT_TAIL), FILES, Amount(Unit.SHARE, between(1, 1000)), gentler="crash",
         by_chance=True),
    Kind("leave", Sentence("the target leaves: its process ends, and the others take it out of their members; at the end it joins "
         "again, empty"),
         Part.PROCESS, Stop("leave"), MEMBERS, needs=(MEMBERSHIP,), gentler="crash", only_real=True),
    Kind("remove-voter",
         Sentence("an operator takes one of the controllers out of the voters of their quorum", by_pick(" (`pick`: which)"),
                  "; at the end puts it in again"),
         Part.CONTROLLER, RemoveVoter(), VOTERS, needs=(DYNAMIC_QUORUM, A_CONTROLLER), holds_back=NOBODY, by_event=0.5,
         awaits=("controls", "controls", "elect"), only_real=True),
)
# fmt: on

KINDS: dict[str, Kind] = {kind.word: kind for kind in _TABLE}
"""Word → row, in the order in which random plans look at them (docs/faults.md)."""


def kinds_on(*parts: Part) -> tuple[str, ...]:
    """The kinds that act on any of these."""
    return tuple(kind.word for kind in _TABLE if kind.on in parts)


def kinds_drawn_with(*sets: str) -> tuple[str, ...]:
    """The kinds of these sets, one set after the other."""
    return tuple(kind.word for name in sets for kind in _TABLE if kind.drawn_with == name)


def kinds_that_need(what: str) -> frozenset[str]:
    """The kinds that are not there without it."""
    return frozenset(kind.word for kind in _TABLE if what in kind.needs)


MOVES_LOGS = kinds_that_need(LOG_DIRECTORIES)
"""What needs brokers with two log directories: runs whose plan has one of these have such brokers."""
FAILS_LOG_DIRS = frozenset(kind.word for kind in _TABLE if isinstance(kind.doing, FailLogDir))
"""What one of these two suffers."""
CHANGES_VOTERS = kinds_that_need(DYNAMIC_QUORUM)
"""What needs a quorum of controllers whose voters can change: runs whose plan has one of these have such a quorum."""
LINK_FAULTS, CONTROLLER_LINKS = kinds_on(Part.LINKS), kinds_on(Part.TALK)
"""What acts on links: any of a broker's, or those between it and the controller, in one direction or both."""
CONTROLLER_KINDS, MACHINE_KINDS, DELETIONS = kinds_on(Part.CONTROLLER), kinds_on(Part.MACHINE), kinds_on(Part.RECORDS)
"""What happens to the controller, where a target means nothing; to a machine rather than a process or a link; to records."""
DAMAGES = kinds_on(Part.FILES)
"""What spoils a node's files. Random plans strike one node with these; hunts draw them where disks may be lost."""
LASTING_CONTROLLER_ONLY = kinds_that_need(A_LASTING_CONTROLLER)
"""What only a controller survives that keeps what it knows: Kafka's, and ours where they are handed over."""
SIMULATED_ONLY = frozenset(kind.word for kind in _TABLE if kind.only_simulated)
"""What only a simulated disk can do: worlds with real file systems refuse plans with these."""
REAL_ONLY = frozenset(kind.word for kind in _TABLE if kind.only_real)
"""What needs a real disk or clock: the simulator refuses plans with these."""


def by_kind(table: Mapping[str, str]) -> dict[str, str]:
    """What a table says of each kind, by its word or else by the first of its needs that is there.

    >>> by_kind({"log-start": "nothing is deleted", "retention": "not here"})
    {'delete-records': 'nothing is deleted', 'retention': 'not here'}
    """
    return dict(_by_kind(tuple(table.items())))  # every run asks


@cache
def _by_kind(entries: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    table = dict(entries)
    keys = {kind.word: next((key for key in (kind.word, *kind.needs) if key in table), None) for kind in _TABLE}
    return {word: table[key] for key in table for word in KINDS if keys[word] == key}


def is_over_at_once(kind: str, detail: object) -> bool:
    """Whether a fault of a kind, perhaps not ours, was over when it had struck; `detail` is what the nemesis noted of it."""
    return kind in KINDS and KINDS[kind].over_at_once(detail)


def late_or_lost(effect: str) -> tuple[str, tuple[str, str]] | None:
    """``late`` or ``lost``, and the kinds of messages to the controller and from it; `None` for what acts on all messages.

    >>> late_or_lost("lost-isr-changes")
    ('lost', ('ISR changes', 'ISR answers'))
    >>> late_or_lost("slow")
    """
    how, _, what = effect.partition("-")
    return (how, MESSAGES[what]) if how in ("late", "lost") and what in MESSAGES else None
