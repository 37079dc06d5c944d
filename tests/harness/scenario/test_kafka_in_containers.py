"""Real Apache Kafka in containers: a quiet run, the bugs that old protocols have and later ones do not, and a broker that does not
start. Few tests, because a cluster of JVMs takes its time.
"""

import json
import os
import secrets
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from checkers import check
from harness.cli import main
from harness.live.run import run_plan
from harness.machines.cluster import ContainerCluster
from harness.machines.leftovers import every
from harness.scenario import find, run_scenario
from harness.scenario.live.target_factory import LiveTargets
from harness.systems.registry import find_system
from nemesis import Plan, WorkloadSpec
from nodes.core.cluster import ClusterSpec

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow]

OLD, NEW = "2.8.2", "4.1.1"
S = 1_000_000


@pytest.fixture(scope="module")
def machines(request, engine, kafka_image):
    """Those of three brokers of a version; one cluster at a time."""
    version = request.param
    needs, image = find_system(f"kafka:{version}").needs, kafka_image(version)
    run_id = f"test-{secrets.token_hex(4)}"
    with ContainerCluster.up(3, run_id=run_id, image=image, client=engine, needs=needs) as cluster:
        yield cluster


old = pytest.mark.parametrize("machines", [OLD], indirect=True)
new = pytest.mark.parametrize("machines", [NEW], indirect=True)
apart = pytest.mark.xdist_group(f"Kafka {NEW}")  # its cluster need not wait for the older one's tests


@pytest.fixture
def play(machines):
    """Acts a script out on brokers that stand for a preset, and holds it against their model."""

    def play(name, system, preset):
        system = find_system(system)
        return system.judge(run_scenario(find(name), preset, LiveTargets(machines.machines, system=system).target))

    return play


def violations(outcome):
    return {anomaly.name for anomaly in outcome.verdict.anomalies if anomaly.verdict == "violation"}


@old
def test_a_run_without_faults_is_valid(machines, tmp_path):
    system = find_system(f"kafka:{OLD}")
    work = WorkloadSpec(producers=2, consumers=1, interval_us=50_000, poll_us=100_000, batch=3)
    quiet = Plan(0, 0, 1, "by hand", ClusterSpec(partitions=2), work, (), 2 * S).scaled(system.time_scale)
    variant = system.variant(system.default_variant)
    done = run_plan(quiet, variant, cluster=machines, system=system, folder=tmp_path)
    verdict = check(done.history)

    assert (verdict.valid, verdict.unknown_because, verdict.anomalies) == ("valid", None, ())
    assert verdict.stats["acked"] > 0
    meta = done.history.meta
    assert (meta["system"], meta["died"], meta.get("not_understood")) == (f"kafka:{OLD}@2.8", [], None)
    appended = {(event[1], event[3]) for event in done.history.trace if event[2] == "append"}
    assert appended == {(broker, partition) for broker in (1, 2, 3) for partition in ("t-0", "t-1")}
    assert sorted(path.name for path in (tmp_path / "nodes").iterdir()) == [
        "b1.tar.gz",
        "b2.tar.gz",
        "b3.tar.gz",
        "controller.tar.gz",
    ]


@old
def test_a_broker_under_protocol_0_10_cuts_off_an_acknowledged_record(play):
    outcome = play("kip-101-data-loss-new-leader", f"kafka:{OLD}", "kafka-0.10")
    lost = outcome.scenario.records.number("m2")

    assert "lost-committed-write" in violations(outcome)
    assert [a.evidence["value"] for a in outcome.verdict.anomalies if a.name == "lost-write"] == [lost]
    assert outcome.mismatches == []


@old
def test_today_s_protocol_keeps_it(play):
    outcome = play("kip-101-data-loss-new-leader", f"kafka:{OLD}", "kafka-2.7")

    assert (outcome.verdict.valid, violations(outcome)) == ("valid", set())
    assert outcome.mismatches == []


@old
def test_by_kip_101_s_rule_logs_diverge_for_ever(play):
    outcome = play("kip-279-scenario-1-n-20", f"kafka:{OLD}@1.1", "kafka-0.11")

    assert violations(outcome) == {"divergence", "log-matching"}
    assert outcome.mismatches == []


@old
def test_by_kip_279_s_they_do_not(play):
    outcome = play("kip-279-scenario-1-n-20", f"kafka:{OLD}", "kafka-2.0")

    assert (outcome.verdict.valid, violations(outcome)) == ("valid", set())
    assert outcome.mismatches == []


@new
@apart
def test_the_last_replica_standing_waits_for_one_that_stopped_with_everything(play):
    outcome = play("last-replica-standing-stopped", f"kafka:{NEW}", "kafka-4.0")

    assert (outcome.verdict.valid, outcome.verdict.named("lost-committed-write")) == ("valid", [])
    assert outcome.mismatches == []


@apart
def test_a_broker_that_does_not_start_is_named_with_its_last_words_and_nothing_is_left(
    engine, kafka_image, monkeypatch, tmp_path
):
    kafka_image(NEW)
    before = {item.run for item in every(engine) if item.owner.pid == str(os.getpid())}
    size = ("--brokers", "1", "--replication-factor", "1", "--min-isr", "1")
    words = ("run", "--system", f"kafka:{NEW}", *size, "--broker-config", "message.max.bytes=lots", "--out", "here")
    out, complaint = StringIO(), StringIO()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tidemark", *words])
    with redirect_stdout(out), redirect_stderr(complaint), pytest.raises(SystemExit) as end:
        main()

    assert end.value.code == 2, complaint.getvalue()
    why = json.loads((tmp_path / "here" / "verdict.json").read_text())["unknown_because"]
    assert out.getvalue() == f"unknown: {why}\n  what evidence there is: here\n"
    assert "message.max.bytes" in why
    assert "controller" in why
    assert "\n" not in why
    assert (tmp_path / "here" / "nodes" / "controller.tar.gz").exists()
    assert {item.run for item in every(engine) if item.owner.pid == str(os.getpid())} == before
