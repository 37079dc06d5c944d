"""What a worker lacks is said in a sentence, by the worker itself."""

import socket
import sys
from importlib.metadata import version

import pytest

from tidemark.pipeline.engines import workers
from tidemark.pipeline.engines.workers import Needs, WorkersUnfitError, check_workers, found_wanting

HERE = f"The worker on {socket.gethostname()}"


class Context:
    """As much of Spark as asks this process, or fails to."""

    master = "spark://host:7077"
    defaultParallelism = 2  # noqa: N815 (Spark's name)

    def __init__(self, failure: str = "") -> None:
        self._failure = failure

    def parallelize(self, items, count):
        return self

    def mapPartitions(self, work):  # noqa: N802 (Spark's name)
        self._work = work
        return self

    def collect(self):
        if self._failure:
            raise RuntimeError(self._failure)
        return [*self._work([0]), *self._work([1])]


def test_a_worker_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = version("numpy")

    assert found_wanting(Needs({"no_such_package": "1"}, "x.zip")) == (
        f"{HERE} lacks no_such_package (its Python is {sys.executable})"
    )
    assert found_wanting(Needs({"numpy": "1.0"}, "x.zip")) == f"{HERE} has numpy {numpy}, and the driver 1.0"
    assert "takes Tidemark's code from" in found_wanting(Needs({"numpy": numpy}, "x.zip"))
    monkeypatch.setattr(workers, "__file__", "/work/app-1/x.zip/pipeline/engines/workers.py")
    assert found_wanting(Needs({"numpy": numpy}, "x.zip")) == ""


def test_code_of_another_origin_is_refused_before_the_first_run() -> None:
    with pytest.raises(
        WorkersUnfitError, match=r"^The worker on .* takes Tidemark's code from .*docs/cluster\.md shows\.$"
    ):
        check_workers(Context(), print)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            'java.io.IOException: Cannot run program "/x/python3": error=2',
            r"^A worker has no Python /x/python3: set PYSPARK_PYTHON",
        ),
        ("PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] 3.9 and 3.11", r"^A worker's Python is not the driver's"),
        ("All masters are unresponsive! Giving up.", r"^The workers cannot be asked: All masters are unresponsive"),
    ],
)
def test_what_spark_says_becomes_a_sentence(failure: str, sentence: str) -> None:
    with pytest.raises(WorkersUnfitError, match=sentence):
        check_workers(Context(failure), print)


def test_who_waits_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Slow(Context):
        def collect(self):
            while not said:
                pass
            return [""]

    monkeypatch.setattr(workers, "PATIENCE_SECONDS", 0.01)

    check_workers(Slow(), said.append)

    assert said[0].startswith("No worker of spark://host:7077 has answered for 0.01 s")
