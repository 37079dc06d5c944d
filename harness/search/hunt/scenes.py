"""Scenes: a few faults that belong together, as replication is known to break on them; times and brokers are drawn.

A random plan hardly ever has one: that two of its faults mean the same broker, one right after the other, is luck.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt import deletion_scenes as deletions
from tidemark.harness.search.hunt import lasting_scenes as lasting
from tidemark.harness.search.hunt import ledger_scenes as ledgers
from tidemark.harness.search.hunt import reassignment_scenes as reassignments
from tidemark.harness.search.hunt import settings_scenes as settings
from tidemark.harness.search.hunt import unaware_scenes as unaware
from tidemark.harness.search.hunt import voting_scenes as voting
from tidemark.harness.search.hunt.cast import cast as _cast
from tidemark.harness.search.hunt.cast import leads_before
from tidemark.harness.search.hunt.cast import on as _on
from tidemark.harness.search.hunt.kinds import Kinds, some_fault
from tidemark.nemesis import PROFILES, Fault, Trigger
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

Scene = Callable[[Random, Kinds, ClusterSpec, int], list[Fault]]
"""Draws the faults of a scene that begins at a time in µs."""

_DEAF = (
    "slow",
    "lossy",
    "late-leadership",
    "lost-leadership",
    "lost-leadership",
    "slow-controller",
    "lossy-controller",
)
_ASLEEP = ("pause", "pause", "isolate", "from-controller", "from-peers", "lost-leadership")
_ENDS_A_PROCESS = ("crash", "restart", "power")


def back_and_forth(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Fast elections between two brokers."""
    one, other, _ = _cast(rng, cluster)
    gap = log_uniform(rng, 2 * MS, 80 * MS)
    faults = []
    for turn in range(rng.choice((3, 4, 5, 6))):
        faults.append(_on(rng, "forced-election", at, cluster, (one, other)[turn % 2], 0))
        at += int(gap * rng.uniform(0.3, 1.7))
    return faults


