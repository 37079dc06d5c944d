"""Scenes in which something takes longer than those who wait for it: a broker's absence, an answer, a machine that stays off."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds, some_fault
from tidemark.nemesis import Fault, Trigger
from tidemark.nemesis.kind import log_uniform
from tidemark.nemesis.long_lasting import long_lasting
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

_TO_CONTROLLER, _FROM_CONTROLLER = 1, 2
"""The `pick` by which only what goes to the controller, or comes from it, is late or lost."""
_DEAF = ("from-peers", "from-peers", "one-way-in")
"""Ways to hear nothing of other brokers."""


def away_for_long(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A broker is away, or deaf, for longer than anybody waits; leaders change meanwhile, and one fails when it is back."""
    away, one, other = cast(rng, cluster)
    lasts = long_lasting(rng, cluster.settings)
    kind = kinds.among(rng, "pause", "isolate", "from-peers", "from-controller", "one-way-in", "one-way-out", "crash")
    if rng.random() < 0.3:
        kind = kinds.among(rng, "lost-leadership", "lost-isr-changes", "lossy-controller", "lost-heartbeats")
    elections = [
        on(rng, "forced-election", at + int(lasts * share * rng.random()), cluster, node, 0)
        for share, node in ((0.3, one), (1, other))
    ]
    back = at + lasts + log_uniform(rng, 1 * MS, 200 * MS)
    fails = some_fault(
        rng, rng.choice(kinds.failures), back, cluster, log_uniform(rng, 50 * MS, 900 * MS), role="leader"
    )
    return [on(rng, kind, at, cluster, away, lasts), *elections, fails]


def answered_after_the_session(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """What a leader asks of the controller is done, and answered never, or after its session has ended and newer state has come.

    It has something to ask, as a follower falls behind; that one may lose its disk meanwhile, or its power.
    """
    leader, slow, other = cast(rng, cluster)
    settings = cluster.settings
    begins = at + int(settings.lag_time_us * rng.uniform(0.9, 1.6))
    late = kinds.among(
        rng, "late-isr-changes", "lost-isr-changes", "late-heartbeats", "lost-heartbeats", "late-registrations"
    )
    lasts = int(settings.session_us * rng.uniform(1.1, 3))
    talk = replace(on(rng, late, begins, cluster, leader, lasts), pick=_FROM_CONTROLLER)
    if talk.amount:
        talk = replace(talk, amount=int(settings.session_us * rng.uniform(1.1, 3)))
    away = begins - at + int(lasts * rng.random())
    moves = on(rng, "forced-election", begins + int(lasts * rng.random()), cluster, rng.choice((slow, other)), 0)
    lost = on(
        rng, kinds.among(rng, "disk", "disk", "power", "crash"), begins + int(lasts * rng.random()), cluster, slow
    )
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kinds.among(rng, "from-peers", "one-way-in"), at, cluster, slow, away),
        talk,
        moves,
        *((lost,) if rng.random() < 0.6 else ()),
    ]


def _led_too_early(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int, who: tuple[str, str]) -> Fault:
    """Who was let in is elected, or the leader fails. `who`: leader, and who was let in."""
    leader, late = who
    elected = on(rng, "forced-election", at, cluster, late, 0)
    return on(rng, rng.choice(kinds.failures), at, cluster, leader) if rng.random() < 0.3 else elected


