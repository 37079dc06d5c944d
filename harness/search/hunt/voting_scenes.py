"""Scenes of servers that elect their leaders: votes that come late, voters that forget, and reigns that nobody hears of."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault, Trigger
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def slow_candidate_stands_again(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A server stands, and stands again before it has the answers; another one stands meanwhile."""
    slow, other, leader = cast(rng, cluster)
    late = log_uniform(rng, 20 * MS, 300 * MS)
    again = at + int(late * rng.uniform(0.5, 1.2))
    stands = [(at, slow), (again, slow), (again + int(late * rng.uniform(0, 0.4)), other)]
    early = 20 * MS
    return [
        leads_before(rng, at, cluster, leader),
        replace(on(rng, "slow", at - early, cluster, slow, early + 5 * late), amount=late),
        *(on(rng, "forced-election", when, cluster, node, 0) for when, node in stands),
    ]


def voters_come_back_and_vote(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader is cut off from the other servers, not from its clients; those restart at that moment, and one of them stands."""
    leader, voter, other = cast(rng, cluster)
    session = cluster.settings.session_us
    cut_off = on(
        rng, kinds.among(rng, "from-peers", "isolate"), at, cluster, leader, int(session * rng.uniform(0.5, 3))
    )
    faults = [leads_before(rng, at - 100 * MS, cluster, leader), replace(cut_off, clients=False)]
    stands = at
    for node in (voter, other):
        ends = at + int(60 * MS * rng.uniform(-1, 1))
        down = log_uniform(rng, 1 * MS, 60 * MS)
        faults.append(on(rng, kinds.among(rng, "crash", "crash", "restart", "power"), ends, cluster, node, down))
        stands = max(stands, ends + down)
    stands += log_uniform(rng, 5 * MS, 100 * MS)
    return [*faults, *(on(rng, "forced-election", stands + turn * 40 * MS, cluster, other, 0) for turn in range(2))]


def each_writes_alone(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Two leaders in turn are cut off with what nobody else has; the first leads again, and fails as soon as a third has some of
    that; then the second leads again (Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", figure 8).
    """
    one, other, third = cast(rng, cluster)
    alone, reign = (log_uniform(rng, 30 * MS, 400 * MS) for _ in range(2))
    again = log_uniform(rng, 100 * MS, 1_200 * MS)
    elected = at + alone
    back = elected + reign
    cuts = ("from-peers", "from-peers", "isolate")
    voted_for = on(rng, kinds.among(rng, *cuts), elected - 5 * MS, cluster, other, reign + again)
    leads_again = on(rng, "forced-election", back, cluster, one, 0)
    fails = on(rng, kinds.among(rng, "crash", "pause", *cuts), back, cluster, one, again + cluster.settings.session_us)
    return [
        leads_before(rng, at - 100 * MS, cluster, one),
        replace(on(rng, kinds.among(rng, *cuts), at, cluster, one, back - at), clients=False),
        replace(voted_for, clients=False, after=Trigger("follow", 1, int(third[1:]))),
        on(rng, "forced-election", elected, cluster, other, 0),
        replace(leads_again, after=Trigger("follow", 1, int(one[1:]))),
        replace(fails, after=Trigger("append", rng.choice((1, 2, 2, 3)), int(third[1:]))),
        on(rng, "forced-election", back + again + 20 * MS, cluster, other, 0),
    ]


def order_goes_with_its_leader(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A leader that hears nobody is asked to take a server away, and the order is taken back, by it or by the next leader, whose
    log knows nothing of it. Then the first one leads again, or one of those whom it had told.
    """
    group = [f"b{broker}" for broker in cluster.assignment()["t-0"]]
    first, other, gone = (group + group)[(start := rng.randrange(len(group))) : start + 3]
    alone = log_uniform(rng, 150 * MS, 900 * MS)
    back = at + 20 * MS + log_uniform(rng, 20 * MS, alone // 2)
    elected = back + int((at + alone - back) * rng.random())
    if rng.random() < 0.5:
        back, elected = elected, back
    again = at + alone + log_uniform(rng, 20 * MS, 600 * MS)
    cut_off = on(rng, kinds.among(rng, "from-peers", "from-peers", "isolate"), at, cluster, first, alone)
    without = [name for name in (f"b{broker}" for broker in cluster.broker_ids()) if name not in group or name == gone]
    taken_back = on(rng, kinds.among(rng, "one-more-replica"), back, cluster, gone, 0)
    faults = [
        leads_before(rng, at - 100 * MS, cluster, first),
        cut_off,
        on(rng, kinds.among(rng, "one-fewer-replica"), at + 20 * MS, cluster, gone, 0),
        replace(taken_back, pick=2 * without.index(gone)),
        on(rng, "forced-election", elected, cluster, other, 0),
        on(rng, "forced-election", again, cluster, rng.choice((first, first, other)), 0),
    ]
    if rng.random() < 0.3:
        faults.append(on(rng, rng.choice(kinds.failures), again + log_uniform(rng, 20 * MS, 400 * MS), cluster, first))
    return [replace(fault, partition=0, clients=False) for fault in faults]


def cut_off_as_another_stands(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A server does not hear the leader, whom another hears, and misses nothing, for no client reaches the leader. As it stands,
    the leader is cut off from all but its clients: nobody tells it of an election in which those vote that have just answered it.
    """
    leader, candidate, voter = cast(rng, cluster)
    session = cluster.settings.session_us
    lasts = int(session * rng.uniform(0.5, 2))
    until = at + 2 * session + lasts
    unheard = kinds.among(rng, "bridge", "bridge", "bridge", "one-way-in")
    cut_off = on(rng, kinds.among(rng, "from-peers", "from-peers", "one-way-in"), at, cluster, leader, lasts)
    faults = [
        leads_before(rng, at - 60 * MS, cluster, leader),
        on(rng, unheard, at, cluster, candidate if unheard == "one-way-in" else voter, until - at),
        on(rng, kinds.among(rng, "from-clients"), at, cluster, leader, int(session * rng.uniform(1, 2.3))),
        replace(cut_off, after=Trigger("follow", 1, int(candidate[1:]))),
        on(
            rng, "forced-election", until - log_uniform(rng, 20 * MS, 600 * MS), cluster, rng.choice((leader, voter)), 0
        ),
    ]
    return [replace(fault, clients=False) for fault in faults]


def slower_than_it_is_waited_for(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """While one follower is away, the links of the other are slower than anybody waits: what was sent is sent again, and comes
    twice, the first after the second, perhaps from a former process. Then the leader fails, and the slow one may be elected.
    """
    leader, slow, away = cast(rng, cluster)
    settings = cluster.settings
    waits = settings.request_timeout_us
    lasts = int(waits * rng.uniform(1.5, 5))
    fails = at + int(lasts * rng.uniform(0.6, 1.1))
    late = replace(on(rng, "slow", at, cluster, slow, lasts), amount=int(waits * rng.uniform(0.5, 2)))
    faults = [
        leads_before(rng, at - 100 * MS, cluster, leader),
        late,
        on(
            rng,
            kinds.among(rng, "from-peers", "from-peers", "one-way-in", "pause", "crash"),
            at,
            cluster,
            away,
            int(lasts * rng.uniform(0.3, 1.2)),
        ),
        on(rng, rng.choice(kinds.failures), fails, cluster, leader),
        on(rng, "forced-election", fails + log_uniform(rng, 2 * MS, 400 * MS), cluster, slow, 0),
    ]
    if rng.random() < 0.5:
        ends = on(rng, kinds.among(rng, "crash", "power", "restart"), at + int(lasts * rng.random() / 2), cluster, slow)
        faults.append(replace(ends, lasts_us=log_uniform(rng, 1 * MS, 200 * MS)))
    return faults


def leave_is_long_on_its_way(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """An operator wants a server to lead, and the leave for it is long under way. Meanwhile the leader goes on, or a third leads
    with the same leader's leave; then whoever leads is cut off from all but its clients, none of whom had reached it for a while.
    """
    leader, heir, third = cast(rng, cluster)
    session = cluster.settings.session_us
    asked = at + int(session * rng.uniform(0.6, 1.7))
    late = log_uniform(rng, 60 * MS, session)
    reigns, since = leader, asked + 2 * MS
    slow = on(rng, "slow", asked + MS // 10, cluster, heir, log_uniform(rng, 3 * MS, 60 * MS))
    faults = [
        leads_before(rng, at - 60 * MS, cluster, leader),
        replace(slow, amount=late),
        on(rng, "forced-election", asked, cluster, heir, 0),
    ]
    if rng.random() < 0.5:
        reigns, since = third, asked + log_uniform(rng, 2 * MS, late)
        faults.append(on(rng, "forced-election", since, cluster, third, 0))
    cut = since + log_uniform(rng, 5 * MS, late)
    until = cut + int(session * rng.uniform(0.5, 1.5))
    faults += [
        on(
            rng, kinds.among(rng, "from-clients"), at, cluster, reigns, cut - at + int(session * rng.uniform(-0.3, 0.8))
        ),
        on(rng, kinds.among(rng, "from-peers", "from-peers", "one-way-in"), cut, cluster, reigns, until - cut),
        on(rng, "forced-election", until, cluster, rng.choice((leader, third)), 0),
    ]
    return [replace(fault, clients=False) for fault in faults]


def heard_by_few(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Most servers are away, or cut off, for longer than a leader may wait for them; one follows it still. As they come back the
    leader fails, or one of the two is elected.
    """
    leader, loyal, *others = rng.sample(range(1, cluster.brokers + 1), cluster.brokers)
    lasts = int(cluster.settings.session_us * rng.uniform(1.5, 4))
    ways = ("from-peers", "from-peers", "from-peers", "one-way-in", "one-way-out", "pause", "crash")
    faults = [leads_before(rng, at - 100 * MS, cluster, f"b{leader}")]
    for away in others[: cluster.brokers // 2 + 1]:
        begins = at + int(100 * MS * rng.random())
        faults.append(on(rng, kinds.among(rng, *ways), begins, cluster, f"b{away}", at + lasts - begins))
    back = at + lasts + int(100 * MS * rng.uniform(-1, 1))
    last = on(rng, "forced-election", back, cluster, f"b{rng.choice((leader, loyal))}", 0)
    if rng.random() < 0.5:
        last = on(rng, rng.choice(kinds.failures), back, cluster, f"b{leader}")
    return [replace(fault, clients=False) for fault in (*faults, last)]
