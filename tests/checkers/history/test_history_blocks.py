"""A file that several read in blocks is the history that one reads, to the last number, or is left to one."""

import gzip
import json
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from seeded_bugs import buggy_history

from tidemark.checkers import History, HistoryFormatError, check, read_any
from tidemark.checkers.history.history_blocks import places, read_block, together
from tidemark.checkers.history.history_file import history_lines, op_line


@pytest.fixture(autouse=True)
def short_ones_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen lines make a block, and fifty operations a history in columns."""
    monkeypatch.setattr("tidemark.checkers.history.history_blocks.LEAST_BYTES", 1000)
    monkeypatch.setattr("tidemark.checkers.history.history_blocks.MANY", 50)
    monkeypatch.setattr(sys.modules["tidemark.checkers.history.history_file"], "MANY", 50)


def in_blocks(path: Path, jobs: int = 100) -> History | None:
    found = places(path, jobs)
    return together(path, map(read_block, found)) if found else None


def assert_the_same(one: History, other: History) -> None:
    assert (one.meta, one.cut_off, one.gaps, one.ops) == (other.meta, other.cut_off, other.gaps, other.ops)
    for field in fields(one.columns):
        mine, theirs = getattr(one.columns, field.name), getattr(other.columns, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert np.array_equal(mine, theirs), field.name
        else:
            assert mine == theirs, field.name
    assert check(one).to_json() == check(other).to_json()


def operations(seed: int, bugs: int = 8) -> list:
    """Of a log with bugs; with strings for some values, an integer for a process, and errors."""
    names = {"k1": "text", "k2": 2**63 - 1}

    def other(micro):
        if micro[0] != "send" or micro[1] not in names:
            return micro
        return ("send", micro[1], (micro[2][0], f"v{micro[2][1]}") if isinstance(micro[2], tuple) else f"v{micro[2]}")

    ops = buggy_history(seed, 150, bugs, isolated=bool(seed % 2))
    return [
        op._replace(
            process=7 if op.process == "p3" else op.process,
            error=f"E{seed}" if op.type == "info" else None,
            acks="1" if op.type == "ok" and op.f == "send" else None,
            value=tuple(map(other, op.value)),
        )
        for op in ops
    ]


@pytest.mark.parametrize("seed", range(12))
def test_histories_with_bugs_are_the_same_with_numbers_and_without(seed: int, tmp_path: Path) -> None:
    history = History(meta={"variant": "v", "faults_end_us": 200}, ops=operations(seed))
    lines = list(history_lines(history))
    numbered, plain, bare = (tmp_path / name for name in ("numbered.jsonl", "plain.jsonl", "bare.jsonl"))
    numbered.write_text("\n".join(lines) + "\n", encoding="utf-8")
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        del entry["line"]
        entry.pop("lines", None)
    plain.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    bare.write_text("\n \n".join(map(json.dumps, entries[1:])) + "\n", encoding="utf-8-sig")

    for path in (numbered, plain, bare):
        assert len(places(path, 100)) > 5
        found = in_blocks(path)
        assert found is not None, path.name
        assert_the_same(found, read_any(path))
    assert_the_same(in_blocks(numbered, jobs=1), read_any(numbered))


@pytest.mark.parametrize("total", [3, 10_000])
def test_what_the_meta_line_says_of_its_lines_counts(total: int, tmp_path: Path) -> None:
    lines = list(history_lines(History(ops=operations(1))))
    path = tmp_path / "h.jsonl"
    meta = json.dumps(json.loads(lines[0]) | {"lines": total})
    path.write_text("\n".join([meta, *lines[1:]]) + "\n", encoding="utf-8")

    assert_the_same(in_blocks(path), read_any(path))
    assert in_blocks(path).cut_off or in_blocks(path).gaps


def changed(lines: list[str], place: int, **what: object) -> list[str]:
    return [*lines[:place], json.dumps(json.loads(lines[place]) | what), *lines[place + 1 :]]


WITHOUT_ITS_NUMBER = {"line": None}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines, at: [*lines[:at], *lines[at + 1 :]],
        lambda lines, at: [*lines[:at], *lines[at + 2 :]],
        lambda lines, at: [*lines[:at], lines[at][:-5], *lines[at + 1 :]],
        lambda lines, at: changed(lines, at, time=0),
        lambda lines, at: changed(lines, at, line=float(at)),
        lambda lines, at: changed(lines, at, type="maybe"),
        lambda lines, at: changed(lines, at, **WITHOUT_ITS_NUMBER),
        lambda lines, at: changed(lines, at, kind="trace", node=1, event="resume", partition="t-0"),
        lambda lines, at: changed(lines, at, kind="meta"),
        lambda lines, at: changed(lines, 0, min_isr="two"),
        lambda lines, at: changed(lines, 0, line=3),
        lambda lines, at: [*lines[:-1], lines[-1][:20]],
    ],
)
def test_what_is_unusual_is_left_to_one_reader_who_says_what_it_is(spoil, seed: int, tmp_path: Path) -> None:
    lines = list(history_lines(History(meta={"variant": "v"}, ops=operations(seed))))
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(spoil(lines, 40 + 31 * seed)), encoding="utf-8")
    try:
        expected = read_any(path, allow_torn_tail=True)
    except HistoryFormatError:
        expected = None

    assert in_blocks(path) is None
    assert expected is None or expected.gaps or expected.cut_off or expected.trace


def test_so_is_a_send_that_is_completed_with_another_record(tmp_path: Path) -> None:
    lines = list(history_lines(History(ops=operations(1))))
    place = next(place for place, line in enumerate(lines) if '"ok"' in line and '"send"' in line and place > 100)
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(changed(lines, place, value=[["send", "t-0", [10**6, 10**6]]])), encoding="utf-8")

    with pytest.raises(HistoryFormatError, match=f"line {place + 1}: .* completes a (send|txn) with 1000000"):
        read_any(path)
    assert in_blocks(path) is None


@pytest.mark.parametrize("block", range(1, 6))
def test_a_process_that_contradicts_itself_between_two_blocks_is_left_to_one_reader(block: int, tmp_path: Path) -> None:
    lines = [op_line(op, 0).replace('"line":0,', "") for op in operations(2)]
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert in_blocks(path) is not None
    first = path.read_bytes()[: places(path, 100)[block].begin].count(b"\n")

    path.write_text("\n".join([*lines[: first - 1], *lines[first:]]) + "\n", encoding="utf-8")

    with pytest.raises(HistoryFormatError):
        read_any(path)
    assert in_blocks(path) is None


def test_other_files_and_short_ones_have_no_blocks(tmp_path: Path) -> None:
    lines = "\n".join(history_lines(History(ops=operations(1)))).encode()
    for name, content in (
        ("edn", b"[" + b"{:type :ok, :process 0, :f :send, :value [[:send 0 [0 7]]]}\n" * 500 + b"]"),
        ("gz", gzip.compress(lines)),
        ("parquet", b"PAR1" + b"\0\xff\n" * 5000),
        ("short", lines[:1500]),
        ("empty", b""),
    ):
        (tmp_path / name).write_bytes(content)
        assert places(tmp_path / name, 4) == []


def test_a_history_of_few_operations_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.checkers.history.history_blocks.MANY", 10_000)
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(history_lines(History(ops=operations(1)))), encoding="utf-8")

    assert in_blocks(path) is None
