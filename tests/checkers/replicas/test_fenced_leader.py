"""Nobody who is fenced is elected."""

from tidemark.checkers import History, check

P = "t-0"
THERE = [(0, 0, "register", "", b, b, False) for b in (1, 2)] + [(1, 0, "unfence", "", b) for b in (1, 2)]
ELECTED = (5, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0)
FENCED = (8, 0, "fence", "", 2)


def elect(time, leader, how="online"):
    return (time, 0, "elect", P, leader, time, (leader,), (), how, True, time)


def found(*trace):
    told = check(History.of(trace=trace)).named("fenced-leader")
    return [(one.verdict, one.time, one.evidence["leader"], one.evidence["since"]) for one in told]


def test_a_broker_that_takes_part_may_be_elected():
    assert found(*THERE, ELECTED, FENCED, elect(9, 1), (10, 0, "unfence", "", 2), elect(11, 2)) == []


def test_one_that_is_fenced_or_has_only_registered_may_not():
    assert found(*THERE, ELECTED, FENCED, elect(9, 2)) == [("violation", 9, 2, 8)]
    assert found(*THERE, ELECTED, (8, 0, "register", "", 2, 3, True), elect(9, 2)) == [("violation", 9, 2, 8)]


def test_a_leader_that_is_fenced_and_stays_is_not_elected():
    assert found(*THERE, ELECTED, (8, 0, "fence", "", 1), elect(8, 1, "shrunk")) == []


def test_it_may_not_come_back_while_it_is_fenced():
    gone = (8, 0, "elect", P, -1, 2, (), (), "offline", True, 1)

    assert found(*THERE, ELECTED, (8, 0, "fence", "", 1), gone, elect(9, 1, "last-known")) == [("violation", 9, 1, 8)]


def test_a_trace_that_does_not_tell_who_is_unfenced_is_not_judged():
    assert found((0, 0, "register", "", 1, 1, False), FENCED, elect(9, 2)) == []
