"""A producer that sends its batch again, and leaders that know what they have."""

from collections import Counter
from dataclasses import replace

import pytest

from tidemark.checkers import check
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.families import parse_variant

MS = 1_000
AGAIN = WorkloadSpec(producers=3, interval_us=20 * MS, patience_us=3_000 * MS, again_us=200 * MS)
FAULTS = (
    Fault("from-peers", 500 * MS, 700 * MS, "b1", clients=True),
    Fault("forced-election", 700 * MS, 0, "b2"),
    Fault("from-peers", 1_500 * MS, 600 * MS, "b3"),
)


def run(variant, workload=AGAIN, faults=FAULTS):
    plan = Plan(0, 0, 5, "by hand", ClusterSpec(), workload, faults, 2_500 * MS)
    return simulate(plan, parse_variant(variant)).history


def ends(history):
    return Counter(op.type for op in history.ops if op.f == "send" and op.type != "invoke")


@pytest.mark.parametrize(
    "variant", ["kafka-2.7", "kafka-4.0", "raft", "quorum-hwm+repaired", "reconciliation+own-generation", "bookkeeper"]
)
def test_what_had_no_answer_is_sent_again_and_lies_there_once(variant):
    history = run(variant)

    assert ends(history)["info"] < ends(run(variant, replace(AGAIN, again_us=0, patience_us=0)))["info"]
    assert not check(history).named("duplicate")
    assert check(history).valid == "valid"


def test_a_repeated_batch_waits_until_it_is_committed(monkeypatch):
    monkeypatch.setattr(Leadership, "on_duplicate", lambda self, _now, m, base, _end: self._acknowledge(m, base, None))

    assert check(run("kafka-4.0", faults=(Fault("from-peers", 500 * MS, 700 * MS, "b1"),))).named("acked-by-too-few")


def test_a_leader_whose_isr_is_too_small_says_so_first():
    """Else a batch that was committed by the leader alone would be acknowledged when it comes again."""
    alone = (Fault("from-peers", 500 * MS, 2_400 * MS, "b1"),)

    assert not check(run("kafka-2.7", faults=alone)).named("acked-by-too-few")
