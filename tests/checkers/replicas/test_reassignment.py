"""A replica that a reassignment took away owes nothing; a record that those who are left lack is lost all the same."""

import pytest

from tidemark.checkers import History, check, sent
from tidemark.checkers.replicas.replay import replay

P = "t-0"
LED_BY_1 = [
    (0, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0),
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7,)),
    (21, 2, "append", P, 0, 1, (7,)),
    (30, 1, "hw", P, 1, 1, True),
]
"""Record 7 is committed by broker 1, and on broker 2 as well."""
MOVED_TO_4 = [
    (40, 0, "reassign", P, (4, 2, 3), (), ()),
    (40, 0, "isr-change", P, (1, 2, 4), (), 2),
    (40, 0, "elect", P, 4, 2, (2, 4), (), "reassigned", True, 3),
]
GONE = (50, 1, "removed", P, 1, 1)


def names(*trace, ops=(), **meta):
    return [a.name for a in check(History.of(trace=trace, ops=ops, **meta)).anomalies if a.verdict == "violation"]


# What it owes


def test_a_removed_replica_has_no_log():
    replicas = replay([*LED_BY_1, GONE])

    assert replicas.at(1, P).records == []
    assert replicas.at(2, P).records == [(1, 7)]
    assert not replicas.at(1, P).leading


def test_one_that_comes_back_begins_at_offset_0():
    again = [(60, 1, "follow", P, 3, 4, 0, 0), (61, 1, "append", P, 0, 1, (7,))]

    assert "broken-log" in names(*LED_BY_1, *again)
    assert "broken-log" not in names(*LED_BY_1, *MOVED_TO_4, GONE, *again)


def test_its_log_need_not_be_its_leaders_any_more():
    """Broker 2 followed broker 1; what each appends after they have parted is compared with nobody's."""
    paired = [*LED_BY_1, (31, 2, "fetched", P, 1, 1)]
    apart = [(60, 1, "append", P, 1, 1, (8,)), (61, 2, "append", P, 1, 2, (9,))]

    assert names(*paired, *apart) == ["divergence"]
    assert names(*paired, *MOVED_TO_4, *apart) == []


def test_a_leader_may_delete_what_it_committed_when_it_is_one_no_longer():
    """The new leader has it."""
    has = [(22, 4, "append", P, 0, 1, (7,)), (45, 4, "lead", P, 2, 1, 1, (2, 4))]

    assert names(*LED_BY_1, *has[:1], *MOVED_TO_4, *has[1:], GONE) == []
    assert names(*LED_BY_1, *has[:1], *MOVED_TO_4, GONE, *has[1:]) == []


# What is lost


def test_a_record_that_the_new_leader_lacks_is_lost():
    lost = [*LED_BY_1, *MOVED_TO_4, (45, 4, "lead", P, 2, 0, 0, (2, 4)), GONE]

    assert names(*lost) == ["lost-committed-write", "leader-completeness"]


def test_what_became_of_the_copies_is_told():
    lost = [*LED_BY_1, *MOVED_TO_4, GONE, (60, 4, "lead", P, 2, 0, 0, (2, 4))]
    (anomaly,) = check(History.of(trace=lost)).named("lost-committed-write")

    assert [(copy["node"], copy["event"]) for copy in anomaly.evidence["elsewhere"]] == [
        (1, "removed"),
        (2, "still-there"),
    ]


def test_one_that_nobody_has_who_is_left_is_lost_though_nobody_leads():
    """KAFKA-14424: the last copy was with the replica that was taken away."""
    alone = [*LED_BY_1[:3], LED_BY_1[4], (40, 0, "reassign", P, (2, 3), (), ())]
    none = (40, 0, "elect", P, -1, 2, (1,), (), "offline", True, 3)
    (anomaly,) = check(History.of(trace=[*alone, none, GONE])).named("lost-committed-write")

    assert (anomaly.verdict, anomaly.evidence["offset"], anomaly.evidence["leader"]) == ("violation", 0, 1)
    assert anomaly.message.endswith("a reassignment removed its replica, and it deleted the log at 0.000050 s.")


def test_where_the_replica_that_was_taken_away_still_has_it_that_is_said():
    """Not that it never had it, and has it."""
    alone = [*LED_BY_1[:3], LED_BY_1[4], (40, 0, "reassign", P, (2, 3), (), ())]
    (anomaly,) = check(History.of(trace=alone)).named("lost-committed-write")

    assert anomaly.message.startswith(
        "Record 7 of t-0 (offset 0, epoch 1), committed by broker 1 in epoch 1 at 0.000030 s, is not in the log of any replica. "
        "The last to lead was broker 1, leader of epoch 1: it has it, and is no replica any more since 0.000040 s; the "
        "replicas are 2, 3"
    )
    assert anomaly.evidence["destroyed_by"] == {
        "node": 1,
        "event": "no-replica",
        "time": 40,
        "trace_index": 4,
        "replicas": (2, 3),
    }


