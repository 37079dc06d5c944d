"""Work as Spark tasks: in order, the same as without, and a failure is a sentence."""

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidemark.cli import main
from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.spread import SparkFailedError, SparkSpread

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def square(number: int) -> int:
    return number * number


def trip(number: int) -> int:
    raise ValueError(f"tripped over {number}")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """The program, in a folder of its own; gives exit code and output."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        out = io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        with redirect_stdout(out), redirect_stderr(io.StringIO()) as error, pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), out.getvalue() + error.getvalue()

    return run


def test_results_are_in_the_order_of_the_items(spark: SparkSession) -> None:
    with SparkSpread(None) as spread:
        assert spread.together(square, range(100)) == [number * number for number in range(100)]
        assert spread.together(square, [3]) == [9]
        assert list(spread.one_by_one(square, range(9))) == [n * n for n in range(9)]


def test_a_failure_is_a_sentence_that_says_what_failed(spark: SparkSession) -> None:
    with SparkSpread(None) as spread, pytest.raises(SparkFailedError, match=r"gave up: ValueError: tripped over 7$"):
        spread.together(trip, [7])


@pytest.mark.systems
def test_a_hunt_is_the_same_on_spark_as_alone(spark: SparkSession) -> None:
    def hunt() -> Hunt:
        return Hunt(Attempt("kafka-0.11", Quarry(())), "intact", ClusterSpec(), 1, plans_a_round=48)

    with SparkSpread(None) as spread:
        together = list(islice(hunt().rounds(spread.together), 3))

    assert together == list(islice(hunt().rounds(), 3))
    assert together[-1].tries == 144


@pytest.mark.systems
def test_a_hunts_folder_has_the_same_bytes_whoever_tried_its_plans(
    spark: SparkSession, cli: Callable[..., Any], tmp_path: Path
) -> None:
    ask = ("hunt", "--variant", "kafka-0.10", "--json")
    code, _ = cli(*ask, "--tries", "128", "--jobs", "1", "--out", "alone", "--corpus", "alone/corpus")
    assert code == 1
    # Half of it on this machine's cores, and the other half on Spark's.
    cli(*ask, "--tries", "64", "--jobs", "2", "--out", "spread", "--corpus", "spread/corpus")
    cli(*ask, "--tries", "128", "--master", "local[2]", "--out", "spread", "--corpus", "spread/corpus")

    def files(folder: str) -> dict[str, str]:
        found = sorted((tmp_path / folder).rglob("*.json"))
        return {str(path.relative_to(tmp_path / folder)): path.read_text() for path in found}

    assert files("alone") == files("spread")
    assert len(files("alone")) > 4


def test_the_truth_table_is_the_same_on_spark(spark: SparkSession, cli: Callable[..., Any]) -> None:
    ask = ("explore", "--truth-table", "--cell", "no fences", "--cell", "2/2/3", "--json")

    def rows(*more: str) -> list[dict[str, Any]]:
        code, said = cli(*ask, *more)
        assert code == 0
        return [{name: one for name, one in row.items() if "seconds" not in name} for row in json.loads(said)]

    assert rows("--master", "local[2]") == rows()
    assert rows("--jobs", "2") == rows()


class Session:
    """As much of Spark's session as is ended."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.sparkContext = self

    def cancelAllJobs(self) -> None:  # noqa: N802 (Spark's name)
        self.done.append("cancelled")

    def stop(self) -> None:
        self.done.append("stopped")


@pytest.mark.parametrize(("error", "done"), [(KeyboardInterrupt, ["cancelled", "stopped"]), (ValueError, [])])
def test_who_interrupts_ends_the_session(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], done: list[str]
) -> None:
    session = Session()
    monkeypatch.setattr("tidemark.pipeline.engines.spread.spark_session", lambda _: session)

    with pytest.raises(error), SparkSpread("local[2]"):
        raise error

    assert session.done == done


def test_the_reason_is_the_line_of_the_code_that_failed() -> None:
    text = (
        "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 3 times\n"
        "Traceback (most recent call last):\n"
        '  File "worker.py", line 1, in main\n'
        "tidemark.nemesis.plan.PlanError: faults[0]: there is no broker b4\n"
        "\n"
        "\tat org.apache.spark.api.python.BasePythonRunner\n"
        "Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    )

    assert reason(Exception(text)) == "tidemark.nemesis.plan.PlanError: faults[0]: there is no broker b4"
    assert reason(Exception("Could not parse Master URL: 'x'")) == "Could not parse Master URL: 'x'"
    assert reason(Exception("")) == "it did not say why"
