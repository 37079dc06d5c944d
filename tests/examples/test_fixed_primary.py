"""The worked example of docs/systems-from-inside.md: a foreign system in one file, loaded and run in containers."""

import secrets
from pathlib import Path

import pytest

from tidemark.checkers import check
from tidemark.harness.live.contained_run import run_plan
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

FILE = Path(__file__).parents[2] / "examples" / "fixed_primary.py"
S = 1_000_000
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=50_000, poll_us=100_000, batch=3)


UNSYNCED_IS_GONE = Fault("container-kill", 2 * S, S // 2, "b1")


def plan(*faults, end=3 * S):
    return Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, faults, end)


def test_it_refuses_what_it_has_no_means_for():
    system = find_system(str(FILE))

    with pytest.raises(SystemRefusalError, match="fixed_primary knows nothing of slow-disk"):
        system.check(plan(Fault("slow-disk", S, S, "b1", amount=1)), system.variant(system.default_variant))
    with pytest.raises(SystemRefusalError, match="leave 'eager' away"):
        find_system(f"{FILE}:eager")


@pytest.fixture(scope="module")
def three(engine, image):
    with ContainerCluster.up(3, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        yield cluster


def run(cluster, text, *faults, end=3 * S):
    system = find_system(text)
    return run_plan(
        plan(*faults, end=end), system.variant(system.default_variant), cluster=cluster, system=system
    ).history


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.systems
def test_it_keeps_its_promise_through_faults_of_every_sort(three):
    faults = (
        Fault("slow", S // 2, 2 * S, "b3", amount=50_000),
        Fault("crash", S, S // 2, "b1"),
        Fault("preferred-election", S),
        Fault("isolate", 2 * S, S // 2, "b2"),
        Fault("restart", 3 * S, S // 2, "b2"),
        Fault("container-kill", 4 * S, S // 2, "b1"),
        Fault("pause", 5 * S, S // 2, "b1"),
    )
    history = run(three, str(FILE), *faults, end=6 * S)
    verdict = check(history)

    assert verdict.valid == "valid", verdict.anomalies
    assert verdict.stats["acked"] > 0
    assert (history.meta["system"], history.meta["died"]) == ("fixed_primary", [])
    assert [entry["why"] for entry in history.meta["refused"]] == ["the primary is fixed"]
    assert [event[4:] for event in history.trace if event[2] == "converged"] == [(True, "")]


@pytest.mark.docker
@pytest.mark.slow
def test_with_fsync_it_loses_nothing_when_the_power_fails(three):
    verdict = check(run(three, str(FILE), UNSYNCED_IS_GONE))

    assert (verdict.valid, verdict.named("lost-committed-write")) == ("valid", [])


@pytest.mark.docker
@pytest.mark.slow
def test_without_it_acknowledged_records_are_lost(three):
    history = run(three, f"{FILE}:lazy", UNSYNCED_IS_GONE)
    verdict = check(history)

    assert verdict.valid == "invalid"
    assert verdict.named("lost-committed-write")
    assert {event[6] for event in history.trace if event[2] == "truncate"} == {"the primary's log is shorter"}