def test_a_broker_that_is_no_replica_any_more_is_not_told_of_as_one_of_the_isr():
    none = (40, 0, "elect", P, -1, 2, (1,), (), "offline", True, 3)
    stuck = (90, 0, "converged", P, False, "no leader")
    trace = [*LED_BY_1, (40, 0, "reassign", P, (2, 3), (), ()), none, stuck]
    times = {"session_us": 1, "heartbeat_us": 1, "tick_us": 1, "request_timeout_us": 1, "fetch_wait_us": 1}
    times |= {"lag_time_us": 1, "produce_timeout_us": 1}
    verdict = check(History.of(trace=trace, times=times, replicas={P: [1, 2]}))

    assert [*verdict.named("no-leader")] == []
    (anomaly,) = verdict.named("stuck")
    assert anomaly.evidence["because"][:1] == [
        "There is no leader since 0.000040 s: nobody whom the controller has in sync is a replica any more."
    ]


def test_it_is_no_near_miss_that_it_lacks_something():
    lag = [(41, 1, "append", P, 1, 1, (8,)), (42, 1, "hw", P, 2, 1, True)]
    told = [a.name for a in check(History.of(trace=[*LED_BY_1, *lag])).anomalies]
    after = [
        a.name for a in check(History.of(trace=[*LED_BY_1, (40, 0, "reassign", P, (1, 3), (), ()), *lag])).anomalies
    ]

    assert ("weak-isr" in told, "weak-isr" in after) == (True, False)


def test_it_is_not_if_one_of_those_who_are_left_has_it():
    none = (40, 0, "elect", P, -1, 2, (1,), (), "offline", True, 3)

    assert names(*LED_BY_1, (40, 0, "reassign", P, (2, 3), (), ()), none, GONE) == []


def test_nor_if_the_removed_replica_was_no_leader():
    assert names(*LED_BY_1, (40, 0, "reassign", P, (1, 3), (), ()), (50, 2, "removed", P, 1, 1)) == []


def test_an_acknowledged_record_that_nobody_has_is_lost_too():
    ops = [sent(35, "p1", P, 8, 1)]
    alone = [*LED_BY_1[:3], (25, 1, "append", P, 1, 1, (8,)), (40, 0, "reassign", P, (2, 3), (), ()), GONE]

    assert "lost-committed-write" in names(*alone, ops=ops)


# The promises


def judged(*between, contract, min_isr=2, then=(95, 4, "hw", P, 0, 5, True)):
    """How the loss of record 7 is judged, which broker 4 lacks as leader."""
    trace = [*LED_BY_1, *between, (90, 4, "lead", P, 5, 0, 0, (4,)), then]
    (anomaly,) = check(History.of(trace=trace, min_isr=min_isr), contract).named("lost-committed-write")
    return anomaly.verdict


AWAY_1, AWAY_2 = (35, 1, "stop", "", "power"), (45, 2, "stop", "", "power")
WITHOUT_1, WITHOUT_2 = ((40, 0, "reassign", P, replicas, (), ()) for replicas in ((4, 2, 3), (1, 4, 3)))


@pytest.mark.parametrize("contract", ["kip-966", "durable"])
def test_two_replicas_that_lost_their_logs_excuse_a_loss(contract):
    assert judged(AWAY_1, AWAY_2, contract=contract) == "permitted"


@pytest.mark.parametrize("contract", ["kip-966", "durable"])
def test_one_that_had_been_taken_away_by_then_does_not(contract):
    assert judged(AWAY_1, WITHOUT_1, AWAY_2, contract=contract) == "violation"


@pytest.mark.parametrize("contract", ["kip-966", "durable"])
def test_one_that_is_taken_away_later_did_lose_its_log(contract):
    assert judged(AWAY_1, AWAY_2, then=(95, 0, "reassign", P, (4, 3), (), ()), contract=contract) == "permitted"


@pytest.mark.parametrize("contract", ["kip-966", "durable"])
def test_nor_one_that_stops_after_it_was_taken_away(contract):
    assert judged(AWAY_1, WITHOUT_2, AWAY_2, contract=contract) == "violation"


def test_that_a_replica_is_deleted_is_no_lost_log():
    assert judged(WITHOUT_1, GONE, AWAY_2, contract="durable") == "violation"


def test_for_the_documented_promise_the_isr_counts_as_it_is_now():
    """Broker 1, which is gone from the ISR, is alive; its members are not."""
    moved = [WITHOUT_1, (40, 0, "isr-change", P, (2,), (), 2)]

    assert judged(*moved, AWAY_2, (70, 0, "isr-change", P, (4,), (), 3), contract="documented") == "permitted"
    assert judged(AWAY_2, contract="documented") == "violation"
