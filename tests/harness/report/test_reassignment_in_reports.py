"""A report tells of replicas that come and go.

Brokers 1 and 2 have m1; broker 3 takes the place of broker 2, and broker 1 is removed before broker 3 has anything.
"""

from dataclasses import replace

import pytest

from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly
from tidemark.harness.report.faults import fault_lines
from tidemark.harness.report.lanes import Term, lanes_of
from tidemark.harness.report.spacetime import draw_story
from tidemark.harness.report.story import tell

T, M1 = "t-0", 101
STEP = 100_000
"""µs from one number to the next."""

STEPS = [
    (1, 0, "elect", T, 1, 1, (1, 2), (), "initial", True, 0),
    (2, 1, "lead", T, 1, 0, 0, (1, 2)),
    (3, 2, "follow", T, 1, 1, 0, 0),
    (4, 1, "append", T, 0, 1, (M1,)),
    (5, 2, "append", T, 0, 1, (M1,)),
    (6, 1, "hw", T, 1, 1, True),
    (10, 0, "reassign", T, (1, 2, 3), (3,), (1, 2)),
    (11, 0, "elect", T, 1, 2, (1, 2), (), "reassigning", True, 1),
    (12, 3, "follow", T, 2, 1, 0, 0),
    (20, 0, "elect", T, 3, 3, (3,), (), "reassigned", True, 2),
    (20, 0, "reassign", T, (3,), (), ()),
    (21, 2, "removed", T, 1, 1),
    (22, 1, "removed", T, 1, 2),
    (23, 3, "lead", T, 3, 0, 0, (3,)),
]
TRACE = [(time * STEP, *event) for time, *event in STEPS]
LOSS = Anomaly(
    "lost-committed-write",
    VIOLATION,
    23 * STEP,
    T,
    "gone",
    None,
    (),
    {"partition": T, "offset": 0, "value": M1, "epoch": 1},
)


@pytest.fixture
def history():
    return History.of(ops=[], trace=TRACE, nemesis=[], replicas={T: [1, 2]}, end_us=30 * STEP)


def test_who_gets_a_replica_has_a_lane_too(history):
    assert [lane.node for lane in lanes_of(history, T, 0)] == [1, 2, 3]


def test_a_lane_ends_with_its_replica(history):
    one, two, _ = lanes_of(history, T, 0)

    assert two.terms == [Term(3 * STEP, 21 * STEP, 1, 1, leads=False)]
    assert [(life.value, life.start, life.end) for life in one.lives] == [(M1, 4 * STEP, 22 * STEP)]
    assert (one.leo[-1], one.hw[-1]) == ((22 * STEP, 0), (22 * STEP, 0))


def test_the_story_tells_of_the_move_and_of_the_logs_that_go(history):
    told = " ".join(moment.sentence for moment in tell(history, LOSS).moments)

    for sentence in (
        "The controller has the replicas 1, 2, 3, adding 3 and removing 1, 2.",
        "The controller makes broker 1 leader in epoch 2 (as a reassignment begins); in sync: 1, 2.",
        "The controller makes broker 3 leader in epoch 3 (as a reassignment ends); in sync: 3.",
        "The controller has the replicas 3: no reassignment is under way.",
        "Broker 1 has no replica any more: its log, which ended at 1, is deleted, record 101 in it.",
    ):
        assert sentence in told


def test_the_picture_shows_where_a_log_was_deleted(history):
    texts = {text.get_text() for axes in draw_story(tell(history, LOSS)).axes for text in axes.texts}

    assert {"log deleted: no replica any more", "replicas", "leader 3, e3", "broker 3"} <= texts


def test_a_fault_line_names_the_replicas_that_there_are_to_be(history):
    plan = {"faults": [{"kind": "reassignment", "at_us": 9, "target": "follower"}]}
    detail = {"node": 2, "role": "follower", "partition": T, "replicas": [1, 3]}
    (line,) = fault_lines(plan, replace(history, nemesis=[(9, "strike", 0, "reassignment", detail)]))

    assert line.hit == "broker 2 (follower of t-0), replicas to be 1, 3"
    assert line.meaning
