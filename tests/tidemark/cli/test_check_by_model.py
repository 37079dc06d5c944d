"""``tidemark check --model``: verdict, exit code and evidence, from JSON lines and EDN."""

import json
from pathlib import Path
from time import process_time

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.check import check_command

STALE = [("a", "invoke", "write", 1), ("a", "ok", "write", 1), ("b", "invoke", "read", None), ("b", "ok", "read", None)]


def written(folder, halves, **meta):
    lines = [{"kind": "meta", **meta}] if meta else []
    lines += [
        {"kind": "op", "time": 1000 * place, "process": process, "type": type_, "f": f, "value": value}
        for place, (process, type_, f, value) in enumerate(halves)
    ]
    file = folder / "history.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def run(*arguments):
    return CliRunner().invoke(check_command, arguments, standalone_mode=False)


def test_a_stale_read_is_told_with_what_the_register_could_be(tmp_path):
    result = run(written(tmp_path, STALE), "--model", "register")

    assert result.return_value == 1
    assert result.output == (
        "invalid as a history of register\n"
        "  register: invalid: read by b returned null, and the register could only be 1 (operations 2 to 3)\n"
        "  stats: valid: 2 operations: 2 ok, 0 failed, 0 unknown\n"
        "  unhandled-exceptions: valid: no errors\n"
    )


def test_the_evidence_is_json(tmp_path):
    told = json.loads(run(written(tmp_path, STALE), "--model", "register", "--json").output)

    assert told["valid"] == "invalid"
    assert told["parts"]["register"]["evidence"]["failures"][0]["states"] == [1]


def test_jepsens_edn_is_taken_in_its_order_whatever_its_times(tmp_path):
    file = tmp_path / "history.edn"
    file.write_text(
        "[{:process 0, :type :invoke, :f :write, :value 1, :time 100}\n {:process 0, :type :ok, :f :write, :value 1, :time 200}\n"
        " {:process 1, :type :invoke, :f :read, :value nil, :time 300}\n {:process 1, :type :ok, :f :read, :value nil, :time 400}]"
    )

    assert run(str(file), "--model", "cas-register").return_value == 1


def test_an_operation_that_never_succeeded_makes_it_unknown(tmp_path):
    halves = [*STALE[:2], ("b", "invoke", "read", None), ("b", "info", "read", None)]

    assert run(written(tmp_path, halves), "--model", "register").return_value == 2


