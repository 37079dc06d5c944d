"""Client operations in Parquet are judged as they are in JSON lines; what is none is refused with its row."""

import json

import pytest

from checkers import History, HistoryFormatError, Op, check, history_lines, polled, sent
from harness.runs.folder import load_history

OPS = [
    sent(1, "p1", "t-0", 7, 0),
    sent(2, "p1", "t-0", "seven", None),
    sent(3, "p1", "t-0", 8, 2)._replace(type="info"),
    polled(4, "c1", "t-0", (0, 7)),
    polled(5, "c1", "t-0", (2, 8)),
    Op(6, "c2", "ok", "assign", ("t-0", "t-1")),
    Op(7, "d1", "ok", "delete", (("delete", "t-1", 1),)),
    Op(8, "c1", "ok", "poll", (("poll", {"t-0": []}),), final=True),
]


def pairs(ops):
    """With an invocation before each completion."""
    for op in ops:
        value = (
            tuple(("send", m[1], m[2][1]) if m[0] == "send" else m for m in op.value) if op.f == "send" else op.value
        )
        yield op._replace(type="invoke", value=(("poll", {}),) if op.f == "poll" else value)
        yield op


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
