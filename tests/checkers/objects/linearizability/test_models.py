"""Each model, by the smallest histories that show what it takes and what it does not."""

import pytest

from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, Register, linearizable


def test_a_register_holds_what_was_written_last(alone):
    ops = alone(("a", "write", 1, 1), ("b", "read", None, 1), ("a", "write", 2, 2), ("b", "read", None, 2))

    assert linearizable(ops, Register()).valid == "valid"


def test_a_read_of_what_was_overwritten_is_stale(alone):
    ops = alone(("a", "write", 1, 1), ("a", "write", 2, 2), ("b", "read", None, 1))

    result = linearizable(ops, Register())

    assert result.valid == "invalid"
    assert result.message == "read by b returned 1, and the register could only be 2 (operations 4 to 5)"
    (failure,) = result.evidence["failures"]
    assert failure["operation"] == {
        "process": "b",
        "f": "read",
        "value": 1,
        "type": "ok",
        "invoked": 4,
        "completed": 5,
        "time": 6000,
    }
    assert failure["states"] == [2]
    assert [(one["f"], one["value"], one["state"]) for one in failure["linearization"]] == [
        ("write", 1, 1),
        ("write", 2, 2),
    ]
    assert failure["pending"] == []


def test_a_read_during_a_write_may_see_it_or_not(history):
    write = ("a", "invoke", "write", 1), ("b", "invoke", "read", None)
    end = ("a", "ok", "write", 1)

    assert linearizable(history(*write, ("b", "ok", "read", 1), end), Register()).valid == "valid"
    assert linearizable(history(*write, ("b", "ok", "read", None), end), Register()).valid == "valid"
    assert linearizable(history(*write, ("b", "ok", "read", 2), end), Register()).valid == "invalid"


def test_once_one_read_saw_a_write_no_later_read_may_miss_it(history):
    ops = history(
        ("a", "invoke", "write", 1),
        ("b", "invoke", "read", None),
        ("b", "ok", "read", 1),
        ("c", "invoke", "read", None),
        ("c", "ok", "read", None),
        ("a", "ok", "write", 1),
    )

    result = linearizable(ops, Register())

    assert result.message == "read by c returned null, and the register could only be 1 (operations 3 to 4)"


def test_all_that_a_register_could_be_is_told(history):
    """As in Knossos's rethink-fail-minimal: 0 was written, 4 is being written, and 3 is read."""
    ops = history(
        ("a", "invoke", "write", 0),
        ("a", "ok", "write", 0),
        ("b", "invoke", "read", None),
        ("c", "invoke", "write", 4),
        ("b", "ok", "read", 3),
        ("c", "ok", "write", 4),
        ("b", "invoke", "read", None),
        ("b", "ok", "read", 4),
    )

    result = linearizable(ops, CasRegister())

    assert result.message == "read by b returned 3, and the register could only be 0 or 4 (operations 2 to 4)"


@pytest.mark.parametrize("end", [("a", "info", "write", 1), None], ids=["info", "never completed"])
def test_a_write_of_unknown_outcome_may_happen_at_any_time_afterwards_or_never(history, end):
    begin = [("a", "invoke", "write", 1)] + [end] * (end is not None)
    late = [("b", "invoke", "read", None), ("b", "ok", "read", None), ("b", "invoke", "read", None)]

    assert linearizable(history(*begin, *late, ("b", "ok", "read", 1)), Register()).valid == "valid"
    assert linearizable(history(*begin, *late, ("b", "ok", "read", None)), Register()).valid == "valid"


def test_a_write_of_unknown_outcome_happens_once(history):
    ops = history(
        ("a", "invoke", "write", 1),
        ("a", "info", "write", 1),
        *[("b", "invoke", "read", None), ("b", "ok", "read", 1)],
        *[("b", "invoke", "write", 2), ("b", "ok", "write", 2)],
        *[("b", "invoke", "read", None), ("b", "ok", "read", 1)],
    )

    result = linearizable(ops, Register())

    assert result.message == "read by b returned 1, and the register could only be 2 (operations 6 to 7)"


def test_a_failed_write_did_not_happen(history):
    ops = history(
        ("a", "invoke", "write", 1),
        ("a", "fail", "write", 1),
        ("b", "invoke", "read", None),
        ("b", "ok", "read", 1),
    )

    assert linearizable(ops, Register()).valid == "invalid"


def test_a_process_whose_operation_has_no_known_end_may_go_on(history):
    ops = history(
        ("a", "invoke", "write", 1),
        ("a", "info", "write", 1),
        ("a", "invoke", "read", None),
        ("a", "ok", "read", None),
    )

    assert linearizable(ops, Register()).valid == "valid"


def test_a_compare_and_set_needs_the_old_value(alone):
    begin = ("a", "write", 1, 1)

    assert (
        linearizable(alone(begin, ("b", "cas", [1, 2], [1, 2]), ("a", "read", None, 2)), CasRegister()).valid == "valid"
    )
    result = linearizable(alone(begin, ("b", "cas", [3, 2], [3, 2])), CasRegister())
    assert result.message == "cas [3, 2] by b was done, and the register could only be 1 (operations 2 to 3)"


