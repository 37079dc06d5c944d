"""From one record to the next: which operations move a position, what ends it, and what is not known."""

import pytest

from tidemark.checkers import History, Op, check, polled, sent

K = "t-0"
SENT = tuple(sent(1, "p1", K, value, value) for value in range(5))
ALL = polled(2, "c9", K, *((value, value) for value in range(5)))


def names(*ops):
    return [anomaly.name for anomaly in check(History.of(ops=(*SENT, ALL, *ops))).anomalies]


def poll(type_, *values, process="c1", f="poll"):
    return Op(5, process, type_, f, (("poll", {K: [(value, value) for value in values]}),))


def assign(type_, *keys, f="assign"):
    return Op(5, "c1", type_, f, keys)


def test_the_next_record_is_no_finding():
    assert names(poll("ok", 0, 1), poll("ok", 2), poll("ok", 3, 4)) == []


@pytest.mark.parametrize("type_", ["ok", "info", "fail"])
def test_a_poll_is_judged_whatever_its_completion(type_):
    assert names(poll("ok", 0), poll(type_, 2)) == ["poll-skip"]
    assert names(poll("ok", 1), poll(type_, 0)) == ["nonmonotonic-poll"]
    assert names(poll(type_, 0, 2)) == ["int-poll-skip"]


@pytest.mark.parametrize("type_", ["info", "fail"])
def test_a_position_is_moved_by_ok_operations_only(type_):
    assert names(poll("ok", 0), poll(type_, 1, 2), poll("ok", 1)) == []
    assert names(poll("ok", 0), poll(type_, 1), poll("ok", 2)) == ["poll-skip"]


def test_a_transactions_polls_are_polls():
    assert names(poll("ok", 0, f="txn"), poll("ok", 2, f="txn")) == ["poll-skip"]


def test_several_polls_of_one_operation_follow_each_other():
    micros = (("poll", {K: [(0, 0)]}), ("poll", {K: [(2, 2)]}))

    assert names(Op(5, "c1", "ok", "txn", micros)) == ["int-poll-skip"]


@pytest.mark.parametrize("empty", [{K: []}, {}, {"t-1": []}])
def test_a_poll_that_returns_nothing_leaves_a_consumer_where_it_was(empty):
    nothing = Op(5, "c1", "ok", "poll", (("poll", empty),))

    assert names(poll("ok", 0), nothing, poll("ok", 1)) == []
    assert names(poll("ok", 0), nothing, poll("ok", 3)) == ["poll-skip"]
    assert names(poll("ok", 1), nothing, nothing, poll("ok", 0)) == ["nonmonotonic-poll"]


def test_an_assignment_keeps_positions_only_in_the_keys_that_it_names():
    assert names(poll("ok", 3), assign("ok", "t-1"), poll("ok", 0)) == []
    assert names(poll("ok", 3), assign("ok", K), poll("ok", 0)) == ["nonmonotonic-poll"]
    assert names(poll("ok", 3), assign("ok", "t-1"), assign("ok", K), poll("ok", 0)) == []


@pytest.mark.parametrize("type_", ["invoke", "fail"])
def test_an_assignment_that_did_not_happen_takes_nothing(type_):
    assert names(poll("ok", 3), assign(type_), poll("ok", 0)) == ["nonmonotonic-poll"]


def test_one_whose_outcome_is_unknown_takes_it():
    assert names(poll("ok", 3), assign("info"), poll("ok", 0)) == []


def test_with_subscribe_positions_between_operations_are_informational():
    ops = (*SENT, ALL, assign("ok", K, f="subscribe"), poll("ok", 3), poll("ok", 0))
    (anomaly,) = check(History.of(ops=ops)).anomalies

    assert (anomaly.name, anomaly.verdict) == ("nonmonotonic-poll", "informational")
    assert check(History.of(ops=ops)).valid == "valid"


def test_a_final_read_begins_anew():
    assert names(poll("ok", 3), poll("ok", 0, 1, 2, 3, 4)._replace(final=True)) == []


def test_sends_that_failed_leave_no_position():
    """Record 7 was never written: nobody knows where it would be."""
    failed = Op(5, "p2", "fail", "send", (("send", K, 7),))

    assert names(failed, sent(6, "p2", K, 8, 5), polled(7, "c9", K, (5, 8))) == []


def test_a_send_of_unknown_outcome_that_was_read_has_a_position():
    """7 was sent after 8 and lies before it."""
    info = Op(6, "p2", "info", "send", (("send", K, 7),))
    reads = polled(7, "c9", K, (5, 7), (6, 8))

    assert names(sent(5, "p2", K, 8, 6), info, reads) == ["nonmonotonic-send"]


