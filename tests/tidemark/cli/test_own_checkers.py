"""Checkers of one's own on the command line: they count, they may be broken, and nothing of theirs is a traceback."""

import json
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tidemark.checkers import History, Op, sent, write_history
from tidemark.cli.check import check_command
from tidemark.harness.runs import own_code

EVEN = """
from tidemark.checkers import Anomaly

def check(history):
    for op in history.ops:
        if op.type == "ok" and op.f == "send":
            for _, key, (offset, value) in op.value:
                if offset % 2:
                    yield Anomaly("odd", VERDICT, op.time, key, f"{value} is at {offset}.")

def helper():
    raise AssertionError
"""
DOCS = Path(__file__).parents[3] / "docs" / "checking-your-own-history.md"


def run(*arguments):
    return CliRunner().invoke(check_command, arguments, standalone_mode=False)


def refused(result):
    """In which words."""
    assert isinstance(result.exception, click.ClickException)
    return result.exception.message


@pytest.fixture
def history(tmp_path):
    """Two sends, at offsets 0 and 1, and a poll of both."""
    ops = []
    for offset, time in ((0, 10), (1, 2_000_000)):
        ops.append(Op(time, "p1", "invoke", "send", (("send", "t-0", offset),)))
        ops.append(sent(time + offset * 1_500_000 + 1, "p1", "t-0", offset, offset))
    ops.append(Op(4_000_000, "c1", "invoke", "poll", (("poll", {}),)))
    ops.append(Op(4_000_001, "c1", "ok", "poll", (("poll", {"t-0": [(0, 0), (1, 1)]}),)))
    write_history(History(meta={"variant": "mine"}, ops=ops), tmp_path / "history.jsonl")
    return str(tmp_path / "history.jsonl")


@pytest.fixture
def judged(history, tmp_path):
    """Judge by a checker with this text: the exit code, and the verdict as JSON."""

    def judge(text, *more):
        (tmp_path / "mine.py").write_text(text)
        result = run(history, "--checker", str(tmp_path / "mine.py"), *more, "--json")
        return result.return_value, json.loads(result.output)

    return judge


@pytest.mark.parametrize(
    ("verdict", "valid", "code"),
    [("violation", "invalid", 1), ("near-miss", "valid", 0), ("permitted", "valid", 0), ("informational", "valid", 0)],
)
def test_what_it_finds_counts_as_what_ours_find(judged, verdict, valid, code):
    found, told = judged(EVEN.replace("VERDICT", repr(verdict)))

    assert (found, told["valid"]) == (code, valid)
    assert [(one["name"], one["verdict"], one["message"]) for one in told["anomalies"]] == [
        ("odd", verdict, "1 is at 1.")
    ]
    assert told["stats"]["own_checkers"] == {"mine": {"valid": valid, "anomalies": 1, "unknown_because": None}}


def test_one_that_crashes_makes_its_part_unknown_and_what_it_found_counts(judged):
    crash = "    raise KeyError('x')\n"

    code, told = judged("def check_it(history):\n" + crash)
    assert (code, told["valid"]) == (2, "unknown")
    assert told["unknown_because"] == "mine.check_it: it crashed: KeyError: 'x' (line 2)"

    code, told = judged(EVEN.replace("VERDICT", "'violation'").replace("\ndef helper", crash + "\ndef helper"))
    assert (code, told["valid"], told["stats"]["own_checkers"]["mine"]["valid"]) == (1, "invalid", "invalid")


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("def check(history):\n    return ['odd']", "it gave 'odd', which is no anomaly"),
        ("def check(history):\n    return 7", "it crashed: TypeError: 'int' object is not iterable"),
        ("def check(history):\n    raise SystemExit(0)", "it crashed: SystemExit: 0 (line 2)"),
    ],
)
def test_one_that_gives_something_else(judged, text, because):
    code, told = judged(text)

    assert (code, told["valid"]) == (2, "unknown")
    assert told["unknown_because"].startswith(f"mine: {because}")


def test_it_may_find_nothing_and_return_nothing(judged):
    assert judged("def check(history):\n    pass")[1]["valid"] == "valid"


@pytest.mark.parametrize(("valid", "code"), [("valid", 0), ("invalid", 1), ("unknown", 2)])
def test_it_may_give_one_result(judged, valid, code):
    text = (
        "from tidemark.checkers.verdict.result import Result\n"
        f"def check(history):\n    return Result('r', {valid!r}, 'So it is.')"
    )

    assert (judged(text)[0], judged(text)[1]["valid"]) == (code, valid)


def test_several_are_all_asked(judged, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("def check_a(history):\n    pass\ndef check_b(history):\n    pass\n")

    _, told = judged("def check(history):\n    pass", "--checker", str(other))
    assert list(told["stats"]["own_checkers"]) == ["mine", "other.check_a", "other.check_b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def chek(history): pass", "has no function whose name begins with check"),
        ("from json import loads as check_it", "has no function whose name begins with check"),
        ("def check(history)\n    pass", "line 1: expected ':'"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_file_that_is_no_checker_is_refused_in_a_sentence(history, tmp_path, text, words):
    (tmp_path / "mine.py").write_text(text)
    result = run(history, "--checker", str(tmp_path / "mine.py"))

    assert words in refused(result)


def test_a_name_or_file_that_is_not_there(history):
    missing = run(history, "--checker", "not-there.py")
    unknown = run(history, "--checker", "not-there")

    assert "there is no file not-there.py" in refused(missing)
    assert "no installed package offers a checker not-there" in refused(unknown)


def offered(monkeypatch, value):
    monkeypatch.setattr(own_code, "entry_points", lambda group: [EntryPoint("theirs", value, group)])


def test_a_package_offers_one_by_entry_point(history, monkeypatch, tmp_path):
    (tmp_path / "their_package.py").write_text(EVEN.replace("VERDICT", "'violation'"))
    monkeypatch.syspath_prepend(tmp_path)
    offered(monkeypatch, "their_package:check")

    assert run(history, "--checker", "theirs").return_value == 1
    assert "there are theirs" in refused(run(history, "--checker", "mine"))


@pytest.mark.parametrize(
    ("value", "words"), [("no_such_package:check", "ModuleNotFoundError"), ("json:__name__", "is no function")]
)
def test_an_offer_that_is_no_checker_is_refused_in_a_sentence(history, monkeypatch, value, words):
    offered(monkeypatch, value)

    assert words in refused(run(history, "--checker", "theirs"))


def test_a_model_is_instead_and_a_checker_beside(history):
    assert "--model or --checker" in refused(run(history, "--checker", "x.py", "--model", "register"))


def test_the_example_of_the_page_works(judged):
    (example,) = [
        text for text in re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL) if "slow-send" in text
    ]

    code, told = judged(example)
    assert (code, [one["message"] for one in told["anomalies"]]) == (1, ["p1 waited 1.5 s for the end of a send."])
