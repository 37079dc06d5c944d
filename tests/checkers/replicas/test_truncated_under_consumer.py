"""What consumers had been given, and a later leader does not have."""

from tidemark.checkers import History, check, polled

P = "t-0"
LOST = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7, 8, 9)),
    (30, 1, "hw", P, 2, 1, True),
    (31, 2, "append", P, 0, 1, (7,)),
    (40, 2, "lead", P, 2, 1, 1, (2,)),
]


def truncated(*polls, trace=LOST, **meta):
    """Who was given what, when it was gone, and of how many records that is so."""
    found = check(History.of(ops=[*polls], trace=trace, **meta)).named("truncated-under-consumer")
    return [
        (one.verdict, one.time, *(one.evidence[name] for name in ("process", "offset", "value", "read", "count")))
        for one in found
    ]


def test_a_record_that_was_read_and_is_gone():
    assert truncated(polled(35, "c1", P, (0, 7), (1, 8))) == [("violation", 40, "c1", 1, 8, 35, 1)]


def test_the_first_poll_is_told():
    assert truncated(polled(35, "c1", P, (1, 8)), polled(36, "c2", P, (1, 8))) == [("violation", 40, "c1", 1, 8, 35, 1)]


def test_what_nobody_had_read_is_lost_without_it():
    assert truncated(polled(35, "c1", P, (0, 7))) == []
    assert check(History.of(ops=[polled(35, "c1", P, (0, 7))], trace=LOST)).named("lost-committed-write")


def test_what_is_read_after_it_was_gone_is_another_matter():
    assert truncated(polled(40, "c1", P, (1, 8))) == []


def test_the_same_value_at_another_offset_is_another_record():
    assert truncated(polled(35, "c1", P, (3, 8))) == []


def test_once_for_each_key():
    both = [*LOST]
    both[2] = (30, 1, "hw", P, 3, 1, True)

    assert truncated(polled(35, "c1", P, (1, 8), (2, 9)), trace=both) == [("violation", 40, "c1", 1, 8, 35, 2)]


def test_it_is_judged_as_the_loss():
    asked = [*LOST[:4], (39, 0, "elect", P, 2, 2, (2,), (), "unclean", False, 1), LOST[4]]
    trace = [(5, 0, "elect", P, 1, 1, (1, 3), (), "initial", True, 0), *asked]

    assert [one[0] for one in truncated(polled(35, "c1", P, (1, 8)), trace=trace, unclean_election=True)] == [
        "permitted"
    ]