def test_its_offset_counts_only_if_it_was_read():
    """Offset 2 holds record 2; that an unknown send was told the same offset proves nothing, unless somebody read the record."""
    info = Op(5, "p2", "info", "send", (("send", K, (2, 9)),))

    assert names(info) == []


def delete(time, type_, below):
    return Op(time, "d1", type_, "delete", (("delete", K, below),))


def named_and_taken(*ops, nemesis=()):
    return [(one.name, one.verdict) for one in check(History.of(ops=(*SENT, ALL, *ops), nemesis=nemesis)).anomalies]


def test_what_a_client_may_have_deleted_is_not_skipped():
    """Records 1 and 2 are passed over. The deletion may take effect from its request on, whatever became of it."""
    for ends in ("ok", "info"):
        for skip in ([poll("ok", 0), poll("ok", 3)], [poll("ok", 0, 3)]):
            assert names(delete(3, "invoke", 3), *skip, delete(9, ends, 3)) == []
            assert len(names(delete(3, "invoke", 2), *skip, delete(9, ends, 2))) == 1
            assert len(names(delete(3, "invoke", 3), *skip, delete(9, "fail", 3))) == 1
            assert len(names(*skip, delete(6, "invoke", 3), delete(9, ends, 3))) == 1


def test_what_is_passed_over_after_a_deletion_is_skipped():
    assert names(delete(3, "ok", 2), poll("ok", 0), poll("ok", 2), poll("ok", 4)) == ["poll-skip"]


def test_how_far_retention_went_nobody_knows():
    """Without the replicas' evidence; what comes back is judged as ever."""
    retained = [(3, 3, 3, "retention", "retention on t-0", None)]
    skip = poll("ok", 0), poll("ok", 3)
    assert named_and_taken(*skip) == [("poll-skip", "violation")]
    assert named_and_taken(*skip, nemesis=retained) == [("poll-skip", "permitted")]
    assert named_and_taken(poll("ok", 3), poll("ok", 2), nemesis=retained) == [("nonmonotonic-poll", "violation")]


def test_evidence():
    (anomaly,) = check(History.of(ops=(*SENT, ALL, poll("ok", 0), poll("ok", 4)))).anomalies

    assert anomaly.to_json() == {
        "name": "poll-skip",
        "verdict": "violation",
        "time": 5,
        "partition": "t-0",
        "message": "c1 polled record 4 of t-0 at offset 4 at 0.000005 s, "
        "after record 0 at offset 0 at 0.000005 s: it skipped 1, 2, 3.",
        "clause": None,
        "breaks": [],
        "evidence": {
            "process": "c1",
            "delta": 4,
            "before": {"time": 5, "offset": 0, "value": 0},
            "after": {"time": 5, "offset": 4, "value": 4},
            "skipped": [1, 2, 3],
        },
    }


def test_offsets_in_the_billions_take_no_room():
    far = [sent(1, "p1", K, value, value * 10**15) for value in range(1000)]
    reads = [polled(2, "c1", K, *((value * 10**15, value) for value in range(1000)))]

    assert check(History.of(ops=[*far, *reads])).anomalies == ()


def test_a_send_whose_place_nobody_knows_hides_no_step_back():
    def send(type_, offset, value):
        return Op(5, "p2", type_, "send", (("send", "u-0", (offset, value)),))

    ops = (send("ok", 7, 107), send("info", None, 108), send("ok", 3, 103))

    assert "nonmonotonic-send" in names(*ops)


def sends(*ends):
    """One process' sends, each of which ends so and is read at this offset."""
    ops = [
        Op(time, "p2", type_, "send", (("send", "t-1", (None, offset) if type_ != "ok" else (offset, offset)),))
        for time, (type_, offset) in enumerate(ends, 5)
    ]
    read = polled(20, "c2", "t-1", *sorted((offset, offset) for _, offset in ends))
    return [one.name for one in check(History.of(ops=[*ops, read])).anomalies if one.name == "nonmonotonic-send"]


def test_what_may_take_effect_later_need_not_come_first():
    """A send that timed out is still under way when its process sends again: it was called nonmonotonic."""
    assert sends(("info", 7), ("ok", 5)) == []
    assert sends(("info", 7), ("info", 5)) == []
    assert sends(("ok", 3), ("info", 7), ("ok", 5)) == []


def test_what_was_acknowledged_comes_before_all_that_is_sent_after_it():
    assert sends(("ok", 7), ("ok", 5)) == ["nonmonotonic-send"]
    assert sends(("ok", 7), ("info", 5)) == ["nonmonotonic-send"]
    assert sends(("ok", 6), ("info", 7), ("ok", 5)) == ["nonmonotonic-send"]
