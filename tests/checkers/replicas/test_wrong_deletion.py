"""Which deletions are in order; what was deleted on purpose is never told as a loss, and nothing else is excused."""

import pytest

from tidemark.checkers import History, Op, check, deleted, polled, sent

P = "t-0"

COMMITTED = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (6, 7, 8)),
    (21, 2, "append", P, 0, 1, (6, 7, 8)),
    (30, 1, "hw", P, 2, 1, True),
    (31, 2, "hw", P, 2, 1, False),
]
"""Records 6, 7, 8 on brokers 1 and 2; 6 and 7 are committed."""


def judged(*trace, ops=(), **meta):
    return check(History.of(trace=trace, ops=ops, **meta))


def told(*trace, ops=(), **meta):
    """(name, verdict) of all anomalies but what a change of leader does to the high watermark."""
    return [
        (anomaly.name, anomaly.verdict)
        for anomaly in judged(*trace, ops=ops, **meta).anomalies
        if anomaly.name != "hw-regression"
    ]


def lost(*trace, ops=()):
    """The values that are told as lost by the replicas."""
    return [anomaly.evidence["value"] for anomaly in judged(*trace, ops=ops).named("lost-committed-write")]


# What may be deleted


@pytest.mark.parametrize("how", ["delete-records", "retention"])
def test_a_deletion_below_the_high_watermark_is_in_order(how):
    assert told(*COMMITTED, (40, 1, "log-start", P, 2, 0, how)) == []


@pytest.mark.parametrize("how", ["delete-records", "retention"])
def test_a_deletion_beyond_the_high_watermark_is_not(how):
    verdict = judged(*COMMITTED, (40, 2, "log-start", P, 3, 0, how))

    (anomaly,) = verdict.named("wrong-deletion")
    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {"node": 2, "start": 3, "how": how, "hw": 2, "deleted": 3, "trace_index": 5}
    assert anomaly.message == (
        f"Broker 2 deleted records of t-0 up to offset 3 at 0.000040 s ({how}), beyond its high watermark 2."
    )


@pytest.mark.parametrize("how", ["leader", "begin-anew", "recovered"])
def test_others_may_follow_to_where_somebody_deleted(how):
    life = [(38, 2, "stop", "", "crash"), (39, 2, "start", "", 2), (39, 2, "recovered", P, 3, 2, 0)]
    deletion = (35, 1, "log-start", P, 2, 0, "delete-records")

    assert told(*COMMITTED, deletion, *life, (40, 2, "log-start", P, 2, 0, how)) == []


@pytest.mark.parametrize("how", ["leader", "begin-anew", "recovered"])
def test_and_no_further(how):
    life = [(38, 2, "stop", "", "crash"), (39, 2, "start", "", 2), (39, 2, "recovered", P, 3, 2, 0)]
    deletion = (35, 1, "log-start", P, 1, 0, "delete-records")
    verdict = judged(*COMMITTED, deletion, *life, (40, 2, "log-start", P, 2, 0, how))

    (anomaly,) = verdict.named("wrong-deletion")
    assert anomaly.message == (
        f"Broker 2 deleted records of t-0 up to offset 2 at 0.000040 s ({how}), and nobody had deleted any beyond offset 1."
    )


def test_what_the_first_process_finds_was_there_before():
    trace = [(1, 2, "start", "", 1), (2, 2, "recovered", P, 9, 9, 0), (3, 2, "log-start", P, 9, 0, "recovered")]

    assert told(*trace, (9, 3, "log-start", P, 9, 0, "begin-anew")) == []


def test_a_wrong_deletion_is_told_once_for_each_replica():
    verdict = judged(
        *COMMITTED,
        (40, 1, "log-start", P, 3, 0, "delete-records"),
        (41, 1, "append", P, 3, 1, (9,)),
        (42, 1, "log-start", P, 4, 3, "delete-records"),
    )

    assert len(verdict.named("wrong-deletion")) == 1


# What was deleted is not lost


DELETED = (40, 1, "log-start", P, 2, 0, "delete-records")


