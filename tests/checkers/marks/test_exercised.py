"""Each mark by the smallest trace that comes to it, and none by a run in which nothing happens."""

import pytest

from tidemark.checkers.marks import MARKS, by_mark, exercised
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

K = "t-0"


def elect(leader, epoch, isr=(1, 2, 3), how="forced", clean=True):
    return (epoch, 0, "elect", K, leader, epoch, isr, (), how, clean, epoch)


def lead(node, epoch, leo=0, hw=0, isr=(1, 2, 3)):
    return (epoch, node, "lead", K, epoch, leo, hw, isr)


def follow(node, epoch, leader, leo=0, hw=0):
    return (epoch, node, "follow", K, epoch, leader, leo, hw)


def append(node, base, epoch):
    return (epoch, node, "append", K, base, epoch, (100 * epoch + base,))


def committed(node, hw, epoch):
    return (epoch, node, "hw", K, hw, epoch, True)


def cut(node, to, before, why="to the end of common epoch 1", epoch=2):
    return (epoch, node, "truncate", K, to, before, why, epoch)


BEGIN = [elect(1, 1, how="initial"), lead(1, 1), follow(2, 1, 1), follow(3, 1, 1)]
WRITTEN = [*BEGIN, append(1, 0, 1), append(2, 0, 1), append(3, 0, 1), committed(1, 1, 1)]

SMALLEST = {
    "elected-behind-committed": [*WRITTEN, elect(2, 2), lead(2, 2)],
    "elected-while-a-member-lags": [*WRITTEN, append(1, 1, 1), lead(1, 2, 2)],
    "elected-while-a-member-is-ahead": [*WRITTEN, append(1, 1, 1), lead(2, 2, 1, 1)],
    "elected-from-outside": [*BEGIN, elect(3, 2, (3,), "unclean", clean=False)],
    "elected-again-at-once": [*BEGIN, elect(2, 2)],
    "no-leader-left": [*BEGIN, elect(-1, 2, how="offline")],
    "reign-skipped-by-follower": [*BEGIN, follow(3, 3, 2)],
    "reign-skipped-by-leader": [*BEGIN, lead(1, 3)],
    "led-on-in-a-new-epoch": [*BEGIN, lead(1, 2)],
    "two-lead": [*BEGIN, elect(2, 2), append(1, 0, 1)],
    "deposed-leader-committed": [*WRITTEN, elect(2, 2), committed(1, 1, 1)],
    "followed-ahead": [*WRITTEN, append(3, 1, 1), lead(2, 2, 1), follow(3, 2, 2, 2)],
    "cut-behind-the-leaders-back": [*WRITTEN, append(3, 1, 1), elect(2, 2), follow(3, 2, 2, 2), cut(3, 1, 2)],
    "led-on-over-a-cut": [*WRITTEN, append(3, 1, 1), elect(2, 2), follow(3, 2, 2, 2), cut(3, 1, 2), lead(1, 3, 1)],
    "cut-below-high-watermark": [*WRITTEN, (1, 2, "hw", K, 1, 1, False), cut(2, 0, 1)],
    "cut-below-committed": [*WRITTEN, cut(2, 0, 1)],
    "cut-inside-a-batch": [*WRITTEN, cut(2, 1, 1), (2, 2, "hole", K, 0, 1)],
    "cut-to-high-watermark": [*WRITTEN, cut(2, 1, 1, "to high watermark")],
    "cut-by-epoch": [*WRITTEN, cut(2, 1, 1)],
    "cut-whole-log": [*WRITTEN, cut(2, 0, 1)],
    "out-of-range": [*WRITTEN, cut(2, 1, 1, "out of range: to the leader's log end 1")],
    "out-of-order": [(1, 2, "out-of-order", K, 5, 1)],
    "rounds-2": [*BEGIN, (2, 2, "ask", K, 1, 1), (3, 2, "ask", K, 1, 0)],
    "rounds-3": [*BEGIN, (2, 2, "ask", K, 1, 2), (3, 2, "ask", K, 1, 1), (4, 2, "ask", K, 1, 0)],
    "leader-stopped": [*BEGIN, (2, 1, "stop", "", "crash")],
    "follower-stopped": [*BEGIN, (2, 2, "stop", "", "crash")],
    "leader-paused": [*BEGIN, (2, 1, "pause", "")],
    "follower-paused": [*BEGIN, (2, 2, "pause", "")],
    "log-lost": [*BEGIN, (2, 2, "stop", "", "power")],
    "recovery-dropped-records": [(2, 2, "recovered", K, 3, 1, 2)],
    "recovery-dropped-an-epoch": [*WRITTEN, (2, 2, "stop", "", "power"), (3, 2, "recovered", K, 0, 0, 1)],
    "came-back-unclean": [(2, 2, "stop", "", "crash"), (3, 2, "start", "", 2), (4, 0, "register", "", 2, 7, False)],
    "checkpoint-behind": [*WRITTEN, (2, 1, "hw", K, 1, 1, True), (3, 1, "recovered", K, 1, 0, 0)],
    "all-stopped": [*BEGIN, *((2, node, "stop", "", "crash") for node in (1, 2, 3))],
    "gave-up": [(2, 2, "fatal", "", "enough")],
    "isr-shrunk": [*BEGIN, (2, 0, "isr-change", K, (1, 2), (), 2)],
    "isr-grew": [*BEGIN, (2, 0, "isr-change", K, (1, 2), (), 2), (3, 0, "isr-change", K, (1, 2, 3), (), 3)],
    "isr-shrunk-over-a-wait": [*WRITTEN, append(1, 1, 1), (2, 0, "isr-change", K, (1, 2), (), 2)],
    "written-past-a-member": [*WRITTEN, (2, 3, "pause", ""), append(1, 1, 1)],
    "caught-up-outside": [*WRITTEN, append(1, 1, 1), elect(1, 2, (1, 2)), append(3, 1, 1)],
    "isr-of-one": [*BEGIN, (2, 0, "isr-change", K, (1,), (), 2)],
    "fenced": [(2, 0, "fence", "", 3)],
    "reassigned": [(2, 0, "reassign", K, (1, 2, 4), (4,), (3,))],
    "deleted": [(2, 1, "log-start", K, 1, 0, "delete-records")],
    "began-anew": [(2, 2, "log-start", K, 9, 0, "begin-anew")],
}


