"""Sets: what Jepsen's own tests of its checkers say, and what they leave out. Times are a millisecond apart."""

import pytest

from tidemark.checkers.objects.workloads import final_set, set_full

ADD, ADDED = (0, "invoke", "add", 0), (0, "ok", "add", 0)
READ = (1, "invoke", "read", None)
WITH, WITHOUT = (1, "ok", "read", [0]), (1, "ok", "read", [])


def test_a_set_loses_recovers_and_makes_up_elements(history):
    ops = history(
        *[(0, type_, "add", value) for value in (0, 1) for type_ in ("invoke", "ok")],
        *[(1, type_, "add", value) for value in (10, 11) for type_ in ("invoke", "info")],
        *[(2, type_, "add", value) for value in (20, 21) for type_ in ("invoke", "fail")],
        (4, "invoke", "read", None),
        (4, "ok", "read", [0, 10, 20, 30]),
    )

    result = final_set(ops)

    assert result.valid == "invalid"
    assert (
        result.message
        == "1 of 2 elements added are not in the last read; 1 element in it nobody had added; 1 element in it whose add failed"
    )
    assert result.evidence == {
        "attempt_count": 6,
        "acknowledged_count": 2,
        "ok_count": 2,
        "lost_count": 1,
        "recovered_count": 1,
        "unexpected_count": 1,
        "failed_count": 1,
        "untold_count": 0,
        "ok": "#{0 10}",
        "lost": [1],
        "unexpected": [30],
        "failed": [20],
        "untold": [],
        "recovered": "#{10}",
    }


def test_only_the_last_read_of_a_set_counts(history):
    assert final_set(history(ADD, ADDED, READ, WITHOUT, READ, WITH)).valid == "valid"
    assert final_set(history(ADD, ADDED, READ, WITH, READ, WITHOUT)).valid == "invalid"


FAILED = (0, "fail", "add", 0)


@pytest.mark.parametrize("checker", [final_set, set_full])
def test_an_element_whose_add_failed_is_not_there(history, checker):
    result = checker(history(ADD, FAILED, READ, WITH))

    assert (result.valid, result.evidence["failed"], result.evidence["unexpected"]) == ("invalid", [0], [])
    assert "whose add failed" in result.message
    assert checker(history(ADD, FAILED, READ, WITHOUT)).evidence["failed"] == []


@pytest.mark.parametrize("checker", [final_set, set_full])
def test_one_of_several_adds_may_fail(history, checker):
    once_more = (2, "invoke", "add", 0), (2, "info", "add", 0)

    assert checker(history(ADD, FAILED, *once_more, READ, WITH)).valid == "valid"
    assert checker(history(*once_more, ADD, FAILED, READ, WITH)).valid == "valid"
    assert checker(history(ADD, FAILED, READ, WITH, *once_more)).evidence["failed"] == [0]


@pytest.mark.parametrize(
    "halves", [[READ, ADD, ADDED, WITHOUT], [READ, WITHOUT, ADD, ADDED], [ADD, READ, ADDED, WITHOUT]]
)
def test_what_was_added_when_the_last_read_had_begun_is_not_lost(history, halves):
    result = final_set(history(*halves))

    assert (result.valid, result.evidence["lost"], result.evidence["untold"]) == ("unknown", [], [0])
    assert result.unknown_because == "1 element added only when the last read had begun, and it lacks them"


def test_the_last_read_cannot_have_what_was_added_after_it(history):
    assert final_set(history(READ, WITH, ADD, ADDED)).evidence["unexpected"] == [0]
    assert final_set(history(READ, ADD, WITH, ADDED)).valid == "valid"


@pytest.mark.parametrize("checker", [final_set, set_full])
def test_an_add_that_ended_as_the_read_began_is_concurrent_unless_the_order_is_listed(history, checker):
    ops = history(ADD, ADDED, READ, WITHOUT)
    ops = [op._replace(time=2000) if op.time == 3000 else op for op in ops]

    assert checker(ops).valid == "unknown"
    assert checker(ops, ties="listed").evidence["lost"] == [0]


def test_a_set_that_was_never_read_is_unknown(history):
    result = final_set(history(ADD, ADDED, READ, (1, "fail", "read", None)))

    assert (result.valid, result.unknown_because) == ("unknown", "the set was never read")


def outcome(result):
    evidence = result.evidence
    return result.valid, evidence["stable_count"], evidence["lost"], evidence["never_read"], evidence["stale"]


@pytest.mark.parametrize(
    "halves", [[ADD, ADDED], [ADD, READ, WITHOUT]], ids=["never read", "never confirmed, never read"]
)
def test_an_element_that_no_read_can_tell_of_is_never_read(history, halves):
    assert outcome(set_full(history(*halves))) == ("unknown", 0, [], [0], [])


