"""Real Apache Kafka with ZooKeeper, in containers: a quiet run, and the bugs that old protocols have and later ones do not.

Few tests, because a cluster of JVMs takes its time.
"""

import pytest

from tidemark.checkers import check
from tidemark.harness.live.contained_run import run_plan
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow, pytest.mark.systems]

VERSION = "2.8.2"
S = 1_000_000


def violations(outcome):
    return {anomaly.name for anomaly in outcome.verdict.anomalies if anomaly.verdict == "violation"}


def test_a_run_without_faults_is_valid(kafka_machines, tmp_path):
    system = find_system(f"kafka:{VERSION}")
    work = WorkloadSpec(producers=2, consumers=1, interval_us=50_000, poll_us=100_000, batch=3)
    quiet = Plan(0, 0, 1, "by hand", ClusterSpec(partitions=2), work, (), 2 * S).scaled(system.time_scale)
    variant = system.variant(system.default_variant)
    done = run_plan(quiet, variant, cluster=kafka_machines, system=system, folder=tmp_path)
    verdict = check(done.history)

    told = [one for one in verdict.anomalies if one.verdict != "informational"]
    assert (verdict.valid, verdict.unknown_because, told) == ("valid", None, [])
    assert verdict.stats["acked"] > 0
    meta = done.history.meta
    assert (meta["system"], meta["died"], meta.get("not_understood")) == (f"kafka:{VERSION}@2.8", [], None)
    appended = {(event[1], event[3]) for event in done.history.trace if event[2] == "append"}
    acked = {key for op in done.history.ops if (op.f, op.type) == ("send", "ok") for _, key, _ in op.value}
    assert appended >= {(broker, partition) for broker in (1, 2, 3) for partition in acked}
    assert sorted(path.name for path in (tmp_path / "nodes").iterdir()) == [
        "b1.tar.gz",
        "b2.tar.gz",
        "b3.tar.gz",
        "controller.tar.gz",
    ]


def test_a_broker_under_protocol_0_10_cuts_off_an_acknowledged_record(play_on_kafka):
    outcome = play_on_kafka("kip-101-data-loss-new-leader", f"kafka:{VERSION}", "kafka-0.10")
    lost = outcome.scenario.records.number("m2")

    assert "lost-committed-write" in violations(outcome)
    assert [a.evidence["value"] for a in outcome.verdict.anomalies if a.name == "lost-write"] == [lost]
    assert outcome.mismatches == []


def test_today_s_protocol_keeps_it(play_on_kafka):
    outcome = play_on_kafka("kip-101-data-loss-new-leader", f"kafka:{VERSION}", "kafka-2.7")

    assert (outcome.verdict.valid, outcome.verdict.unknown_because, violations(outcome)) == ("valid", None, set())
    assert outcome.mismatches == []


def test_by_kip_101_s_rule_logs_diverge_for_ever(play_on_kafka):
    outcome = play_on_kafka("kip-279-scenario-1-n-20", f"kafka:{VERSION}@1.1", "kafka-0.11")

    assert violations(outcome) == {"divergence", "log-matching"}
    assert outcome.mismatches == []


def test_by_kip_279_s_they_do_not(play_on_kafka):
    outcome = play_on_kafka("kip-279-scenario-1-n-20", f"kafka:{VERSION}", "kafka-2.0")

    assert (outcome.verdict.valid, outcome.verdict.unknown_because, violations(outcome)) == ("valid", None, set())
    # a fetcher whose answer comes late on a busy machine asks once more, from where it has cut to
    assert [words for words in outcome.mismatches if not words.startswith("questions of ")] == []
