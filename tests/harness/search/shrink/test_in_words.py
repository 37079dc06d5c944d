"""A plan in words."""

from tidemark.harness.search.shrink.in_words import conditions, lines_of, shape
from tidemark.nemesis import Send, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

FAILOVER = (
    "fast-failover: a follower is elected, then another 0.020 s later; the old leader is deaf to the controller for "
    "0.050 s (pick 3)"
)


def test_what_happens_in_order_of_time(plan, fault):
    faults = (
        fault("fast-failover", 600_000, target="follower", pick=3, amount=20_000, lasts_us=50_000),
        fault("fast-failover", 650_000, target="follower", pick=4),
        fault("isolate", 550_000, lasts_us=1_500_000, target="b2", clients=True),
        fault("crash-all", 700_000, lasts_us=100_000),
        fault("lossy", 800_000, target="any", amount=500, after=Trigger("append", 2, 1)),
        fault("forced-election", 900_001, target="isr-member", lasts_us=5),
    )
    work = WorkloadSpec(producers=2, sends=(Send(500_000), Send(600_000, 2, 1, 3)))
    assert lines_of(plan(*faults, end=2_000_000, work=work)) == [
        "0.500 s  producer p1 sends 1 record",
        "0.550 s  isolate of b2, for 1.500 s (clients cut off as well)",
        "0.600 s  producer p2 sends 3 records to t-1",
        f"0.600 s  {FAILOVER}",
        "0.650 s  fast-failover: a follower is elected, then the old leader; the old leader misses it at first (pick 4)",
        "0.700 s  crash-all, for 0.100 s",
        "0.800 s  lossy of a replica, after append number 2 from then on at b1, amount 500",
        "0.900001 s  forced-election of a member of the ISR",
        "2.000 s  everything is healed",
    ]


def test_how_large_it_is(plan, fault):
    assert shape(plan(fault())) == "1 fault, 1 record, 3 brokers"
    drawn = plan(fault(), fault(), work=WorkloadSpec(), cluster=ClusterSpec(partitions=2))
    assert shape(drawn) == "2 faults, records as drawn, 3 brokers, 2 partitions"


def test_what_stands_beside_it(plan):
    assert conditions(plan(fixed_delay_us=1_000)) == (
        "3 brokers, 3 replicas, min ISR 2, acks=all; every message takes 0.001 s"
    )
    assert conditions(plan(work=WorkloadSpec())).endswith(", 2 producers as drawn; noise seed 7")


def test_very_many_sends_are_a_number(plan):
    work = WorkloadSpec(producers=1, sends=tuple(Send(500_000 + i * 100_000) for i in range(30)))
    lines = lines_of(plan(work=work))
    assert lines[0] == "0.500 s  20 sends from here on, not told one by one"
    assert len(lines) == 12
