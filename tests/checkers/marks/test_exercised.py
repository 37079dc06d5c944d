"""Each mark by the smallest trace that comes to it, and none by a run in which nothing happens."""

import pytest

from tidemark.checkers.marks import MARKS, by_mark, exercised
from tidemark.checkers.marks.exercised import WITHOUT_ISR
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

ALTERED = [*BEGIN, (2, 0, "isr-change", K, (1, 2), (), 2), (3, 0, "isr-change", K, (1, 2, 3), (), 3)]
VOTED = [(0, 1, "vote", K, 1, 1), *(lead(1, 1, isr=()), follow(2, 1, 1), follow(3, 1, 1))]
VOTED += [append(1, 0, 1), append(2, 0, 1), append(3, 0, 1), committed(1, 1, 1)]
LEDGER = [(1, 0, "ensemble", K, 1, 0, (2, 3)), lead(1, 1, isr=()), append(1, 0, 1)]
LEDGER += [(1, 2, "stored", K, 0, 1, (100,)), (1, 3, "stored", K, 0, 1, (100,)), committed(1, 1, 1)]
META = {"min_isr": 2}

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
    "cut-without-conflict": [*WRITTEN, follow(2, 1, 1, 1), cut(2, 0, 1)],
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
    "let-in-behind-committed": [
        *[elect(1, 1, (1, 2), how="initial"), lead(1, 1, isr=(1, 2)), append(1, 0, 1), committed(1, 1, 1)],
        (2, 0, "isr-change", K, (1, 2, 3), (), 2),
    ],
    "let-in-anew-behind-committed": [
        *[elect(1, 1, (1, 2), how="initial"), lead(1, 1, isr=(1, 2)), append(1, 0, 1), committed(1, 1, 1)],
        *[(2, 3, "stop", "", "disk"), (2, 3, "start", "", 2), (2, 0, "register", "", 3, 7, False)],
        (3, 0, "isr-change", K, (1, 2, 3), (), 2),
    ],
    "isr-flapped": [*ALTERED, (4, 0, "isr-change", K, (1, 3), (), 4)],
    "isr-shrunk-over-a-wait": [*WRITTEN, append(1, 1, 1), (2, 0, "isr-change", K, (1, 2), (), 2)],
    "written-past-a-member": [*WRITTEN, (2, 3, "pause", ""), append(1, 1, 1)],
    "accepted-below-min-isr": [*BEGIN, (2, 0, "isr-change", K, (1,), (), 2), append(1, 0, 1)],
    "caught-up-outside": [*WRITTEN, append(1, 1, 1), elect(1, 2, (1, 2)), append(3, 1, 1)],
    "isr-of-one": [*BEGIN, (2, 0, "isr-change", K, (1,), (), 2)],
    "unfenced-behind": [*BEGIN, elect(1, 2), (2, 0, "unfence", "", 3)],
    "majority-lacks-committed": [*VOTED, cut(2, 0, 1), cut(3, 0, 1)],
    "ensemble-lacks-confirmed": [*LEDGER, (2, 2, "stop", "", "disk")],
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

    assert name in exercised(trace, META)
    assert name not in exercised(trace[:-1], META)


@pytest.mark.parametrize("meta", [{}, {"min_isr": 1}, {"min_isr": 2, "acks": "1"}, {"min_isr": 2, "isr": False}])
def test_a_small_isr_is_no_mark_where_nothing_more_was_asked_for(meta):
    assert "accepted-below-min-isr" not in exercised(SMALLEST["accepted-below-min-isr"], meta)


def test_a_small_isr_that_has_grown_again_is_no_mark():
    grown = [*SMALLEST["accepted-below-min-isr"][:-1], (3, 0, "isr-change", K, (1, 2), (), 3), append(1, 0, 1)]

    assert "accepted-below-min-isr" not in exercised(grown, META)


def test_an_isr_that_becomes_smaller_twice_does_not_flap():
    """It has not grown between, or it took longer."""
    shrunk = [*BEGIN, (2, 0, "isr-change", K, (1, 2), (), 2), (4, 0, "isr-change", K, (1,), (), 4)]

    assert "isr-flapped" not in exercised(shrunk)
    assert "isr-flapped" not in exercised([*ALTERED, (2_000_003, 0, "isr-change", K, (1, 3), (), 4)])


