"""A broker's lines and files tell the same story, or a sentence says where they part."""

import pytest

from tidemark.harness.evidence.log_agreement import agreement

T = "t-0"


def trace(*events):
    """Events of broker 2, one µs apart; those of a replica are of partition t-0."""
    node_events = {"start", "stop"}
    return [(time, 2, e[0], "" if e[0] in node_events else T, *e[1:]) for time, e in enumerate(events)]


LIFE = (
    ("start", 1),
    ("recovered", 0, 0, -1),
    ("append", 0, 1, (10, 11)),
    ("append", 2, 1, (12,)),
    ("hw", 2, 1, False),
    ("truncate", 2, 3, "epoch", 2),
    ("append", 2, 2, (13,)),
)
FILE = [(0, 1, (10, 11)), (2, 2, (13,))]


def test_nothing_is_said_where_they_agree():
    assert agreement(trace(*LIFE), {T: FILE}) == []


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (FILE[:1], "its lines tell of records up to offset 3, and its files end at 2."),
        ([*FILE, (3, 2, (14,))], "its files have records up to offset 4, and its lines tell of them up to 3."),
        ([FILE[0], (2, 2, (99,))], "offset 2 holds 99, and its lines tell of 13."),
        ([FILE[0], (2, 3, (13,))], "offset 2 is of epoch 3, and its lines tell of 2."),
        ([FILE[0], (1, 2, (13,))], "its files go from offset 2 to 1."),
        ([], "its lines tell of records up to offset 3, and its files end at 0."),
    ],
)
def test_a_file_that_differs_is_told(file, words):
    assert agreement(trace(*LIFE), {T: file}) == [f"Broker 2, t-0: {words}"]


def test_an_append_that_no_line_told_of_leaves_a_gap():
    events = trace(*LIFE[:3], ("append", 3, 1, (14,)))

    assert agreement(events, {T: [(0, 1, (10, 11)), (2, 1, (12, 14))]})[0].endswith(
        "a line tells of an append at offset 3, and the log ended at 2."
    )


def test_a_cut_that_no_line_told_of_is_told():
    events = trace(*LIFE[:4], LIFE[6])

    assert "append at offset 2, and the log ended at 3" in agreement(events, {T: FILE})[0]


def test_an_epoch_that_nobody_knows_is_no_difference():
    assert agreement(trace(*LIFE), {T: [(0, -1, (10, 11)), (2, 2, (13,))]}) == []


def test_a_batch_goes_whole():
    events = trace(("append", 0, 1, (10, 11)), ("truncate", 1, 2, "hw", 1), ("append", 0, 2, (12,)))

    assert agreement(events, {T: [(0, 2, (12,))]}) == []


@pytest.mark.parametrize(("base", "said"), [(7, []), (8, ["Broker 2, t-0: its files go from offset 7 to 8."])])
def test_a_log_that_begins_anew_begins_there(base, said):
    events = trace(("append", 0, 1, (10,)), ("truncate", 0, 1, "fully", 1), ("log-start", 7, 0, "begin-anew"))
    went_on = trace(*[e[2:3] + e[4:] for e in events], ("append", 7, 2, (12,)))

    assert agreement(events, {T: []}) == []
    assert agreement(went_on, {T: [(base, 2, (12,))]})[: len(said) or None] == said


def deleted(start):
    return trace(*LIFE, ("log-start", start, 0, "delete-records"))


@pytest.mark.parametrize(
    ("start", "file"),
    [
        (1, FILE),
        (2, FILE),
        (2, FILE[1:]),
        (3, FILE[1:]),
        (3, []),
    ],
)
def test_what_lies_below_the_log_start_may_be_gone(start, file):
    assert agreement(deleted(start), {T: file}) == []


@pytest.mark.parametrize(
    ("start", "file", "words"),
    [
        (1, FILE[1:], "its files go from offset 1 to 2."),
        (2, [], "its lines tell of records up to offset 3, and its files end at 2."),
        (2, [(2, 2, (99,))], "offset 2 holds 99, and its lines tell of 13."),
        (3, [(0, 1, (10, 99)), FILE[1]], "offset 1 holds 99, and its lines tell of 11."),
    ],
)
def test_nothing_else_may_be(start, file, words):
    assert agreement(deleted(start), {T: file}) == [f"Broker 2, t-0: {words}"]


def test_a_cut_lowers_the_log_start():
    events = trace(
        *LIFE, ("log-start", 3, 0, "delete-records"), ("truncate", 2, 3, "epoch", 2), ("append", 2, 3, (14,))
    )

    assert agreement(events, {T: [(2, 3, (14,))]}) == []
    assert agreement(events, {T: []}) == [
        "Broker 2, t-0: its lines tell of records up to offset 3, and its files end at 2."
    ]


def test_a_log_may_begin_behind_a_hole_that_its_start_lies_in():
    events = trace(*LIFE[:3], ("append", 4, 1, (14,)), ("log-start", 3, 0, "leader"))

    assert agreement(events, {T: [(4, 1, (14,))]}) == []
    assert agreement(events, {T: [(0, 1, (10, 11)), (4, 1, (14,))]}) == []
    assert agreement(events, {T: [(5, 1, (14,))]}) != []