def test_a_new_leader_that_begins_anew_behind_it_has_lost_nothing():
    assert told(
        *COMMITTED,
        DELETED,
        (50, 2, "truncate", P, 0, 3, "out of range", 1),
        (50, 2, "log-start", P, 2, 0, "begin-anew"),
        (60, 2, "lead", P, 2, 2, 2, (2,)),
    ) == []  # fmt: skip


def test_a_new_leader_that_lost_its_disk_has_lost_only_what_was_not_deleted():
    disk = [(50, 2, "stop", "", "disk"), (51, 2, "start", "", 2), (52, 2, "recovered", P, 0, 0, 3)]
    before = [*COMMITTED, (39, 1, "log-start", P, 1, 0, "delete-records")]

    assert lost(*before, *disk, (60, 2, "lead", P, 2, 0, 0, (2,))) == [7]
    assert lost(*COMMITTED, *disk, (60, 2, "lead", P, 2, 0, 0, (2,))) == [6, 7]
    assert lost(*COMMITTED, DELETED, *disk, (60, 2, "lead", P, 2, 0, 0, (2,))) == []


def test_what_retention_took_on_one_replica_may_be_gone_on_another():
    assert lost(
        *COMMITTED,
        (40, 2, "log-start", P, 2, 0, "retention"),
        (50, 2, "lead", P, 2, 3, 2, (2,)),
    ) == []  # fmt: skip


def test_a_log_start_that_nobody_asked_for_loses_what_is_below():
    trace = [*COMMITTED, (40, 2, "log-start", P, 2, 0, "leader"), (50, 2, "lead", P, 2, 3, 2, (2,))]
    anomalies = judged(*trace).named("lost-committed-write")

    assert [anomaly.evidence["value"] for anomaly in anomalies] == [6, 7]
    assert anomalies[0].verdict == "violation"
    assert anomalies[0].evidence["destroyed_by"] == {
        "node": 2, "event": "log-start", "time": 40, "trace_index": 5, "start": 2, "how": "leader",
    }  # fmt: skip
    assert anomalies[0].message == (
        "Record 6 of t-0 (offset 0, epoch 1), committed by broker 1 in epoch 1 at 0.000030 s, is not in the log of broker 2, "
        "leader of epoch 2 since 0.000050 s: its log starts at 2 since 0.000040 s (leader)."
    )


def test_a_leader_must_not_move_its_own_log_start_beyond_what_was_deleted():
    assert lost(*COMMITTED, (40, 1, "log-start", P, 2, 0, "leader")) == [6, 7]


def test_a_deletion_beyond_the_high_watermark_excuses_nothing_beyond():
    """Record 8 is committed by the other replica's high watermark."""
    trace = [
        *COMMITTED,
        (40, 2, "log-start", P, 3, 0, "retention"),
        (41, 1, "hw", P, 3, 1, True),
        (50, 2, "lead", P, 2, 3, 3, (2,)),
    ]

    assert lost(*trace) == [8]


def test_a_record_that_came_to_the_offset_later_is_not_excused():
    """0 to 2 are deleted; broker 2, elected uncleanly with nothing, commits 9 at offset 0 and loses it."""
    trace = [
        *COMMITTED,
        DELETED,
        (50, 2, "stop", "", "disk"),
        (51, 2, "start", "", 2),
        (52, 2, "recovered", P, 0, 0, 3),
        (60, 2, "lead", P, 2, 0, 0, (2, 3)),
        (61, 2, "append", P, 0, 2, (9,)),
        (62, 2, "hw", P, 1, 2, True),
        (70, 3, "lead", P, 3, 0, 0, (3,)),
    ]

    assert lost(*trace) == [9]


def test_a_deletion_that_a_crash_took_back_changes_nothing():
    trace = [
        *COMMITTED,
        DELETED,
        (50, 1, "stop", "", "crash"),
        (51, 1, "start", "", 2),
        (52, 1, "recovered", P, 3, 2, 0),
        (60, 1, "lead", P, 2, 3, 2, (1, 2)),
    ]

    assert told(*trace) == []


def test_acknowledged_records_that_were_deleted_are_not_gone_under_acks_1():
    ops = [sent(25, "p1", P, 6, 0, acks="1"), sent(25, "p1", P, 8, 2, acks="1")]
    trace = [
        *COMMITTED,
        DELETED,
        (50, 3, "log-start", P, 2, 0, "begin-anew"),
        (60, 3, "lead", P, 2, 2, 2, (3,)),
    ]

    assert lost(*trace, ops=ops) == [8]


