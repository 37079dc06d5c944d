"""Judging a campaign's stored histories again: what changed is told, what was said then stays, and nothing is judged twice."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from tidemark.checkers import Anomaly, History, check
from tidemark.harness.runs.folder import store_history
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.folder.recheck_tables import RecheckSummary
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.recheck import recheck as recheck_module
from tidemark.pipeline.recheck.recheck import (
    NothingToRecheckError,
    Question,
    RecheckOutcome,
    changed_runs,
    recheck_campaign,
)
from tidemark.pipeline.recheck.recheck_chunk import RecheckTask
from tidemark.pipeline.recheck.recheck_work import RecheckWork
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate as simulate_for_real

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"
SILENT = Console(quiet=True)


def campaign(spec: CampaignSpec, folder: Path, simulate: Any, chunk_size: int = 10) -> Path:
    """A campaign as `run_campaign` leaves it, without Spark."""
    manifest = open_campaign(folder, spec, chunk_size=chunk_size)
    for task in range(manifest.layout.tasks):
        run_chunk(Task(spec, folder, manifest.identity, simulate), manifest.layout.task(task))
    return folder


def judged(folder: Path, question: Question | None = None, **how: Any) -> RecheckOutcome:
    return recheck_campaign(folder, question or Question(), console=SILENT, **how)


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """Twelve runs of the simulator, all with their histories; plans 2 and 4 break their promise under OLD."""
    spec = CampaignSpec("demo", (OLD, "kafka-2.7"), plans=6, seed=4, profile="destructive", keep="all")
    return campaign(spec, tmp_path / "demo", simulate_for_real, 4)


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "rechecks" not in path.parts
    }


def test_the_same_checkers_say_the_same_and_leave_the_campaign_alone(real: Path) -> None:
    before = files(real)

    outcome = judged(real)

    assert outcome.total("judged") == 12
    assert (outcome.total("changed"), outcome.total("missing"), outcome.total("other")) == (0, 0, 0)
    assert [(one.was, one.invalid) for one in outcome.variants] == [(2, 2), (0, 0)]
    assert list(changed_runs(outcome)) == []
    assert files(real) == before
    for variant in (OLD, "kafka-2.7"):
        for number in (0, 1):
            then, now = (
                pq.read_table(chunk_file(place, "anomalies", "demo", variant, number), partitioning=None)
                for place in (real, outcome.place)
            )
            assert now.equals(then)


def test_what_is_judged_otherwise_is_told_with_the_command_that_has_it_again(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    # The world that is known by heart says what no checker would say of its histories, in which nothing is acknowledged.
    folder = campaign(spec, tmp_path / "demo", simulate)

    outcome = judged(folder)

    old, new = outcome.variants
    # Kept are, of plans 0 … 9 and 10, 11, the first that violate: 0 under OLD, 4 under NEW.
    assert (old.judged, old.was, old.unknown, old.changed, old.missing) == (1, 1, 1, 1, 11)
    assert old.kinds == {"": {"invalid → unknown": 1}, "lost-committed-write": {"violation, permitted → –": 1}}
    assert (new.judged, new.changed, new.missing) == (1, 1, 11)
    found = list(changed_runs(outcome))
    assert [(run.variant, run.plan, run.then, run.now) for run in found] == [
        (OLD, 0, "invalid", "unknown"),
        (NEW, 4, "invalid", "unknown"),
    ]
    assert found[0].anomalies == (("lost-committed-write", "violation, permitted", "–"),)
    assert found[0].command == "tidemark run --variant kafka-0.10 --seed 7 --index 0 --profile intact"
    assert outcome.verdicts == {"unknown"}


@pytest.mark.systems
def test_what_these_checkers_have_judged_is_not_judged_again(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = judged(real, Question(variants=(OLD,)))
    chunks: list[str] = []
    judge = recheck_module.recheck_chunk
    monkeypatch.setattr(
        recheck_module, "recheck_chunk", lambda task, chunk: (chunks.append(chunk.variant), judge(task, chunk))[1]
    )

    second = judged(real)
    assert chunks == ["kafka-2.7"] * 2
    assert second.variants[0] == first.variants[0]
    assert not second.already

    assert judged(real).already
    judged(real, Question(contract="durable"))
    assert len(chunks) == 6
    judged(real, fresh=True)
    assert len(chunks) == 10


def test_a_chunk_that_was_done_again_is_judged_again(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    folder = campaign(replace(spec, keep="all"), tmp_path / "demo", simulate, 12)
    manifest = open_campaign(folder, replace(spec, keep="all"))
    judged(folder)

    def other(spec: CampaignSpec, variant: str, index: int) -> Any:
        plan, result = simulate(spec, variant, index)
        return plan, replace(result, history=History.of(ops=result.history.ops[:0]))

    run_chunk(Task(manifest.spec, folder, manifest.identity, other), manifest.layout.chunk(OLD, 0))

    assert not judged(folder).already
    assert judged(folder).already


def test_damaged_evidence_is_not_judged_and_leaves_the_verdict_open(real: Path) -> None:
    path = chunk_file(real, "ops", "demo", OLD, 1)
    path.write_bytes(path.read_bytes()[:-1] + b"x")

    outcome = judged(real)

    assert outcome.damaged == ("chunk 1 of kafka-0.10: its file of `ops` has other bytes",)
    assert outcome.total("judged") == 10
    assert "unknown" in outcome.verdicts


def test_what_was_found_in_a_chunk_that_is_damaged_since_counts_no_more(real: Path) -> None:
    def odd(history: History) -> Any:
        yield Anomaly("odd", "near-miss", 5, "t-0", "It is odd.")

    question = Question(checkers={"odd": odd})
    assert len(list(changed_runs(judged(real, question)))) == 12
    path = chunk_file(real, "trace", "demo", OLD, 0)
    path.write_bytes(b"PAR1")

    outcome = judged(real, question, fresh=True)

    assert outcome.total("judged") == 8
    assert [(run.variant, run.plan) for run in changed_runs(outcome)] == [
        (OLD, 4),
        (OLD, 5),
        *(("kafka-2.7", plan) for plan in range(6)),
    ]


@pytest.mark.systems
def test_what_is_not_stored_is_made_again_if_it_is_still_the_same_run(tmp_path: Path) -> None:
    spec = CampaignSpec("demo", (OLD,), plans=4, seed=4, keep="none")
    folder = campaign(spec, tmp_path / "demo", simulate_for_real)
    assert (judged(folder).total("missing"), judged(folder).verdicts) == (4, {"unknown"})

    outcome = judged(folder, Question(again=True))
    assert (outcome.total("judged"), outcome.total("changed"), outcome.total("missing")) == (4, 0, 0)

    def another(spec: CampaignSpec, variant: str, index: int) -> Any:
        return simulate_for_real(spec, variant, index + 1)

    outcome = judged(folder, Question(again=True), fresh=True, simulate=another)
    assert (outcome.total("judged"), outcome.total("other")) == (0, 4)
    assert outcome.verdicts == {"unknown"}


def test_runs_in_containers_are_judged_by_their_evidence(tmp_path: Path) -> None:
    spec = CampaignSpec("demo", (OLD,), plans=2, seed=4, keep="none", world="docker")
    folder = campaign(spec, tmp_path / "demo", simulate_for_real, 1)
    plan, run = simulate_for_real(spec, OLD, 0)
    store_history(run_folder(folder, OLD, 0), plan, run.history)

    outcome = judged(folder)

    assert (outcome.total("judged"), outcome.total("changed"), outcome.total("missing")) == (1, 0, 1)
    rows = pq.read_table(chunk_file(outcome.place, "runs", "demo", OLD, 0), partitioning=None).to_pylist()
    assert [(row["plan"], row["source"], row["valid"]) for row in rows] == [(0, "evidence", run.verdict.valid)]
    history = run_folder(folder, OLD, 0) / "history.jsonl"
    task = RecheckTask(Task(spec, folder, "this-one", simulate_for_real), tmp_path / "nowhere")
    work = RecheckWork(task, open_campaign(folder, spec), (OLD,), fresh=False)
    assert [rows for _, rows in work.todo] == [history.stat().st_size // 150, 0]
    assert [len(chunks) for chunks in work.tasks(2)] == [2]
    history.write_text("{}\n", encoding="utf-8")
    assert judged(folder, fresh=True).total("unknown") == 1


def test_a_checker_of_ones_own_is_asked_too_and_one_that_stumbles_costs_no_other(real: Path) -> None:
    def odd(history: History) -> Any:
        if history.meta["plan"] == 3:
            yield Anomaly("odd-plan", "violation", 5, "t-0", "The plan is the third.")

    outcome = judged(real, Question(checkers={"odd": odd}))

    assert [(run.variant, run.plan) for run in changed_runs(outcome)] == [(OLD, 3), ("kafka-2.7", 3)]
    assert [one.kinds["odd-plan"] for one in outcome.variants] == [{"– → violation": 1}] * 2


def test_a_folder_without_a_campaign_and_a_variant_it_has_not_are_refused(real: Path, tmp_path: Path) -> None:
    with pytest.raises(NothingToRecheckError, match="holds no campaign"):
        judged(tmp_path)
    with pytest.raises(
        NothingToRecheckError, match=r"raft is none of the campaign's variants: kafka-0\.10, kafka-2\.7"
    ):
        judged(real, Question(variants=("raft",)))


@pytest.mark.systems
@pytest.mark.spark
@pytest.mark.slow
def test_spark_says_what_one_process_says(real: Path, spark: SparkSession) -> None:
    here = judged(real)
    outcome = judged(real, fresh=True, few_rows=0)

    assert outcome.variants == here.variants
    assert outcome.variants[0] != RecheckSummary(OLD, 0)
    path = chunk_file(real, "trace", "demo", OLD, 0)
    path.unlink()
    outcome = judged(real, fresh=True, few_rows=0)
    assert outcome.damaged == ("chunk 0 of kafka-0.10: its file of `trace` is missing",)


def test_the_verdicts_lie_beside_the_tables_with_what_was_asked(real: Path) -> None:
    outcome = judged(real, Question(contract="durable"))

    told = json.loads((outcome.place / "recheck.json").read_bytes())
    assert (told["contract"], told["made_again"], told["checkers"]) == ("durable", False, [])
    assert outcome.place.parent == real / "rechecks"
    rows = pq.read_table(chunk_file(outcome.place, "runs", "demo", OLD, 0), partitioning=None).to_pylist()
    assert {row["contract"] for row in rows} == {"durable"}
    run = simulate_for_real(CampaignSpec("demo", (OLD,), plans=6, seed=4, profile="destructive"), OLD, 2)[1]
    assert rows[2]["valid"] == check(run.history, "durable").valid
