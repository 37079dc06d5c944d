"""Elle's examples of lists: its README, its paper (VLDB 2020), and what ``elle.list-append-test`` holds against its checker, in a
form of our own. Where this checker says something else, the test says why.
"""

import pytest
from keys_told import completed, in_turn, names, of_lists, weakest

from tidemark.checkers import Op
from tidemark.checkers.objects.transactions.check import list_append


def cycle(result, name):
    return result.evidence["anomalies"][[one["name"] for one in result.evidence["anomalies"]].index(name)]["evidence"]


def steps(result, name):
    return [
        (step["kind"], step.get("key"), step.get("version"), step.get("then")) for step in cycle(result, name)["steps"]
    ]


@pytest.mark.parametrize(
    ("type_", "done", "sentence"),
    [
        (
            "ok",
            [["append", "x", 2], ["r", "y", [1]]],
            r"invoked with \['append', 'x', 1\], and completed with \['append', 'x', 2\]",
        ),
        (
            "ok",
            [["append", "x", 1], ["r", "z", [1]]],
            r"invoked with \['r', 'y', None\], and completed with \['r', 'z', \[1\]\]",
        ),
        ("ok", [["append", "x", 1]], "invoked with"),
        ("ok", [], "invoked with"),
        ("info", [["append", "x", 2], ["r", "y", None]], "invoked with"),
    ],
)
def test_a_transaction_that_did_something_else_than_it_was_asked_to_is_refused(type_, done, sentence):
    asked = [["append", "x", 1], ["r", "y", None]]
    with pytest.raises(ValueError, match=f"operation 1: {sentence}"):
        list_append([Op(1, "p", "invoke", "txn", asked), Op(2, "p", type_, "txn", done)])
    list_append([Op(1, "p", "invoke", "txn", asked), Op(2, "p", "ok", "txn", [asked[0], ["r", "y", [1]]])])
    list_append([Op(1, "p", "invoke", "txn", asked), Op(2, "p", "info", "txn", None)])


def test_readme_one_transaction_reads_what_another_that_came_later_wrote():
    result = of_lists("a x 1, r y 1", "a x 2, a y 1", "r x 1 2")
    assert (result.valid, names(result), weakest(result)) == ("invalid", ["G1c"], ["read-committed"])
    assert sorted(steps(result, "G1c")) == [("wr", "y", 1, 1), ("ww", "x", 1, 2)]
    assert result.parts["G1c"].message == (
        "T1 (txn of p1, over at 0.000001 s) and T2 (txn of p0, over at 0.000000 s): each came before the other, for T1 wrote 1 "
        "to y, which T2 read; but T2 wrote 1 to x, before T1 wrote 2."
    )


def test_paper_a_read_skew_that_tidb_showed():
    """Section 7.1: T1 appended to 34 what T2 did not see, and T3 saw it before what T2 had appended."""
    result = of_lists(
        "a 250 10, r 253 1 3 4, r 255 2 3 4 5, a 256 3",
        "a 255 8, r 253 1 3 4",
        "a 256 4, r 255 2 3 4 5 8, r 256 1 2 4, r 253 1 3 4",
        "a 253 1, a 253 3, a 253 4, a 255 2, a 255 3, a 255 4, a 255 5, a 256 1, a 256 2",
    )
    assert (names(result), weakest(result)) == (["G-single"], ["consistent-view", "repeatable-read"])


def test_a_write_cycle():
    result = of_lists("a x 1, a y 1", "a x 2, a y 2", "r x 1 2, r y 2 1")
    assert (result.valid, names(result), weakest(result)) == ("invalid", ["G0"], ["read-uncommitted"])
    assert steps(result, "G0") == [("ww", "x", 1, 2), ("ww", "y", 2, 1)]


def test_an_aborted_read_is_no_business_of_read_uncommitted():
    lines = ("p0 fail: a x 1", "r x 1")
    assert (names(of_lists(*lines)), weakest(of_lists(*lines))) == (["G1a"], ["read-committed"])
    allowed = of_lists(*lines, promised="read-uncommitted")
    assert (allowed.valid, allowed.parts["G1a"].valid) == ("valid", "valid")
    assert of_lists(*lines, promised="read-committed").valid == "invalid"


def test_several_reads_of_one_aborted_element_are_one_anomaly():
    """Elle has one for each read, and each element."""
    result = of_lists("r x 1, a x 2", "r x 1 2, r y 3", "p2 fail: a x 1")
    assert result.evidence["anomaly_counts"]["G1a"] == 1
    assert cycle(result, "G1a")["count"] == 2