@pytest.mark.parametrize(
    "halves",
    [
        [READ, ADD, WITH, ADDED],
        [READ, ADD, ADDED, WITH],
        [ADD, READ, WITH, ADDED],
        [ADD, READ, ADDED, WITH],
        [ADD, ADDED, READ, WITH],
    ],
)
def test_an_element_that_is_read_during_its_add_or_after_it_is_stable(history, halves):
    result = set_full(history(*halves))

    assert outcome(result) == ("valid", 1, [], [], [])
    assert result.evidence["stable_latencies_ms"] == {"0": 0, "0.5": 0, "0.95": 0, "0.99": 0, "1": 0}


def test_an_element_that_a_later_read_lacks_is_lost(history):
    result = set_full(history(ADD, ADDED, READ, WITHOUT))

    assert outcome(result) == ("invalid", 0, [0], [], [])
    assert result.evidence["lost_latencies_ms"] == {"0": 0, "0.5": 0, "0.95": 0, "0.99": 0, "1": 0}


@pytest.mark.parametrize(
    "halves",
    [
        [READ, ADD, WITHOUT, ADDED],
        [READ, ADD, ADDED, WITHOUT],
        [ADD, READ, WITHOUT, ADDED],
        [ADD, READ, ADDED, WITHOUT],
    ],
)
def test_a_read_that_began_during_the_add_may_lack_the_element(history, halves):
    assert outcome(set_full(history(*halves))) == ("unknown", 0, [], [0], [])


def test_elements_that_were_read_and_then_lacked_are_lost_with_their_latencies(history):
    read = (2, "invoke", "read", None)
    ops = history(
        *[(0, "invoke", "add", 0), (1, "invoke", "add", 1)],
        *[read, (2, "ok", "read", [1])],
        *[(0, "ok", "add", 0), (1, "ok", "add", 1)],
        *[read, (2, "ok", "read", [0, 1]), read, (2, "ok", "read", [0]), read, (2, "ok", "read", [])],
    )

    result = set_full(ops)

    assert outcome(result) == ("invalid", 0, [0, 1], [], [])
    assert result.evidence["lost_latencies_ms"] == {"0": 3, "0.5": 4, "0.95": 4, "0.99": 4, "1": 4}


def flutter(history):
    """0 is lost; 1 is seen by a read, then lacked, then seen again."""
    return history(
        *[(0, "invoke", "add", 0), (0, "ok", "add", 0), (1, "invoke", "add", 1)],
        *[(2, "invoke", "read", None), (2, "ok", "read", [1]), (1, "ok", "add", 1)],
        *[(2, "invoke", "read", None), (3, "invoke", "read", None), (3, "ok", "read", [1]), (2, "ok", "read", [0])],
    )


def test_an_element_that_is_lacked_for_a_while_is_stale(history):
    result = set_full(flutter(history))

    assert outcome(result) == ("invalid", 1, [0], [], [1])
    assert result.evidence["stable_latencies_ms"]["1"] == 2
    assert result.evidence["lost_latencies_ms"]["1"] == 5
    assert result.evidence["worst_stale"] == [
        {
            "element": 1,
            "stable_latency_ms": 2,
            "known": {"process": 2, "time": 5000},
            "last_absent": {"process": 2, "time": 7000},
        }
    ]


def test_stale_elements_are_wrong_where_the_set_should_be_linearizable(history):
    stale = history(ADD, ADDED, READ, WITHOUT, READ, WITH)

    assert set_full(stale).valid == "valid"
    assert set_full(stale, linearizable=True).valid == "invalid"


def test_an_element_that_nobody_added_is_unexpected(history):
    result = set_full(history(ADD, ADDED, READ, (1, "ok", "read", [0, 99])))

    assert (result.valid, result.evidence["unexpected"]) == ("invalid", [99])
    assert result.message == "1 element read that nobody had added; 1 of 1 element stable"


def test_so_is_one_that_was_read_before_it_was_added(history):
    assert set_full(history(READ, WITH, ADD, ADDED)).evidence["unexpected"] == [0]
    assert set_full(history(READ, ADD, WITH)).evidence["unexpected"] == []


def test_an_element_whose_read_and_add_have_one_time_is_not(history):
    ops = [op._replace(time=7) for op in history(READ, WITH, ADD, ADDED)]

    assert set_full(ops).evidence["unexpected"] == []


def test_an_element_that_one_read_has_twice_is_reported(history):
    result = set_full(history(ADD, ADDED, READ, (1, "ok", "read", [0, 0])))

    assert (result.valid, result.evidence["duplicated"]) == ("invalid", [[0, 2]])