def test_an_acknowledgement_alone_does_not_commit_what_was_deleted():
    """The acknowledgement of 7 is read after the new leader took over."""
    ops = [sent(59, "p1", P, 7, 1)]
    trace = [*COMMITTED, DELETED, (50, 3, "log-start", P, 2, 0, "begin-anew"), (60, 3, "lead", P, 2, 2, 2, (3,))]

    assert told(*trace, ops=ops) == []


# Logs are compared from the larger log start on


FOLLOWER_ANEW = [
    (50, 2, "truncate", P, 0, 3, "out of range", 1),
    (50, 2, "log-start", P, 2, 0, "begin-anew"),
    (51, 2, "fetched", P, 1, 1),
]


def test_below_the_larger_log_start_logs_may_differ():
    assert told(*COMMITTED, DELETED, *FOLLOWER_ANEW, (60, 2, "append", P, 2, 1, (8,))) == []


def test_above_it_they_may_not():
    trace = [*COMMITTED, DELETED, *FOLLOWER_ANEW, (60, 2, "append", P, 2, 1, (9,))]
    (anomaly,) = judged(*trace).named("divergence")

    assert (anomaly.evidence["offset"], anomaly.evidence["leader_record"]) == (2, (1, 8))
    assert anomaly.evidence["follower_record"] == (1, 9)


def test_a_followers_own_log_start_counts_as_well():
    different = [(10, 3, "append", P, 0, 0, (1, 2)), (11, 3, "append", P, 2, 1, (8,))]
    own = (12, 3, "log-start", P, 2, 0, "retention")
    high = (12, 3, "hw", P, 2, 1, False)

    assert "divergence" in dict(told(*COMMITTED, *different, (50, 3, "fetched", P, 1, 1)))
    assert told(*COMMITTED, *different, high, own, (50, 3, "fetched", P, 1, 1)) == []


def test_a_difference_that_is_deleted_on_both_is_none_any_more():
    """`log-matching` looks again whenever a high watermark moves."""
    different = [(22, 3, "append", P, 0, 0, (1,)), (23, 3, "append", P, 1, 1, (7, 8)), (24, 3, "fetched", P, 1, 1)]
    gone = [(40, 1, "log-start", P, 1, 0, "delete-records"), (41, 3, "log-start", P, 1, 0, "leader")]

    assert {"divergence", "log-matching"} <= dict(told(*COMMITTED, *different, (35, 3, "hw", P, 2, 1, False))).keys()
    assert "log-matching" not in dict(told(*COMMITTED, *different, *gone, (45, 3, "hw", P, 2, 1, False)))


def test_a_committed_baseline_is_compared_above_the_new_leaders_log_start():
    """Broker 3 began anew at 2 and has another record there than was committed."""
    trace = [
        *COMMITTED,
        (32, 1, "hw", P, 3, 1, True),
        DELETED,
        (50, 3, "log-start", P, 2, 0, "begin-anew"),
        (51, 3, "append", P, 2, 1, (9,)),
        (60, 3, "lead", P, 2, 3, 3, (3,)),
    ]

    assert lost(*trace) == [8]


def test_after_a_leader_with_holes_a_leader_with_records_is_in_order():
    """Broker 3 leads without the deleted records; broker 2, which still has them, leads next."""
    trace = [
        *COMMITTED,
        (32, 1, "hw", P, 3, 1, True),
        DELETED,
        (50, 3, "log-start", P, 2, 0, "begin-anew"),
        (51, 3, "append", P, 2, 1, (8,)),
        (60, 3, "lead", P, 2, 3, 3, (2, 3)),
        (61, 3, "append", P, 3, 2, (9,)),
        (62, 2, "append", P, 3, 2, (9,)),
        (63, 3, "hw", P, 4, 2, True),
        (70, 2, "lead", P, 3, 4, 3, (2, 3)),
        (71, 2, "hw", P, 4, 3, True),
    ]

    assert told(*trace) == []


# Final logs


