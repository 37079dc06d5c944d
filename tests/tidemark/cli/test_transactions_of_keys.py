"""``tidemark check --model list-append`` and ``rw-register``: files, options, refusals."""

import json

import pytest
from click.testing import CliRunner

from tidemark.cli.check import check_command

LINES = """\
{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :y nil]], :time 1}
{:process 1, :type :invoke, :f :txn, :value [[:append :x 2] [:append :y 1]], :time 2}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:r :y [1]]], :time 3}
{:process 1, :type :ok, :f :txn, :value [[:append :x 2] [:append :y 1]], :time 4}
{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]], :time 5}
{:process 2, :type :ok, :f :txn, :value [[:r :x [1 2]]], :time 6}
"""


@pytest.fixture
def run(tmp_path):
    def run(text, *words, name="h.edn"):
        path = tmp_path / name
        path.write_text(text)
        return CliRunner().invoke(check_command, [str(path), *words], standalone_mode=False)

    return run


def test_a_history_of_jepsens(run):
    result = run(LINES, "--model", "list-append")
    assert (result.return_value, "list-append: invalid: 3 transactions, not read-committed" in result.output) == (
        1,
        True,
    )
    assert "but T2 wrote 1 to x, before T1 wrote 2" in result.output
    allowed = run(LINES, "--model", "list-append", "--consistency", "read-uncommitted")
    assert (allowed.return_value, "(allowed by what is promised)" in allowed.output) == (0, True)


def test_halves_less_than_a_microsecond_apart_keep_their_order(run):
    text = """\
{:process 0, :type :invoke, :f :txn, :value [[:w :x 1]], :time 1000}
{:process 0, :type :ok, :f :txn, :value [[:w :x 1]], :time 1001}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil]], :time 1002}
{:process 1, :type :ok, :f :txn, :value [[:r :x nil]], :time 5000}
"""
    assert "G-single-realtime" in run(text, "--model", "rw-register").output


def test_json_lines(run):
    lines = [
        {"time": 1, "process": "a", "type": "invoke", "f": "txn", "value": [["w", "x", 1], ["r", "x", None]]},
        {"time": 2, "process": "a", "type": "ok", "f": "txn", "value": [["w", "x", 1], ["r", "x", 2]]},
    ]
    text = "".join(json.dumps({"kind": "op", **line}) + "\n" for line in lines)
    result = run(text, "--model", "rw-register", "--json", name="h.jsonl")
    told = json.loads(result.output)["parts"]["rw-register"]
    assert told["evidence"]["anomaly_counts"] == {"internal": 1, "phantom": 1}
    assert told["evidence"]["refuted"]["weakest"] == ["read-uncommitted"]
    refused = run(text, name="h.jsonl")
    assert "neither" in str(refused.exception)


def test_options_are_for_the_models_that_have_them(run):
    assert "is for --model" in str(run(LINES, "--model", "bank", "--consistency", "serializable").exception)
    assert "is for --model bank" in str(run(LINES, "--model", "list-append", "--total", "3").exception)
    assert "is for --model" in str(run(LINES, "--keys-are", "linearizable").exception)
    assert "micro-operation" in str(run(LINES, "--model", "rw-register").exception)


def test_a_checker_of_ones_own_beside_what_is_no_log(run, tmp_path):
    own = tmp_path / "own.py"
    own.write_text("def check_nothing(history):\n    return []\n")
    line = '{"kind":"op","time":1,"process":"a","type":"invoke","f":"txn","value":[["append","x",1]]}\n'
    result = run(line, "--checker", str(own), name="h.jsonl")
    assert "operation 0" in str(result.exception)
