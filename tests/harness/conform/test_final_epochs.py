"""Replicas at rest in their system's own leader epochs, whatever epochs a target counts."""

from dataclasses import replace

import pytest

from tidemark.harness.conform.final_epochs import replicas_in_own_epochs
from tidemark.harness.scenario import find, run_scenario
from tidemark.harness.scenario.simulated import SimulatedTarget


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("kip-101-divergence", "kafka-0.10"),
        ("kafka-6975-deletion-inside-a-batch", "kafka-2.7"),
        ("forgotten-log-start", "kafka-4.0"),
        ("cut-at-a-log-start-inside-a-batch", "kafka-4.0+begin-anew"),
    ],
)
def test_the_trace_says_which_epoch_a_record_is_of(name, variant):
    """Also where a log starts later than at 0, was cut, and began anew."""
    outcome = run_scenario(find(name), variant, SimulatedTarget)
    *steps, last = outcome.narrative
    counted_otherwise = tuple(
        state._replace(log=tuple((9, record) for _, record in state.log), epoch=9) for state in last.replicas
    )
    told = replace(outcome, narrative=(*steps, replace(last, replicas=counted_otherwise)))

    assert replicas_in_own_epochs(told) == list(last.replicas)
