"""What a poll must show where reads are linearizable."""

from tidemark.checkers import History, Op, check, polled, sent

P = "t-0"


def began(time, process):
    return Op(time, process, "invoke", "poll", (("poll", {}),))


def stale(*ops, **meta):
    found = check(History.of(ops=[*ops], **{"reads_within": 3} | meta)).named("stale-poll")
    return [(one.evidence["process"], one.evidence["known"], one.evidence["count"]) for one in found]


def test_what_was_acknowledged_before_a_poll_began_is_shown():
    ops = [sent(10, "p1", P, 7, 0), began(20, "c1"), polled(30, "c1", P), began(40, "c1"), polled(50, "c1", P)]

    assert stale(*ops) == [("c1", 0, 2)]


def test_what_is_acknowledged_while_it_polls_need_not_be():
    assert stale(began(5, "c1"), sent(10, "p1", P, 7, 0), polled(30, "c1", P)) == []
    assert stale(sent(10, "p1", P, 7, 0), began(10, "c1"), polled(30, "c1", P)) == []


def test_what_another_poll_was_given_counts_as_well():
    ops = [began(1, "c1"), polled(10, "c1", P, (0, 7)), began(20, "c2"), polled(30, "c2", P)]

    assert stale(*ops) == [("c2", 0, 1)]


def test_a_poll_that_was_given_less_than_there_was():
    ops = [sent(10, "p1", P, 7, 0), sent(11, "p1", P, 8, 1), began(20, "c1"), polled(30, "c1", P, (0, 7))]

    assert stale(*ops) == [("c1", 1, 1)]


def test_a_poll_may_end_where_its_limit_is():
    acked = [sent(10 + n, "p1", P, 100 + n, n) for n in range(5)]

    assert stale(*acked, began(20, "c1"), polled(30, "c1", P, (0, 100), (1, 101), (2, 102))) == []


def test_an_acknowledgement_by_the_leader_alone_promises_nothing():
    ops = [sent(10, "p1", P, 7, 0)._replace(acks="1"), began(20, "c1"), polled(30, "c1", P)]

    assert stale(*ops) == []


def test_where_it_is_not_promised_nobody_looks():
    ops = [sent(10, "p1", P, 7, 0), began(20, "c1"), polled(30, "c1", P)]

    assert check(History.of(ops=ops)).named("stale-poll") == []
