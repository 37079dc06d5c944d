"""Where there is no ISR, a lost disk excuses what rests on memory, in its partition and from then on; without one nothing is."""

import pytest

from tidemark.checkers import History, Op, check, sent
from tidemark.checkers.known_anomalies import MEANINGS
from tidemark.checkers.registry import rests_on_memory
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

P = "t-0"
META = {"isr": False, "contract": "majority", "min_isr": 2, "replicas": {P: [1, 2, 3]}, "acks": "all"}
TWO_LEADERS = [(10, 1, "lead", P, 1, 0, 0, ()), (30, 2, "lead", P, 1, 0, 0, ())]


def disk(node, time):
    return (time, node, "stop", "", "disk")


def judged(trace, name, *, ops=(), **meta):
    """The verdict and clause of each anomaly of a name."""
    found = check(History.of(trace=sorted(trace, key=lambda event: event[0]), ops=ops, **META | meta)).named(name)
    return [(one.verdict, one.clause) for one in found]


VIOLATION = [("violation", None)]
PERMITTED = [("permitted", "lost-disk")]


def test_nothing_is_excused_without_a_lost_disk():
    assert judged(TWO_LEADERS, "two-leaders") == VIOLATION
    assert judged([*TWO_LEADERS, (20, 3, "stop", "", "power")], "two-leaders") == VIOLATION


def test_it_is_from_a_lost_disk_on():
    assert judged([*TWO_LEADERS, disk(3, 20)], "two-leaders") == PERMITTED
    assert judged([*TWO_LEADERS, disk(3, 31)], "two-leaders") == VIOLATION


def test_it_must_be_a_disk_of_the_partitions():
    assert judged([*TWO_LEADERS, disk(4, 20)], "two-leaders") == VIOLATION
    member = (15, 1, "members", P, (1, 2, 3, 4), 0, 1, False)
    assert judged([*TWO_LEADERS, member, disk(4, 20)], "two-leaders") == PERMITTED


DIFFERENT = [
    (10, 1, "append", P, 0, 1, (7,)),
    (11, 1, "append", P, 1, 2, (9,)),
    (30, 2, "append", P, 0, 1, (8,)),
    (31, 2, "append", P, 1, 2, (9,)),
]


@pytest.mark.parametrize(
    ("name", "trace"),
    [
        ("entry-matching", DIFFERENT),
        ("state-machine-safety", [*DIFFERENT, (32, 1, "hw", P, 2, 2, False), (33, 2, "hw", P, 2, 2, False)]),
        ("divergence", [*DIFFERENT, (32, 1, "lead", P, 3, 2, 0, ()), (33, 2, "fetched", P, 3, 1)]),
    ],
)
def test_logs_that_differ_may_where_somebody_has_forgotten(name, trace):
    assert judged(trace, name) == VIOLATION
    assert judged([*trace, disk(3, 20)], name) == PERMITTED


def test_an_acknowledgement_may_have_counted_who_has_forgotten():
    trace = [TWO_LEADERS[0], (21, 1, "append", P, 0, 1, (7,)), (22, 1, "hw", P, 1, 1, True)]
    ops = [sent(31, "p1", P, 7, 0)]

    assert judged(trace, "acked-by-too-few", ops=ops) == VIOLATION
    assert judged([*trace, disk(2, 20)], "acked-by-too-few", ops=ops) == PERMITTED


def test_what_a_server_promises_for_itself_no_others_disk_excuses():
    cut = [TWO_LEADERS[0], (21, 1, "append", P, 0, 1, (7, 8)), (22, 1, "truncate", P, 1, 2, "another term", 1)]
    votes = [(21, 3, "vote", P, 2, 1), (22, 3, "vote", P, 2, 2)]
    back = [
        TWO_LEADERS[0],
        (21, 1, "append", P, 0, 1, (7, 8)),
        (22, 1, "hw", P, 2, 1, True),
        (23, 1, "hw", P, 1, 1, True),
    ]

    assert judged([*cut, disk(2, 20)], "leader-append-only") == VIOLATION
    assert judged([*votes, disk(2, 20)], "double-vote") == VIOLATION
    assert judged([*back, disk(2, 20)], "hw-regression") == VIOLATION


STUCK = [(90, 0, "converged", P, False, "broker 2 has high watermark 28, the leader's log ends at 3")]


