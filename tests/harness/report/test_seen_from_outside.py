"""What the page tells of a system that traces nothing, and whose nodes said how they stand."""

import pytest

from tidemark.checkers import History, check, polled, sent
from tidemark.harness.report.lanes import lanes_of
from tidemark.harness.report.story import tell

ACKED = [sent(30, "p1", "t-0", 7, 48), polled(90, "c1", "t-0", (47, 6), (49, 9))]
SEEN = [
    (20, 3, "seen", "t-0", True, 2, 48, 47, 3),
    (21, 1, "seen", "t-0", False, 2, 47, 47, 3),
    (40, 3, "seen", "t-0", True, 2, 49, 49, 3),
    (60, 1, "seen", "t-0", True, 4, 47, 47, 1),
    (61, 3, "seen", "t-0", False, 4, 47, 47, 1),
    (70, 1, "seen", "t-0", True, 4, 52, 52, 1),
]


@pytest.fixture
def history():
    starts = [(1, node, "start", "", 1) for node in (1, 2, 3)]
    return History.of(
        untold=True,
        contract="majority",
        isr=False,
        min_isr=2,
        replicas={"t-0": [1, 2, 3]},
        ops=ACKED,
        trace=starts + SEEN,
    )


def test_the_story_says_who_took_over_without_the_record_and_whose_log_was_cut(history):
    (lost,) = check(history).named("lost-write")
    told = {moment.node: moment.sentence for moment in tell(history, lost).moments if moment.time >= 60}

    assert (
        told[1]
        == "Broker 1 is seen to lead in epoch 4; its log ends at 47, before offset 48, which another's log had reached."
    )
    assert told[3] == "The log of broker 3, which ended at 49, is seen to end at 47."


def test_the_lanes_have_roles_and_log_ends_as_they_were_seen(history):
    first, second, third = lanes_of(history, "t-0", 48)

    assert [(term.start, term.epoch, term.leader, term.leads) for term in first.terms] == [
        (21, 2, 3, False),
        (60, 4, 1, True),
    ]
    assert [(term.start, term.epoch, term.leader, term.leads) for term in third.terms] == [
        (20, 2, 3, True),
        (61, 4, 1, False),
    ]
    assert first.leo == [(21, 47), (60, 47), (70, 52)]
    assert first.hw == [(21, 47), (60, 47), (70, 52)]
    assert (second.terms, second.leo, second.hw) == ([], [], [])