def let_in_for_what_it_had(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower that fell behind has caught up, and loses what it had as its leader asks to let it in; that is heard late.

    It has registered before the request is there, and is deaf still; then it is elected, or the leader fails.
    """
    leader, late, _ = cast(rng, cluster)
    settings = cluster.settings
    behind = int(settings.lag_time_us * rng.uniform(1.05, 1.6))
    back = at + behind
    takes = int(settings.session_us * rng.uniform(0.3, 1.8))
    lasts = settings.request_timeout_us + takes
    asks = Trigger("isr", 1, int(leader[1:]))
    late_or_lost = kinds.among(rng, "late-isr-changes", "slow-controller", "lost-isr-changes", "lost-isr-changes")
    asked = replace(on(rng, late_or_lost, back, cluster, leader, lasts), pick=_TO_CONTROLLER)
    lost = on(
        rng,
        kinds.among(rng, "disk", "disk", "disk", "power", "crash"),
        back,
        cluster,
        late,
        log_uniform(rng, MS, 60 * MS),
    )
    then = back + lasts + (log_uniform(rng, 1 * MS, 120 * MS) if asked.amount else int(600 * MS * rng.random()))
    last = _led_too_early(rng, kinds, cluster, then, (leader, late))
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kinds.among(rng, *_DEAF), at, cluster, late, behind),
        replace(asked, amount=takes) if asked.amount else asked,
        replace(lost, after=asks),
        replace(on(rng, kinds.among(rng, *_DEAF), back, cluster, late, lasts + 600 * MS), after=asks),
        last,
    ]


def let_in_unheard(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower that fell behind is let in as its leader asked, which hears of that neither by the answer nor otherwise.

    It asks again, and is refused. The follower is deaf again meanwhile; then it is elected, or the leader fails.
    """
    leader, late, _ = cast(rng, cluster)
    settings = cluster.settings
    behind = int(settings.lag_time_us * rng.uniform(1.3, 2))
    back = at + behind
    asks = Trigger("isr", 1, int(leader[1:]))
    unheard = settings.request_timeout_us + log_uniform(rng, 100 * MS, 1_500 * MS)
    answers = on(rng, kinds.among(rng, "lost-isr-changes"), back, cluster, leader, log_uniform(rng, 10 * MS, 450 * MS))
    news = on(
        rng, kinds.among(rng, "lost-leadership", "lost-leadership", "late-leadership"), back, cluster, leader, unheard
    )
    then = back + unheard + log_uniform(rng, 50 * MS, 600 * MS)
    last = _led_too_early(rng, kinds, cluster, then, (leader, late))
    deaf = on(rng, kinds.among(rng, *_DEAF), at, cluster, late, behind)
    deaf_again = on(rng, kinds.among(rng, *_DEAF), back, cluster, late, unheard + 700 * MS)
    answers = replace(answers, after=asks)
    if rng.random() < 0.4:  # a leader that writes the ISR itself tells nothing of it before
        asks = Trigger("isr-change", 1)
        answers = replace(answers, at_us=back - 20 * MS, lasts_us=int(unheard * rng.uniform(0.8, 1.6)), after=None)
    return [
        leads_before(rng, at, cluster, leader),
        deaf,
        replace(answers, pick=_FROM_CONTROLLER),
        replace(news, after=asks),
        replace(deaf_again, after=asks),
        last,
    ]


def answered_after_a_member_went(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower that fell behind is let in, and the answer comes when its leader has heard that a member is gone."""
    leader, late, other = cast(rng, cluster)
    settings = cluster.settings
    behind = int(settings.lag_time_us * rng.uniform(1.55, 1.9))
    back = at + behind
    answers = on(
        rng, kinds.among(rng, "late-isr-changes"), back - 20 * MS, cluster, leader, log_uniform(rng, 40 * MS, 600 * MS)
    )
    goes = back + log_uniform(rng, 30 * MS, 300 * MS)
    away = settings.session_us + log_uniform(rng, 800 * MS, 4_000 * MS)
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kinds.among(rng, "from-peers", "one-way-in", "pause"), at, cluster, late, behind),
        replace(answers, pick=_FROM_CONTROLLER, amount=int(settings.session_us * rng.uniform(1.5, 5))),
        on(rng, kinds.among(rng, "crash", "restart", "pause"), goes, cluster, rng.choice((late, other)), away),
    ]


def disk_lost_while_another_is_away(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """One follower is away, the other loses its disk; then the leader fails, or the one with the empty disk is elected."""
    leader, away, empty = cast(rng, cluster)
    gap = log_uniform(rng, 20 * MS, 600 * MS)
    lost = at + int(gap * rng.uniform(0.2, 1))
    down = log_uniform(rng, 5 * MS, 400 * MS)
    last = on(rng, "forced-election", lost + down + int(gap * rng.random()), cluster, rng.choice((empty, away)), 0)
    if rng.random() < 0.5:
        last = on(rng, rng.choice(kinds.failures), last.at_us, cluster, leader)
    kind = kinds.among(rng, "pause", "isolate", "from-peers", "crash", "restart")
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kind, at, cluster, away, lost - at + down + int(gap * rng.uniform(0.5, 4))),
        on(rng, kinds.among(rng, "disk", "disk", "power"), lost, cluster, empty, down),
        last,
    ]


def no_power_where_nothing_runs(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A process ends, cleanly or not, and then its machine loses its power. When it is back it is elected, or the leader fails."""
    node, other, _ = cast(rng, cluster)
    down = log_uniform(rng, 300 * MS, 2_000 * MS)
    back = at + down + log_uniform(rng, 1 * MS, 300 * MS)
    last = on(rng, "forced-election", back, cluster, node, 0)
    if rng.random() < 0.5:
        last = on(rng, rng.choice(kinds.failures), back, cluster, other)
    return [
        leads_before(rng, at, cluster, rng.choice((node, other))),
        on(rng, rng.choice(("restart", "restart", "crash")), at, cluster, node, down),
        on(
            rng,
            kinds.among(rng, "power", "power", "power-metadata"),
            at + int(down * rng.uniform(0.3, 1)),
            cluster,
            node,
            50 * MS,
        ),
        last,
    ]


def moved_while_the_controller_fails(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A replica is moved as the controller fails; another order comes while there is none, and one after it, or takes one back."""
    one, other, third = cast(rng, cluster)
    gap = log_uniform(rng, 5 * MS, 300 * MS)
    fails = at + int(gap * rng.random())
    down = log_uniform(rng, 20 * MS, 1_500 * MS)
    back = fails + down
    orders = [
        (at, one),
        (fails + int(down * rng.random()), other),
        (back + int(gap * rng.random()), third),
    ]
    moves = [on(rng, kinds.among(rng, "reassignment"), when, cluster, node, 0) for when, node in orders]
    ends = on(
        rng, kinds.among(rng, "crash", "pause", "restart", "disk"), fails + int(down * rng.random()), cluster, third
    )
    return [
        *moves,
        on(
            rng,
            kinds.among(rng, "controller-crash", "controller-crash", "controller-isolated"),
            fails,
            cluster,
            one,
            down,
        ),
        on(rng, "forced-election", back + int(gap * rng.random()), cluster, rng.choice((one, other)), 0),
        *((ends,) if rng.random() < 0.5 else ()),
    ]


def leader_ends_without_a_controller(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """The leader's session ends while there is no controller, and the leader stays away for longer than an election takes."""
    leader, other, _ = cast(rng, cluster)
    session = cluster.settings.session_us
    fails = at + int(session * rng.uniform(0, 0.9))
    kind = kinds.among(rng, "crash", "crash", "pause", "isolate")
    lasts = 2 * session + long_lasting(rng, cluster.settings)
    controller = kinds.among(rng, "controller-crash", "controller-crash", "controller-isolated")
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kind, at, cluster, leader, lasts),
        on(rng, controller, fails, cluster, other, at + int(session * rng.uniform(1.1, 2)) - fails),
    ]


def alone_as_the_controller_fails(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader has become alone in the ISR when another controller takes over; then it fails.

    Who is eligible by what the controller before had written must lead.
    """
    leader, other, _ = cast(rng, cluster)
    session = cluster.settings.session_us
    alone = at + int(cluster.settings.lag_time_us * rng.uniform(1.1, 1.7))
    back = alone + int(session * rng.uniform(0.2, 1))
    ends = back + log_uniform(rng, 20 * MS, 300 * MS)
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, "from-peers", at, cluster, leader, ends - at),
        on(rng, kinds.among(rng, "controller-crash"), alone, cluster, other, back - alone),
        on(rng, kinds.among(rng, "crash", "isolate"), ends, cluster, leader, 2 * session),
    ]


def alone_and_then_lost(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off from its followers until it is alone in the ISR; then it fails, and may lose what it alone has."""
    leader, other, _ = cast(rng, cluster)
    alone = int(cluster.settings.lag_time_us * rng.uniform(1.1, 1.9))
    lost = at + alone + log_uniform(rng, 1 * MS, 400 * MS)
    kind = kinds.among(rng, "power", "power", "power", "disk", "crash", "restart")
    down = log_uniform(rng, 20 * MS, 1_500 * MS)
    faults = [
        leads_before(rng, at, cluster, leader),
        on(
            rng,
            "from-peers",
            at,
            cluster,
            leader,
            lost - at + int(down * rng.uniform(0, 1.2)),
        ),
        on(rng, kind, lost, cluster, leader, down),
    ]
    if rng.random() < 0.3:
        faults.append(on(rng, rng.choice(kinds.elections), lost + int(down * rng.random()), cluster, other, 0))
    return faults
