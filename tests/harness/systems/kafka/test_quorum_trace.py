"""What several controllers traced becomes one controller's decisions."""

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.evidence.trace_history import TraceHistory
from tidemark.harness.systems.kafka.interpretation import interpret
from tidemark.harness.systems.kafka.quorum_trace import told_once

T = "t-0"


def elect(time, node, offset, how="online", leader=2):
    return (time, node, "quorum-decided", T, offset, 0, "elect", (leader, 5, (2, 3), (), how, True, 9))


def shrink(time, node, offset, isr=(1, 2)):
    return (time, node, "quorum-decided", T, offset, 0, "isr-change", (isr, (), 8))


def test_every_decision_is_told_once_in_the_log_s_order_and_never_before_an_earlier_one():
    events, doubts = told_once(
        {
            0: [shrink(30, 0, 7), elect(28, 0, 8)],
            1: [(5, 1, "start", "", 1), shrink(20, 1, 7), (21, 1, "lead", T, 4, 0, 0, (1,)), elect(18, 1, 8)],
            2: [elect(40, 2, 8)],
        }
    )

    assert events[0] == [
        (20, 0, "isr-change", T, (1, 2), (), 8),
        (20, 0, "elect", T, 2, 5, (2, 3), (), "online", True, 9),
    ]
    assert events[1] == [(5, 1, "start", "", 1), (21, 1, "lead", T, 4, 0, 0, (1,))]
    assert events[2] == []
    assert doubts == []


def test_whoever_was_asked_for_an_election_knows_why_it_was_held():
    events, doubts = told_once({0: [elect(10, 0, 8)], 1: [elect(11, 1, 8, "preferred")]})

    assert [event[8] for event in events[0]] == ["preferred"]
    assert events[0][0][0] == 10
    assert doubts == []


def test_an_order_is_told_before_what_it_brings_about():
    order = (10, 1, "quorum-ordered", T, (2, 3), True)
    moved = [(10, node, "quorum-decided", T, 4, 0, "reassign", ((2, 3), (3,), ())) for node in (0, 1)]
    events, _ = told_once({0: moved[:1], 1: [moved[1], order]})

    assert [event[2] for event in events[0]] == ["ordered", "reassign"]
    assert events[0][0] == (10, 0, "ordered", T, (2, 3), True)


def test_controllers_that_contradict_each_other_are_not_believed():
    found = ReplicaEvidence({0: [shrink(10, 0, 7)], 1: [shrink(10, 1, 7, isr=(1, 3))]}, {})
    (doubt,) = interpret(found, "4.3.1", quorum=True).not_understood

    assert doubt == "the controllers of nodes 0 and 1 told different decisions at offset 7 of the metadata log"


def test_a_decision_keeps_its_time_though_it_is_traced_after_what_it_brought_about():
    history = TraceHistory(0)
    lines = [
        [100, 1, "lead", T, 4, 0, 0, [1]],
        [90, 1, "quorum-decided", T, 3, 0, "fence", [2]],
        [105, 1, "hw", T, 1, 4, True],
    ]
    history.add(1, lines)

    assert [event[0] for event in history.events[1]] == [100, 90, 105]
