"""A plan as its run went."""

from dataclasses import replace

from tidemark.checkers import History
from tidemark.checkers.history.history import Op
from tidemark.harness.search.shrink.as_it_happened import SLOW_US, as_it_happened, sends_of, ways_it_may_have_gone
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Send, Trigger, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


def strike(time, index, kind, **detail):
    return (time, "strike", index, kind, detail)


def test_what_struck_did_so_then_and_there(plan, fault):
    faults = (
        fault("pause", 1_000_000, lasts_us=5, target="follower", pick=3),
        fault("crash", 1_000_000, target="leader", after=Trigger("append", 3)),
        fault("slow", 2_000_000),
        fault("controller-crash", 2_500_000, target="any"),
    )
    history = History.of(
        nemesis=[
            strike(1_003_217, 0, "pause", node=2),
            strike(1_700_001, 1, "crash", node=3),
            (1_800_000, "heal", 0, "pause", {}),
            strike(2_600_000, 3, "controller-crash", node=0),
        ]
    )
    assert as_it_happened(plan(*faults), history).faults == (
        replace(faults[0], at_us=1_003_217, target="b2"),
        replace(faults[1], at_us=1_700_001, target="b3", after=None),
        replace(faults[3], at_us=2_600_000),
    )


def test_what_was_sent_is_sent():
    ops = [
        Op(10, "p1", "invoke", "send", (("send", "t-0", 1_000_000), ("send", "t-0", 1_000_001)), None, "all"),
        Op(20, "c1", "invoke", "poll", (("poll", {}),)),
        Op(25, "p1", "ok", "send", (("send", "t-0", (0, 1_000_000)),), None, "all"),
        Op(30, "p3", "invoke", "send", (("send", "t-12", 3_000_000),), None, "all"),
    ]
    assert sends_of(History.of(ops=ops)) == [Send(10, 1, 0, 2), Send(30, 3, 12, 1)]


def test_a_simulated_run_goes_much_the_same_again():
    drawn = generate_plan(1, 3, "intact", ClusterSpec())
    first = execute(drawn, "kafka-0.10")
    again = execute(as_it_happened(drawn, first.history), "kafka-0.10")
    assert sends_of(again.history) == sends_of(first.history)
    strikes = [[entry[:4] for entry in run.history.nemesis if entry[1] == "strike"] for run in (first, again)]
    assert [entry[0] for entry in strikes[0]] == [entry[0] for entry in strikes[1]]


def test_plan_and_run_are_both_looked_at_under_noises_and_slow_delays(plan, fault):
    drawn, happened = plan(fault(), work=WorkloadSpec()), plan(fault(target="b2"))
    ways = list(ways_it_may_have_gone(drawn, happened, 3))
    assert len(ways) == 2 * 3 + 2 * len(SLOW_US)
    assert [way.fixed_delay_us for way in ways[6:8]] == [2_000, 2_000]
    assert {way.faults[0].target for way in ways} == {"leader", "b2"}
