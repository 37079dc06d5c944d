"""Anybody's files: EDN in all its shapes, JSON lines, Parquet, gzip and streams give the same verdict; EDN is written as it was."""

import gzip
import io
import json

import pytest
from client_operations import OPS, pairs

from tidemark.checkers import History, HistoryFormatError, Op, check, history_lines, read_stream
from tidemark.checkers.history import history_file as history_file_module
from tidemark.checkers.history.edn_history import read_edn
from tidemark.checkers.history.edn_lines import edn_lines

LINES = b"""{:type :invoke, :process 0, :f :send, :value [[:send 3 7]], :time 1000, :index 0}
{:type :ok, :process 0, :f :send, :value [[:send 3 [0 7]]], :time 2500, :index 1, :error {:a "x"}, :clock-time 1.5}
{:type :info, :process :nemesis, :f :kill, :value #{"n1"}, :time 2600, :index 2}
{:type :invoke, :process 1, :f :txn, :value [[:poll] [:send 3 8]], :time 3000, :index 3}
{:type :ok, :process 1, :f :txn, :value [[:poll {3 [[0 7] [1 8]]}] [:send 3 [1 8]]], :time 4000, :index 4}
{:type :invoke, :process 1, :f :crash, :value nil, :time 5000, :index 5}
{:type :info, :process 1, :f :crash, :value nil, :time 6000, :index 6}
"""


def shapes():
    one = LINES.splitlines()
    return {
        "a map per line": LINES,
        "a vector": b"[" + LINES + b"]",
        "a list of records": b"(" + b" ".join(b"#jepsen.history.Op" + line for line in one) + b")",
        "on one line": b"[" + LINES.replace(b"\n", b" ") + b"]",
        "sparse indices": LINES.replace(b":index ", b":index 1"),
        "the same index": b"\n".join(line.split(b", :index")[0] + b", :index 0}" for line in one),
        "no index": b"\n".join(line.split(b", :index")[0] + b"}" for line in one),
        "comments": b";; mine\n" + LINES.replace(b"\n", b" ; and so on\n#_{:not this}\n"),
        "completions alone": b"\n".join(line for line in one if b":invoke" not in line),
        "zipped": gzip.compress(LINES),
        "no times": b"\n".join(b", ".join(p for p in line.split(b", ") if b":time" not in p) for line in one),
    }


@pytest.mark.parametrize("shape", shapes())
def test_edn_of_every_shape_is_the_same_history(shape):
    verdict = check(read_stream(io.BytesIO(shapes()[shape])))

    assert [(one.name, one.partition, one.evidence["value"]) for one in verdict.anomalies] == [
        ("precommitted-read", "3", 8)
    ]


@pytest.mark.parametrize("shape", sorted(set(shapes()) - {"zipped"}))
def test_edn_is_written_with_every_operation_and_field(shape):
    history = read_edn(io.BytesIO(shapes()[shape]), forms=True)
    again = read_edn(io.BytesIO("\n".join(edn_lines(history)).encode()), forms=True)

    assert again.forms == history.forms
    assert len(history.forms) == (4 if shape == "completions alone" else 7)


def test_a_map_per_line_is_written_as_it_was_to_the_byte():
    assert "\n".join(edn_lines(read_edn(io.BytesIO(LINES), forms=True))) + "\n" == LINES.decode()


def test_a_history_of_ours_in_edn():
    ops = [
        Op(1, "p1", "invoke", "send", (("send", "t-0", 7),), acks="all"),
        Op(2, "p1", "ok", "send", (("send", "t-0", (0, 7)),), acks="all"),
        Op(3, "c1", "invoke", "poll", (("poll", {}),), final=True),
        Op(4, "c1", "ok", "poll", (("poll", {"t-0": [(0, 7)]}),), final=True),
    ]
    history = History(ops=ops, nemesis=[(3, "strike", 0, "crash", {"node": 2})])

    assert list(edn_lines(history)) == [
        '{:type :invoke, :process 0, :f :send, :value [[:send "t-0" 7]], :time 1000, :client "p1", :acks "all", :index 0}',
        '{:type :ok, :process 0, :f :send, :value [[:send "t-0" [0 7]]], :time 2000, :client "p1", :acks "all", :index 1}',
        '{:type :info, :process :nemesis, :f :strike-crash, :value {"index" 0, "node" 2}, :time 3000, :index 2}',
        '{:type :invoke, :process 1, :f :poll, :value [[:poll]], :time 3000, :client "c1", :final? true, :index 3}',
        '{:type :ok, :process 1, :f :poll, :value [[:poll {"t-0" [[0 7]]}]], :time 4000, :client "c1", :final? true, :index 4}',
    ]
    assert check(read_stream(io.BytesIO("\n".join(edn_lines(history)).encode()))).valid == "valid"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("[[:send 3]]", "[:send 3] is neither [:send key value] nor [:poll {…}]"),
        ("[[:send 3 [0]]]", "a send completes with [offset value], and not with [0]"),
        ("[[:send 3 [-2 7]]]", "an offset is an integer from 0 on, and not -2"),
        ("[[:send 3 [99999999999999999999 7]]]", "an offset is an integer from 0 on, and not 99999999999999999999"),
        ("[[:poll {3 [[0]]}]]", "[[:poll {3 [[0]]}]] is no value of :send"),
        ("[[]]", "[[]] is no value of :send"),
        ("[{}]", "[{}] is no value of :send"),
        ("7", "7 is no value of :send"),
        ("[[:poll 3]]", "[:poll 3] is neither [:send key value] nor [:poll {…}]"),
        (
            "[[:append 3 4]]",
            (
                "[:append 3 4] is neither [:send key value] nor [:poll {…}]; "
                "--model list-append or rw-register judges transactions of keys"
            ),
        ),
    ],
)
def test_what_is_no_operation_of_a_log_is_refused_with_its_line(value, sentence):
    with pytest.raises(HistoryFormatError) as refused:
        read_stream(io.BytesIO(f"\n{{:type :ok, :process 0, :f :send, :value {value}}}".encode()))

    assert str(refused.value) == f"line 2: {sentence}"


