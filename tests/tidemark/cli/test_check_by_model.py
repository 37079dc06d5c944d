"""``tidemark check --model``: verdict, exit code and evidence, from JSON lines and EDN."""

import json

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

    assert str(result.exception) == (
        "--initial is what a register holds: it goes with --model register, cas-register, key-value"
    )


def test_an_initial_value_that_is_no_json_is_refused(tmp_path):
    result = run(written(tmp_path, STALE), "--model", "register", "--initial", "[1")

    assert "[1 is no JSON" in result.exception.message
