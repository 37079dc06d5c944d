"""A question repeated is no further round; another question is, and so is a fetch that is told to cut."""

import pytest

from tidemark.checkers.history.turning_points import turning_points
from tidemark.checkers.marks import exercised
from tidemark.checkers.replicas.truncation_rounds import rounds_needed
from tidemark.harness.scenario.library import find
from tidemark.harness.scenario.play import run_scenario
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Fault, Plan, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

K = "t-0"


def ask(epoch, node=2, key=K):
    return (5, node, "ask", key, 1, epoch)


def follow(epoch, node=2, key=K):
    return (1, node, "follow", key, epoch, 1, 9, 4)


def cut(why, node=2):
    return (6, node, "truncate", K, 6, 9, why, 3)


FETCHED = (9, 2, "fetched", K, 3, 1)
COMMON, LOCAL = "to the end of common epoch 1", "to the end of local epoch 1"


@pytest.mark.parametrize(
    ("trace", "rounds"),
    [
        pytest.param([follow(3), FETCHED], {}, id="nothing to do"),
        pytest.param([follow(3), ask(2), FETCHED], {1: 1}, id="its log fits"),
        pytest.param([follow(3), ask(2), cut(COMMON), FETCHED], {1: 1}, id="one answer, one cut"),
        pytest.param([follow(3), ask(2), ask(2), ask(2), cut(COMMON), FETCHED], {1: 1}, id="asked again in vain"),
        pytest.param([follow(3), ask(2), cut(LOCAL), ask(1), ask(1), cut(COMMON), FETCHED], {2: 1}, id="two answers"),
        pytest.param([follow(3), ask(4), ask(2), ask(1)], {3: 1}, id="the run ends"),
        pytest.param(
            [follow(3), ask(2), follow(4), ask(2), FETCHED],
            {1: 1},
            id="another reign, another mending, and the first was not answered",
        ),
        pytest.param(
            [follow(3), ask(2), cut(COMMON), (6, 2, "stop", "", "crash"), follow(3), ask(2), FETCHED],
            {1: 2},
            id="another life",
        ),
        pytest.param(
            [follow(3), ask(2), (6, 2, "lead", K, 4, 9, 4, ()), follow(5), ask(4), ask(1)], {2: 1}, id="it led between"
        ),
        pytest.param(
            [follow(3), ask(2), ask(2, node=3), ask(2, key="t-1"), FETCHED, cut(COMMON, node=3)],
            {1: 2},
            id="each replica for itself",
        ),
        pytest.param([follow(3), cut(COMMON), cut(COMMON), FETCHED], {2: 1}, id="two fetches that were told to cut"),
        pytest.param(
            [follow(3), ask(2), cut("to where the logs part in epoch 1")], {1: 1}, id="KIP-279's alternative 2"
        ),
        pytest.param([follow(3), cut("to high watermark"), FETCHED], {}, id="nobody told it to cut"),
        pytest.param([follow(3), cut("out of range: to the leader's log end 6"), FETCHED], {}, id="out of range"),
        pytest.param([follow(3), ask(2), cut("no answer: to high watermark"), FETCHED], {}, id="no answer"),
    ],
)
def test_rounds(trace, rounds):
    assert rounds_needed(turning_points(trace)) == rounds


def test_a_mark_is_no_repeated_question():
    assert "rounds-2" not in exercised([follow(3), ask(2), ask(2)])
    assert "rounds-2" in exercised([follow(3), ask(2), ask(1)])
    assert "rounds-2" not in exercised([follow(3), ask(2), FETCHED, ask(1)])
    assert "rounds-2" in exercised([follow(3), cut(COMMON), cut(COMMON)])


@pytest.mark.parametrize(
    ("variant", "rounds"),
    [("kafka-0.10", {}), ("kafka-0.11", {1: 2}), ("kafka-2.0", {1: 1, 2: 1}), ("kafka-2.7", {1: 1})],
)
def test_three_fast_leader_changes(variant, rounds):
    """B follows twice, and the second time it takes KIP-279 two questions; what A asks is not answered."""
    trace = run_scenario(find("kip-279-two-rounds"), variant).history.trace

    assert rounds_needed(turning_points(trace)) == rounds


def test_most_questions_of_a_random_plan_may_be_repeated_ones():
    """A follower is cut off from its leader for a while, and asks again every 100 ms."""
    trace = simulate(
        generate_plan(1, 94, "intact", ClusterSpec()), parse_variant("kafka-2.1+bounce-detection")
    ).history.trace

    assert sum(event[2] == "ask" for event in trace) == 53
    assert rounds_needed(turning_points(trace)) == {1: 5, 2: 2}


def test_forcing_the_high_watermark_at_each_change_of_leaders_has_its_price():
    elections = tuple(Fault("forced-election", 500_000 * (1 + i), target=f"b{1 + (1 + i) % 3}") for i in range(4))
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), elections, 3_000_000)
    base, forced = (
        simulate(plan, parse_variant(variant)).history.meta["hw_checkpoints"]
        for variant in ("kafka-2.1", "kafka-2.1+truncation=hw-epoch")
    )

    assert forced == base + 3 * (1 + len(elections)), "each of three brokers, the first election included"
