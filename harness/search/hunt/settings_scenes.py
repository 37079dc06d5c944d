"""Scenes in which an operator changes a setting at a bad time."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def min_isr_changed_unheard(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Min ISR is raised, be it to what it was first, and the leader hears late of it; its ISR shrinks, and it fails."""
    leader, one, _ = cast(rng, cluster)
    settings = cluster.settings
    ordered, lasts = at + 80 * MS, log_uniform(rng, 50 * MS, 800 * MS)
    lowered = rng.random() < 0.7
    changed = ordered + (lasts if lowered else 0)
    cut_off = changed + log_uniform(rng, 5 * MS, 200 * MS)
    fails = cut_off + int(settings.lag_time_us * rng.uniform(1.02, 1.6)) + log_uniform(rng, 20 * MS, 500 * MS)
    deafened = changed - log_uniform(rng, 1 * MS, 40 * MS)
    deaf = kinds.among(
        rng, "lost-leadership", "lost-leadership", "lost-leadership", "late-leadership", "slow-controller"
    )
    cut = kinds.among(rng, "from-peers", "from-peers", "from-peers", "one-way-in", "one-way-out", "pause")
    away = int(settings.session_us * rng.uniform(1.1, 2))
    order = on(rng, kinds.among(rng, "min-isr"), ordered, cluster, leader, lasts if lowered else fails + away)
    return [
        leads_before(rng, at, cluster, leader),
        replace(order, amount=1 if lowered else cluster.replication_factor),
        on(rng, deaf, deafened, cluster, leader, fails + away - deafened),
        on(rng, cut, cut_off, cluster, one if cut == "pause" else leader, fails - cut_off + away // 2),
        on(rng, kinds.among(rng, "crash", "crash", "pause", "isolate"), fails, cluster, leader, away),
    ]


def fewer_than_min_isr(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Min ISR is raised above what is left of the ISR, be it to what it was first, and the leader hears of it; clients go on."""
    leader, one, _ = cast(rng, cluster)
    settings = cluster.settings
    cut_off = at + log_uniform(rng, 5 * MS, 400 * MS)
    shrinks = cut_off + int(settings.lag_time_us * rng.uniform(1.02, 1.6))
    ends = shrinks + log_uniform(rng, 100 * MS, 900 * MS)
    lowered = rng.random() < 0.5
    ordered = at + log_uniform(rng, 20 * MS, 200 * MS)
    raised = rng.choice((ordered + log_uniform(rng, 50 * MS, 500 * MS), int(rng.uniform(shrinks, ends))))
    cut = "from-peers" if lowered else kinds.among(rng, "from-peers", "isolate", "pause")
    strikes, over = (ordered, raised) if lowered else (raised, ends)
    order = on(rng, kinds.among(rng, "min-isr"), strikes, cluster, leader, over - strikes)
    return [
        leads_before(rng, at, cluster, leader),
        replace(order, amount=1 if lowered else cluster.replication_factor),
        on(rng, cut, cut_off, cluster, leader if lowered else one, ends - cut_off),
    ]


def changed_while_all_are_down(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """The brokers end one after the other, and a setting is changed, or is again what it was, before they are all back."""
    nodes = cast(rng, cluster)
    gap = log_uniform(rng, 20 * MS, 500 * MS)
    changed = at + int(4 * gap * rng.uniform(0.7, 1.3)) + int(cluster.settings.session_us * rng.choice((0, 1.2)))
    back = changed + log_uniform(rng, 20 * MS, 500 * MS)
    before = log_uniform(rng, 50 * MS, 2_000 * MS)
    strikes, lasts = rng.choice(((changed, back - changed + before), (max(changed - before, 20 * MS), before)))
    return [
        *(
            on(
                rng,
                kinds.among(rng, "restart", "crash", "isolate"),
                at + turn * gap,
                cluster,
                node,
                back - at - turn * gap,
            )
            for turn, node in enumerate(nodes)
        ),
        on(rng, kinds.among(rng, "min-isr", "elr-off"), strikes, cluster, nodes[0], lasts),
    ]


def elr_off_for_a_while(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """All brokers end, ELR is switched off, all but the last leader are back and write; ELR is on again, and they crash."""
    follower, next_leader, leader = cast(rng, cluster)
    session = cluster.settings.session_us
    gaps = (log_uniform(rng, 20 * MS, 300 * MS) for _ in range(8))
    one_ends, other_ends, leader_ends = accumulate((next(gaps), next(gaps)), initial=at)
    off = leader_ends + int(session * rng.choice((0.1, 1.2)))
    other_back = off + next(gaps)
    one_back = other_back + next(gaps)
    on_again = one_back + int(session * rng.uniform(0.5, 2))
    one_fails = on_again + next(gaps)
    other_fails = one_fails + next(gaps)
    all_back = other_fails + int(session * rng.uniform(1.1, 2))
    leader_back = rng.choice((all_back, other_fails + next(gaps)))
    ways = [kinds.among(rng, "restart", "restart", "crash") for _ in range(3)]
    return [
        leads_before(rng, at, cluster, leader),
        on(rng, ways[0], one_ends, cluster, follower, one_back - one_ends),
        on(rng, ways[1], other_ends, cluster, next_leader, other_back - other_ends),
        on(rng, ways[2], leader_ends, cluster, leader, leader_back - leader_ends),
        on(rng, kinds.among(rng, "elr-off"), off, cluster, leader, on_again - off),
        on(rng, "crash", one_fails, cluster, follower, all_back - one_fails),
        on(rng, "crash", other_fails, cluster, next_leader, all_back - other_fails),
    ]


def unclean_allowed_for_a_while(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A broker falls behind, the others end, and an operator lets it lead for a while. Then the same once more, and nobody may."""
    faults = []
    session = cluster.settings.session_us
    allowed = False
    for _ in range(2):
        behind, *others = cast(rng, cluster)
        others_end = at + int(session * rng.uniform(1.1, 1.6))
        back = others_end + log_uniform(rng, 20 * MS, 400 * MS)
        others_back = back + int(session * rng.uniform(1.1, 2))
        away = kinds.among(rng, "crash", "restart", "isolate", "pause")
        faults.append(on(rng, away, at, cluster, behind, back - at))
        for other in others:
            ends = others_end + log_uniform(rng, 5 * MS, 200 * MS)
            faults.append(on(rng, kinds.among(rng, "crash", "restart"), ends, cluster, other, others_back - ends))
        if not allowed:
            allows = rng.choice((at + log_uniform(rng, 20 * MS, session), back + log_uniform(rng, 20 * MS, session)))
            forbids = allows + log_uniform(rng, 100 * MS, 2 * session)
            faults.append(on(rng, kinds.among(rng, "unclean-allowed"), allows, cluster, behind, forbids - allows))
            allowed = True
        at = others_back + log_uniform(rng, 100 * MS, 800 * MS)
    return faults
