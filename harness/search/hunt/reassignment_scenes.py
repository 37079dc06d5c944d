"""Scenes in which replicas are moved while others are away."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def moved_from_the_last_one_there(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """One follower of a leader lags, then the other stops, and the replica of the leader is moved, which is alone in the ISR.

    Then who got it fails; or the leader does, for longer than its session, and the move is taken back or another takes its place;
    or it is taken back first, and then the leader fails. The leader may be shutting down itself as it is moved (KAFKA-14140).
    """
    leader, lags, stops, new = _moved(rng, cluster)
    session = cluster.settings.session_us
    away = kinds.among(rng, "from-peers", "from-peers", "isolate", "restart", "crash")
    out = at + int((0.2 * session if away == "restart" else cluster.settings.lag_time_us) * rng.uniform(1.02, 1.3))
    alone = out + log_uniform(rng, 20 * MS, 300 * MS)
    moved = alone + log_uniform(rng, 50 * MS, 400 * MS)
    then = moved + log_uniform(rng, 30 * MS, 500 * MS)
    orders = [(moved, kinds.among(rng, "reassignment"))]
    if (goes_on := rng.random()) < 0.4:
        down = log_uniform(rng, 20 * MS, 1_000 * MS)
        end = then + down
        fails = on(rng, kinds.among(rng, "disk", "disk", "power", "crash"), then, cluster, new, down)
    elif goes_on < 0.6:
        down = log_uniform(rng, 20 * MS, 1_000 * MS)
        after = then + log_uniform(rng, 20 * MS, 500 * MS)
        end = after + down
        orders.append((then, kinds.among(rng, "reassignment-taken-back")))
        fails = on(rng, kinds.among(rng, "crash", "power"), after, cluster, leader, down)
    else:
        taken_back = then + int(session * rng.uniform(1.1, 1.7))
        end = taken_back + log_uniform(rng, 5 * MS, 300 * MS)
        orders.append((taken_back, kinds.among(rng, "reassignment-taken-back", "reassignment")))
        fails = on(rng, kinds.among(rng, "crash", "crash", "isolate", "disk"), then, cluster, leader, end - then)
    faults = [
        leads_before(rng, at, cluster, leader),
        on(rng, away, at, cluster, lags, end - at + log_uniform(rng, 1 * MS, 800 * MS)),
        on(rng, "restart", alone, cluster, stops, end - alone + log_uniform(rng, 1 * MS, 800 * MS)),
        *(on(rng, kind, when, cluster, (leader, new)[turn], 0) for turn, (when, kind) in enumerate(orders)),
        fails,
    ]
    if rng.random() < 0.4:
        stops_too = moved + int(400 * MS * rng.uniform(-1, 0.2))
        faults.append(
            on(rng, "restart", stops_too, cluster, leader, end - stops_too + log_uniform(rng, 1 * MS, 500 * MS))
        )
    return [replace(fault, partition=0) for fault in faults]


def led_by_who_came(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower lags, so that a move does not end; who got the replica is elected, and the move is taken back."""
    going, lags, _, new = _moved(rng, cluster)
    out = at + int(cluster.settings.lag_time_us * rng.uniform(1.5, 1.8))
    moved = out + log_uniform(rng, 20 * MS, 300 * MS)
    elected = moved + log_uniform(rng, 40 * MS, 500 * MS)
    then = elected + log_uniform(rng, 20 * MS, 300 * MS)
    back = then + log_uniform(rng, 20 * MS, 600 * MS)
    fails = on(rng, kinds.among(rng, "crash", "power", "isolate"), back, cluster, new)
    faults = [
        leads_before(rng, at, cluster, going),
        on(rng, kinds.among(rng, "from-peers", "from-peers", "isolate", "one-way-in"), at, cluster, lags, back - at),
        on(rng, kinds.among(rng, "reassignment"), moved, cluster, going, 0),
        on(rng, "forced-election", elected, cluster, new, 0),
        on(rng, kinds.among(rng, "reassignment-taken-back"), then, cluster, going, 0),
        *([fails] if rng.random() < 0.3 else ()),
    ]
    return [replace(fault, partition=0) for fault in faults]


def moved_away_and_back(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A replica is moved away and back, and what its broker was told or sent meanwhile comes late, and may come twice."""
    going, _, _, new = _moved(rng, cluster)
    wait = cluster.settings.request_timeout_us
    begins = at + int(rng.uniform(1, 8) * MS)  # who is to go is told so as soon as the other has the log
    lasts = log_uniform(rng, 200 * MS, 1_600 * MS)
    back = begins + lasts + log_uniform(rng, 20 * MS, 700 * MS)
    what_is_late = kinds.among(rng, "late-leadership", "late-leadership", "slow-controller", "slow")
    late = on(rng, what_is_late, begins, cluster, going, lasts)
    faults = [
        on(rng, kinds.among(rng, "reassignment"), at, cluster, going, 0),
        replace(late, amount=int(wait * rng.uniform(0.5, 5))),
        on(rng, kinds.among(rng, "reassignment", "reassignment", "reassignment-taken-back"), back, cluster, new, 0),
    ]
    if rng.random() < 0.3:
        later = back + log_uniform(rng, 200 * MS, 2_000 * MS)
        faults.append(on(rng, kinds.among(rng, "crash", "power", "forced-election"), later, cluster, going))
    return [replace(fault, partition=0) for fault in faults]


def _moved(rng: Random, cluster: ClusterSpec) -> tuple[str, str, str, str]:
    """Whose replica is moved, two others, different ones as far as there are so many, and who may get it."""
    replicas = list(cluster.assignment()["t-0"])
    rng.shuffle(replicas)
    going, one, other = (f"b{replicas[place % len(replicas)]}" for place in range(3))
    return going, one, other, next((f"b{broker}" for broker in cluster.broker_ids() if broker not in replicas), one)


def moved_while_others_are_away(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """All followers of a leader are away, and its replica is moved; then it fails, or the move is taken back, or both.

    Where a log may be lost, the new replica's may be.
    """
    ids = list(cluster.broker_ids())
    leader, *others = (f"b{broker}" for broker in rng.sample(ids, len(ids)))
    gap = log_uniform(rng, 20 * MS, 200 * MS)
    moved = at + log_uniform(rng, 50 * MS, 900 * MS)
    faults = [on(rng, "forced-election", max(at - gap, 20 * MS), cluster, leader, 0)]
    for node in others[:2]:
        lasts = moved - at + int(gap * rng.uniform(3, 15))
        faults.append(on(rng, kinds.among(rng, "restart", "restart", "crash", "from-peers"), at, cluster, node, lasts))
    faults.append(on(rng, kinds.among(rng, "reassignment"), moved, cluster, leader))
    then = moved + int(gap * rng.uniform(1, 3))
    faults.append(
        on(rng, kinds.among(rng, "crash", "pause", "disk"), then, cluster, rng.choice((leader, others[-1])), gap * 5)
    )
    if rng.random() < 0.6:
        back = then + int(gap * rng.uniform(0.5, 2))
        faults.append(on(rng, kinds.among(rng, "reassignment"), back, cluster, others[-1]))
    return faults
