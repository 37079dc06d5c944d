"""Ids, log lines, errors, ends of operations, and several checkers as one."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers.history.edn_ops import read_edn_ops
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.objects.workloads import (
    compose,
    counter,
    final_set,
    judge,
    log_file_pattern,
    op_stats,
    set_full,
    total_queue,
    unhandled_exceptions,
    unique_ids,
)
from tidemark.checkers.objects.workloads.elements import intervals
from tidemark.checkers.verdict.result import Result


def test_of_no_ids_nothing_is_known():
    result = unique_ids([])

    assert (result.unknown_because, result.evidence["range"]) == ("no id was given out", [None, None])


def test_an_id_that_was_given_out_more_than_once(history):
    given_out = [
        half for value in (0, 1, 0, 0) for half in ((0, "invoke", "generate", None), (0, "ok", "generate", value))
    ]
    ops = history(*given_out, (4, "invoke", "generate", None), (4, "info", "generate", None))

    result = unique_ids(ops)

    assert result.valid == "invalid"
    assert result.evidence == {
        "attempted_count": 5,
        "acknowledged_count": 4,
        "duplicated_count": 1,
        "duplicated": [[0, 3]],
        "range": [0, 1],
    }


def test_lines_that_must_not_be_in_a_log_are_told_with_their_node():
    logs = {"n1": ["foo\n", "evil1\n", "evil2 more text\n", "bar\n"], "n2": ["foo\n", "baz evil\n"], "n3": []}

    result = log_file_pattern(r"evil\d+", logs)([])

    assert result.valid == "invalid"
    assert result.evidence == {
        "count": 2,
        "matches": [{"node": "n1", "line": "evil1"}, {"node": "n1", "line": "evil2 more text"}],
    }
    assert log_file_pattern("panic", logs)([]).valid == "valid"


def test_errors_of_operations_of_unknown_outcome_are_counted_by_class():
    ops = [
        Op(1, "a", "info", "foo", 1, "IllegalArgument"),
        Op(2, "a", "info", "foo", 2, "IllegalState"),
        Op(3, "a", "info", "foo", 3, "IllegalArgument"),
        Op(4, "a", "fail", "foo", 4, "IllegalState"),
        Op(5, "a", "info", "foo", 5),
    ]

    result = unhandled_exceptions(ops)

    assert result.valid == "valid"
    assert [(one["class"], one["count"], one["example"]["value"]) for one in result.evidence["exceptions"]] == [
        ("IllegalArgument", 2, 1),
        ("IllegalState", 1, 2),
    ]


def test_an_operation_that_never_succeeded_makes_the_whole_unknown(history):
    ops = history(
        (1, "ok", "foo", None),
        (2, "fail", "foo", None),
        (3, "info", "bar", None),
        (4, "fail", "bar", None),
        (5, "fail", "bar", 1),
    )

    result = op_stats(ops)

    assert (result.valid, result.unknown_because) == ("unknown", "these operations never succeeded: bar")
    assert result.evidence == {
        "count": 5,
        "ok": 1,
        "fail": 3,
        "info": 1,
        "by_f": {
            "bar": {"count": 3, "ok": 0, "fail": 2, "info": 1},
            "foo": {"count": 2, "ok": 1, "fail": 1, "info": 0},
        },
    }


def test_what_the_nemesis_does_is_not_counted(history):
    assert (
        op_stats(history((":nemesis", "info", "kill", None), ("nemesis", "info", "kill", None))).evidence["count"] == 0
    )


@pytest.mark.parametrize(
    ("parts", "valid"),
    [
        (["valid", "valid"], "valid"),
        (["valid", "unknown"], "unknown"),
        (["unknown", "invalid"], "invalid"),
        ([], "valid"),
    ],
)
def test_several_checkers_are_as_bad_as_their_worst(parts, valid):
    checkers = {str(place): lambda ops, one=one: Result("x", one, "said so") for place, one in enumerate(parts)}

    assert compose(checkers)([]).valid == valid


def test_a_checker_that_crashes_is_unknown_and_the_others_are_not(history):
    ops = history(
        (0, "invoke", "add", "one"), (0, "ok", "add", "one"), (0, "invoke", "read", None), (0, "ok", "read", [])
    )

    result = compose({"counter": counter, "set": final_set, "stats": op_stats})(ops)

    assert {name: part.valid for name, part in result.parts.items()} == {
        "counter": "unknown",
        "set": "invalid",
        "stats": "valid",
    }
    assert result.valid == "invalid"
    assert result.parts["counter"].unknown_because == (
        "it crashed: ValueError: operation 0: add of a counter has an integer, and not 'one'"
    )


def test_compositions_can_be_composed(history):
    inner = compose({"stats": op_stats})
    result = compose({"inner": inner, "ids": unique_ids})(history((1, "ok", "generate", 1)))

    assert result.to_json()["parts"]["inner"]["parts"]["stats"]["valid"] == "valid"


def test_a_history_that_was_cut_off_cannot_have_lost_anything(history):
    ops = history((0, "invoke", "add", 0), (0, "ok", "add", 0), (0, "invoke", "read", None), (0, "ok", "read", []))

    assert judge(History(ops=ops), "set").valid == "invalid"
    result = judge(History(ops=ops, cut_off="its end is missing"), "set")
    assert (result.valid, result.parts["set"].unknown_because) == ("unknown", "its end is missing")


@pytest.mark.parametrize(("model", "f"), [("set", "add"), ("total-queue", "enqueue"), ("counter", "add")])
def test_an_answer_that_tells_of_another_element_is_refused(alone, model, f):
    with pytest.raises(ValueError, match=f"operation 1: {f} was invoked with 1, and completed with 2"):
        judge(History(ops=alone((1, f, 1, 2))), model)


def test_an_answer_need_not_repeat_what_was_asked(alone):
    assert judge(History(ops=alone((1, "add", 1, None), (2, "read", None, [1]))), "set").valid == "valid"


def test_jepsens_edn_is_read_as_it_is():
    file = io.BytesIO(
        b"{:process 0, :type :invoke, :f :cas, :value [0 1], :time 1500}\n"
        b"{:process :nemesis, :type :info, :f :kill, :value {:n1 :killed}, :time 2500}\n"
        b"{:process 0, :type :info, :f :cas, :value [0 1], :time 3500, :error [:timeout 5]"
        b" :exception {:via [{:type java.net.SocketTimeoutException}]}}\n"
        b"#jepsen.history.Op{:index 3, :process 1, :type :fail, :f :read, :value #{1 :a}, :time 4500, :error :timed-out}\n"
    )

    assert read_edn_ops(file) == [
        Op(1, "0", "invoke", "cas", [0, 1]),
        Op(2, ":nemesis", "info", "kill", {"n1": "killed"}),
        Op(3, "0", "info", "cas", [0, 1], "java.net.SocketTimeoutException"),
        Op(4, "1", "fail", "read", [1, "a"], "timed-out"),
    ]


def test_elements_are_told_in_short():
    assert intervals([3, 1, 4, 5, "a"]) == "#{1 3..5 'a'}"
    assert intervals([]) == "#{}"


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_correct_sets_counters_and_queues_are_never_found_wrong(data):
    """Each operation takes effect when it ends, or, if nobody knows how it ended, when it begins, or never."""
    ops, elements, total, waiting, time = [], [], 0, [], 0
    for process in range(data.draw(st.integers(1, 30))):
        f = data.draw(st.sampled_from(["add", "read", "enqueue", "dequeue", "generate"]))
        kind = data.draw(st.sampled_from(["ok", "ok", "info", "fail"]))
        asked = process if f in ("add", "enqueue") else None
        happens = kind == "ok" or (kind == "info" and data.draw(st.booleans()))
        answered = asked
        if happens and f == "add":
            elements, total = [*elements, process], total + process
        elif happens and f == "enqueue":
            waiting.append(process)
        elif f == "dequeue" and happens:
            if not waiting:
                continue
            answered = waiting.pop(0)
        elif f == "read":
            answered = elements
        elif f == "generate":
            answered = process
        ops += [
            Op(time, process, "invoke", f, asked),
            Op(time + 500, process, kind, f, answered if kind == "ok" else asked),
        ]
        time += 1000
    ops += [Op(time, "r", "invoke", "read", None), Op(time + 1, "r", "ok", "read", elements)]
    ops += [Op(time + 1, "d", "invoke", "drain", None), Op(time + 2, "d", "ok", "drain", waiting)]
    sums = [op._replace(value=sum(op.value)) if op.f == "read" and op.type == "ok" else op for op in ops]

    assert final_set(ops).valid == "valid"
    assert set_full(ops, linearizable=True).valid in ("valid", "unknown")
    assert total_queue(ops).valid != "invalid"
    assert unique_ids(ops).valid != "invalid"
    assert counter(sums).valid == "valid"