@pytest.mark.systems
def test_long_histories_keep_their_values(tmp_path):
    halves = [(0, type_, "add", value) for value in range(60_000) for type_ in ("invoke", "ok")]
    halves = [("a", *half[1:]) for half in halves]
    lost = [*halves, ("b", "invoke", "read", None), ("b", "ok", "read", list(range(59_999)))]

    told = json.loads(run(written(tmp_path, lost), "--model", "set", "--json").output)

    assert told["parts"]["set"]["evidence"]["lost"] == [59_999]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "counter"], "operation 3: read of a counter has an integer, and not None"),
        (["--model", "register", "--contract", "durable"], "--model or --contract, not both"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(tmp_path, arguments, sentence):
    result = run(written(tmp_path, STALE), *arguments)

    assert result.exception is not None
    assert sentence in result.exception.format_message()


@pytest.mark.parametrize(
    ("typed", "read", "code"),
    [("0", 0, 0), ("0", None, 1), ("0", "0", 1), ("zero", "zero", 0), ('"0"', "0", 0), ("[1, 2]", [1, 2], 0)],
)
def test_a_register_may_hold_something_before_the_first_write(tmp_path, typed, read, code):
    halves = [("b", "invoke", "read", None), ("b", "ok", "read", read)]

    assert run(written(tmp_path, halves), "--model", "register", "--initial", typed).return_value == code


@pytest.mark.parametrize("arguments", [(), ("--model", "set")])
def test_only_registers_hold_something_at_first(tmp_path, arguments):
    result = run(written(tmp_path, STALE), *arguments, "--initial", "0")

    assert str(result.exception) == "--initial is for --model register or cas-register or key-value"


def test_an_initial_value_that_is_no_json_is_refused(tmp_path):
    result = run(written(tmp_path, STALE), "--model", "register", "--initial", "[1")

    assert "[1 is no JSON" in result.exception.message


def appended(elements, read):
    halves = [("a", kind, "append", ["x", one]) for one in elements for kind in ("invoke", "ok")]
    return [*halves, ("b", "invoke", "read", ["x", None]), ("b", "ok", "read", ["x", read])]


def test_of_long_lists_the_ends_are_told_and_where_they_part(tmp_path):
    elements = [*range(400)]
    file = written(tmp_path, appended(elements, [*elements[:300], 999, *elements[301:]]))
    result = run(file, "--model", "append-log")

    assert result.output.splitlines()[1] == (
        "  append-log: invalid: read by b returned [0, 1, 2, …, 397, 398, 399] (400 elements), "
        'and log "x" could only be [0, 1, 2, …, 397, 398, 399] (400 elements); '
        "they differ from element 301 on, 999 and 300 (operations 800 to 801)"
    )
    assert json.loads(run(file, "--model", "append-log", "--json").output)["parts"]["append-log"]["evidence"][
        "failures"
    ]


def test_a_deleted_key_is_read_from_json_lines(tmp_path):
    halves = [("a", kind, f, ["x", value]) for f, value in (("put", 1), ("delete", None)) for kind in ("invoke", "ok")]
    stale = [*halves, ("b", "invoke", "get", ["x", None]), ("b", "ok", "get", ["x", 1])]

    assert run(written(tmp_path, stale), "--model", "key-value").return_value == 1


@pytest.mark.parametrize(
    ("operations", "models"),
    [
        ([("put", ["x", 1]), ("delete", ["x", None])], "--model key-value"),
        ([("write", 1)], "--model register, or --model cas-register"),
        ([("cas", [1, 2])], "--model cas-register"),
        ([("append", ["x", 1]), ("read", ["x", [1]])], "--model key-value, or --model append-log"),
        ([("add", 1), ("read", [1])], "--model set, or --model set-full"),
        ([("add", 1), ("read", 1)], "--model counter"),
        ([("generate", 1)], "--model unique-ids"),
        ([("enqueue", 1)], "--model total-queue, or --model queue"),
    ],
)
def test_without_a_model_the_fitting_ones_are_named(tmp_path, operations, models):
    file = written(tmp_path, [("a", kind, f, value) for f, value in operations for kind in ("invoke", "ok")])

    assert run(file).output.splitlines()[-1] == (
        f"  next: tidemark check {file} {models}: these are no operations on logs "
        "(docs/checking-your-own-history.md#registers-logs-sets-counters-queues)"
    )


def test_junit_and_annotations_tell_what_a_model_found(tmp_path):
    result = run(written(tmp_path, STALE), "--model", "register", "--junit", str(tmp_path / "out.xml"), "--annotations")

    assert result.return_value == 1
    assert 'failures="1"' in (tmp_path / "out.xml").read_text()
    assert "::error title=tidemark check --model register" in result.stderr


@pytest.mark.parametrize("how", ["itself", "symlink", "hardlink"])
def test_junit_never_goes_onto_the_history(tmp_path, how):
    history = Path(written(tmp_path, STALE))
    before = history.read_text()
    other = history if how == "itself" else tmp_path / "other.xml"
    if how == "symlink":
        other.symlink_to(history)
    elif how == "hardlink":
        other.hardlink_to(history)

    result = run(str(history), "--junit", str(other))

    assert isinstance(result.exception, click.BadParameter)
    assert "is there, and is no JUnit report" in str(result.exception)
    assert history.read_text() == before


def test_a_junit_report_is_written_again(tmp_path):
    for _ in range(2):
        run(written(tmp_path, STALE), "--model", "register", "--junit", str(tmp_path / "out.xml"))


def test_a_key_of_any_length_is_told_quickly_and_in_short(tmp_path):
    """Rich looks for what to colour in a time that grows with the square of a word."""
    key = "k" * 48_000
    halves = [("p", "invoke", "send", [["send", key, 1]]), ("p", "ok", "send", [["send", key, [0, 1]]])]
    halves += [("c", "invoke", "poll", [["poll", {}]]), ("c", "ok", "poll", [["poll", {key: [[0, 2]]}]])]
    began = process_time()
    result = run(written(tmp_path, halves))

    assert process_time() - began < 5
    assert max(map(len, result.output.splitlines())) < 2_200