def final(start, leo, cache, *batches, epochs=True, before=()):
    """What is wrong with a final log that starts at ``start``, as its process has found it."""
    trace = [
        *before,
        *([(1, 1, "recovered", P, leo, leo, 0), (2, 1, "log-start", P, start, 0, "recovered")] if start else []),
        (9, 1, "final", P, "follower", 1, leo, leo, cache, batches),
    ]
    found = judged(*trace, epoch_cache=epochs).named("broken-log")
    return [(anomaly.verdict, anomaly.clause, anomaly.message.partition(": ")[2]) for anomaly in found]


def test_a_log_may_begin_at_its_log_start():
    assert final(4, 6, ((1, 4),), (4, 1, (7, 8))) == []


def test_its_first_batches_may_lie_below_or_reach_across():
    assert final(4, 6, ((2, 4),), (0, 1, (5, 6)), (2, 2, (7, 8, 9)), (5, 2, (1,))) == []


def test_an_empty_log_ends_where_it_starts():
    assert final(4, 4, ()) == []
    assert final(4, 4, ((3, 4),)) == []


def test_records_between_the_log_start_and_the_first_batch_are_missing():
    assert final(4, 7, ((1, 5),), (5, 1, (7, 8))) == [
        ("violation", None, "a batch begins at offset 5 where 4 comes next.")
    ]


def test_an_empty_log_that_ends_elsewhere_is_broken():
    assert final(4, 5, ()) == [("violation", None, "its log end offset is 5, but its records end at 4.")]


def test_a_log_that_starts_beyond_its_end_is_broken():
    """KAFKA-8306."""
    assert final(4, 2, ((1, 4),), (0, 1, (7, 8)))[1:] == [
        ("violation", None, "its log start offset is 4, but its log end offset is 2.")
    ]


def test_so_is_a_log_that_is_recovered_so():
    life = [(3, 1, "stop", "", "power"), (4, 1, "start", "", 2), (5, 1, "recovered", P, 1, 1, 2)]
    start = [(2, 1, "log-start", P, 3, 0, "delete-records"), *life, (6, 1, "log-start", P, 3, 0, "recovered")]
    trace = [(0, 1, "append", P, 0, 1, (5, 6, 7)), (1, 1, "hw", P, 3, 1, True), *start]
    (anomaly,) = judged(*trace, (7, 1, "append", P, 1, 1, (8,))).named("broken-log")

    assert anomaly.evidence == {"node": 1, "start": 3, "how": "recovered", "leo": 1, "trace_index": 6}
    assert anomaly.message == (
        "The log of broker 1 for t-0 starts at offset 3 since 0.000006 s (recovered), but ends at 1."
    )


def test_a_log_that_was_recovered_at_its_start_is_in_order():
    """KAFKA-8306, mended: what was left of it is dropped, and it goes on at its log start."""
    life = [(3, 1, "stop", "", "power"), (4, 1, "start", "", 2), (5, 1, "recovered", P, 3, 3, 0)]
    start = [(2, 1, "log-start", P, 3, 0, "delete-records"), *life, (6, 1, "log-start", P, 3, 0, "recovered")]
    trace = [(0, 1, "append", P, 0, 1, (5, 6, 7)), (1, 1, "hw", P, 3, 1, True), *start]

    assert told(*trace, (7, 1, "append", P, 3, 1, (8,))) == []


@pytest.mark.parametrize("cache", [((1, 0), (2, 2)), ((2, 2),), ((2, 5),), ()])
def test_an_epoch_cache_begins_with_the_log(cache):
    (found,) = final(4, 6, cache, (0, 1, (5, 6)), (2, 2, (7, 8, 9)), (5, 2, (1,)))

    assert found[:2] == ("violation", None)


