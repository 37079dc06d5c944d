"""The smallest history of each class, what is told of it, and what is no cycle."""

import pytest
from dependent import cycles_in, listed, operation, read, told, wrote

from tidemark.checkers import History, Op, check

INFORMS, VIOLATES = "informational", "violation"


def test_writes_that_interleave():
    """Jepsen's g0-test."""
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 1), f="send")
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 2), f="send")

    assert told(a, b) == [("G0", INFORMS, 2)]


def test_writes_that_interleave_in_one_key():
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("x", 2, 3), f="send")
    b = operation("b", 2, 4, wrote("x", 1, 2), f="send")

    assert told(a, b) == [("G0", INFORMS, 2)]


def test_each_reads_what_the_other_wrote():
    """Jepsen's g1c-pure-wr-test."""
    a = operation("a", 1, 3, wrote("x", 0, 1), read("y", (0, 2)))
    b = operation("b", 2, 4, wrote("y", 0, 2), read("x", (0, 1)))

    assert told(a, b) == [("G1c", VIOLATES, 2)]


def test_one_reads_what_the_other_wrote_and_writes_before_it():
    """Jepsen's g1c-ww-wr-test."""
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 2, 3))
    b = operation("b", 2, 4, read("x", (0, 1)), wrote("y", 1, 2))

    assert told(a, b) == [("G1c", INFORMS, 2)]


def test_a_process_writes_before_what_it_wrote():
    first = operation("a", None, 1, wrote("x", 1, 1), f="send")
    then = operation("a", None, 2, wrote("x", 0, 2), f="send")

    assert told(first, then) == [("G0-process", INFORMS, 2)]


def test_a_process_reads_what_it_writes_later():
    first = operation("a", None, 1, read("x", (0, 1)), f="poll")
    then = operation("a", None, 2, wrote("x", 0, 1), f="send")

    assert told(first, then) == [("G1c-process", VIOLATES, 2)]


def test_a_process_writes_before_what_it_read():
    other = operation("b", None, 1, wrote("x", 1, 1), f="send")
    first = operation("a", None, 2, read("x", (1, 1)), f="poll")
    then = operation("a", None, 3, wrote("x", 0, 2), f="send")

    assert told(other, first, then) == [("G1c-process", INFORMS, 3)]


def test_somebody_writes_later_but_before():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send")
    then = operation("b", 3, 4, wrote("x", 0, 2), f="send")

    assert told(first, then) == [("G0-realtime", INFORMS, 2)]


def test_somebody_reads_what_is_written_later():
    first = operation("a", 1, 2, read("x", (0, 1)), f="poll")
    then = operation("b", 3, 4, wrote("x", 0, 1), f="send")

    assert told(first, then) == [("G1c-realtime", VIOLATES, 2)]


def test_somebody_writes_later_but_before_what_was_read():
    slow = operation("b", 1, 9, wrote("x", 1, 1), f="send")
    first = operation("a", 2, 3, read("x", (1, 1)), f="poll")
    then = operation("c", 4, 5, wrote("x", 0, 2), f="send")

    assert told(slow, first, then) == [("G1c-realtime", INFORMS, 3)]


def test_who_reads_what_is_read_by_who_reads_what_is_not_committed():
    """A violation that takes a transaction which is open all the time, and writes before it reads."""
    slow = operation("b", 1, 9, wrote("y", 0, 2), read("x", (0, 1)))
    first = operation("a", 2, 3, read("y", (0, 2)), f="poll")
    then = operation("c", 4, 5, wrote("x", 0, 1), f="send")

    assert told(slow, first, then) == [("G1c-realtime", VIOLATES, 3)]


def test_it_is_told_in_words():
    a = operation("a", 1_000, 3_000, wrote("x", 0, 1), wrote("y", 2, 3))
    b = operation("b", 2_000, 4_000, read("x", (0, 1)), wrote("y", 1, 2))
    (anomaly,) = cycles_in(listed(a, b))

    assert anomaly.message == (
        "T1 (txn of a, 0.001000 s to 0.003000 s) and T2 (txn of b, 0.002000 s to 0.004000 s): each came before the other, for "
        "T1 wrote record 1 of x, which T2 read at offset 0; but "
        "T2 wrote record 2 of y at offset 1, before T1 wrote record 3 at offset 2."
    )
    assert (anomaly.time, anomaly.partition) == (4_000, "x")
    assert anomaly.evidence == {
        "length": 2,
        "operations": [
            {"name": "T1", "process": "a", "f": "txn", "type": "ok", "began": 1_000, "ended": 3_000},
            {"name": "T2", "process": "b", "f": "txn", "type": "ok", "began": 2_000, "ended": 4_000},
        ],
        "steps": [
            {"kind": "wr", "before": "T1", "after": "T2", "key": "x", "record": {"value": 1, "offset": 0}},
            {
                "kind": "ww",
                "before": "T2",
                "after": "T1",
                "key": "y",
                "wrote": {"value": 2, "offset": 1},
                "then": {"value": 3, "offset": 2},
            },
        ],
        "shortest": True,
        "component": 2,
    }


