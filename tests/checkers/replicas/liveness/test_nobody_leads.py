"""Nobody leads although a majority is well: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

OWNED, VOTED = 23 + 2 * 9, 6 * 10 + 9
META = {
    "replicas": {"t-0": [1, 2, 3]},
    "isr": False,
    "min_isr": 2,
    "end_us": 1000,
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
STARTED = [(0, one, "start", "", 1) for one in (1, 2, 3)]
LED = (2, 1, "lead", "t-0", 1, 0, 0, ())
VOTE = (1, 1, "vote", "t-0", 1, 1)
DIED, CRASH = (50, 1, "stop", "", "crash"), (50, "strike", 0, "crash", {"node": 1, "nodes": [1]})


def led_by_2(time):
    return (time, 2, "lead", "t-0", 2, 0, 0, ())


def found(trace, nemesis=(CRASH,), led=(VOTE, LED), **meta):
    history = History.of(trace=[*STARTED, *led, *trace], nemesis=nemesis, **{**META, **meta})
    return [
        (one.evidence["since"], one.evidence["until"]) for one in check(history).anomalies if one.name == "no-leader"
    ]


@pytest.mark.parametrize(("led", "bound"), [((VOTE, LED), VOTED), ((LED,), OWNED)], ids=["by votes", "by a lock"])
def test_the_next_leader_comes_within_the_bound(led, bound):
    assert found([DIED, led_by_2(50 + bound)], led=led) == []
    assert found([DIED, led_by_2(51 + bound)], led=led) == [(50, 51 + bound)]


def test_a_paused_leader_is_as_good_as_none():
    pause = (50, "strike", 0, "pause", {"node": 1, "nodes": [1]})

    assert found([(50, 1, "pause", ""), (500, 1, "resume", "")], [pause]) == [(50, 500)]


def test_whoever_gives_up_leading_leads_no_more():
    assert found([(50, 1, "follow", "t-0", 2, -1, 0, 0)], nemesis=()) == [(50, 1000)]


@pytest.mark.parametrize(
    ("trace", "nemesis"),
    [
        ([(55, 2, "stop", "", "crash")], [CRASH]),
        ([(55, 2, "pause", "")], [CRASH]),
        ([(40, 3, "stop", "", "disk"), (45, 3, "start", "", 2)], [CRASH]),
        ([], [CRASH, (50, "strike", 1, "isolate", {"node": 3})]),
        ([], [CRASH, (50, "strike", 1, "halves", {})]),
        ([], [CRASH, (50, "strike", 1, "controller-isolated", {"node": 0})]),
        ([(40, 1, "members", "t-0", (1, 2, 3, 4), 4, 1, False)], [CRASH]),
    ],
    ids=["no-majority", "paused", "without-its-log", "cut-off", "halves", "no-store", "members-change"],
)
def test_nobody_need_lead_without_a_majority_that_is_well(trace, nemesis):
    assert found(sorted([*trace, DIED]), nemesis) == []


def test_a_majority_that_changes_begins_anew():
    healed, back = [CRASH, (100, "heal", 0, "crash", {})], (100, 1, "start", "", 2)

    assert found([DIED, back, led_by_2(101 + VOTED)], healed) == [(100, 101 + VOTED)]
    assert found([DIED, back, led_by_2(100 + VOTED)], healed) == []


def test_with_an_isr_the_controller_decides():
    assert found([DIED], isr=True) == []