def test_a_log_that_ended_below_its_start_was_not_longer_than_told():
    events = trace(
        ("start", 1), ("recovered", 0, 0, -1), ("start", 2), ("recovered", 5, 5, -1), ("log-start", 5, 0, "recovered")
    )

    assert agreement(events, {T: []}) == []


def test_a_recovery_takes_a_log_start_back():
    events = trace(*LIFE, ("log-start", 2, 0, "leader"), ("start", 2), ("recovered", 3, 2, -1))

    assert agreement(events, {T: FILE}) == []
    assert agreement(events, {T: FILE[1:]}) == ["Broker 2, t-0: its files go from offset 0 to 2."]


def test_recovery_may_lose_records():
    events = trace(*LIFE, ("start", 2), ("recovered", 2, 2, -1))

    assert agreement(events, {T: FILE[:1]}) == []


def test_a_killed_process_may_not_have_told_of_its_last_records():
    events = trace(*LIFE, ("start", 2), ("recovered", 4, 2, -1))

    assert agreement(events, {T: [*FILE, (3, 2, (14,))]}) == []


KILLED = (("start", 1), ("recovered", 0, 0, -1), ("append", 0, 1, (7, 8, 9, 10)), ("stop", "crash"), ("start", 2))
CUT = (*KILLED, ("recovered", 8, 0, -1), ("truncate", 6, 8, "epoch", 2))
TOLD = (0, 1, (7, 8, 9, 10))


@pytest.mark.parametrize("file", [[(4, 1, (11,)), (5, 1, (12,))], [(4, 1, (11, 12))], []], ids=["two", "one", "none"])
@pytest.mark.parametrize("more", [[], [(6, 2, (20,))]], ids=["", "and goes on"])
def test_nobody_knows_where_the_batches_end_that_it_had_not_told_of(file, more):
    lines = trace(*CUT, *(("append", *batch) for batch in more))

    assert agreement(lines, {T: [TOLD, *file, *more]}) == []


def test_but_that_they_end_where_it_was_cut():
    files = [TOLD, (4, 1, (11,)), (6, 2, (20,))]

    assert agreement(trace(*CUT, ("append", 6, 2, (20,))), {T: files}) == [
        "Broker 2, t-0: its files go from offset 5 to 6."
    ]


def test_after_an_orderly_stop_it_must_have():
    events = trace(*LIFE, ("stop", "clean"), ("start", 2), ("recovered", 4, 2, -1))

    assert "stopped in good order at offset 3, and found 4" in agreement(events, {T: [*FILE, (3, 2, (14,))]})[0]


def test_more_than_was_told_cannot_be_what_a_kill_hid():
    events = trace(("start", 1), ("recovered", 0, 0, -1), ("start", 2), ("recovered", 3, 0, -1))

    assert agreement(events, {T: FILE}) == ["Broker 2, t-0: its lines tell of 0 records, and 3 more were there."]


def test_one_that_is_down_may_have_lost_records_or_written_more():
    assert agreement(trace(*LIFE), {T: FILE[:1]}, down=True) == []
    assert agreement(trace(*LIFE), {T: [*FILE, (3, 2, (14,))]}, down=True) == []
    assert agreement(trace(*LIFE, ("stop", "clean")), {T: [*FILE, (3, 2, (14,))]}, down=True) != []
    assert agreement(trace(*LIFE), {T: [(0, 1, (10, 99))]}, down=True) != []


def test_a_log_without_lines_is_told():
    assert agreement(trace(("start", 1)), {T: FILE})[0].startswith("Broker 2, t-0: its files have records")


HOLE = (*LIFE[:3], ("truncate", 0, 2, "epoch", 2), ("append", 1, 2, (13,)))
"""Kafka cut its log at offset 1, through a batch, and went on there."""


def test_a_hole_that_the_files_have_too_is_no_misunderstanding():
    assert agreement(trace(*HOLE), {T: [(1, 2, (13,))]}) == []


def test_a_hole_that_the_files_do_not_have_is_told():
    said = agreement(trace(*HOLE), {T: [(0, 1, (10,)), (1, 2, (13,))]})

    assert "a line tells of an append at offset 1, and the log ended at 0" in said[0]


REMOVED = ("removed", 3, 2)


def test_a_replica_that_was_removed_has_no_log():
    assert agreement(trace(*LIFE, REMOVED), {}) == []
    assert agreement(trace(*LIFE, REMOVED), {T: FILE}) == [
        "Broker 2, t-0: its files have records up to offset 3, and its lines tell of them up to 0."
    ]


def test_where_it_was_put_again_it_begins_at_offset_0():
    again = trace(*LIFE, REMOVED, ("append", 0, 1, (10, 11)))

    assert agreement(again, {T: FILE[:1]}) == []
    assert agreement(again, {T: FILE}) != []


def test_what_was_kept_though_it_was_told_to_be_gone_is_found_again():
    """It was killed between the line and the deletion."""
    events = trace(*LIFE, REMOVED, ("start", 2), ("recovered", 3, 0, -1), REMOVED)

    assert agreement(events, {}) == []
