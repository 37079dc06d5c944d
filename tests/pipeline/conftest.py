"""A world small enough to know by heart: what happens to plan `n` follows from `n` alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Verdict
from tidemark.pipeline.engines.session import QUICK_START, spark_session
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

ACKED = {"ack_time": 900_000}
OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"


@dataclass(frozen=True)
class FakePlan:
    """A plan with as many faults as it is told."""

    index: int
    faults: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {"index": self.index, "faults": list(self.faults)}


@dataclass(frozen=True)
class FakeResult:
    """The fields of `tidemark.harness.runs.judged.JudgedRun`."""

    history: History
    verdict: Verdict
    digest: str
    events: int
    virtual_us: int


def fake_simulate(spec: CampaignSpec, variant: str, index: int) -> tuple[FakePlan, FakeResult]:
    """Plans 0, 4, 8 … lose an acked record under OLD at 1 s + 1 ms x index; plan 3 raises under NEW; plan 5 is unknown everywhere.

    Plan 4 loses a record under NEW too, and every even plan loses one as permitted under both. Under NEW all plans from 6 on never
    recover; all others do, in 2 s. A follower is paused in plans 6 and 9 under OLD.
    """
    plan = FakePlan(index, ("crash",) * (1 + index % 3))
    if index == 3 and variant == NEW:
        raise RuntimeError("the simulator tripped")
    bad = index % 4 == 0 and (variant == OLD or index == 4)
    time = 1_000_000 + 1_000 * index
    anomalies = []
    if bad:
        broken = ("documented", "durable")
        anomalies.append(Anomaly("lost-committed-write", VIOLATION, time, "t-0", "2 is gone", None, broken, ACKED))
    if index % 2 == 0:
        clause = "power loss of every replica"
        anomalies.append(
            Anomaly("lost-committed-write", PERMITTED, time, "t-0", "2 is gone", clause, ("durable",), ACKED)
        )
    valid = "invalid" if bad else "unknown" if index == 5 else "valid"
    stats = {
        "acked": 100,
        "sends": 110,
        "polls": 50,
        "elections": 4,
        "unclean_elections": 0,
        "truncations": 3,
        "records_truncated": index,
        "epoch_round_trips": 8,
        "one_round": 6,
        "two_rounds": 1,
        "more_rounds": 0,
        "hw_checkpoints": 20,
        "acked_lost_violation": int(bad),
        "acked_lost_permitted": int(index % 2 == 0),
        "first_violation_us": time if bad else None,
        "availability": 0.9,
        "recovery_us": None if variant == NEW and index >= 6 else 2_000_000,
    }
    history = History.of(
        ops=(Op(10, "p1", "invoke", "send", (("send", "t-0", 1),), acks="all"),),
        nemesis=((20, "strike", 0, "crash", {"node": 2}),),
        trace=(
            (15, 1, "append", "t-0", 0, 0, (1,)),
            (25, 2, "append", "t-0", 0, 0, (1,)),
            *(((30, 2, "pause", ""),) if index in (6, 9) and variant == OLD else ()),
        ),
    )
    verdict = Verdict(valid, "documented", tuple(anomalies), "no ack" if valid == "unknown" else None, stats)
    return plan, FakeResult(history, verdict, f"{variant}/{index}", 1000, 5_000_000)


# Spark's workers cannot import a conftest, so its functions and classes travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def simulate() -> Callable[..., Any]:
    return fake_simulate


@pytest.fixture
def spec() -> CampaignSpec:
    return CampaignSpec("demo", (OLD, NEW), plans=12, seed=7, keep="violations")


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The one session of the test process, which `run_campaign` and `compare` find by themselves."""
    return spark_session("local[2,3]", java_options=QUICK_START)