def test_who_has_all_that_is_committed_or_was_in_the_isr_before_is_not_let_in_behind():
    behind = SMALLEST["let-in-behind-committed"]
    caught_up = [*behind[:-1], follow(3, 1, 1), append(3, 0, 1), behind[-1]]
    was_there = [elect(1, 1, (1, 3), how="initial"), *behind[1:-1], (2, 0, "isr-change", K, (1, 3), (), 2)]

    assert "let-in-behind-committed" not in exercised(caught_up)
    assert "let-in-behind-committed" not in exercised(was_there)


def test_who_has_heard_of_the_election_is_not_unfenced_behind_but_its_next_life_is():
    heard = [*BEGIN, elect(1, 2), follow(3, 2, 1)]
    again = [(2, 3, "stop", "", "crash"), (3, 3, "start", "", 2)]

    assert "unfenced-behind" not in exercised([*heard, (3, 0, "unfence", "", 3)])
    assert "unfenced-behind" in exercised([*heard, *again, (4, 0, "unfence", "", 3)])


def test_a_cut_of_what_the_leader_has_otherwise_or_has_not_is_one_of_a_conflict():
    longer = [*WRITTEN, append(2, 1, 1), follow(2, 2, 3, 2)]

    assert "cut-without-conflict" not in exercised([*longer, cut(2, 1, 2)])
    assert "cut-without-conflict" not in exercised([*longer, append(3, 1, 2), cut(2, 1, 2)])
    assert "cut-without-conflict" in exercised([*longer, append(3, 1, 1), cut(2, 1, 2)])


def test_a_majority_is_one_of_the_group_as_it_is_by_then():
    group = (2, 1, "members", K, (1, 3, 4), 0, 1, True)

    assert "majority-lacks-committed" not in exercised([*VOTED, cut(2, 0, 1)])
    assert "majority-lacks-committed" not in exercised([*WRITTEN, cut(2, 0, 1), cut(3, 0, 1)]), "nobody votes"
    assert "majority-lacks-committed" not in exercised([*VOTED, group, cut(2, 0, 1)])
    assert "majority-lacks-committed" in exercised([*VOTED, group, cut(3, 0, 1)])


def test_an_ensemble_that_changes_before_an_entry_that_is_confirmed_lacks_it():
    """An entry lies on the bookies of its own fragment. A ledger that was closed before it is not in the log."""
    second = [append(1, 1, 1), (2, 2, "stored", K, 1, 1, (101,))]
    closed = [(3, 0, "ensemble", K, 2, 0, (1, 2)), append(1, 1, 2), (4, 1, "stored", K, 1, 2, (201,))]
    closed += [(4, 2, "stored", K, 1, 2, (201,)), committed(1, 2, 2)]
    other = (5, 3, "stop", "", "disk")

    assert "ensemble-lacks-confirmed" not in exercised([*LEDGER, *second, (3, 0, "ensemble", K, 1, 1, (2, 1))], META)
    assert "ensemble-lacks-confirmed" in exercised([*LEDGER, *second, (3, 0, "ensemble", K, 1, 0, (2, 1)), other], META)
    assert "ensemble-lacks-confirmed" not in exercised([*LEDGER[1:], *second, *closed, other], META)
    assert "ensemble-lacks-confirmed" in exercised([*LEDGER, *second, *closed, other], META)


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
            history = simulate(plan, parse_variant(variant)).history
            found |= exercised(history.trace, history.meta).keys()

    assert found <= own < MARKS.keys()
    assert len(own - found) <= 8, "of so few plans"


def test_only_where_members_change_is_anything_reassigned():
    assert "reassigned" not in family_of(parse_variant("raft")).marks
    assert family_of(parse_variant("kafka-2.7")).marks is None


def test_what_cannot_happen_is_not_told_as_never_reached():
    assert by_mark({"two-lead": 3}, {"two-lead", "all-stopped"}) == {"two-lead": 3, "all-stopped": 0}
    assert not by_mark({}).keys() & WITHOUT_ISR
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
                history = simulate(plan, parse_variant(variant)).history
                found |= exercised(history.trace, history.meta).keys()

    assert found <= MARKS.keys()
    assert len(MARKS.keys() - WITHOUT_ISR - found) <= 3
