"""What a run writes is read again, whatever happened in it."""

import pytest

from tidemark.checkers import read_history, write_history
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import PROFILES, generate_plan
from tidemark.nemesis.plan import ClusterSpec


def written_and_read(variant, profile, cluster, folder):
    for index in range(3):
        plan = generate_plan(seed=5, index=index, profile=profile, cluster=cluster)
        history = execute(plan, variant).history
        file = folder / f"{index}.jsonl"
        write_history(history, file)

        assert list(read_history(file).trace) == list(history.trace)


@pytest.mark.parametrize("profile", sorted({*PROFILES} - {"members", "log-dirs", "log-dir-failures", "voters"}))
def test_a_run_of_every_profile_is_read_as_it_was_written(profile, tmp_path):
    written_and_read("kafka-3.7", profile, ClusterSpec(brokers=4), tmp_path)


@pytest.mark.parametrize(
    ("variant", "profile"),
    [
        ("bookkeeper", "destructive"),
        ("raft+membership-change", "reassignments"),
        ("quorum-hwm", "destructive"),
        ("reconciliation", "destructive"),
    ],
)
def test_so_is_one_of_every_family(variant, profile, tmp_path):
    written_and_read(variant, profile, ClusterSpec(), tmp_path)