def test_epochs_that_went_with_a_forgotten_log_start_are_told_and_permitted():
    crash = [(3, 1, "stop", "", "crash"), (4, 1, "start", "", 2), (5, 1, "recovered", P, 6, 6, 0)]
    before = [(0, 1, "append", P, 0, 1, (5, 6, 7)), (0, 1, "append", P, 3, 2, (8, 9, 1)), (1, 1, "hw", P, 6, 2, False)]
    batches = ((0, 1, (5, 6, 7)), (3, 2, (8, 9, 1)))
    deletion = (2, 1, "log-start", P, 4, 0, "retention")

    def after(*events, cache):
        return final(0, 6, cache, *batches, before=[*before, *events])

    assert after(deletion, *crash, cache=((2, 4),)) == [
        ("permitted", "log-start-forgotten", "epoch 1 begins at offset 0, but the epoch cache does not say so.")
    ]
    assert [verdict for verdict, _, _ in after(deletion, *crash, cache=((2, 5),))] == ["violation"]
    assert [verdict for verdict, _, _ in after(*crash, cache=((2, 4),))] == ["violation"]
    assert after(deletion, *crash, cache=((1, 0), (2, 3))) == []


# Clients alone


WRITES = [sent(1, "p1", P, 6, 0), sent(2, "p1", P, 7, 1), sent(3, "p1", P, 8, 2)]


def never_read(*ops):
    return [one.evidence["value"] for one in check(History.of(ops=ops)).named("lost-write")]


def test_what_a_client_had_deleted_need_not_be_read():
    assert never_read(*WRITES, polled(9, "c1", P, (2, 8))) == [6, 7]
    assert never_read(*WRITES, deleted(5, "d1", P, 1), polled(9, "c1", P, (2, 8))) == [7]
    assert never_read(*WRITES, deleted(5, "d1", P, 2), polled(9, "c1", P, (2, 8))) == []


@pytest.mark.parametrize("kind", ["info", None])
def test_a_deletion_of_unknown_outcome_may_have_happened(kind):
    value = (("delete", P, 2),)
    ops = [Op(4, "d1", "invoke", "delete", value), *([Op(5, "d1", kind, "delete", value, "NO")] if kind else [])]

    assert never_read(*WRITES, *ops, polled(9, "c1", P, (2, 8))) == []


def test_a_deletion_that_failed_deleted_nothing():
    value = (("delete", P, 2),)
    ops = [Op(4, "d1", "invoke", "delete", value), Op(5, "d1", "fail", "delete", value, "OFFSET_OUT_OF_RANGE")]

    assert never_read(*WRITES, *ops, polled(9, "c1", P, (2, 8))) == [6, 7]


def test_a_record_that_was_acknowledged_after_the_deletion_was_not_deleted():
    late = sent(6, "p1", P, 9, 0)

    assert never_read(late, deleted(5, "d1", P, 2), polled(9, "c1", P, (2, 8))) == [9]


def test_another_partition_is_not_concerned():
    assert never_read(*WRITES, deleted(5, "d1", "t-1", 2), polled(9, "c1", P, (2, 8))) == [6, 7]


def test_deletions_that_never_succeed_do_not_make_a_run_unknown():
    value = (("delete", P, 2),)
    ops = [Op(4, "d1", "invoke", "delete", value), Op(5, "d1", "fail", "delete", value, "UNSUPPORTED_VERSION")]

    read = polled(6, "c1", P, (0, 6), (1, 7), (2, 8))
    assert check(History.of(ops=[*WRITES, *ops, read])).valid == "valid"


# With replicas, what they say counts


def test_with_a_trace_the_request_alone_excuses_nothing():
    """Nobody's log start moved, and a consumer never got the record."""
    ops = [sent(31, "p1", P, 6, 0), sent(31, "p1", P, 7, 1), deleted(41, "d1", P, 1), polled(70, "c1", P, (1, 7))]

    assert ("lost-write", "violation") in told(*COMMITTED, ops=ops)
    assert told(*COMMITTED, (40, 1, "log-start", P, 1, 0, "delete-records"), ops=ops) == []


def test_an_offset_of_a_deleted_record_that_is_used_again_is_permitted():
    ops = [sent(31, "p1", P, 6, 0), sent(65, "p1", P, 9, 0)]
    trace = [
        *COMMITTED,
        DELETED,
        (50, 3, "lead", P, 2, 0, 0, (3,)),
        (60, 3, "append", P, 0, 2, (9,)),
        (61, 3, "hw", P, 1, 2, True),
    ]
    (anomaly,) = judged(*trace, ops=ops).named("inconsistent-offsets")

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "deleted")
