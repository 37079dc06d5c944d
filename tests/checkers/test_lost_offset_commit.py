"""`lost-offset-commit`: what is looked for, what excuses it, and what is not enough to say so."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.history.history import Op

REPLICAS = {"t-0": [1, 2, 3]}
ENTRIES = ((0, 1, 4, 111), (1, 2, 4, 222))


def commit(at, group, offset, how="ok"):
    return [Op(at, "c1", "invoke", "write", (group, offset)), Op(at + 1, "c1", how, "write", (group, offset))]


def log(node, *commits, partition="__consumer_offsets-0"):
    return (90, node, "coordinator-log", partition, 0, 2, ENTRIES, tuple(enumerate_commits(commits)))


def enumerate_commits(commits):
    return ((place, group, offset) for place, (group, offset) in enumerate(commits))


def verdict(ops, *trace):
    return check(
        History.of(
            model="key-value", contract="durable", faults=0, min_isr=2, replicas=REPLICAS, ops=ops, trace=[*trace]
        )
    )


def found(ops, *trace):
    return [(one.name, one.verdict, one.evidence["offset"]) for one in verdict(ops, *trace).anomalies]


TWICE = [*commit(1, "g", 10), *commit(5, "g", 20)]


def test_a_commit_that_a_later_one_covers_is_missed_in_the_logs():
    found = verdict(TWICE, *(log(node, ("g", 20)) for node in (1, 2, 3)))

    assert (found.valid, [(one.name, one.time) for one in found.anomalies]) == ("invalid", [("lost-offset-commit", 2)])
    assert found.anomalies[0].evidence == {"group": "g", "offset": 10, "ack_process": "c1"}


def test_one_copy_that_has_it_is_enough():
    assert found(TWICE, log(1, ("g", 20)), log(2, ("g", 10), ("g", 20)), log(3, ("g", 20))) == []


def test_another_group_s_commit_is_not_it():
    logs = (log(node, ("h", 10), ("g", 20)) for node in (1, 2, 3))

    assert found(TWICE, *logs) == [("lost-offset-commit", "violation", 10)]


@pytest.mark.parametrize("how", ["info", "fail"])
def test_what_nobody_acknowledged_may_be_missing(how):
    assert found(commit(1, "g", 10, how), *(log(node) for node in (1, 2, 3))) == []


def test_while_a_copy_is_not_told_it_may_have_it():
    assert found(TWICE, log(1, ("g", 20)), log(2, ("g", 20))) == []


def test_logs_of_other_coordinators_say_nothing_of_commits():
    assert found(TWICE, *(log(node, partition="__share_group_state-0") for node in (1, 2, 3))) == []


@pytest.mark.parametrize(("lost", "judged"), [((1,), "violation"), ((1, 2), "permitted")])
def test_who_lost_as_many_logs_as_min_isr_may_have_lost_it(lost, judged):
    stops = [(20, node, "stop", "", "power") for node in lost]

    assert found(TWICE, *stops, *(log(node, ("g", 20)) for node in (1, 2, 3))) == [("lost-offset-commit", judged, 10)]