def test_a_completion_that_sends_something_else_is_refused():
    def read(key, sent):
        halves = (
            "{:type :invoke, :process 0, :f :txn, :value [[:send 3 7]]}",
            f"{{:type :ok, :process 0, :f :txn, :value [[:send {key} {sent}]]}}",
        )
        return read_stream(io.BytesIO("\n".join(halves).encode()))

    assert len(read("3", "[0 7]").columns) == 2
    for key, sent, told in (("3", "[0 :a]", ":a for 3"), ("3", "8", "8 for 3"), ('"3"', "[0 7]", "7 for '3'")):
        with pytest.raises(HistoryFormatError) as refused:
            read(key, sent)
        assert (
            str(refused.value) == f"line 2: process 0 completes a txn with {told}, and invoked it with 7 for 3 (line 1)"
        )


def test_an_offset_of_minus_one_is_none():
    sends = "\n".join(f"{{:type :ok, :process 0, :f :send, :value [[:send 0 [-1 {value}]]]}}" for value in (7, 8))
    verdict = check(read_stream(io.BytesIO(sends.encode())))

    assert [anomaly.name for anomaly in verdict.anomalies] == ["unseen"]


def test_a_broken_gzip_file_is_refused_in_a_sentence():
    with pytest.raises(HistoryFormatError, match="the file is gzipped, and broken"):
        read_stream(io.BytesIO(gzip.compress(LINES)[:-20]))


def test_columns_give_back_the_operations_that_they_were_made_of(monkeypatch, tmp_path):
    """A long file without a trace is kept in columns, and judged and written as one that is not."""
    history = History(meta={"acks": "all"}, ops=list(pairs(OPS)))
    lines = list(history_lines(history))
    short = read_stream(io.BytesIO("\n".join(lines).encode()))
    monkeypatch.setattr(history_file_module, "MANY", 3)
    long = read_stream(io.BytesIO("\n".join(lines).encode()))

    assert (len(short.ops), short.columns) == (16, None)
    assert (long.ops, len(long.columns)) == ([], 16)
    assert list(history_lines(long)) == lines
    assert check(long) == check(short)
    assert {anomaly.name for anomaly in check(long).anomalies} == {"lost-write"}


def test_a_trace_that_comes_late_gets_the_operations_back(monkeypatch):
    lines = list(history_lines(History(ops=list(pairs(OPS)))))[1:]
    unnumbered = [json.dumps({k: v for k, v in json.loads(line).items() if k != "line"}) for line in lines]
    trace = '{"kind":"trace","time":9,"node":1,"event":"start","partition":"","incarnation":1}'
    monkeypatch.setattr(history_file_module, "MANY", 3)
    history = read_stream(io.BytesIO("\n".join([*unnumbered, trace]).encode()))

    assert history.columns is None
    assert history.ops == list(pairs(OPS))


def test_lines_out_of_time_are_sorted_in_columns_too(monkeypatch):
    lines = [*history_lines(History(ops=list(pairs(OPS))))][1:]
    unnumbered = [json.dumps({k: v for k, v in json.loads(line).items() if k != "line"}) for line in lines]
    other = [line for line in unnumbered if '"c1"' in line]
    turned = other + [line for line in unnumbered if line not in other]
    monkeypatch.setattr(history_file_module, "MANY", 3)

    assert check(read_stream(io.BytesIO("\n".join(turned).encode()))) == check(History(ops=list(pairs(OPS))))