def test_time_in_words():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send")
    then = operation("b", 3, None, wrote("x", 0, 2), f="send")
    reader = operation("c", 5, 6, read("x", (0, 2), (1, 1)), f="poll")
    (anomaly,) = cycles_in(listed(first, then, reader))

    assert anomaly.message == (
        "T1 (send of a, 0.000001 s to 0.000002 s) and T2 (send of b, begun at 0.000003 s, never over): each came before the other, "
        "for T1 was over at 0.000002 s, before T2 began at 0.000003 s; but "
        "T2 wrote record 2 of x at offset 0, before T1 wrote record 1 at offset 1."
    )


def test_an_informational_cycle_makes_nothing_invalid_and_a_violation_does():
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 1), f="send")
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 2), f="send")
    everything = operation("c", 5, 6, read("x", (0, 1), (1, 2)), read("y", (0, 2), (1, 1)))

    assert check(History.of(ops=listed(a, b, everything))).valid == "valid"

    early = operation("d", 0, 1, read("x", (0, 1)), f="poll")

    assert check(History.of(ops=listed(a, b, everything, early))).valid == "valid"
    assert check(History.of(ops=listed(a, b, everything, [one._replace(time=0) for one in early]))).valid == "invalid"


# ------------------------------------------------------------------------------------------------- what is no cycle


def test_a_transaction_that_reads_what_it_wrote_is_told_as_something_else():
    assert told(operation("a", 1, 2, wrote("x", 0, 1), read("x", (0, 1)))) == []


def test_nothing_comes_after_what_may_still_happen():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send", type_="info")
    then = operation("b", 3, 4, wrote("x", 0, 2), f="send")
    reader = operation("c", 5, 6, read("x", (0, 2), (1, 1)), f="poll")

    assert told(first, then, reader) == []


def test_acks_of_0_say_nothing_of_when():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send", acks="0")
    then = operation("a", 3, 4, wrote("x", 0, 2), f="send")

    assert told(first, then) == []
    assert told(operation("a", 1, 2, wrote("x", 1, 1), f="send"), then, acks="0") == []


def test_offsets_of_a_send_that_may_not_have_happened_are_not_believed():
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 1), f="send", type_="info")
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 2), f="send")

    assert told(a, b) == []
    assert told(a, b, operation("c", 5, 6, read("x", (0, 1)), f="poll")) == [("G0", INFORMS, 2)]


def test_halves_of_one_time_are_concurrent_unless_they_are_listed_in_order():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send")
    then = operation("b", 2, 4, wrote("x", 0, 2), f="send")

    assert told(first, then) == []
    assert told(first, then, ties="listed") == [("G0-realtime", INFORMS, 2)]


def test_without_an_invocation_nobody_knows_when_it_began():
    first = operation("a", 1, 2, wrote("x", 1, 1), f="send")

    assert told(first, operation("b", None, 4, wrote("x", 0, 2), f="send")) == []


def test_a_value_that_two_operations_sent_has_no_writer():
    """What real clients' recorders write when the fates of a batch differ: the rest is invoked once more, late."""
    first = operation("a", 1, 2, read("x", (0, 1)), f="poll")
    batch = [Op(0, "p", "invoke", "send", (("send", "x", 1), ("send", "x", 2)))]
    ends = [
        Op(3, "p", "ok", "send", (("send", "x", (1, 2)),)),
        Op(3, "p.1", "invoke", "send", (("send", "x", 1),)),
        Op(3, "p.1", "info", "send", (("send", "x", 1),)),
    ]

    assert told(first, batch, ends) == []


@pytest.mark.parametrize("doubt", [("x", (0, 9)), ("x", (7, 1))])
def test_an_offset_of_two_records_and_a_record_at_two_offsets_say_nothing_of_order(doubt):
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 1), f="send")
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 2), f="send")
    c = operation("c", 2, 4, wrote("z", 0, 9), read(*doubt))

    assert told(a, b) == [("G0", INFORMS, 2)]
    assert told(a, b, c) == []


def test_lost_records_say_nothing_of_order():
    """Record 1 was acknowledged at offset 6, and the log was cut to nothing; record 2 was then written at offset 5."""
    first = operation("a", 1, 2, wrote("x", 6, 1), f="send")
    then = operation("b", 3, 4, wrote("x", 5, 2), wrote("x", 6, 3), wrote("x", 7, 4), f="send")
    reader = operation("c", 5, 6, read("x", (5, 2), (7, 4)), f="poll")
    verdict = check(History.of(ops=listed(first, then, reader)))

    assert {anomaly.name for anomaly in verdict.anomalies} == {"inconsistent-offsets", "lost-write", "int-poll-skip"}
