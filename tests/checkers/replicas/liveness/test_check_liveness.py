"""What did not go on while faults struck others: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, Op, check, sent
from tidemark.checkers.replicas.liveness.bounds import LIVE_SLACK_US, TIMES, Bounds

ELECT, SHRINK, LEAVE, ADVANCE, JOIN, SEND = 23, 24, 15, 13, 22, 38
"""What follows from the settings below."""
META = {
    "replicas": {"t-0": [1, 2, 3]},
    "min_isr": 2,
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
CRASH = (50, "strike", 0, "crash", {"node": 1, "nodes": [1]})
BEGIN = [(0, 0, "elect", "t-0", 1, 0, (1, 2, 3), (), "initial", True, 0), (0, 1, "lead", "t-0", 0, 0, 0, (1, 2, 3))]


def found(trace=(), nemesis=(), ops=(), **meta):
    history = History.of(trace=[*BEGIN, *trace], nemesis=nemesis, ops=ops, **{**META, **meta})
    names = ("no-leader", "isr-not-shrunk", "not-acknowledged")
    return [
        (one.name, one.verdict, one.evidence["since"], one.evidence["until"])
        for one in check(history).anomalies
        if one.name in names
    ]


def tick(time):
    """Something that happens, so that the trace goes on until then."""
    return (time, 2, "hw", "t-0", 0, 0, 0)


def test_the_bounds_follow_from_the_settings():
    assert Bounds.of(META) == Bounds(
        elect_us=ELECT,
        owned_us=ELECT + 2 * 9,
        voted_us=6 * 10 + 9,
        resign_us=2 * 10 + 3 * 1,
        shrink_us=SHRINK,
        leave_us=LEAVE,
        advance_us=ADVANCE,
        join_us=JOIN,
        answer_us=9,
        lag_us=15,
        heard_us=2 + 2,
        close_us=2,
        give_up_us=15,
        send_us=SEND,
    )
    assert Bounds.of({**META, "world": "docker"}).elect_us == ELECT + LIVE_SLACK_US
    assert Bounds.of({}) is None
    assert Bounds.of({"times": {"session_us": 1}}) is None


@pytest.mark.parametrize(
    ("end", "expected"), [(50 + ELECT, []), (51 + ELECT, [("no-leader", "violation", 50, 51 + ELECT)])]
)
def test_a_dead_leader_is_replaced_within_the_bound(end, expected):
    assert found([(50, 1, "stop", "", "crash"), tick(end)], [CRASH]) == expected


def test_a_new_leader_in_time_is_all_right():
    elected = (60, 0, "elect", "t-0", 2, 1, (2, 3), (), "online", True, 1)

    assert found([(50, 1, "stop", "", "crash"), elected, tick(500)], [CRASH]) == []


def test_no_leader_at_all_is_as_bad_as_a_dead_one():
    offline = (60, 0, "elect", "t-0", -1, 1, (2, 3), (), "offline", True, 1)

    assert found([(50, 1, "stop", "", "crash"), offline, tick(90)], [CRASH]) == [("no-leader", "violation", 50, 90)]


@pytest.mark.parametrize(
    "fault",
    [
        ("controller-isolated", {"node": 0}),
        ("halves", {"node": 2}),
        ("of somebody else's", {"node": 1}),
        ("isolate", {"nodes": [2, 3]}),
    ],
)
def test_nobody_is_judged_whom_a_fault_may_hold_back(fault):
    kind, detail = fault
    held = (40, "strike", 1, kind, detail)

    assert found([(50, 1, "stop", "", "crash"), tick(500)], [held, CRASH]) == []
    healed = (70, "heal", 1, kind, {})
    assert found([(50, 1, "stop", "", "crash"), tick(500)], [held, CRASH, healed]) == [
        ("no-leader", "violation", 70, 500)
    ]
    assert found([(50, 1, "stop", "", "crash"), tick(500)], [held, CRASH, (70, "heal", -1, "all", {})]) == [
        ("no-leader", "violation", 70, 500)
    ]


def test_who_is_dead_paused_unregistered_or_without_its_log_need_not_lead():
    died = (50, 1, "stop", "", "crash")
    alone = (55, 0, "isr-change", "t-0", (2,), (), 1)

    assert found([died, alone, (56, 2, "stop", "", "crash"), tick(500)], [CRASH]) == []
    assert found([died, alone, (56, 2, "pause", ""), (500, 0, "register", "", 1, 5, False)], [CRASH]) == []
    back = [(57, 2, "start", "", 2), tick(500)]
    assert found([died, alone, (56, 2, "stop", "", "disk"), *back], [CRASH]) == []
    stopped = (56, 2, "stop", "", "crash")
    assert found([died, alone, stopped, (56, 2, "log-lost", "t-0", "first"), *back], [CRASH]) == []
    elsewhere = (56, 2, "log-lost", "t-9", "first")
    assert found([died, alone, stopped, elsewhere, *back], [CRASH]) == [("no-leader", "violation", 57, 500)]
    assert found([died, alone, (56, 2, "stop", "", "crash"), *back], [CRASH]) == [("no-leader", "violation", 57, 500)]
    registered = (60, 0, "register", "", 2, 5, False)
    waits = [died, alone, (56, 2, "stop", "", "crash"), (57, 2, "start", "", 2), registered, tick(500)]
    assert found(waits, [CRASH]) == [("no-leader", "violation", 60, 500)]


AWAY = (50, "strike", 0, "from-peers", {"node": 3})
APPENDED = (60, 1, "append", "t-0", 0, 0, (7,))
BY_2 = (61, 2, "append", "t-0", 0, 0, (7,))


@pytest.mark.parametrize(
    ("end", "expected"), [(60 + SHRINK, []), (61 + SHRINK, [("isr-not-shrunk", "violation", 60, 61 + SHRINK)])]
)
def test_who_cannot_fetch_leaves_the_isr_within_the_bound(end, expected):
    assert found([APPENDED, BY_2, tick(end)], [AWAY]) == expected


def test_it_does_not_matter_why_a_member_lacks_a_record():
    assert found([APPENDED, BY_2, tick(500)]) == [("isr-not-shrunk", "violation", 60, 500)]
    assert found([APPENDED, BY_2, (80, 3, "append", "t-0", 0, 0, (7,)), tick(500)]) == []


def test_where_several_machines_wrote_the_trace_only_who_cannot_fetch_is_judged():
    late = LIVE_SLACK_US + 500

    assert found([APPENDED, BY_2, tick(late)], world="docker") == []
    told = [("isr-not-shrunk", "violation", 60, late)]
    assert found([APPENDED, BY_2, tick(late)], [AWAY], world="docker") == told
    before = [(40, 1, "append", "t-0", 0, 0, (7,)), BY_2, tick(late)]
    assert found(before, [AWAY], world="docker") == []


STOPPED = (50, 3, "stop", "", "crash")


@pytest.mark.parametrize(
    ("end", "expected"), [(50 + LEAVE, []), (51 + LEAVE, [("isr-not-shrunk", "violation", 50, 51 + LEAVE)])]
)
def test_who_is_stopped_leaves_the_isr_with_its_session(end, expected):
    assert found([STOPPED, tick(end)], [(50, "strike", 0, "crash", {"node": 3})]) == expected


@pytest.mark.parametrize("kind", ["slow-controller", "late-heartbeats"])
@pytest.mark.parametrize(("late", "expected"), [(0, [("isr-not-shrunk", "violation", 50, 90)]), (40, [])])
def test_heartbeats_of_a_broker_that_has_stopped_may_still_be_under_way(kind, late, expected):
    slow = [(20, "strike", 0, kind, {"node": 3, "amount": late}), (50, "heal", 0, kind, {})]

    assert found([STOPPED, tick(90)], [*slow, (50, "strike", 1, "crash", {"node": 3})]) == expected
    assert (
        found([STOPPED, tick(90)], [*slow, (50, "strike", 1, "crash", {"node": 3})], holds_back={kind: "node"})
        == expected
    )


def test_the_last_member_of_an_isr_may_stay_in_it():
    alone = (40, 0, "elect", "t-0", -1, 1, (3,), (), "offline", True, 1)

    assert found([alone, STOPPED, tick(500)], [(50, "strike", 0, "crash", {"node": 3})]) == []


def test_who_has_everything_may_stay_in_the_isr():
    all_have_it = [(40 + node, node, "append", "t-0", 0, 0, (7,)) for node in (1, 2, 3)]

    assert found([*all_have_it, tick(500)], [AWAY]) == []


def test_who_left_the_isr_in_time_is_all_right():
    assert found([APPENDED, BY_2, (80, 0, "isr-change", "t-0", (1, 2), (), 1), tick(500)], [AWAY]) == []


@pytest.mark.parametrize(
    "change", [(70, 0, "isr-change", "t-0", (1, 2, 3), (), 1), (70, 0, "reassign", "t-0", (1, 2, 3), (), ())]
)
@pytest.mark.parametrize(("over", "expected"), [(7, False), (8, True)])
def test_each_change_of_a_partition_gives_its_leader_one_more_look_at_its_isr(change, over, expected):
    end = 60 + SHRINK + over

    assert bool(found([APPENDED, BY_2, change, tick(end)], [AWAY])) is expected


def test_a_leader_whom_a_fault_holds_back_need_not_shrink_its_isr():
    assert found([APPENDED, tick(500)], [AWAY, (55, "strike", 1, "from-controller", {"node": 1})]) == []


def test_what_an_earlier_leader_appended_does_not_count():
    elected = (62, 0, "elect", "t-0", 2, 1, (1, 2, 3), (), "preferred", True, 1)

    assert found([APPENDED, elected, tick(500)], [AWAY]) == []


def send(begin, end, outcome, error=None):
    value = (("send", "t-0", 7),)
    return [Op(begin, "p1", "invoke", "send", value), Op(end, "p1", outcome, "send", value, error)]


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        (send(SEND, SEND + 15, "info"), [("not-acknowledged", "violation", SEND, SEND + 15)]),
        (send(SEND, SEND + 15, "fail"), [("not-acknowledged", "violation", SEND, SEND + 15)]),
        (send(SEND - 1, SEND + 15, "info"), []),
        (send(SEND, SEND + 14, "info"), []),
        ([*send(SEND, SEND + 15, "ok")[:1], sent(SEND + 15, "p1", "t-0", 7, 0)], []),
    ],
)
def test_a_send_that_times_out_where_nothing_is_wrong(ops, expected):
    assert found([tick(500)], ops=ops) == expected


def test_a_send_may_time_out_while_a_broker_that_lives_is_cut_off():
    assert found([tick(500)], [(10, "strike", 0, "isolate", {"node": 3})], send(SEND, SEND + 15, "info")) == []


def test_a_send_has_to_succeed_beside_a_broker_that_is_known_to_be_dead():
    dead = [(10, 3, "stop", "", "crash"), (20, 0, "isr-change", "t-0", (1, 2), (), 1), tick(500)]
    crash = (10, "strike", 0, "crash", {"node": 3, "nodes": [3]})

    assert found(dead, [crash], send(20 + SEND, 35 + SEND, "info")) == [
        ("not-acknowledged", "violation", 20 + SEND, 35 + SEND)
    ]
    assert found(dead, [crash], send(20 + SEND, 35 + SEND, "info"), min_isr=3) == []


def test_without_the_settings_nobody_is_judged():
    assert found([(50, 1, "stop", "", "crash"), tick(500)], [CRASH], times={}) == []
