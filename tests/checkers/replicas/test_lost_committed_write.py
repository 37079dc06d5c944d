"""The smallest traces in which a committed record is lost, and their neighbours in which it is not."""

from tidemark.checkers import History, check, sent

P = "t-0"

COMMITTED_BY_BROKER_1 = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2, 3)),
    (20, 1, "append", P, 0, 1, (7,)),
    (21, 2, "append", P, 0, 1, (7,)),
    (30, 1, "hw", P, 1, 1, True),
]
"""Record 7, on brokers 1 and 2, below the high watermark of broker 1."""


def lost(*trace, ops=(), **meta):
    return check(History.of(trace=trace, ops=ops, **meta)).named("lost-committed-write")


def test_a_new_leader_that_truncated_the_record_lost_it():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (40, 2, "truncate", P, 0, 1, "high watermark", 2),
        (50, 2, "lead", P, 3, 0, 0, (2,)),
        ops=[sent(35, "p1", P, 7, 0)],
    )

    assert len(anomalies) == 1
    assert anomalies[0].verdict == "violation"
    assert anomalies[0].time == 50
    assert anomalies[0].partition == P
    assert anomalies[0].breaks == ("documented", "kip-966", "durable")
    assert anomalies[0].evidence == {
        "partition": "t-0",
        "offset": 0,
        "value": 7,
        "epoch": 1,
        "commit_time": 30,
        "committed_by": 1,
        "commit_epoch": 1,
        "whole_time": None,
        "ack_time": 35,
        "ack_process": "p1",
        "leader": 2,
        "leader_epoch": 3,
        "instead": None,
        "destroyed_by": {
            "node": 2,
            "event": "truncate",
            "time": 40,
            "trace_index": 4,
            "to": 0,
            "old_leo": 1,
            "reason": "high watermark",
            "leader_epoch": 2,
        },
        "elsewhere": [{"node": 1, "event": "still-there"}],
    }
    assert anomalies[0].message == (
        "Record 7 of t-0 (offset 0, epoch 1), committed by broker 1 in epoch 1 at 0.000030 s and acknowledged to p1 at "
        "0.000035 s, is not in the log of broker 2, leader of epoch 3 since 0.000050 s: it truncated its log from 1 to "
        "0 at 0.000040 s (high watermark)."
    )


def test_a_new_leader_that_has_the_record_lost_nothing():
    assert lost(*COMMITTED_BY_BROKER_1, (50, 2, "lead", P, 2, 1, 0, (2,))) == []


def test_a_record_that_only_the_old_leader_wrote_may_go():
    assert (
        lost(
            (10, 1, "lead", P, 1, 0, 0, (1, 2)),
            (20, 1, "append", P, 0, 1, (7,)),
            (50, 2, "lead", P, 2, 0, 0, (2,)),
            (60, 1, "follow", P, 2, 2, 1, 0),
            (70, 1, "truncate", P, 0, 1, "epoch", 2),
        )
        == []
    )


def test_a_new_leader_that_never_had_the_record_is_told_with_its_election():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (40, 0, "elect", P, 3, 2, (3,), (), "online", True, 5),
        (50, 3, "lead", P, 2, 0, 0, (3,)),
    )

    assert anomalies[0].evidence["destroyed_by"] == {
        "node": 3,
        "event": "never-had-it",
        "elected": {"time": 40, "trace_index": 4, "how": "online", "clean": True, "isr": (3,)},
    }
    assert anomalies[0].evidence["elsewhere"] == [
        {"node": 1, "event": "still-there"},
        {"node": 2, "event": "still-there"},
    ]


def test_another_record_in_its_place_is_a_loss_and_is_named():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (40, 3, "append", P, 0, 0, (9,)),
        (50, 3, "lead", P, 2, 1, 0, (3,)),
    )

    assert anomalies[0].evidence["instead"] == (0, 9)
    assert anomalies[0].message.endswith("it never had it; it has record 9 of epoch 0 there.")


def test_log_loss_is_told_with_the_recovery_and_the_stop_before_it():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (40, 2, "stop", "", "power"),
        (41, 2, "start", "", 2),
        (42, 2, "recovered", P, 0, 0, 1),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
        min_isr=2,
    )

    assert anomalies[0].evidence["destroyed_by"] == {
        "node": 2,
        "event": "recovered",
        "time": 42,
        "trace_index": 6,
        "to": 0,
        "old_leo": 1,
        "after": "power",
        "lost": 1,
    }


def test_the_record_truncated_elsewhere_after_the_election_is_told_too():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (50, 3, "lead", P, 2, 0, 0, (3,)),
        (60, 2, "follow", P, 2, 3, 1, 0),
        (61, 2, "truncate", P, 0, 1, "epoch", 2),
    )

    assert anomalies[0].evidence["elsewhere"][1] == {
        "node": 2,
        "event": "truncate",
        "time": 61,
        "trace_index": 6,
        "to": 0,
        "old_leo": 1,
        "reason": "epoch",
        "leader_epoch": 2,
    }


def test_a_lost_record_is_reported_once_however_many_leaders_lack_it():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (50, 3, "lead", P, 2, 0, 0, (3,)),
        (60, 4, "lead", P, 3, 0, 0, (4,)),
    )

    assert [(one.time, one.evidence["leader"]) for one in anomalies] == [(50, 3)]


