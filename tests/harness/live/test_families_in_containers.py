"""Families without a controller in containers: the simulator's faults, its checkers, and the outcomes of its scripts."""

import secrets
from pathlib import Path

import pytest

from tidemark.checkers import check
from tidemark.harness.live.contained_run import run_plan
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.scenario import run_scenario
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.parser import read_scenario
from tidemark.nemesis import Fault, Plan, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

S = 1_000_000
SCRIPTS = Path(__file__).parents[3] / "harness" / "scenario" / "scripts" / "families"
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=50_000, poll_us=100_000, batch=3)


@pytest.fixture(scope="module")
def three(engine, image):
    with ContainerCluster.up(3, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        yield cluster


@pytest.mark.docker
def test_a_leader_is_lost_and_what_there_is_none_of_is_told(three):
    faults = (
        Fault("controller-crash", 0, S, target="any"),
        Fault("lost-leadership", S // 2, S, target="follower"),
        Fault("power", S // 2, S, target="leader"),
        Fault("forced-election", 2 * S, target="follower", after=Trigger("elect", 1)),
    )
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, faults, 3 * S)
    history = run_plan(plan, parse_variant("raft"), cluster=three).history

    assert check(history).valid == "valid"
    assert (history.meta["family"], history.meta["read_back"], history.meta["died"]) == ("raft", True, [])
    assert [told.split(":")[0] for told in history.meta["not_suffered"]] == ["fault 0, controller-crash"]
    assert any(told.startswith("waiting for elect: lead") for told in history.meta["counterparts"])
    struck = {entry[3] for entry in history.nemesis if entry[1] == "strike"}
    assert {"lost-leadership", "power"} <= struck
    assert "controller-crash" not in struck
    leaders = [event[4] for event in history.trace if event[2] == "lead"]
    assert len(leaders) > 1
    assert leaders == sorted(set(leaders))


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant"),
    [
        pytest.param("entry-below-the-mark", "quorum-hwm", marks=pytest.mark.systems),
        pytest.param("entry-below-the-mark", "raft", marks=pytest.mark.systems),
        ("recovery-reads-forward", "bookkeeper+recovery-trusts-lac"),
    ],
)
def test_a_script_has_the_outcome_that_the_simulator_gives(three, name, variant):
    script = read_scenario(SCRIPTS / f"{name}.scenario")
    outcome = run_scenario(script, variant, LiveTargets(three.machines, time_scale=3).target)

    assert outcome.mismatches == []


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.systems
def test_a_member_is_replaced_while_its_leader_is_lost_and_every_poll_asks_a_leader(engine, image):
    faults = (
        Fault("reassignment", S // 2, S, target="any"),
        Fault("crash", S, S, target="leader"),
    )
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=4, replication_factor=3), WORK, faults, 3 * S)
    with ContainerCluster.up(4, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        history = run_plan(plan, parse_variant("raft+pre-vote+lease-reads+membership-change"), cluster=cluster).history

    assert check(history).valid == "valid"
    assert (history.meta["readers"], history.meta["read_back"], history.meta["died"]) == ("own", True, [])
    committed = [event[4] for event in history.trace if event[2] == "members" and event[7]]
    assert 4 in committed[-1]
    assert len(committed[-1]) == 3
    owed = {event[1] for event in history.trace if event[2] == "final"}
    assert owed == set(committed[-1])


@pytest.mark.docker
def test_a_writer_loses_its_disk_while_the_metadata_store_fails_and_the_journals_are_what_bookies_told(three):
    faults = (
        Fault("controller-crash", S // 2, S // 2, target="any"),
        Fault("disk", S // 2, S // 2, target="leader"),
        Fault("preferred-election", 2 * S),
    )
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WORK, faults, 3 * S)
    history = run_plan(plan, parse_variant("bookkeeper"), cluster=three).history

    assert check(history).valid == "valid"
    assert (history.meta["family"], history.meta["read_back"], history.meta["died"]) == ("bookkeeper", True, [])
    assert "doubted_nodes" not in history.meta
    struck = {entry[3] for entry in history.nemesis if entry[1] == "strike"}
    assert {"controller-crash", "disk"} <= struck
    assert len({event[4] for event in history.trace if event[2] == "lead"}) > 1
    assert any(event[2] == "stored" for event in history.trace)
    finals = [event for event in history.trace if event[2] == "final"]
    assert len(finals) == 3
    assert finals[0][-1] == finals[1][-1] == finals[2][-1] != ()
