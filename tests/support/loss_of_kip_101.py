"""The data loss of KIP-101 (scenario 1) written by hand, and a comparison of two variants by 500 runs each.

Two brokers, m1 = 101 at offset 0 and m2 = 102 at offset 1. Broker 1 leads, both have both records and both are acknowledged.
Broker 2 restarts before it learns that m2 is committed, cuts its log to the high watermark it remembers, and leads when
broker 1 dies before it fetches again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, Verdict
from tidemark.harness.report.comparison import (
    ANY,
    AnomalyCount,
    Comparison,
    Example,
    Paired,
    Rate,
    Recovery,
    Spread,
    VariantResult,
)

PARTITION = "t-0"
M1, M2, M3 = 101, 102, 103


def send(time: int, kind: str, value: int, offset: int | None = None) -> Op:
    """One half of a send."""
    return Op(time, "p1", kind, "send", (("send", PARTITION, (offset, value) if kind == "ok" else value),), None, "all")


def history() -> History:
    """The run."""
    trace: list[tuple[Any, ...]] = [
        (1_000, 1, "start", "", 1),
        (1_000, 2, "start", "", 1),
        (5_000, 0, "elect", PARTITION, 1, 1, (1, 2), (), "initial", True, 0),
        (6_000, 1, "lead", PARTITION, 1, 0, 0, (1, 2)),
        (6_500, 2, "follow", PARTITION, 1, 1, 0, 0),
        (7_000, 2, "fetched", PARTITION, 1, 1),
        (100_400, 1, "append", PARTITION, 0, 1, (M1,)),
        (102_000, 2, "append", PARTITION, 0, 1, (M1,)),
        (104_000, 1, "hw", PARTITION, 1, 1, True),
        (105_000, 2, "hw", PARTITION, 1, 1, False),
        (200_400, 1, "append", PARTITION, 1, 1, (M2,)),
        (202_000, 2, "append", PARTITION, 1, 1, (M2,)),
        (204_000, 1, "hw", PARTITION, 2, 1, True),
        (230_000, 2, "stop", "", "crash"),
        (530_000, 2, "start", "", 2),
        (531_000, 2, "recovered", PARTITION, 2, 1, 0),
        (560_000, 2, "follow", PARTITION, 1, 1, 2, 1),
        (560_200, 2, "truncate", PARTITION, 1, 2, "high watermark", 1),
        (561_000, 1, "stop", "", "crash"),
        (1_600_000, 0, "fence", "", 1),
        (1_601_000, 0, "elect", PARTITION, 2, 2, (2,), (), "online", True, 1),
        (1_602_500, 2, "lead", PARTITION, 2, 1, 1, (2,)),
        (1_700_300, 2, "append", PARTITION, 1, 2, (M3,)),
        (1_700_300, 2, "hw", PARTITION, 2, 2, True),
        (2_100_000, 1, "start", "", 2),
        (2_101_000, 1, "recovered", PARTITION, 2, 2, 0),
        (2_130_000, 1, "follow", PARTITION, 2, 2, 2, 2),
        (2_130_400, 1, "truncate", PARTITION, 1, 2, "high watermark", 2),
        (2_135_000, 1, "append", PARTITION, 1, 2, (M3,)),
    ]
    ops = [
        send(100_000, "invoke", M1),
        send(104_500, "ok", M1, 0),
        send(200_000, "invoke", M2),
        send(204_600, "ok", M2, 1),
        Op(215_000, "c1", "ok", "poll", (("poll", {PARTITION: [(0, M1), (1, M2)]}),)),
        send(1_700_000, "invoke", M3),
        send(1_701_000, "ok", M3, 1),
    ]
    nemesis = [
        (230_000, "strike", 0, "crash", {"node": 2, "role": "follower", "partition": PARTITION, "nodes": [2]}),
        (530_000, "heal", 0, "crash", {}),
        (561_000, "strike", 1, "crash", {"node": 1, "role": "leader", "partition": PARTITION, "nodes": [1]}),
        (2_100_000, "heal", 1, "crash", {}),
        (2_100_000, "heal", -1, "all", {}),
    ]
    return History.of(
        ops=ops,
        trace=trace,
        nemesis=nemesis,
        variant="kafka-0.10",
        contract="documented",
        replicas={PARTITION: [1, 2]},
        min_isr=1,
        acks="all",
        unclean_election=False,
        faults_end_us=2_100_000,
        end_us=3_000_000,
        plan=7,
        seed=1,
    )


def anomaly() -> Anomaly:
    """What the checker says about it."""
    return Anomaly(
        "lost-committed-write",
        VIOLATION,
        1_602_500,
        PARTITION,
        "Record 102 of t-0 (offset 1, epoch 1), committed by broker 1 in epoch 1 at 0.204000 s and acknowledged to p1 at "
        "0.204600 s, is not in the log of broker 2, leader of epoch 2 since 1.602500 s: it truncated its log from 2 to 1 at "
        "0.560200 s (high watermark).",
        None,
        ("documented", "kip-966", "durable"),
        {
            "partition": PARTITION,
            "offset": 1,
            "value": M2,
            "epoch": 1,
            "ack_time": 204_600,
            "leader": 2,
            "leader_epoch": 2,
        },
    )


def verdict() -> Verdict:
    """The verdict of the run."""
    return Verdict("invalid", "documented", (anomaly(),), None, {"acked": 3, "elections": 2, "truncations": 2})


def plan() -> dict[str, Any]:
    """The plan of the run, as JSON."""
    return {
        "index": 7,
        "seed": 1,
        "noise_seed": 3,
        "profile": "intact",
        "faults_end_us": 2_100_000,
        "cluster": {"brokers": 2},
        "workload": {"producers": 1},
        "faults": [
            {"kind": "crash", "at_us": 230_000, "lasts_us": 300_000, "target": "follower"},
            {"kind": "crash", "at_us": 561_000, "lasts_us": 1_539_000},
        ],
    }


def comparison(old: str = "kafka-0.10", new: str = "kafka-2.1") -> Comparison:
    """37 of 500 runs against none."""
    settings = {"min_isr": 2, "unclean_election": False}
    cluster = {"brokers": 3, "replication_factor": 3, "partitions": 1, "acks": "all", "settings": settings}
    variants = (variant(old, 37, None), variant(new, 0, old))
    return Comparison("hand", "intact", 1, 500, cluster, old, variants, 10_000_000, primary=new)


def variant(name: str, hits: int, baseline: str | None) -> VariantResult:
    """A variant that lost acked records in `hits` of 500 runs."""
    rate = Rate(hits, 500, 0.054, 0.1) if hits else Rate(0, 500, 0.0, 0.0076)
    none = Rate(0, 500, 0.0, 0.0076)
    pair = Paired(baseline, 500, 0, 37, 1.5e-11, 3e-11, -0.1, -0.054, primary=True) if baseline else None
    second = replace(pair, primary=False) if pair else None
    spread = Spread(500, 0.9, 0.6, 0.8, 0.92, 0.97, 1.0)
    empty = Spread(0, *[None] * 6)
    return VariantResult(
        variant=name, runs=500, judged=500, unknown=0, errors=0, contracts=("documented",), acked=9_000,
        acked_lost_violation=hits, acked_lost_permitted=0, loss=rate, permitted_loss=none, any_loss=rate,
        promises={"documented": rate, "kip-966": none, "durable": rate},
        anomalies=(AnomalyCount(ANY, rate, none, pair), AnomalyCount("lost-committed-write", rate, none, second)),
        near_misses={"strong-isr": Rate(hits + 2, 500, 0.0, 0.1)},
        first_violation=Spread(hits, *[2_000_000.0] * 6) if hits else empty,
        hit_curve=((1_000_000, 0.02), (3_000_000, 0.074)) if hits else (),
        elections=1_000, unclean_elections=0, truncations=90, records_truncated=400, epoch_round_trips=2_100,
        one_round=1_900, two_rounds=4, more_rounds=0, hw_checkpoints=3_000,
        availability=spread, recovery=Recovery(Rate(30, 500, 0.042, 0.084), 0, 200_000, 1_400_000, 5_000_000, None),
        exercised={"two-lead": hits, "out-of-order": 0},
    )  # fmt: skip


def example() -> Example:
    return Example("kafka-0.10", 7, plan(), history(), verdict())
