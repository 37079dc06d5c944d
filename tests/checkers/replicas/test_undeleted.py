"""Log starts over a clean restart."""

import pytest

from tidemark.checkers import History, check
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec

DELETED = (10, 1, "log-start", "t-0", 5, 0, "delete-records")
STOPPED, STARTED, RECOVERED = (
    (20, 1, "stop", "", "clean"),
    (30, 1, "start", "", 2),
    (30, 1, "recovered", "t-0", 9, 9, 0),
)
LATER = (40, 1, "follow", "t-0", 1, 2, 9, 9)
BACK = [STOPPED, STARTED, RECOVERED]


def found(*trace, nemesis=(), **meta):
    told = check(History.of(trace=trace, nemesis=nemesis, replicas={"t-0": [1]}, **meta)).anomalies
    return [(one.evidence["before"], one.evidence["start"]) for one in told if one.name == "undeleted"]


def began(start):
    return (30, 1, "log-start", "t-0", start, 0, "recovered")


@pytest.mark.parametrize(("told", "expected"), [([began(5)], []), ([began(4)], [(5, 4)]), ([], [(5, 0)])])
def test_a_log_begins_where_it_did_before_a_clean_shutdown(told, expected):
    assert found(DELETED, *BACK, *told) == expected
    assert found(DELETED, *BACK, *told, LATER) == expected


@pytest.mark.parametrize(
    "trace",
    [
        [DELETED, (20, 1, "stop", "", "crash"), STARTED, RECOVERED],
        [DELETED, STOPPED, (25, 1, "stop", "", "power"), STARTED, RECOVERED],
        [DELETED, (15, 1, "removed", "t-0", 9, 1), *BACK],
        [DELETED, (15, 1, "truncate", "t-0", 4, 9, "as told", 1), *BACK, began(4)],
        [*BACK],
    ],
    ids=["crash", "power", "removed", "cut", "never-deleted"],
)
def test_what_a_crash_or_a_power_loss_took_back_is_not_judged(trace):
    assert found(*trace) == []


def test_nor_what_the_file_system_took_back_when_the_broker_was_down():
    power = [(25, "strike", 0, "power-metadata", {"node": 1, "nodes": [1]})]

    assert found(DELETED, *BACK, nemesis=power) == []
    assert found(DELETED, *BACK, nemesis=[(25, "strike", 0, "power", {"node": 2, "nodes": [2]})]) == [(5, 0)]
    assert found(DELETED, *BACK, world="docker") == []


def test_a_random_plan_shows_a_broker_that_writes_no_log_starts_when_it_shuts_down(monkeypatch):
    stop = Broker._stop

    def forgets(self, now):
        self.checkpoint_log_starts = lambda: None
        stop(self, now)

    plan = generate_plan(3, 36, "deletions", ClusterSpec())
    before = {one.name for one in execute(plan, "kafka-2.7").verdict.anomalies}
    monkeypatch.setattr(Broker, "_stop", forgets)
    after = {one.name for one in execute(plan, "kafka-2.7").verdict.anomalies}

    assert ("undeleted" in before, "undeleted" in after) == (False, True)
