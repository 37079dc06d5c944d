"""One broker for each epoch."""

from tidemark.checkers import History, check

P = "t-0"


def told(*trace):
    return [one.evidence["leader"] for one in check(History.of(trace=[*trace])).named("two-leaders")]


def test_one_leader_for_each_epoch():
    assert told((1, 1, "lead", P, 1, 0, 0, (1,)), (2, 2, "lead", P, 2, 0, 0, (2,))) == []


def test_two_brokers_in_one_epoch():
    assert told((1, 1, "lead", P, 1, 0, 0, (1,)), (2, 2, "lead", P, 1, 0, 0, (2,))) == [2]


def test_once_for_each_epoch():
    two = [(1, 1, "lead", P, 1, 0, 0, (1,)), (2, 2, "lead", P, 1, 0, 0, (2,))]

    assert told(*two, (3, 3, "lead", P, 1, 0, 0, (3,)), (4, 1, "lead", P, 1, 0, 0, (1,))) == [2]


def test_partitions_have_leaders_of_their_own():
    assert told((1, 1, "lead", P, 1, 0, 0, (1,)), (2, 2, "lead", "t-1", 1, 0, 0, (2,))) == []


def test_a_broker_may_go_on_in_an_epoch_after_a_restart():
    back = [(2, 1, "stop", "", "crash"), (3, 1, "start", "", 2), (4, 1, "lead", P, 1, 0, 0, (1,))]

    assert told((1, 1, "lead", P, 1, 0, 0, (1,)), *back) == []