def test_an_intermediate_read_and_the_read_skew_that_it_is():
    result = of_lists("a x 1, a x 2", "r x 1")
    assert names(result) == ["G-single", "G1b"]
    assert weakest(result) == ["read-committed"]
    assert names(of_lists("a x 1, a x 2", "r x 1 2", "r x 1 2 3")) == ["phantom"]
    assert names(of_lists("a x 1, r x 1, a x 2")) == []


def test_a_read_skew():
    result = of_lists("a x 1, a y 1", "a x 2, r y _", "r x 1 2")
    assert (names(result), weakest(result)) == (["G-single"], ["consistent-view", "repeatable-read"])
    assert sorted(steps(result, "G-single")) == [("rw", "y", None, 1), ("ww", "x", 1, 2)]
    assert of_lists("a x 1, a y 1", "a x 2, r y _", "r x 1 2", promised="read-committed").valid == "valid"


@pytest.mark.parametrize("lines", [("a x 1, r y _", "a y 1, r x _"), ("r x _, a y 1", "r y _, a x 1")])
def test_a_write_skew(lines):
    result = of_lists(*lines)
    assert (result.valid, names(result), weakest(result)) == ("invalid", ["G2-item"], ["repeatable-read"])
    for allows in ("read-committed", "snapshot-isolation"):
        assert of_lists(*lines, promised=allows).valid == "valid"
    assert of_lists(*lines, promised="repeatable-read").valid == "invalid"


def test_a_stale_read_breaks_strong_snapshot_isolation_only():
    lines = ("a x 1", "a x 2", "r x 1", "r x 1 2")
    assert of_lists(*lines, how=in_turn).valid == "valid"
    result = of_lists(*lines, how=in_turn, promised="strict-serializable")
    assert (result.valid, names(result), weakest(result)) == (
        "invalid",
        ["G-single-realtime"],
        ["strong-snapshot-isolation"],
    )
    assert [kind for kind, *_ in steps(result, "G-single-realtime")] == ["rw", "realtime"]


def test_a_process_that_does_not_see_its_own_writes_breaks_strong_session_snapshot_isolation():
    lines = ("p0: a x 1", "p1: a x 2", "p1: r x 1", "p2: r x 1 2")
    assert of_lists(*lines, how=in_turn).valid == "valid"
    result = of_lists(*lines, how=in_turn, promised="strong-session-snapshot-isolation")
    assert (names(result), weakest(result)) == (["G-single-process"], ["strong-session-snapshot-isolation"])


def test_antidependencies_that_do_not_follow_each_other_with_processes():
    """Elle's issue 17."""
    result = of_lists(
        "p0: r x _, r z 1", "p1: a x 1", "p1: r z _", "p2: a z 1", promised="strong-session-snapshot-isolation"
    )
    assert (names(result), weakest(result)) == (["G-nonadjacent-process"], ["strong-session-snapshot-isolation"])


def test_antidependencies_that_do_not_follow_each_other():
    result = of_lists("a x 1", "r x 1, r y _", "a y 1", "r y 1, r x _")
    assert (names(result), weakest(result)) == (["G-nonadjacent"], ["repeatable-read", "snapshot-isolation"])
    assert [kind for kind, *_ in steps(result, "G-nonadjacent")] == ["rw", "wr", "rw", "wr"]


def test_reads_that_cannot_both_be_right():
    result = of_lists("a x 1, r y 1", "a x 2", "a x 3, a y 1", "r x 1 3", "r x 1 2 3")
    assert names(result) == ["G1c", "incompatible-order"]
    assert weakest(result) == ["read-committed"]
    assert "[1, 3] of x, which is not how the longest read of it begins" in result.parts["incompatible-order"].message


def test_what_was_aborted_and_what_was_written_after_it():
    assert "dirty-update" not in names(of_lists("p0 fail: a x 1"))
    direct = of_lists("p0 fail: a x 1", "a x 2", "r x 1 2")
    assert names(direct) == ["G1a", "dirty-update"]
    assert "dirty-update" in names(of_lists("p0 fail: a x 1", "p1 info: a x 2", "a x 3", "r x 1 2 3"))


def test_an_element_that_is_there_twice():
    result = of_lists("a x 1, r y 1", "a x 2, a y 1", "r x 1 2 1")
    assert {"duplicate-elements", "G1c"} <= set(names(result))
    assert weakest(result) == ["read-uncommitted"]