def test_a_compare_and_set_that_failed_says_nothing_and_one_that_was_refused_says_that_the_value_was_another(history):
    begin = ("a", "invoke", "write", 1), ("a", "ok", "write", 1), ("b", "invoke", "cas", [1, 2])

    assert linearizable(history(*begin, ("b", "fail", "cas", [1, 2])), CasRegister()).valid == "valid"
    result = linearizable(history(*begin, ("b", "ok", "cas", [1, 2, False])), CasRegister())
    assert result.message == "cas [1, 2] by b found another value, and the register could only be 1 (operations 2 to 3)"


def test_a_read_of_nil_read_nil_unless_nobody_noted_what_was_read(alone):
    ops = alone(("a", "write", 1, 1), ("b", "read", None, None))

    assert linearizable(ops, Register()).valid == "invalid"
    assert linearizable(ops, Register(nil_reads="anything")).valid == "valid"


def test_a_register_may_begin_with_a_value(alone):
    ops = alone(("b", "read", None, 0))

    assert linearizable(ops, Register(initial=0)).valid == "valid"
    assert linearizable(ops, Register()).valid == "invalid"


def test_true_is_not_one(alone):
    assert linearizable(alone(("a", "write", 1, 1), ("b", "read", None, True)), Register()).valid == "invalid"


def test_values_may_be_lists_and_maps(alone):
    ops = alone(("a", "write", {"x": [1, {"y": 2}]}, None), ("b", "read", None, {"x": (1, {"y": 2})}))

    assert linearizable(ops, Register()).valid == "valid"


def test_keys_are_judged_each_by_itself(alone):
    ops = alone(
        ("a", "put", ["x", 1], ["x", 1]),
        ("a", "put", ["y", 2], ["y", 2]),
        ("b", "get", ["y", None], ["y", 1]),
        ("b", "get", ["x", None], ["x", 1]),
    )

    result = linearizable(ops, KeyValue())

    assert result.message == 'get by b returned 1, and key "y" could only be 2 (operations 4 to 5)'
    assert result.evidence["invalid_keys"] == ["y"]
    assert result.evidence["keys"] == 2


def test_a_key_that_was_deleted_is_as_if_it_had_never_been_written(alone):
    ops = alone(
        ("a", "put", ["x", 1], None), ("a", "delete", ["x", None], None), ("b", "get", ["x", None], ["x", None])
    )

    assert linearizable(ops, KeyValue()).valid == "valid"


def test_strings_are_appended_to(alone):
    ops = alone(
        ("a", "append", ["x", "hel"], None),
        ("a", "append", ["x", "lo"], None),
        ("b", "get", ["x", None], ["x", "hello"]),
        ("b", "get", ["x", None], ["x", "lohel"]),
    )

    result = linearizable(ops, KeyValue())

    assert result.message == 'get by b returned "lohel", and key "x" could only be "hello" (operations 6 to 7)'


def test_a_log_is_read_from_its_first_element_to_its_last(alone):
    begin = ("a", "append", ["t-0", 1], None), ("a", "append", ["t-0", 2], None)

    assert linearizable(alone(*begin, ("b", "read", ["t-0", None], ["t-0", [1, 2]])), AppendLog()).valid == "valid"
    result = linearizable(alone(*begin, ("b", "read", ["t-0", None], ["t-0", [1]])), AppendLog())
    assert result.message == 'read by b returned [1], and log "t-0" could only be [1, 2] (operations 4 to 5)'


def test_reads_that_are_not_beginnings_of_one_log_contradict_each_other(history):
    ops = history(
        ("a", "invoke", "append", ["t", 1]),
        ("b", "invoke", "append", ["t", 2]),
        *[("c", "invoke", "read", ["t", None]), ("c", "ok", "read", ["t", [1, 2]])],
        *[("c", "invoke", "read", ["t", None]), ("c", "ok", "read", ["t", [2, 1]])],
    )

    result = linearizable(ops, AppendLog())

    assert result.message == 'read by c returned [2, 1], and log "t" could only be [1, 2] (operations 4 to 5)'


def test_an_offset_is_how_many_elements_were_before(alone):
    ops = alone(("a", "append", ["t", "x"], ["t", "x", 0]), ("b", "append", ["t", "y"], ["t", "y", 0]))

    result = linearizable(ops, AppendLog())

    assert result.message == 'append by b put "y" at offset 0, and log "t" could only be ["x"] (operations 2 to 3)'


def test_a_history_in_which_nothing_succeeded_is_unknown(history):
    ops = history(("a", "invoke", "write", 1), ("a", "info", "write", 1))

    result = linearizable(ops, Register())

    assert (result.valid, result.unknown_because) == ("unknown", "no operation succeeded")
