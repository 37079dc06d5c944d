"""Scenes in which a broker acts on what is no longer so: of a reign that it missed, or of an answer that took too long."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def _lags(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int, node: str, until: int) -> Fault:
    """A follower hears nothing of its leader until a few milliseconds before so many µs are over."""
    kind = kinds.among(rng, "from-peers", "one-way-in")
    return on(rng, kind, at, cluster, node, until - log_uniform(rng, MS // 2, 8 * MS))


def leads_again_unaware(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower that lags is elected, and the other follows it; the old leader leads again, and has not heard of it.

    Whoever has followed meanwhile is cut off then, and elected.
    """
    leader, lags, other = cast(rng, cluster)
    behind = log_uniform(rng, 20 * MS, 400 * MS)
    elected = at + behind
    reign = log_uniform(rng, 8 * MS, 120 * MS)
    again = elected + reign
    deaf = kinds.among(rng, "pause", "pause", "pause", "from-controller", "lost-leadership")
    early = log_uniform(rng, 1 * MS, 30 * MS)
    cut = again + int(reign * rng.uniform(-0.4, 0.1))
    last = again + log_uniform(rng, 20 * MS, 500 * MS)
    return [
        leads_before(rng, at, cluster, leader),
        _lags(rng, kinds, cluster, at, lags, behind),
        on(rng, deaf, elected - early, cluster, leader, early + reign + log_uniform(rng, 1 * MS, 50 * MS)),
        on(rng, "forced-election", elected, cluster, lags, 0),
        on(rng, "forced-election", again, cluster, leader, 0),
        on(
            rng,
            kinds.among(rng, "from-peers", "from-peers", "one-way-in", "one-way-out"),
            cut,
            cluster,
            other,
            last - cut + reign,
        ),
        on(rng, "forced-election", last, cluster, other, 0),
    ]


def answered_late(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """What a follower asks is answered late, by a leader that was deposed and leads again: meanwhile one has led that lags."""
    leader, lags, slow = cast(rng, cluster)
    behind = log_uniform(rng, 20 * MS, 300 * MS)
    deposed, reign = (log_uniform(rng, 8 * MS, 30 * MS) for _ in range(2))
    asked = log_uniform(rng, 20 * MS, 80 * MS)
    first = at + behind
    second = first + deposed + asked
    again = second + reign
    late = on(rng, "slow", first - MS, cluster, slow, again - first + int(deposed * rng.uniform(0.5, 4)))
    faults = [
        leads_before(rng, at, cluster, leader),
        _lags(rng, kinds, cluster, at, lags, second - at),
        replace(late, amount=int((asked + reign) * rng.uniform(0.8, 2.5))),
    ]
    for node, when, leads in ((slow, first, deposed), (lags, second, reign)):
        back = on(rng, "fast-failover", when, cluster, node, 0)
        faults.append(replace(back, amount=leads, pick=1))
    return faults


def follows_on_unaware(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A follower that lags is elected and writes, and then the old leader again: the other follower has heard of neither."""
    leader, lags, deaf = cast(rng, cluster)
    behind = log_uniform(rng, 20 * MS, 400 * MS)
    elected = at + behind
    again = elected + log_uniform(rng, 10 * MS, 250 * MS)
    hears = again + log_uniform(rng, 20 * MS, 600 * MS)
    early = log_uniform(rng, 1 * MS, 30 * MS)
    kind = kinds.among(rng, "lost-leadership", "lost-leadership", "from-controller")
    return [
        leads_before(rng, at, cluster, leader),
        _lags(rng, kinds, cluster, at, lags, behind),
        on(rng, kind, elected - early, cluster, deaf, hears - elected + early),
        on(rng, "forced-election", elected, cluster, lags, 0),
        on(rng, "forced-election", again, cluster, leader, 0),
    ]


def counts_on_unaware(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Both followers end and come back, and are taken from the ISR; their leader has not heard of it, counts them, and fails."""
    leader, one, other = cast(rng, cluster)
    session = cluster.settings.session_us
    deaf = at + int(session * rng.uniform(0.1, 0.9))
    lost = at + int(session * rng.uniform(1.1, 2.2))
    kind = kinds.among(rng, "lost-leadership", "lost-leadership", "from-controller")
    first, second = (log_uniform(rng, 20 * MS, 900 * MS) for _ in range(2))
    again = max(at + int(session * rng.uniform(-0.3, 0.3)), 20 * MS)
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, kinds.among(rng, "crash", "crash", "restart"), at, cluster, one, first),
        on(rng, kinds.among(rng, "crash", "crash", "restart", "power"), again, cluster, other, second),
        on(rng, kind, deaf, cluster, leader, lost - deaf + log_uniform(rng, 50 * MS, 900 * MS)),
        on(
            rng,
            kinds.among(rng, "power", "power", "disk", "crash"),
            lost,
            cluster,
            leader,
            log_uniform(rng, 20 * MS, 1_500 * MS),
        ),
    ]


def told_late_and_then_not(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """What the controller tells a broker is late, so that it says it again; what it says next is lost as the first comes twice."""
    deaf, one, other = cast(rng, cluster)
    again = cluster.settings.request_timeout_us // 2
    lost = at + int(again * rng.uniform(0.5, 2))
    until = lost + log_uniform(rng, 200 * MS, 1_200 * MS)
    told = on(
        rng, kinds.among(rng, "late-leadership", "late-leadership", "slow-controller"), at, cluster, deaf, lost - at
    )
    nodes = [one, other, deaf]
    rng.shuffle(nodes)
    return [
        replace(told, amount=int(again * rng.uniform(1, 3))),
        on(rng, "forced-election", at + MS, cluster, nodes[0], 0),
        on(rng, kinds.among(rng, "lost-leadership"), lost, cluster, deaf, until - lost),
        on(rng, "forced-election", lost + log_uniform(rng, MS, again), cluster, nodes[1], 0),
    ]