def test_a_lost_disk_alone_is_no_reason_to_be_stuck():
    assert judged([*STUCK, disk(3, 20)], "stuck") == VIOLATION
    assert judged([*STUCK, *DIFFERENT], "stuck") == VIOLATION
    assert judged([*STUCK, *DIFFERENT, disk(3, 20)], "stuck") == PERMITTED


def test_bookies_may_be_stuck_once_as_many_as_an_ack_quorum_are_empty():
    ledgers = {"contract": "ack-quorum", "votes": False}

    assert judged([*STUCK, disk(3, 20), disk(3, 40)], "stuck", **ledgers) == VIOLATION
    assert judged([*STUCK, disk(3, 20), disk(2, 40)], "stuck", **ledgers) == [("permitted", "lost-disks>=ack-quorum")]
    assert judged([*TWO_LEADERS, disk(3, 20), disk(2, 20)], "two-leaders", **ledgers) == VIOLATION


def test_where_there_is_an_isr_nothing_changes():
    assert judged([*TWO_LEADERS, disk(3, 20)], "two-leaders", isr=True, contract="documented") == VIOLATION
    assert judged([*STUCK, *DIFFERENT, disk(3, 20)], "stuck", isr=True, contract="documented") == VIOLATION


UNREAD = [
    sent(20, "p1", P, 7, 0),
    Op(50, "final", "invoke", "poll", (("poll", {}),), final=True),
    Op(60, "final", "ok", "poll", (("poll", {P: []}),), final=True),
]
"""The only leader still has record 7, and nobody is shown it."""


@pytest.mark.parametrize(("when", "found", "permitted"), [(40, PERMITTED, 1), (61, VIOLATION, 0)])
def test_a_record_that_nobody_can_read_counts_as_lost_with_permission(when, found, permitted):
    trace = [
        TWO_LEADERS[0],
        *((15, node, "append", P, 0, 1, (7,)) for node in (1, 2)),
        (19, 1, "hw", P, 1, 1, True),
        disk(3, when),
    ]
    verdict = check(History.of(ops=UNREAD, trace=trace, **META))

    assert [(one.verdict, one.clause) for one in verdict.named("lost-write")] == found
    assert (verdict.stats["acked_lost_permitted"], verdict.stats["acked_lost_violation"]) == (permitted, 1 - permitted)


@pytest.mark.parametrize(("lost", "verdict"), [((2,), "violation"), ((2, 3), "permitted")])
def test_nobody_can_lead_where_an_entry_may_be_on_none_of_the_bookies_that_are_left(lost, verdict):
    """Found by a hunt of half an hour on the correct variant: two of five disks were lost, and the others were well."""
    servers = [1, 2, 3, 4, 5]
    times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
    times |= {"lag_time_us": 15, "produce_timeout_us": 15}
    trace = [*((0, node, "start", "", 1) for node in servers), (10, 1, "lead", P, 1, 0, 0, ())]
    trace += [(20, node, "stop", "", "disk") for node in lost]
    trace += [(30, 1, "follow", P, 2, -1, 0, 0), (500, 1, "hw", P, 0, 2, False)]
    nemesis = [(20, "strike", node, "disk", {"node": node, "nodes": [node]}) for node in lost]
    meta = {"isr": False, "votes": False, "contract": "ack-quorum", "min_isr": 2, "replicas": {P: servers}}
    (told,) = check(History.of(trace=trace, nemesis=nemesis, end_us=500, times=times, **meta)).named("no-leader")

    assert told.verdict == verdict


def test_what_is_excused_is_known():
    assert MEANINGS.keys() >= rests_on_memory()


@pytest.mark.parametrize(
    ("variant", "plan", "name"),
    [
        ("raft", 287, "two-leaders"),
        ("raft", 484, "entry-matching"),
        ("quorum-hwm+repaired", 186, "acked-by-too-few"),
        ("reconciliation+own-generation", 135, "state-machine-safety"),
    ],
)
def test_random_plans_that_take_disks(variant, plan, name):
    """The same history, were the disks not said to be lost, is one of violations."""
    history = simulate(generate_plan(1, plan, "destructive", ClusterSpec()), parse_variant(variant)).history
    verdict = check(history)

    assert verdict.valid == "valid"
    assert {(one.verdict, one.clause) for one in verdict.named(name)} == {("permitted", "lost-disk")}
    kept = [(*event[:4], "crash") if event[2] == "stop" and event[4] == "disk" else event for event in history.trace]
    without = check(History(history.meta, history.ops, history.nemesis, kept))
    assert "violation" in {one.verdict for one in without.named(name)}