def asleep_through_reigns(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A broker misses two elections or more; soon after it is back, it is elected, or whom it follows fails."""
    sleeper, one, other = _cast(rng, cluster)
    gap = log_uniform(rng, 5 * MS, 120 * MS)
    elected = []
    now = at
    for turn in range(rng.choice((2, 2, 3, 4))):
        now += int(gap * rng.uniform(0.3, 1.7))
        elected.append(_on(rng, "forced-election", now, cluster, (one, other)[turn % 2], 0))
    wakes = now + int(gap * rng.uniform(0.2, 1.5))
    after = wakes + log_uniform(rng, 1 * MS, 80 * MS)
    last = _on(rng, "forced-election", after, cluster, sleeper, 0)
    if rng.random() < 0.4:
        last = some_fault(rng, rng.choice(kinds.failures), after, cluster, role="leader")
    return [_on(rng, kinds.among(rng, *_ASLEEP), at, cluster, sleeper, wakes - at), *elected, last]


def one_right_after_another(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A broker is back, and fails again: a power loss right after a clean stop, before anything was checkpointed.

    How long a clean stop takes nobody knows, so that what follows it waits for the start, most often.
    """
    node, other, _ = _cast(rng, cluster)
    kind = kinds.among(rng, "restart", "restart", *_ENDS_A_PROCESS, "pause")
    ends = log_uniform(rng, (300 if kind == "restart" else 20) * MS, 900 * MS)
    first = _on(rng, kind, at, cluster, node, ends)
    kind = kinds.among(rng, "power", "power", "power", "crash", "disk", "pause")
    again = _on(rng, kind, at + ends + log_uniform(rng, 1 * MS, 80 * MS), cluster, node)
    if first.kind in _ENDS_A_PROCESS and rng.random() < (0.8 if first.kind == "restart" else 0.4):
        again = replace(again, at_us=at + ends, after=Trigger("start", 1, int(node[1:])))
    between = _on(rng, "forced-election", at + int(ends * rng.random()), cluster, rng.choice((node, other)), 0)
    return [first, *((between,) if rng.random() < 0.6 else ()), again]


def elected_while_one_is_deaf(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower is slow or deaf while another is elected; then it is elected itself, or a third, or that one fails."""
    deaf, elected, third = _cast(rng, cluster)
    gap = log_uniform(rng, 5 * MS, 150 * MS)
    then = at + int(gap * rng.uniform(0.8, 3))
    last = _on(rng, "forced-election", then, cluster, rng.choice((deaf, third)), 0)
    if rng.random() < 0.3:
        last = _on(rng, rng.choice(kinds.failures), then, cluster, elected)
    lasts = int(gap * rng.uniform(0.8, 5))
    return [
        _on(rng, kinds.among(rng, *_DEAF), at, cluster, deaf, lasts),
        _on(rng, "forced-election", at + int(gap * rng.random()), cluster, elected, 0),
        last,
    ]


def isr_in_doubt(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower falls out of the ISR for its lag, or comes back, while its leader's changes or their answers are late or lost."""
    slow, leader, _ = _cast(rng, cluster)
    lag = cluster.settings.lag_time_us
    lasts = int(lag * rng.uniform(1.05, 1.5))
    back = at + lasts
    begins = at + rng.choice((0, int(lag * 0.9), lasts - 50 * MS))
    talk = kinds.among(rng, "late-isr-changes", "lost-isr-changes", "lossy-controller", "slow-controller")
    now = max(begins, back - 100 * MS) + log_uniform(rng, 5 * MS, 400 * MS)
    moves = _on(rng, "forced-election", now, cluster, slow, 0)
    if rng.random() < 0.5:
        moves = some_fault(rng, rng.choice(kinds.failures), now, cluster, role="leader")
    return [
        leads_before(rng, at, cluster, leader),
        _on(rng, kinds.among(rng, "from-peers", "one-way-in", "one-way-out", "pause"), at, cluster, slow, lasts),
        _on(rng, talk, begins, cluster, leader, log_uniform(rng, 100 * MS, 900 * MS)),
        moves,
    ]


def of_an_earlier_life(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A broker's process ends and comes back at once, while what controller and broker say to each other is late or lost.

    What was meant for the process before is said again to the new one.
    """
    node, other, _ = _cast(rng, cluster)
    down = log_uniform(rng, 1 * MS, 200 * MS)
    gap = log_uniform(rng, 5 * MS, 150 * MS)
    talk = kinds.among(
        rng,
        "late-leadership",
        "lost-leadership",
        "late-registrations",
        "lost-registrations",
        "slow-controller",
        "lossy-controller",
    )
    return [
        _on(rng, talk, max(at - gap, 20 * MS), cluster, node, gap + down + log_uniform(rng, 5 * MS, 300 * MS)),
        _on(rng, "forced-election", max(at - int(gap * rng.random()), 20 * MS), cluster, rng.choice((node, other)), 0),
        _on(rng, kinds.among(rng, "crash", "crash", "restart", "power"), at, cluster, node, down),
        _on(rng, "forced-election", at + int(gap * rng.uniform(0, 3)), cluster, rng.choice((node, other)), 0),
    ]


def cut_and_taken_back(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off with what nobody else has, another is elected, it truncates, and loses its power.

    The file system had not committed the truncation, or the checkpoints.
    """
    old, elected, _ = _cast(rng, cluster)
    gap = log_uniform(rng, 20 * MS, 200 * MS)
    back = at + int(gap * rng.uniform(1.5, 3))
    kind = kinds.among(rng, "power-metadata", "power-metadata", "power-metadata", "crash")
    lost = _on(rng, kind, back, cluster, old, log_uniform(rng, 10 * MS, 300 * MS))
    return [
        _on(rng, "forced-election", max(at - gap, 20 * MS), cluster, old, 0),
        _on(rng, kinds.among(rng, "from-peers", "isolate"), at, cluster, old, back - at),
        _on(rng, "forced-election", at + gap, cluster, elected, 0),
        replace(lost, after=Trigger("truncate", 1, int(old[1:]))),
        _on(rng, "forced-election", back + cluster.settings.request_timeout_us + gap, cluster, old, 0),
    ]


def asked_in_vain(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower falls out of the ISR for its lag, and what its leader asks is answered late or never. Nobody else is elected.

    Meanwhile the follower may end, and be back before the answer.
    """
    slow, leader, _ = _cast(rng, cluster)
    lag = cluster.settings.lag_time_us
    back = at + int(lag * rng.uniform(1.05, 1.5))
    begins = at + int(lag * rng.uniform(0.8, 1))
    talk = _on(
        rng,
        kinds.among(rng, "late-isr-changes", "lost-isr-changes", "lossy-controller", "slow-controller"),
        begins,
        cluster,
        leader,
        log_uniform(rng, 100 * MS, 2_000 * MS),
    )
    if talk.kind in {"late-isr-changes", "slow-controller"}:
        talk = replace(talk, amount=log_uniform(rng, 200 * MS, 4_000 * MS))
    faults = [
        leads_before(rng, at, cluster, leader),
        _on(rng, kinds.among(rng, "from-peers", "one-way-in", "pause"), at, cluster, slow, back - at),
        talk,
    ]
    if rng.random() < 0.5:
        ends = begins + log_uniform(rng, 20 * MS, 600 * MS)
        kind = rng.choice(("restart", "restart", "crash"))
        faults.append(_on(rng, kind, ends, cluster, slow, log_uniform(rng, 20 * MS, 800 * MS)))
    return faults


def deposed_and_does_not_know(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off from the other servers, and not from its clients, until long after these have elected another."""
    old, other, _ = _cast(rng, cluster)
    session = cluster.settings.session_us
    lasts = int(session * rng.uniform(1.5, 4))
    cut = _on(rng, kinds.among(rng, "from-peers", "isolate"), at, cluster, old, lasts)
    return [
        _on(rng, "forced-election", max(at - 150 * MS, 20 * MS), cluster, old, 0),
        replace(cut, clients=False),
        _on(rng, "forced-election", at + int(session * rng.uniform(0.2, 1.5)), cluster, other, 0),
        _on(rng, "forced-election", at + lasts, cluster, rng.choice((old, other)), 0),
    ]


def two_change_one_group(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader brings a server in, and is cut off as soon as that has the log; then another is elected, and brings in another one.

    One of those who voted for it hears nothing of what it writes.
    """
    group = list(cluster.assignment()["t-0"])
    spare = [broker for broker in cluster.broker_ids() if broker not in group] or group[-1:]
    rng.shuffle(group)
    first, second, voter, gone = (f"b{group[place % len(group)]}" for place in range(4))
    new = spare[0]
    elected = at + log_uniform(rng, 60 * MS, 300 * MS)
    cuts = ("from-peers", "isolate")
    cut_off = _on(rng, kinds.among(rng, *cuts), at, cluster, first, log_uniform(rng, 400 * MS, 2_500 * MS))
    deaf = _on(rng, kinds.among(rng, *cuts), elected, cluster, voter, log_uniform(rng, 200 * MS, 1_500 * MS))
    moves = [
        _on(rng, kinds.among(rng, "reassignment"), at, cluster, gone, 0),
        _on(rng, kinds.among(rng, "reassignment"), elected - 20 * MS, cluster, f"b{new}", 0),
    ]
    faults = [
        _on(rng, "forced-election", max(at - 150 * MS, 20 * MS), cluster, first, 0),
        replace(moves[0], pick=0),
        replace(cut_off, after=Trigger("append", 1, new)),
        moves[1],
        replace(deaf, after=Trigger("follow", 1, int(voter[1:]))),
        _on(rng, "forced-election", elected, cluster, second, 0),
    ]
    return [replace(fault, partition=0, clients=False) for fault in faults]


SCENES: dict[str, Scene] = {
    "back and forth": back_and_forth,
    "asleep through reigns": asleep_through_reigns,
    "one right after another": one_right_after_another,
    "elected while one is deaf": elected_while_one_is_deaf,
    "ISR in doubt": isr_in_doubt,
    "of an earlier life": of_an_earlier_life,
    "cut, and taken back": cut_and_taken_back,
    "asked in vain": asked_in_vain,
    "deleted while one is away": deletions.deleted_while_one_is_away,
    "deleted before the power goes": deletions.deleted_before_the_power_goes,
    "moved while others are away": reassignments.moved_while_others_are_away,
    "deposed, and does not know": deposed_and_does_not_know,
    "two change one group": two_change_one_group,
    "away for long": lasting.away_for_long,
    "answered after the session": lasting.answered_after_the_session,
    "let in for what it had": lasting.let_in_for_what_it_had,
    "answered after a member went": lasting.answered_after_a_member_went,
    "let in unheard": lasting.let_in_unheard,
    "a disk lost while another is away": lasting.disk_lost_while_another_is_away,
    "no power where nothing runs": lasting.no_power_where_nothing_runs,
    "moved while the controller fails": lasting.moved_while_the_controller_fails,
    "the leader ends without a controller": lasting.leader_ends_without_a_controller,
    "alone as the controller fails": lasting.alone_as_the_controller_fails,
    "leads again unaware": unaware.leads_again_unaware,
    "follows on unaware": unaware.follows_on_unaware,
    "counts on unaware": unaware.counts_on_unaware,
    "answered late": unaware.answered_late,
    "told late, and then not": unaware.told_late_and_then_not,
    "alone, and then lost": lasting.alone_and_then_lost,
    "moved from the last one there": reassignments.moved_from_the_last_one_there,
    "led by who came": reassignments.led_by_who_came,
    "moved away and back": reassignments.moved_away_and_back,
    "back as all is deleted": deletions.back_as_all_is_deleted,
    "deleted beyond what is committed": deletions.deleted_beyond_what_is_committed,
    "led by who missed a deletion": deletions.led_by_who_missed_a_deletion,
    "retention without followers": deletions.retention_at_a_leader_without_followers,
    "min ISR changed unheard": settings.min_isr_changed_unheard,
    "fewer than min ISR": settings.fewer_than_min_isr,
    "changed while all are down": settings.changed_while_all_are_down,
    "ELR off for a while": settings.elr_off_for_a_while,
    "unclean elections for a while": settings.unclean_allowed_for_a_while,
    "a slow candidate stands again": voting.slow_candidate_stands_again,
    "voters come back, and vote": voting.voters_come_back_and_vote,
    "each writes alone": voting.each_writes_alone,
    "an order goes with its leader": voting.order_goes_with_its_leader,
    "cut off as another stands": voting.cut_off_as_another_stands,
    "slower than it is waited for": voting.slower_than_it_is_waited_for,
    "leave is long on its way": voting.leave_is_long_on_its_way,
    "heard by few": voting.heard_by_few,
    "gaps at bookies": ledgers.gaps_at_bookies,
    "a fence is lost": ledgers.fence_is_lost,
    "recovered without one": ledgers.recovered_without_one,
}
_MOVES = frozenset({"reassignments", "reassignments-destructive", "controller-reassignments"})
_OF_PROFILES = {
    "asked in vain": {"controller-links"},
    "deleted while one is away": {"deletions", "retention", "retention-destructive"},
    "back as all is deleted": {"deletions", "retention", "retention-destructive"},
    "deleted beyond what is committed": {"deletions", "retention", "retention-destructive"},
    "led by who missed a deletion": {"retention-destructive"},
    "retention without followers": {"retention", "retention-destructive"},
    "deleted before the power goes": {"retention-destructive"},
    "moved while others are away": _MOVES,
    "moved from the last one there": _MOVES,
    "led by who came": _MOVES,
    "moved away and back": _MOVES,
    "moved while the controller fails": {"controller-reassignments"},
    "the leader ends without a controller": {"controllers", "controller-reassignments"},
    "alone as the controller fails": {"controllers", "controller-reassignments"},
    "min ISR changed unheard": {"settings"},
    "fewer than min ISR": {"settings"},
    "changed while all are down": {"settings", "features"},
    "ELR off for a while": {"features"},
    "unclean elections for a while": {"unclean"},
}
"""Scenes about what only some profiles are for; the others are everybody's."""
_OF_VOTERS = {
    "deposed, and does not know": frozenset(PROFILES),
    "a slow candidate stands again": frozenset(PROFILES),
    "voters come back, and vote": frozenset(PROFILES),
    "each writes alone": frozenset(PROFILES),
    "cut off as another stands": frozenset(PROFILES),
    "slower than it is waited for": frozenset(PROFILES),
    "leave is long on its way": frozenset(PROFILES),
    "heard by few": frozenset(PROFILES),
    "two change one group": _MOVES,
    "an order goes with its leader": _MOVES,
}
"""The same of servers that elect their leaders themselves, and of nobody else."""
_OF_LEDGERS = {name: frozenset(PROFILES) for name in ("gaps at bookies", "a fence is lost", "recovered without one")}
"""The same of bookies."""
_OF_ISRS = frozenset(
    {
        "ISR in doubt",
        "asked in vain",
        "answered after the session",
        "let in for what it had",
        "let in unheard",
        "answered after a member went",
        "counts on unaware",
        "alone, and then lost",
    }
)
"""Those that are about what a controller and a leader say of an ISR, and come to nothing where there is none."""
_EVERYBODYS_TOO = frozenset({"asked in vain"})
"""A profile's own, of kinds that every hunt has."""
_OF_SOME = (_OF_PROFILES.keys() | _OF_VOTERS.keys() | _OF_LEDGERS.keys()) - _EVERYBODYS_TOO
_OWN = 0.5
"""Share of these, in the profiles that have any."""


def some_scene(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """One of them, half of the time one of the profile's own."""
    owners = _owners(kinds)
    own = [name for name, profiles in owners.items() if kinds.profile in profiles]
    common = [name for name in SCENES if _is_common(name, kinds)]
    names = own if own and rng.random() < _OWN else common
    return this_scene(rng.choice(names), rng, kinds, cluster, at)


def this_scene(name: str, rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A draw of one; all of it is about one partition."""
    faults = SCENES[name](rng, kinds, cluster, at)
    if not any(fault.partition for fault in faults):
        return faults
    partition = rng.randrange(cluster.partitions)
    return [replace(fault, partition=partition) for fault in faults]


def who_plays(profiles: Iterable[Kinds]) -> dict[str, list[str]]:
    """Each scene → the profiles that play it; none without any."""
    playing: dict[str, list[str]] = {}
    for kinds in profiles:
        owners = _owners(kinds)
        for name in SCENES:
            if _is_common(name, kinds) or kinds.profile in owners.get(name, ()):
                playing.setdefault(name, []).append(kinds.profile)
    return playing


def _owners(kinds: Kinds) -> Mapping[str, Collection[str]]:
    return _OF_PROFILES | (_OF_VOTERS if kinds.votes else {}) | (_OF_LEDGERS if kinds.ledgers else {})


def _is_common(name: str, kinds: Kinds) -> bool:
    return name not in _OF_SOME and not (name in _OF_ISRS and (kinds.votes or kinds.ledgers))