def test_a_leader_that_cuts_its_own_committed_records_lost_them():
    anomalies = lost(*COMMITTED_BY_BROKER_1, (40, 1, "truncate", P, 0, 1, "by mistake", 1))

    assert [(one.time, one.evidence["destroyed_by"]["reason"]) for one in anomalies] == [(40, "by mistake")]


def test_a_deposed_leader_may_truncate_what_only_it_has():
    assert (
        lost(
            *COMMITTED_BY_BROKER_1,
            (35, 1, "append", P, 1, 1, (8,)),
            (50, 2, "lead", P, 2, 1, 1, (2,)),
            (60, 1, "follow", P, 2, 2, 2, 1),
            (61, 1, "truncate", P, 1, 2, "epoch", 2),
        )
        == []
    )


def test_an_acks_all_record_that_no_high_watermark_passed_is_committed_by_its_acknowledgement():
    anomalies = lost(
        (10, 1, "lead", P, 1, 0, 0, (1, 2)),
        (20, 1, "append", P, 0, 1, (7,)),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
        ops=[sent(30, "p1", P, 7, 0)],
    )

    assert [(one.verdict, one.evidence["committed_by"], one.evidence["epoch"]) for one in anomalies] == [
        ("violation", None, 1)
    ]


def test_an_acknowledgement_that_arrives_after_the_election_counts_in_the_end():
    anomalies = lost(
        (10, 1, "lead", P, 1, 0, 0, (1, 2)),
        (20, 1, "append", P, 0, 1, (7,)),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
        (90, 0, "converged", P, True, ""),
        ops=[sent(60, "p1", P, 7, 0)],
    )

    assert [(one.verdict, one.time) for one in anomalies] == [("violation", 90)]


def test_an_acks_1_record_that_nobody_committed_may_go():
    anomalies = lost(
        (10, 1, "lead", P, 1, 0, 0, (1, 2)),
        (20, 1, "append", P, 0, 1, (7,)),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
        ops=[sent(30, "p1", P, 7, 0, acks="1")],
    )

    assert [(one.verdict, one.clause, one.breaks) for one in anomalies] == [("permitted", "acks-1-not-replicated", ())]


def test_an_acks_1_record_that_was_committed_may_not():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (50, 3, "lead", P, 2, 0, 0, (3,)),
        ops=[sent(22, "p1", P, 7, 0, acks="1")],
    )

    assert [(one.verdict, one.clause) for one in anomalies] == [("violation", None)]


def test_a_deposed_leader_that_still_commits_conflicts_with_the_new_one():
    """Broker 1 commits record 8 in epoch 1 after broker 2 wrote record 9 there in epoch 2, and committed it."""
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (35, 1, "append", P, 1, 1, (8,)),
        (50, 2, "lead", P, 2, 1, 1, (2,)),
        (51, 2, "append", P, 1, 2, (9,)),
        (52, 2, "hw", P, 2, 2, True),
        (60, 1, "hw", P, 2, 1, True),
    )

    assert [(one.evidence["value"], one.evidence["committed_by"], one.evidence["instead"]) for one in anomalies] == [
        (8, 1, (2, 9))
    ]


def test_a_deposed_leader_that_commits_first_conflicts_as_well():
    anomalies = lost(
        *COMMITTED_BY_BROKER_1,
        (35, 1, "append", P, 1, 1, (8,)),
        (50, 2, "lead", P, 2, 1, 1, (2,)),
        (51, 2, "append", P, 1, 2, (9,)),
        (52, 1, "hw", P, 2, 1, True),
        (60, 2, "hw", P, 2, 2, True),
    )

    assert [one.evidence["value"] for one in anomalies] == [8]


def test_a_leader_of_an_older_epoch_that_comes_late_need_not_have_the_newer_records():
    assert (
        lost(
            (10, 1, "lead", P, 2, 0, 0, (1,)),
            (20, 1, "append", P, 0, 2, (7,)),
            (30, 1, "hw", P, 1, 2, True),
            (40, 2, "lead", P, 1, 0, 0, (2,)),
        )
        == []
    )


def test_a_record_in_the_middle_may_be_lost_alone():
    anomalies = lost(
        (10, 1, "lead", P, 1, 0, 0, (1, 2)),
        (20, 1, "append", P, 0, 1, (5, 6, 7)),
        (30, 1, "hw", P, 3, 1, True),
        (40, 2, "append", P, 0, 1, (5, 60, 7)),
        (50, 2, "lead", P, 2, 3, 0, (2,)),
    )

    assert [one.evidence["value"] for one in anomalies] == [6]


def test_more_than_twenty_records_are_told_as_a_number():
    anomalies = lost(
        (10, 1, "lead", P, 1, 0, 0, (1, 2)),
        (20, 1, "append", P, 0, 1, tuple(range(100, 125))),
        (30, 1, "hw", P, 25, 1, True),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
    )

    assert len(anomalies) == 21
    assert anomalies[20].evidence == {
        "count": 5,
        "violations": 5,
        "first_offset": 20,
        "last_offset": 24,
        "leader": 2,
        "leader_epoch": 2,
    }


def test_a_record_missing_from_the_leaders_final_log_is_lost_without_any_event():
    anomalies = lost(*COMMITTED_BY_BROKER_1, (90, 1, "final", P, "leader", 1, 0, 1, (), ()))

    assert [(one.time, one.evidence["destroyed_by"]["event"]) for one in anomalies] == [(90, "final")]