def test_every_mark_has_a_smallest_trace():
    assert SMALLEST.keys() == MARKS.keys()


@pytest.mark.parametrize("name", MARKS)
def test_the_smallest_trace_comes_to_it(name):
    trace = SMALLEST[name]

    assert name in exercised(trace)
    assert name not in exercised(trace[:-1])


def test_a_leader_that_hears_late_that_it_was_elected_is_not_elected_behind_anybody():
    """Another leads since, and what that one committed it need not have."""
    deposed = [*BEGIN, elect(2, 2), elect(1, 3), lead(1, 3), append(1, 0, 3), append(3, 0, 3), committed(1, 1, 3)]

    assert "elected-behind-committed" not in exercised([*deposed, lead(2, 2)])
    assert "elected-behind-committed" in exercised([*deposed, elect(2, 4), lead(2, 4)])


def test_where_nobody_tells_of_elections_those_who_lead_do():
    """There is no controller: a term begins when its leader says that it leads."""
    led = [lead(1, 1, isr=()), follow(2, 1, 1), follow(3, 1, 1)]

    assert exercised([*led, lead(2, 2, isr=())]).keys() == {"elected-again-at-once"}
    assert exercised([*led, append(1, 0, 1), lead(2, 2, isr=()), append(1, 1, 1)]).keys() == {"two-lead"}
    assert "deposed-leader-committed" in exercised([*led, append(1, 0, 1), lead(2, 2, isr=()), committed(1, 1, 1)])


OTHERS = ("raft+membership-change", "quorum-hwm", "reconciliation", "bookkeeper")


@pytest.mark.parametrize("variant", OTHERS)
def test_a_family_names_the_marks_that_its_runs_can_come_to(variant):
    own = family_of(parse_variant(variant)).marks
    found = set()
    for profile in ("destructive", "reassignments", "controller-links"):
        for index in range(25):
            plan = generate_plan(2, index, profile, ClusterSpec(brokers=4))
            found |= exercised(simulate(plan, parse_variant(variant)).history.trace).keys()

    assert found <= own < MARKS.keys()
    assert len(own - found) <= 8, "of so few plans"


def test_only_where_members_change_is_anything_reassigned():
    assert "reassigned" not in family_of(parse_variant("raft")).marks
    assert family_of(parse_variant("kafka-2.7")).marks is None


def test_what_cannot_happen_is_not_told_as_never_reached():
    assert by_mark({"two-lead": 3}, {"two-lead", "all-stopped"}) == {"two-lead": 3, "all-stopped": 0}
    assert by_mark({"fenced": 1}, {"two-lead"}) == {"two-lead": 0, "fenced": 1}


def test_a_quiet_beginning_has_no_marks():
    assert exercised(WRITTEN) == {}


def test_times_and_the_first_of_them():
    trace = [*BEGIN, (5, 2, "pause", ""), (9, 3, "pause", "")]

    assert exercised(trace)["follower-paused"] == (2, 5)


def test_random_plans_come_to_most_of_them():
    found = set()
    for profile in ("destructive", "retention-destructive", "reassignments"):
        for variant in ("kafka-0.10", "kafka-2.0", "kafka-4.0"):
            for index in range(25):
                plan = generate_plan(2, index, profile, ClusterSpec())
                found |= exercised(simulate(plan, parse_variant(variant)).history.trace).keys()

    assert found <= MARKS.keys()
    assert len(MARKS.keys() - found) <= 3
