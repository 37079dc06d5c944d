"""Client operations in Parquet are judged as they are in JSON lines; what is none is refused with its row."""

import json

import pytest
from client_operations import OPS, pairs

from tidemark.checkers import History, HistoryFormatError, check, history_lines
from tidemark.harness.runs.folder import load_history
from tidemark.harness.runs.parquet_history import read_parquet


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = [json.loads(line) for line in history_lines(History(ops=list(pairs(OPS))))][1:]
    names = ("time", "process", "type", "f", "error", "acks", "final")
    table = {name: [row[name] for row in rows] for name in names} | {
        "value": [json.dumps(row["value"]) for row in rows]
    }
    path = tmp_path / "history.parquet"
    pq.write_table(pa.table(table), path)

    assert check(load_history(path)) == check(History(ops=list(pairs(OPS))))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table.pop("f"), "line 1: there is no column f"),
        (lambda table: table.update(value=["["]), "line 1: its value is no JSON"),
        (lambda table: table.update(type=["x"]), "line 1: the type of an operation is invoke, ok, fail or info"),
    ],
)
def test_parquet_that_is_no_history_is_refused_with_its_row(change, sentence, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = {"time": [1], "process": ["p"], "type": ["ok"], "f": ["send"], "value": ['[["send","t-0",[0,1]]]']}
    change(table)
    pq.write_table(pa.table(table), tmp_path / "bad.parquet")

    with pytest.raises(HistoryFormatError, match=f"^{sentence}"):
        load_history(tmp_path / "bad.parquet")


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(
    ("column", "values", "sentence"),
    [
        (
            "value",
            ['[["send","t",1]]', '[["send","t",[0,2]]]'],
            "line 2: p completes a send with 2 for 't', and invoked it with 1",
        ),
        ("time", [5, 4], "line 2: process p was at 5 µs before, and goes back to 4 µs"),
        ("type", ["invoke", "invoke"], "line 2: p invokes a send while its send of line 1 is open"),
        ("value", ['[["send","t",NaN]]', "[]"], "line 1: its value is no JSON (NaN is no number)"),
    ],
)
def test_parquet_that_contradicts_itself_is_refused_with_its_row(column, values, sentence, rows, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {
        "time": [1, 2],
        "process": ["p"] * 2,
        "type": ["invoke", "ok"],
        "f": ["send"] * 2,
        "value": ['[["send","t",1]]'] * 2,
    }
    pq.write_table(pa.table(table | {column: values}), tmp_path / "h.parquet")

    with pytest.raises(HistoryFormatError) as refused:
        read_parquet(tmp_path / "h.parquet", rows=rows)
    assert str(refused.value).startswith(sentence)


def test_parquet_whose_text_is_no_utf_8_is_refused(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"time": [1], "process": ["p1"], "type": ["ok"], "f": ["send"], "value": ['[["send","uvwxyz",[0,1]]]']}
    pq.write_table(pa.table(columns), tmp_path / "h.parquet", compression="none", use_dictionary=False)
    spoiled = (tmp_path / "h.parquet").read_bytes().replace(b"uvwxyz", b"uvwx\xec\xff")
    (tmp_path / "h.parquet").write_bytes(spoiled)

    with pytest.raises(HistoryFormatError, match="the file is Parquet, and broken"):
        load_history(tmp_path / "h.parquet")
