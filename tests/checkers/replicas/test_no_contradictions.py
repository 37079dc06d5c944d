"""Over many runs that lose something: no sentence contradicts itself, or what the trace shows."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from tidemark.checkers.history.trace_events import Append, Reassign
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import cluster_of_plans, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

NEVER = "it never had it"
INSTEAD = re.compile(r"it has record (\S+) of epoch (\d+) there")
IN_ISR = [
    re.compile(r"though broker (\d+) of the ISR was well"),
    re.compile(r"Broker (\d+) stayed in the ISR"),
    re.compile(r"Broker (\d+) is in (?:the controller's ISR|the leader's ISR|the ELR)"),
    re.compile(r"though ([\d, ]+) of the ISR live"),
]
RUNS_EACH = 30
LOSSES = ("lost-committed-write", "leader-completeness", "truncated-under-consumer")
RUNS = [
    ("kafka-0.10", "destructive", 3, 3, 2),
    ("kafka-0.11", "retention-destructive", 3, 3, 2),
    ("kafka-2.0", "reassignments", 5, 4, 1),
    ("kafka-2.7", "reassignments", 5, 4, 1),
    ("kafka-2.7", "reassignments-destructive", 4, 3, 1),
    ("kafka-2.7+no-fences+truncation=hw", "destructive", 3, 3, 2),
    ("kafka-4.0", "reassignments-destructive", 4, 2, 1),
    ("kafka-4.0+KAFKA-15586", "destructive", 3, 3, 2),
    ("quorum-hwm", "destructive", 3, 3, 2),
    ("raft+membership-change+change-at-once", "reassignments", 4, 3, 2),
]
"""Variant, profile, brokers, replicas, min ISR."""


def had(history, node, partition, offset, record, until):
    return any(
        one.node == node and one.time <= until and one.wrote(offset, record)
        for one in Append.among(history.trace, partition)
    )


def replicas_at(history, partition, time):
    """All that were replicas at some moment of that µs."""
    known = list(map(int, history.meta["replicas"][partition]))
    orders = list(Reassign.among(history.trace, partition))
    now = {*known}
    for order in orders:
        if order.time > time:
            break
        now = {*order.replicas} | (now if order.time == time else set())
    return now


def contradictions(history, anomaly):
    evidence, message = anomaly.evidence, anomaly.message
    record = (evidence.get("epoch"), evidence.get("value"))
    if anomaly.name == "lost-committed-write" and "destroyed_by" in evidence:
        told = INSTEAD.search(message)
        if told and int(told[2]) == record[0] and told[1] == str(record[1]):
            yield "it has what it has not"
        if "None of epoch -1" in message:
            yield "it has a record that is none"
        if NEVER in message and had(
            history, evidence["leader"], anomaly.partition, evidence["offset"], record, anomaly.time
        ):
            yield "it never had what it had"
        if (
            NEVER in message
            and "no broker ever held it" not in message
            and evidence["committed_by"] == evidence["leader"]
        ):
            yield "it never had what it committed"
    for pattern in IN_ISR:
        for found in pattern.findall(message):
            outside = {int(node) for node in found.split(",")} - replicas_at(history, anomaly.partition, anomaly.time)
            if outside:
                yield f"{sorted(outside)} in the ISR, and no replica"


@pytest.mark.parametrize(("variant", "profile", "brokers", "replicas", "min_isr"), RUNS)
def test_no_sentence_contradicts_itself_or_the_trace(variant, profile, brokers, replicas, min_isr):
    found, told = [], Counter()
    asked = ClusterSpec(brokers=brokers, replication_factor=replicas, settings=replace(Settings(), min_isr=min_isr))
    for index in range(RUNS_EACH):
        run = execute(generate_plan(77, index, profile, cluster_of_plans(profile, asked)), variant)
        for anomaly in run.verdict.anomalies:
            told[anomaly.name] += 1
            found += [(index, why, anomaly.message) for why in contradictions(run.history, anomaly)]

    assert found == []
    if "destructive" in profile:
        assert sum(told[name] for name in LOSSES) > 0
