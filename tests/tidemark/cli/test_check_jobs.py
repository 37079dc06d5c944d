"""``tidemark check FILE --jobs``."""

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from seeded_bugs import buggy_history

from tidemark.checkers import History, write_history
from tidemark.cli.check import check_command


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with bugs, of a few hundred operations, which are many here."""
    monkeypatch.setattr("tidemark.checkers.history.history_blocks.LEAST_BYTES", 4000)
    monkeypatch.setattr("tidemark.checkers.history.history_blocks.MANY", 100)
    monkeypatch.setattr(sys.modules["tidemark.checkers.history.history_file"], "MANY", 100)
    write_history(History(meta={"variant": "v"}, ops=buggy_history(5, 300, 10)), tmp_path / "history.jsonl")
    return tmp_path / "history.jsonl"


def typed(*words: object) -> Result:
    return CliRunner().invoke(check_command, [str(word) for word in words], standalone_mode=False)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_several_processes_say_what_one_says(history: Path, jobs: int) -> None:
    alone, together = typed(history, "--json"), typed(history, "--json", "--jobs", jobs)

    assert alone.return_value == together.return_value == 1
    assert together.stdout == alone.stdout
    assert typed(history.parent, "--jobs", jobs, "--json").stdout == alone.stdout


def test_what_is_wrong_is_told_in_the_same_sentence(history: Path) -> None:
    lines = history.read_text().splitlines()
    lines[400] = lines[400].replace('"time":', '"time":"late",')
    history.write_text("\n".join(lines) + "\n")

    alone, together = typed(history), typed(history, "--jobs", 2)

    assert "line 401: " in str(alone.exception)
    assert str(together.exception) == str(alone.exception)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "register"], "want each operation, by one reader"),
        (["--checker", "mine.py"], "want each operation, by one reader"),
    ],
)
def test_what_wants_each_operation_is_refused(words: list[str], sentence: str, history: Path) -> None:
    assert sentence in str(typed(history, "--jobs", 2, *words).exception)


def test_a_campaign_is_spread_in_another_way(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")

    assert "a campaign is spread by --master" in str(typed(tmp_path, "--jobs", 2).exception)


def test_what_is_not_there_is_told_as_ever(tmp_path: Path) -> None:
    assert str(typed(tmp_path / "none.jsonl", "--jobs", 2).exception) == (
        f"{tmp_path / 'none.jsonl'}: cannot be read (No such file or directory)"
    )
    assert "holds no run" in str(typed(tmp_path, "--jobs", 2).exception)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_pipe_is_read_once(history: Path, jobs: int) -> None:
    write_history(History(ops=buggy_history(5, 80, 10)), history)
    whole = history.read_bytes()
    assert 8000 < len(whole) < 1 << 16  # two blocks, and no more than a pipe takes
    alone = typed(history, "--json")
    reading, writing = os.pipe()
    os.write(writing, whole)
    os.close(writing)

    piped = typed(f"/dev/fd/{reading}", "--json", "--jobs", jobs)

    os.close(reading)
    assert (piped.return_value, piped.stdout) == (1, alone.stdout)
