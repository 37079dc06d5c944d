"""Whatever is not believed of a node, nothing is found that the whole evidence does not show."""

import pytest

from tidemark.checkers import check
from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

PLANS = 12


def violations(history):
    return {(one.name, one.partition) for one in check(history).anomalies if one.verdict == VIOLATION}


@pytest.mark.parametrize("profile", ["intact", "destructive", "retention-destructive", "reassignments"])
@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.0", "kafka-4.0"])
def test_no_doubt_makes_a_violation(variant, profile):
    for index in range(PLANS):
        history = simulate(generate_plan(5, index, profile, ClusterSpec()), parse_variant(variant)).history
        whole = violations(history)
        for node in (1, 2, 3):
            history.meta["doubted_nodes"] = {str(node): ["a riddle"]}
            assert violations(history) <= whole, (index, node)


def test_most_of_what_happens_is_still_found():
    found = kept = 0
    for index in range(5 * PLANS):
        history = simulate(generate_plan(5, index, "destructive", ClusterSpec()), parse_variant("kafka-0.10")).history
        if violations(history):
            for node in (1, 2, 3):
                history.meta["doubted_nodes"] = {str(node): ["a riddle"]}
                found += 1
                kept += bool(violations(history))
    assert found
    assert kept >= found / 4
