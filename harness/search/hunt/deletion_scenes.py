"""Scenes in which records are deleted: while one is away, before the power goes, as one comes back."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault, Trigger
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def deleted_while_one_is_away(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off with what nobody else has, and is back after its session, when the new one has deleted records.

    The others may fail meanwhile, before they have noted where their logs start.
    """
    away, elected, third = cast(rng, cluster)
    out = at + int(cluster.settings.session_us * rng.uniform(1.1, 1.6))
    deleted = out + log_uniform(rng, 5 * MS, 600 * MS)
    back = deleted + log_uniform(rng, 5 * MS, 300 * MS)
    failures = []
    if rng.random() < 0.5:
        fails = deleted + log_uniform(rng, 5 * MS, 200 * MS)
        for node in (third, elected):
            down = log_uniform(rng, 5 * MS, 200 * MS)
            failures.append(on(rng, kinds.among(rng, "crash", "crash", "power"), fails, cluster, node, down))
            back = max(back, fails + down + log_uniform(rng, 20 * MS, 1_500 * MS))
            fails += log_uniform(rng, 1 * MS, 100 * MS)
    deletion = on(rng, kinds.among(rng, "delete-records"), deleted, cluster, elected)
    return [
        leads_before(rng, at, cluster, away),
        on(rng, kinds.among(rng, "isolate", "isolate", "from-peers", "crash", "pause"), at, cluster, away, back - at),
        on(rng, "forced-election", at + log_uniform(rng, 5 * MS, 400 * MS), cluster, elected, 0),
        replace(deletion, amount=rng.choice((1000, 950, rng.randrange(1, 1000)))),
        *failures,
    ]


def deleted_beyond_what_is_committed(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A client asks to delete what its leader has not committed, as its followers hear nothing of it; then one of them may lead."""
    leader, other, _ = cast(rng, cluster)
    asked = at + log_uniform(rng, 20 * MS, 600 * MS)
    back = asked + log_uniform(rng, 5 * MS, 400 * MS)
    cut = kinds.among(rng, "from-peers", "from-peers", "one-way-in", "one-way-out")
    deletion = on(rng, kinds.among(rng, "delete-records"), asked, cluster, leader)
    faults = [
        leads_before(rng, at, cluster, leader),
        on(rng, cut, at, cluster, leader, back - at),
        replace(deletion, amount=1000 + log_uniform(rng, 5, 500)),
    ]
    if rng.random() < 0.6:
        faults.append(
            on(
                rng,
                rng.choice(("forced-election", *kinds.failures)),
                back,
                cluster,
                rng.choice((leader, other)),
                300 * MS,
            )
        )
    return faults


def back_as_all_is_deleted(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower comes back as everything is deleted, so that it begins anew; it is elected as soon as it is in the ISR."""
    away, leader, _ = cast(rng, cluster)
    settings = cluster.settings
    kind = kinds.among(rng, "restart", "restart", "crash", "from-peers")
    lasts = int(max(settings.session_us, settings.lag_time_us) * rng.uniform(1.05, 1.5))
    back = at + lasts
    deletion = replace(on(rng, kinds.among(rng, "delete-records"), back, cluster, leader), amount=1000)
    elected = on(rng, "forced-election", back, cluster, away, 0)
    if kind in {"restart", "crash"}:
        deletion = replace(deletion, after=Trigger("start", 1, int(away[1:])))
    if rng.random() < 0.7:
        elected = replace(elected, after=Trigger("isr-change", 1))
    else:
        elected = replace(elected, at_us=back + log_uniform(rng, 1 * MS, 60 * MS))
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kind, at, cluster, away, lasts),
        deletion,
        elected,
    ]


def deleted_before_the_power_goes(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Records are deleted, the log starts are noted on disk, and then the power goes: at all brokers, or one by one."""
    one, other, third = cast(rng, cluster)
    every = cluster.settings.log_start_checkpoint_us
    due = (at // every + 1) * every
    noted = due + log_uniform(rng, 10 * MS, 500 * MS)
    at = max(at, due - log_uniform(rng, 20 * MS, 500 * MS))
    lasts = log_uniform(rng, 50 * MS, 400 * MS)
    deletion = on(rng, kinds.among(rng, "delete-records", "delete-records", "retention"), at, cluster, one)
    faults = [
        leads_before(rng, at, cluster, one),
        replace(deletion, amount=rng.choice((1000, rng.randrange(700, 1000)))),
    ]
    if rng.random() < 0.4:
        return [*faults, on(rng, kinds.among(rng, "power-all"), noted, cluster, one, lasts)]
    for node in (one, other, third)[: rng.choice((2, 3, 3))]:
        faults.append(on(rng, kinds.among(rng, "power"), noted, cluster, node, lasts + int(lasts * rng.random())))
        noted += int(lasts * rng.uniform(0.2, 1.5))
    return faults


def led_by_who_missed_a_deletion(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Records are deleted while one broker is away, and the log starts noted on disk; then the others go, and an operator lets that
    one lead, whose log ends before. The others come back, and cut; one of them ends soon after, and is elected.
    """
    one, other, away = cast(rng, cluster)
    settings = cluster.settings
    every = settings.log_start_checkpoint_us
    due = ((at + 300 * MS) // every + 1) * every
    noted = due + log_uniform(rng, 10 * MS, 200 * MS)
    gone = noted + log_uniform(rng, 20 * MS, 200 * MS)
    elected = gone + log_uniform(rng, 200 * MS, 600 * MS)
    back = elected + log_uniform(rng, 20 * MS, 400 * MS)
    ends = back + int(MS * rng.uniform(200, 900))
    down = log_uniform(rng, 20 * MS, 200 * MS)
    deletion = on(rng, kinds.among(rng, "delete-records", "delete-records", "retention"), 0, cluster, "leader")
    deletion = replace(deletion, at_us=due - log_uniform(rng, 20 * MS, 300 * MS))
    again = rng.choice((one, other))
    in_sync = ends + down + int(settings.request_timeout_us * rng.uniform(0.2, 3.5))
    return [
        on(rng, "restart", at, cluster, away, gone - at + log_uniform(rng, 1 * MS, 100 * MS)),
        replace(deletion, amount=rng.choice((1000, 1000, rng.randrange(700, 1000)))),
        on(rng, kinds.among(rng, "restart", "restart", "crash"), noted, cluster, other, back - noted),
        on(rng, "restart", gone, cluster, one, back - gone),
        on(rng, kinds.among(rng, "unclean-election"), elected, cluster, away, 0),
        on(rng, kinds.among(rng, "crash", "crash", "power"), ends, cluster, again, down),
        on(rng, "forced-election", in_sync, cluster, again, 0),
    ]


def retention_at_a_leader_without_followers(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off from its followers, writes what they lack, and its retention deletes, by age and size at once.

    Then one of them may be elected.
    """
    leader, other, _ = cast(rng, cluster)
    lacks = log_uniform(rng, 20 * MS, 600 * MS)
    deletion = on(rng, kinds.among(rng, "retention"), at + lacks, cluster, leader)
    faults = [
        leads_before(rng, at, cluster, leader),
        on(
            rng,
            kinds.among(rng, "from-peers", "one-way-out"),
            at,
            cluster,
            leader,
            lacks + log_uniform(rng, 5 * MS, 600 * MS),
        ),
        *(replace(deletion, amount=rng.choice((1000, 1000, rng.randrange(500, 1000)))) for _ in range(2)),
    ]
    if rng.random() < 0.5:
        faults.append(on(rng, "forced-election", at + lacks + log_uniform(rng, 5 * MS, 300 * MS), cluster, other, 0))
    return faults
