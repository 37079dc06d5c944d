"""Keys and values of all kinds, in JSON lines and in EDN: what differs is two things, and one thing stays one."""

import io
import json
from io import BytesIO

import pytest

from tidemark.checkers import History, HistoryFormatError, check, read_stream
from tidemark.checkers.history.edn_ops import read_edn_ops
from tidemark.checkers.objects.workloads import judge

ALL_KINDS = [None, True, False, 0, 1, 1.0, 1.5, "", "1", "null", '"null"', "true", "1.0"]


def edn(*forms):
    return read_stream(io.BytesIO("\n".join(forms).encode()))


def jsonl(*values):
    """Every value sent and polled."""
    placed = list(enumerate(values))
    halves = [
        ("p", "invoke", "send", [["send", "k", value] for value in values]),
        ("p", "ok", "send", [["send", "k", one] for one in placed]),
        ("c", "invoke", "poll", [["poll", {}]]),
        ("c", "ok", "poll", [["poll", {"k": placed}]]),
    ]
    lines = [
        json.dumps({"kind": "op", "time": time, "process": process, "type": type_, "f": f, "value": value})
        for time, (process, type_, f, value) in enumerate(halves)
    ]
    return read_stream(io.BytesIO("\n".join(lines).encode()))


def test_an_integer_and_a_string_of_edn_are_two_keys():
    history = edn(
        '{:type :ok, :process 0, :f :send, :value [[:send 1 [0 1]] [:send "1" [0 2]]]}',
        '{:type :ok, :process 1, :f :poll, :value [[:poll {1 [[0 1]], "1" [[0 2]]}]]}',
    )

    assert check(history).valid == "valid"
    assert history.columns.keys == ["1", '"1"']


def test_a_keyword_and_a_string_of_edn_are_two_values_and_two_keys():
    history = edn(
        '{:type :ok, :process 0, :f :send, :value [[:send ":k" [0 :a]] [:send ":k" [1 ":a"]] [:send :k [0 "x"]]]}',
        '{:type :ok, :process 1, :f :poll, :value [[:poll {":k" [[0 :a] [1 ":a"]], :k [[0 "x"]]}]]}',
    )

    assert check(history).valid == "valid"
    assert history.columns.keys == ['":k"', ":k"]
    assert history.columns.values == [":a", '":a"', "x"]


def test_a_string_of_quotes_is_told_from_one_that_got_them():
    history = edn(
        '{:type :ok, :process 0, :f :send, :value [[:send "\\"1\\"" [0 7]] [:send "1" [0 7]] [:send 1 [0 7]]]}'
    )

    assert len(set(history.columns.keys)) == 3


def test_a_string_that_nothing_else_reads_like_is_its_own_name():
    assert edn('{:type :ok, :process 0, :f :send, :value [[:send "1" [0 ":a"]]]}').columns.keys == ["1"]


def test_an_integer_with_n_is_the_integer():
    history = edn(
        "{:type :ok, :process 0, :f :send, :value [[:send 1N [0 7N]]]}",
        "{:type :ok, :process 1, :f :poll, :value [[:poll {1 [[0 7]]}]]}",
    )

    assert check(history).anomalies == ()


def test_values_of_all_kinds_are_told_apart_in_json():
    assert check(jsonl(*ALL_KINDS)).valid == "valid"


def test_and_found_where_they_are_taken_for_each_other():
    """True was sent and 1 was read."""
    history = jsonl(True)
    history.ops[3] = history.ops[3]._replace(value=(("poll", {"k": [(0, 1)]}),))

    assert {one.name for one in check(history).anomalies} >= {"phantom"}


def test_evidence_names_them_by_their_text():
    history = jsonl(None, "null")
    history.ops[3] = history.ops[3]._replace(value=(("poll", {"k": [(1, "null")]}),))
    (anomaly,) = check(history).named("lost-write")

    assert anomaly.evidence["value"] == "null"


@pytest.mark.parametrize("key", ["nil", "true", "1.5", "{}", "#{1}", "[nil]"])
def test_a_key_of_edn_that_json_could_not_have_is_refused(key):
    with pytest.raises(HistoryFormatError, match="a key is a string, an integer, a keyword or a vector"):
        edn(f"{{:type :ok, :process 0, :f :send, :value [[:send {key} [0 1]]]}}")


@pytest.mark.parametrize("value", ["{}", "#{1}", "(1 2 3)"])
def test_a_value_that_is_a_collection_is_refused(value):
    with pytest.raises(HistoryFormatError):
        edn(f'{{:type :ok, :process 0, :f :poll, :value [[:poll {{"x" [[0 {value}]]}}]]}}')


NO_NUMBERS = pytest.mark.parametrize("value", ["##NaN", "##Inf", "##-Inf"])


@NO_NUMBERS
def test_a_value_that_json_refuses_as_no_number_is_refused_in_edn(value):
    sent = "{:process 0, :type :invoke, :f :send, :value [[:send 1 2]]}"

    with pytest.raises(HistoryFormatError, match=f"^line 2: {value} is no number$"):
        edn(sent, f"{{:process 0, :type :ok, :f :send, :value [[:send 1 [0 {value}]]]}}")
    with pytest.raises(HistoryFormatError, match=f"^line 2: {value} is no number$"):
        edn(sent, f"{{:process :nemesis, :type :info, :f :skew, :value {{1 {value}}}}}")


@NO_NUMBERS
@pytest.mark.parametrize("within", ["{}", "[:a {}]", "{{:a {}}}"])
def test_and_for_a_model(value, within):
    lines = (
        f"{{:process 0, :type :invoke, :f :read}}\n{{:process 0, :type :ok, :f :read, :value {within.format(value)}}}"
    )

    with pytest.raises(HistoryFormatError, match=f"^line 2: {value} is no number$"):
        read_stream(BytesIO(lines.encode()), rows=True)


def test_a_number_of_json_that_is_too_large_is_refused_for_a_model():
    line = b'{"kind":"op","time":1,"process":"p1","type":"ok","f":"read","value":-1e999}\n'

    with pytest.raises(
        HistoryFormatError, match=r"^line 1: this is not JSON .-1e999 is a larger number than can be kept"
    ):
        read_stream(BytesIO(line), rows=True)


@NO_NUMBERS
def test_and_in_a_log_of_jepsen(value):
    with pytest.raises(HistoryFormatError, match=f"^line 1: {value} is no number$"):
        read_stream(BytesIO(f"INFO  jepsen.util - 0\t:ok\t:read\t{value}\n".encode()))


def _object(model, *values):
    halves = zip(values, ("invoke", "ok") * len(values), strict=False)
    lines = [f"{{:process 0, :type :{type_}, :f {value[0]}, :value {value[1]}}}" for value, type_ in halves]
    return judge(History({"ties": "listed"}, read_edn_ops(BytesIO("\n".join(lines).encode()))), model).valid


def test_a_keyword_and_a_string_of_the_same_text_are_two_keys_of_an_object():
    append, read = (":txn", "[[:append :x 1]]"), (":txn", '[[:r "x" nil]]')

    assert _object("list-append", append, append, read, read) == "valid"
    assert _object("list-append", append, append, *[(":txn", "[[:r :x nil]]")] * 2) == "invalid"


def test_and_two_elements():
    read = [(":read", "nil"), (":read", '#{"a"}')]

    assert _object("set", *[(":add", ":a")] * 2, *read) == "invalid"
    assert _object("set", *[(":add", '"a"')] * 2, *read) == "valid"