@pytest.mark.parametrize(
    "line",
    [
        "r x _, r x 2",
        "r x 1 2, a x 3, r x 1 2",
        "r x 1 2, a x 3, r x 0 2 3",
        "r x 1 2, a x 3, r x 1 2 3 4",
        "r x 1 2, a x 3, r x 1",
        "a x 3, r x 1 2 3 4",
        "a x 3, r x",
        "a x 6, r x _",
    ],
)
def test_transactions_that_contradict_themselves(line):
    assert "internal" in names(of_lists(line))


def test_transactions_that_do_not():
    written = ("a y 5, a y 6", "a x 1, a x 2")
    assert names(of_lists(*written, "r y 5 6, a x 3, r x 1 2 3, a x 4, r x 1 2 3 4")) == []


def test_null_and_an_empty_list_are_the_same():
    """Elle tells them apart inside a transaction."""
    assert names(of_lists("r x _, r x")) == []


@pytest.mark.parametrize("line", ["r x 0 1 2, a x 1", "a x 1, r x 0 1, a x 0, a x 3"])
def test_reads_of_what_is_written_later(line):
    assert "future-read" in names(of_lists(line))


def test_a_write_cycle_inside_which_a_transaction_contradicts_itself():
    result = of_lists("a x 1, a x 2, a x 4", "a x 3, r x 1 2 3 4")
    assert {"internal", "G0"} <= set(names(result))
    assert weakest(result) == ["read-uncommitted"]


def test_what_no_read_shows_came_after_all_that_was_read():
    result = of_lists("a x 1, a y 1", "a x 2, a y 2", "a x 3, a y 3", "r x 1 2", "r y 2")
    assert names(result) == ["G-single", "G0"]
    assert weakest(result) == ["read-uncommitted"]


def test_reads_of_who_may_have_been_aborted_count_for_nothing():
    """Elle takes answers of `info`, other than null, as reads. Nobody promises what an aborted transaction sees."""
    assert names(of_lists("p0 info: a x 2, r y _", "a x 1, a y 1", "r x 1 2, r y 1")) == []
    assert names(of_lists("p0 info: r y 1, a x 1", "a y 1, r x 1")) == []


def test_a_single_append_needs_no_read_to_come_after_nothing():
    assert names(of_lists("r x _, a y 1", "a x 1, r y 1")) == []
    assert names(of_lists("r x _, r y 1", "a x 1, a y 1")) == ["G-single"]
    assert names(of_lists("r x _, r y 1", "a x 1, a x 2, a y 1")) == ["G-single"]


def test_a_value_that_was_appended_twice_makes_its_key_unknown():
    """Elle refuses the history."""
    result = of_lists("a x 1, r y 1", "a y 1, a x 1", "r x 1")
    assert (result.valid, names(result)) == ("unknown", [])
    assert "x" in result.unknown_because
    assert of_lists("a z 1, r y 1", "a y 1, r z 1", "a x 1", "a x 1").valid == "invalid"


def test_a_history_without_reads_is_unknown():
    """Elle says so if there is no dependency at all."""
    assert list_append([]).unknown_because == "no transaction was ok"
    assert of_lists("a x 1", "a x 2").unknown_because == "no transaction that was ok read anything"


def test_an_operation_without_end_may_have_happened():
    ops = completed("r x 1, r y _", "r x 1, r y 1", lists=True)
    invoked = Op(0, "q", "invoke", "txn", [["append", "x", 1], ["append", "y", 1]])
    assert names(list_append([invoked, *ops], promised="serializable")) == ["G-single"]


def test_values_of_all_kinds_are_told_apart():
    ops = [
        Op(0, "a", "ok", "txn", [["append", 1, True], ["append", "1", 1], ["append", 1, [1]]]),
        Op(1, "b", "ok", "txn", [["r", 1, [True, [1]]], ["r", "1", [1]]]),
    ]
    assert list_append(ops).valid == "valid"
    assert names(list_append([ops[0], ops[1]._replace(value=[["r", 1, [1, [1]]]])])) == [
        "incompatible-order",
        "phantom",
    ] or "phantom" in names(list_append([ops[0], ops[1]._replace(value=[["r", 1, [1, [1]]]])]))


@pytest.mark.parametrize(
    "value",
    ["x", 3, [["append", "x"]], [["w", "x", 1]], [["r", "x", 3]], [["r"]], ["r"], None, [["r", "x", [1.5, None]], 7]],
)
def test_what_is_no_transaction_is_refused(value):
    with pytest.raises(ValueError, match="operation 0"):
        list_append([Op(0, "a", "ok", "txn", value)])


def test_two_open_transactions_of_one_process_are_refused():
    with pytest.raises(ValueError, match="while another"):
        list_append([Op(0, "a", "invoke", "txn", []), Op(1, "a", "invoke", "txn", [])])
