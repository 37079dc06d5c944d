"""``tidemark import``."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.checkers import History, polled, sent, write_history
from tidemark.cli.campaigns import list_command
from tidemark.cli.check import check_command
from tidemark.cli.import_histories import import_command
from tidemark.cli.runs import runs_command
from tidemark.served.contents import campaign_state


def typed(command, *words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A history that is well and one that lost a record."""
    kept = [sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7))]
    lost = [sent(1, "p1", "t-0", 7, 0), sent(2, "p1", "t-0", 8, 1), polled(3, "c1", "t-0", (1, 8))]
    (tmp_path / "theirs").mkdir()
    for name, ops in (("kept", kept), ("lost", lost)):
        invoked = [half for op in ops for half in (op._replace(type="invoke", value=asked(op)), op)]
        write_history(History(meta={"variant": name}, ops=invoked), tmp_path / "theirs" / f"{name}.jsonl")
    return tmp_path / "theirs"


def asked(op) -> tuple:
    return tuple(("send", m[1], m[2][1]) if m[0] == "send" else ("poll", {}) for m in op.value)


def test_they_are_told_judged_and_listed(theirs: Path, tmp_path: Path) -> None:
    done = typed(import_command, theirs, "--out", tmp_path / "mine", "--jobs", 1)

    assert done.return_value == 0
    assert "2 histories were imported into" in done.stdout
    assert "1 of kept, 1 of lost. They are 1 valid, 1 invalid." in done.stdout
    assert "2 imported histories" in typed(list_command, tmp_path).stdout
    listed = typed(runs_command, tmp_path / "mine").stdout
    assert "lost, plan 1 at 0.00 s: lost-acked-record, lost-write" in listed
    assert f"tidemark report {(theirs / 'lost.jsonl').resolve()}" in listed
    checked = typed(check_command, tmp_path / "mine")
    assert checked.return_value == 1
    assert "2 of 2 runs were judged again" in checked.stdout
    state = campaign_state(tmp_path / "mine")
    assert (state.done, state.runs, state.complete) == (2, 2, True)


def test_two_processes_say_what_one_says(theirs: Path, tmp_path: Path) -> None:
    told = [
        json.loads(typed(import_command, theirs, "--out", tmp_path / name, "--jobs", jobs, "--json").stdout)
        for name, jobs in (("one", 1), ("two", 2))
    ]

    assert told[0] | {"campaign": ""} == told[1] | {"campaign": ""}
    assert told[0]["variants"] == {"kept": 1, "lost": 1}


@pytest.mark.systems
def test_what_was_not_read_is_named_and_told_by_the_exit_code(theirs: Path, tmp_path: Path) -> None:
    (theirs / "bad.jsonl").write_text("no\n")
    (tmp_path / "bads").mkdir()
    for name in ("one", "two"):
        (tmp_path / "bads" / f"{name}.jsonl").write_text("no\n")

    first = typed(import_command, theirs, "--out", tmp_path / "mine", "--as", "both", "--jobs", 1)
    second = typed(import_command, theirs, "--out", tmp_path / "mine", "--as", "both", "--jobs", 1)
    alone = typed(import_command, theirs / "bad.jsonl", "--out", tmp_path / "none", "--jobs", 1)

    assert (first.return_value, second.return_value) == (2, 2)
    assert "2 of both" in first.stdout
    assert "1 file was not read:" in first.stdout
    assert "bad.jsonl: line 1: this is no history" in first.stdout
    assert "Nothing new was imported.\n2 histories were there already." in second.stdout
    assert str(alone.exception).startswith("nothing could be imported: ")
    assert not (tmp_path / "none").exists()
    copies = typed(import_command, tmp_path / "bads", "--out", tmp_path / "none", "--jobs", 1)
    assert str(copies.exception).startswith("nothing could be imported: ")
    assert str(copies.exception).endswith("(and 1 more)")


def test_what_looks_like_markup_is_a_name(theirs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "x[" / "y]"  # x[/y] ends a style, and [red] begins one

    typed(import_command, theirs / "lost.jsonl", "--out", folder, "--as", "[/of] [red]", "--jobs", 1)

    assert f"{folder}: 1 imported history" in typed(list_command, tmp_path).stdout
    assert "[/of] [red], plan 0 at 0.00 s: lost-acked-record, lost-write" in typed(runs_command, folder).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "nowhere: there is no such file or folder"),
        (["empty"], "there is no history in empty"),
        (["empty", "--as", " "], "--as wants a name"),
        (["mine"], "mine is a campaign already: tidemark check judges it again"),
        (["pipe.jsonl"], "pipe.jsonl is a pipe or a device, and is read more than once: store it in a file first"),
        (["piped"], "piped/pipe.jsonl: cannot be read (a pipe or a device)"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_sentence(
    words: list[str], sentence: str, theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "piped").mkdir()
    for pipe in ("pipe.jsonl", "piped/pipe.jsonl"):
        os.mkfifo(pipe)
    typed(import_command, theirs, "--out", "mine", "--jobs", 1)

    found = typed(import_command, *words, "--out", "out")

    assert sentence in str(found.exception)
    assert not (tmp_path / "out").exists()


def test_a_campaign_that_was_run_takes_none(theirs: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "ops").mkdir(parents=True)

    found = typed(import_command, theirs, "--out", tmp_path / "run", "--jobs", 1)

    assert "holds tables without a manifest; choose another folder with --out" in str(found.exception)
