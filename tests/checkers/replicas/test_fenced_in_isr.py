"""Nobody who is fenced is in an ISR."""

from tidemark.checkers import History, check

P = "t-0"
THERE = [(0, 0, "register", "", b, b, False) for b in (1, 2)] + [(1, 0, "unfence", "", b) for b in (1, 2)]
ELECTED = (5, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0)
FENCED = (8, 0, "fence", "", 2)


def found(*trace):
    told = check(History.of(trace=trace)).named("fenced-in-isr")
    return [
        (one.verdict, one.time, *(one.evidence[name] for name in ("node", "leader_epoch", "since"))) for one in told
    ]


def test_brokers_that_take_part_may_be_in_it():
    assert found(*THERE, ELECTED, (6, 0, "isr-change", P, (1, 2), (), 1)) == []


def test_the_change_that_puts_a_fenced_broker_out_comes_after_it_was_fenced():
    assert found(*THERE, ELECTED, FENCED, (8, 0, "elect", P, 1, 2, (1,), (), "shrunk", True, 1)) == []


def test_a_fenced_broker_stays_in_it():
    assert found(*THERE, ELECTED, FENCED, (9, 0, "elect", P, 1, 2, (1, 2), (), "preferred", True, 1)) == [
        ("near-miss", 9, 2, 2, 8)
    ]
    assert found(*THERE, ELECTED, FENCED, (9, 0, "isr-change", P, (1, 2), (), 1)) == [("near-miss", 9, 2, 1, 8)]


def test_once_for_each_epoch():
    twice = [(time, 0, "isr-change", P, (1, 2), (), time) for time in (9, 10)]

    assert len(found(*THERE, ELECTED, FENCED, *twice)) == 1


def test_one_that_registered_and_was_not_unfenced_is_fenced():
    back = (9, 0, "register", "", 2, 3, False)
    elected = (10, 0, "elect", P, 2, 2, (2,), (), "online", True, 1)

    assert found(*THERE, ELECTED, FENCED, back, elected) == [("near-miss", 10, 2, 2, 8)]
    assert found(*THERE, ELECTED, FENCED, back, (9, 0, "unfence", "", 2), elected) == []


def test_the_last_member_may_wait_without_a_leader():
    assert found(*THERE, ELECTED, FENCED, (9, 0, "elect", P, -1, 2, (2,), (), "offline", True, 1)) == []


def test_where_nobody_is_ever_unfenced_nothing_is_said():
    assert found(ELECTED, FENCED, (9, 0, "isr-change", P, (1, 2), (), 1)) == []
