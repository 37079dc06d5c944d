"""From a plan and a variant's name to a verdict."""

import pytest

from tidemark.checkers import check
from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Plan, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import VariantError, parse_variant

SECOND = 1_000_000
PLAN = Plan(
    0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(interval_us=100_000), (Fault("forced-election", SECOND, 0, "b2"),),
    2 * SECOND,
)  # fmt: skip


def test_a_good_run_is_valid():
    result = execute(PLAN, "kafka-2.7")

    assert result.verdict.valid == "valid"
    assert result.verdict.contract == "documented"
    assert [a for a in result.verdict.anomalies if a.verdict == "violation"] == []
    assert result.verdict.stats["elections"] == 1


@pytest.mark.parametrize(
    ("faults", "valid"), [((Fault("slow", SECOND, 1_000, amount=1_000),), "unknown"), ((), "valid")]
)
def test_faults_that_lead_to_no_election_prove_nothing(faults, valid):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), faults, 2 * SECOND)

    assert execute(plan, "kafka-2.7").verdict.valid == valid


def test_it_is_the_simulators_history_and_the_checkers_verdict():
    plan = generate_plan(1, 3, "intact", ClusterSpec())
    result = execute(plan, "kafka-2.7")
    run = simulate(plan, parse_variant("kafka-2.7"))

    assert (result.digest, result.events, result.virtual_us) == (run.digest, run.events, run.virtual_us)
    assert result.verdict == check(run.history)


def test_another_promise_can_be_asked_for_and_does_not_change_the_run():
    asked, own = execute(PLAN, "kafka-4.0", "durable"), execute(PLAN, "kafka-4.0")

    assert (asked.verdict.contract, own.verdict.contract) == ("durable", "kip-966")
    assert asked.digest == own.digest


def test_a_variant_that_is_none_is_refused():
    with pytest.raises(VariantError, match="unknown variant"):
        execute(PLAN, "kafka-9")
