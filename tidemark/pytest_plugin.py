"""For pytest: a fixture that writes down what a test's clients do, and has the history judged when the test is done.

pytest loads this by its entry point in every session, so nothing heavy is imported before a test asks for the fixture.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

LOG: Final = "log"
FIXTURE: Final = "tidemark_history"
_SAME: Final = object()


class Operation:
    """One operation of a client. It ends by `ok`, `fail` or `info`, or when its block does."""

    def __init__(self, history: RecordedHistory, half: dict[str, Any]) -> None:
        self._history, self._half, self._ended = history, half, False

    def ok(self, value: Any = _SAME) -> None:  # noqa: ANN401 - whatever JSON can say
        """It was done; `value` is what came of it, the same as was asked for unless told."""
        self._end("ok", self._half["value"] if value is _SAME else value)

    def fail(self, error: object = None) -> None:
        """It certainly was not done, nor will be."""
        self._end("fail", self._half["value"], error)

    def info(self, error: object = None) -> None:
        """It may have been done, or will be, or not: a time-out, a broken connection."""
        self._end("info", self._half["value"], error)

    def end_unknown(self, error: object) -> None:
        """`info`, unless it has ended."""
        if not self._ended:
            self.info(error)

    def _end(self, how: str, value: Any, error: object = None) -> None:  # noqa: ANN401
        if self._ended:
            raise RuntimeError(f"this {self._half['f']} of {self._half['process']} has ended: say once how it went")
        self._ended = True
        told = (
            {} if error is None else {"error": type(error).__name__ if isinstance(error, BaseException) else str(error)}
        )
        self._history.write(self._half | {"type": how, "value": value} | told)


class RecordedHistory:
    """What a test's clients do, as lines of JSON (docs/checking-your-own-history.md). Threads may share it.

    Attributes:
        path: of the file, which stays when the test is over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._begun = time.monotonic_ns()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    @contextmanager
    def operation(self, process: str, f: str, value: Any = None, *, final: bool = False) -> Iterator[Operation]:  # noqa: ANN401
        """An operation, from here to the end of the block. If that is left by an exception, or without a word of how the operation
        went, nobody knows whether it was done.

        Args:
            process: who does it; one thing at a time.
            f: what: `send` and `poll` on logs, else as the model has it.
            value: with what, as JSON.
            final: a read of what is there in the end, when all else is done.
        """
        half: dict[str, Any] = {"kind": "op", "process": process, "f": f, "value": value}
        if final:
            half["final"] = True
        self.write(half | {"type": "invoke"})
        begun = Operation(self, half)
        try:
            yield begun
        except BaseException as error:
            begun.end_unknown(error)
            raise
        begun.end_unknown("nobody said how it went")

    def write(self, half: dict[str, Any]) -> None:
        """Add a line, with the time: µs since the test began.

        Raises:
            TypeError: JSON cannot say it.
        """
        with self._lock:
            line = json.dumps({"time": (time.monotonic_ns() - self._begun) // 1000} | half)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


_HISTORY: Final = pytest.StashKey[RecordedHistory]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What can be said in pytest's configuration."""
    parser.addini(
        "tidemark_model", f"model that judges the fixture {FIXTURE}, as tidemark check --model has it", default=LOG
    )
    parser.addini(
        "tidemark_histories",
        f"folder for the histories of {FIXTURE}, from the root  [default: each test's tmp_path]",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"tidemark(model=None, contract=None, allow_unknown=False, **asked): how {FIXTURE} is judged: by a model, or by a "
        "promise to clients of a log; asked: what the model is told, such as initial",
    )


@pytest.fixture
def tidemark_history(request: pytest.FixtureRequest, tmp_path: Path) -> RecordedHistory:
    """Write down what clients do. When the test is done, and has not failed, the history is judged: the test fails unless it is
    valid.
    """
    folder = request.config.getini("tidemark_histories")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", request.node.nodeid).strip("-")
    history = RecordedHistory(
        request.config.rootpath / folder / f"{name}.jsonl" if folder else tmp_path / "history.jsonl"
    )
    request.node.stash[_HISTORY] = history
    return history


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge behind the test, and not in the fixture, where pytest would speak of an error."""
    result = yield
    history = item.stash.get(_HISTORY, None)
    if history is not None and (found := _complaint(item, history)):
        pytest.fail(f"{found}\n{history.path}", pytrace=False)
    return result


def _complaint(item: pytest.Item, history: RecordedHistory) -> str:
    """What is wrong with the history; nothing if it is valid."""
    from tidemark.checkers import check
    from tidemark.checkers.objects.workloads import NAMES, Asked, judge
    from tidemark.cli.for_ci import PASSED, SKIPPED, case_of, case_of_result
    from tidemark.harness.runs.folder import load_file

    mark = item.get_closest_marker("tidemark")
    asked = dict(mark.kwargs) if mark else {}
    contract, allow_unknown = asked.pop("contract", None), asked.pop("allow_unknown", False)
    model = asked.pop("model", None) or item.config.getini("tidemark_model")
    if not history.path.stat().st_size:
        return "" if allow_unknown else f"tidemark: unknown: the test recorded nothing with {FIXTURE}"
    try:
        if model == LOG and not asked:
            case = case_of(check(load_file(history.path), contract), "tidemark", item.name)
        elif model in NAMES and contract is None:
            case = case_of_result(
                judge(load_file(history.path, rows=True), model, asked=Asked(**asked)), "tidemark", item.name
            )
        else:
            known = ", ".join(dict.fromkeys((LOG, *NAMES)))
            return f"tidemark: model {model!r} is none of {known}, or is told what is not for it ({', '.join(asked) or 'contract'})"
    except (ValueError, TypeError) as error:
        return f"tidemark cannot judge the history: {error}"
    if case.outcome == PASSED or (case.outcome == SKIPPED and allow_unknown):
        return ""
    return "\n  ".join(["tidemark: " + case.message, *case.details])
