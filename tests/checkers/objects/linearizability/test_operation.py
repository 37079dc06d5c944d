"""Operations out of halves: what is refused, what is open, and what is concurrent."""

import pytest

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability import (
    AppendLog,
    CasRegister,
    KeyValue,
    Register,
    linearizable,
    operations,
)


@pytest.mark.parametrize(
    ("halves", "sentence"),
    [
        ([("a", "ok", "read", 1)], "operation 0: ok of process a, which has no operation open"),
        ([("a", "fail", "read", 1)], "operation 0: fail of process a, which has no operation open"),
        (
            [("a", "invoke", "write", 1), ("a", "invoke", "read", None)],
            "operation 1: process a invokes read while its write (operation 0) is open",
        ),
        (
            [("a", "invoke", "write", 1), ("a", "ok", "read", 1)],
            "operation 1: process a completes read, and invoked write (operation 0)",
        ),
        ([("a", "start", "write", 1)], "operation 0: the type is invoke, ok, fail or info, and not 'start'"),
        (
            [("a", "invoke", "write", 1), ("a", "ok", "write", 1), ("a", "info", "write", 1)],
            "operation 2: info of process a, which has no operation open",
        ),
    ],
)
def test_halves_that_do_not_fit_are_refused_with_their_place(history, halves, sentence):
    with pytest.raises(ValueError, match="operation") as error:
        operations(history(*halves))

    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("model", "half", "answer", "sentence"),
    [
        (Register(), ("cas", [1, 2]), [1, 2], "cas of process a: the model register has read and write"),
        (CasRegister(), ("pop", 1), 1, "pop of process a: the model cas-register has read, write and cas"),
        (CasRegister(), ("cas", 5), 5, "cas of process a: the value of a cas is [old, new], and not 5"),
        (Register(), ("write", 1), 2, "write of process a: invoked with 1, and completed with 2"),
        (KeyValue(), ("get", None), None, "get of process a: its value is [key, value], and not None"),
        (
            KeyValue(),
            ("get", ["x", None]),
            ["y", 1],
            "get of process a: invoked for the key 'x', and completed for 'y'",
        ),
        (KeyValue(), ("append", ["x", 1]), ["x", 1], "append of process a: only a string can be appended, and not 1"),
        (AppendLog(), ("pop", ["x", 1]), ["x", 1], "pop of process a: the model append-log has append and read"),
        (
            AppendLog(),
            ("append", ["x", 1]),
            ["x", 1, -1],
            "append of process a: an offset is an integer from 0, and not -1",
        ),
        (
            AppendLog(),
            ("read", ["x", None]),
            ["x", 1],
            "read of process a: a read is answered with [key, [elements]], and not with ['x', 1]",
        ),
    ],
)
def test_values_that_do_not_fit_a_model_are_refused(alone, model, half, answer, sentence):
    with pytest.raises(ValueError, match="operation") as error:
        linearizable(alone(("a", *half, answer)), model)

    assert str(error.value) == f"operation 1: {sentence}"


def test_values_that_are_nested_without_end_are_refused(alone):
    deep = 1
    for _ in range(1000):
        deep = [deep]

    with pytest.raises(ValueError, match="nested more than 100 deep"):
        linearizable(alone(("a", "write", deep, None)), Register())


def test_what_the_nemesis_tells_is_no_operation(history):
    assert operations(history(("nemesis", "info", "kill", None), ("nemesis", "info", "kill", ["n1"]))) == []


def test_halves_of_one_time_are_concurrent_unless_their_list_knows_better():
    ops = [
        Op(1, "a", "invoke", "write", 1),
        Op(2, "a", "ok", "write", 1),
        Op(2, "b", "invoke", "read", None),
        Op(3, "b", "ok", "read", None),
    ]

    assert linearizable(ops, Register()).valid == "valid"
    assert linearizable(ops, Register(), ties="listed").valid == "invalid"


def test_a_history_without_times_is_taken_in_its_order():
    ops = [
        Op(0, "a", "invoke", "write", 1),
        Op(0, "a", "ok", "write", 1),
        Op(0, "b", "invoke", "read", None),
        Op(0, "b", "ok", "read", None),
    ]

    assert linearizable(ops, Register()).valid == "invalid"


def test_times_that_go_back_are_refused():
    ops = [Op(2, "a", "invoke", "write", 1), Op(1, "a", "ok", "write", 1)]

    with pytest.raises(ValueError, match="operation 1: its time, 1, is before that of the operation before it, 2"):
        linearizable(ops, Register())
