"""What a run writes is read again, whatever happened in it."""

import pytest

from tidemark.checkers import read_history, write_history
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import PROFILES, generate_plan
from tidemark.nemesis.plan import ClusterSpec


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_run_of_every_profile_is_read_as_it_was_written(profile, tmp_path):
    for index in range(3):
        plan = generate_plan(seed=5, index=index, profile=profile, cluster=ClusterSpec(brokers=4))
        history = execute(plan, "kafka-3.7").history
        file = tmp_path / f"{index}.jsonl"
        write_history(history, file)

        assert list(read_history(file).trace) == list(history.trace)
