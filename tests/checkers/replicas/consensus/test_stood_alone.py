"""Who stands for election without a majority's pre-votes."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families.raft.canvassing import CanvassingMember

ELECTION = 10 + 4 + 9
META = {
    "isr": False,
    "contract": "majority",
    "replicas": {"t-0": [1, 2, 3]},
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
STANDS = (100, 1, "vote", "t-0", 7, 1)


def found(*trace, nemesis=(), **meta):
    told = check(History.of(trace=trace, nemesis=nemesis, **{**META, **meta})).anomalies
    return [one.evidence["would_vote"] for one in told if one.name == "stood-alone"]


def would(node=2, generation=7, candidate=1, time=90):
    return (time, node, "pre-vote", "t-0", generation, candidate)


def test_a_majority_with_itself_is_enough():
    assert found(would(), STANDS) == []
    assert found(would(), STANDS, replicas={"t-0": [1, 2, 3, 4]}) == [[2]]


@pytest.mark.parametrize(
    "said",
    [would(node=1), would(generation=6), would(candidate=2), would(time=110)],
    ids=["itself", "another-generation", "another-candidate", "too-late"],
)
def test_what_was_said_of_others_or_later_does_not_count(said):
    assert found(*sorted([said, STANDS])) == [[]]


def test_a_vote_for_another_is_no_candidacy_and_without_pre_vote_nobody_asks():
    assert found(would(candidate=3), (100, 2, "vote", "t-0", 7, 1)) == []
    assert found(STANDS) == []
    assert found(would(candidate=3), STANDS, world="docker") == []


@pytest.mark.parametrize(("time", "expected"), [(100 - ELECTION, []), (99 - ELECTION, [[]])])
def test_whom_an_operator_wants_may_stand_at_once(time, expected):
    order = (time, "strike", 0, "forced-election", {"node": 1, "partition": "t-0"})

    assert found(would(candidate=3), STANDS, nemesis=[order]) == expected


@pytest.mark.parametrize(("resumed", "expected"), [(100, []), (99 - ELECTION, [[]])])
def test_who_was_paused_reads_the_order_when_it_goes_on(resumed, expected):
    """Of two pauses only the one in which the order came counts."""
    order = (40, "strike", 0, "preferred-election", {"node": 2, "partition": "t-0"})
    paused = [(10, 1, "pause", ""), (20, 1, "resume", ""), (30, 1, "pause", ""), (resumed, 1, "resume", "")]

    assert found(*paused, would(candidate=3), STANDS, nemesis=[order]) == expected


def test_the_smallest_group_counts_where_members_change():
    assert found(would(time=8), (9, 2, "members", "t-0", (1, 2), 0, 3, True), STANDS) == []
    assert found(would(time=8, node=3), (9, 2, "members", "t-0", (1, 2, 3, 4), 0, 3, True), STANDS) == []


def test_a_random_plan_shows_who_stands_whatever_the_others_say(monkeypatch):
    def stands_at_once(self, now):
        if self._would_vote is not None:
            self.stand(now)

    plans = [generate_plan(1, index, "intact", ClusterSpec()) for index in range(5)]
    before = {one.name for plan in plans for one in execute(plan, "raft+pre-vote").verdict.anomalies}
    monkeypatch.setattr(CanvassingMember, "_maybe_stand", stands_at_once)
    after = {one.name for plan in plans for one in execute(plan, "raft+pre-vote").verdict.anomalies}

    assert "stood-alone" not in before
    assert "stood-alone" in after
