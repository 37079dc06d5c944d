"""What makes a log not a log, in its appends and in its final state."""

import pytest

from tidemark.checkers import History, check

P = "t-0"


def broken(*trace, **meta):
    return [one.message for one in check(History.of(trace=trace, **meta)).named("broken-log")]


def test_a_gap_in_the_offsets():
    verdict = check(History.of(trace=[(10, 1, "append", P, 0, 1, (7,)), (20, 1, "append", P, 2, 1, (8,))]))

    (anomaly,) = verdict.named("broken-log")
    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {
        "node": 1,
        "base_offset": 2,
        "epoch": 1,
        "leo": 1,
        "last_epoch": 1,
        "trace_index": 1,
    }


def test_an_overlap_of_the_offsets():
    assert broken((10, 1, "append", P, 0, 1, (7, 8)), (20, 1, "append", P, 1, 1, (9,))) == [
        "Broker 1 wrote a batch at offset 1 of t-0 at 0.000020 s, but its log ended at 2."
    ]


def test_an_epoch_that_decreases():
    assert broken((10, 1, "append", P, 0, 2, (7,)), (20, 1, "append", P, 1, 1, (8,))) == [
        "Broker 1 wrote a batch of epoch 1 at offset 1 of t-0 at 0.000020 s, after a record of epoch 2."
    ]


def test_a_log_that_goes_on_where_it_was_cut_is_whole():
    assert (
        broken(
            (10, 1, "append", P, 0, 1, (7, 8)),
            (15, 1, "truncate", P, 1, 2, "epoch", 2),
            (20, 1, "append", P, 1, 2, (9,)),
            (25, 1, "stop", "", "disk"),
            (26, 1, "start", "", 2),
            (27, 1, "recovered", P, 0, 0, 2),
            (30, 1, "append", P, 0, 1, (7,)),
        )
        == []
    )


WRITTEN = ((10, 1, "append", P, 0, 1, (7, 8)), (11, 1, "append", P, 2, 3, (9, 10, 11)))
LOST_POWER = ((20, 1, "stop", "", "power"), (30, 1, "start", "", 2))


def test_a_recovery_leaves_whole_batches():
    for leo in (0, 2, 5):
        assert broken(*WRITTEN, *LOST_POWER, (31, 1, "recovered", P, leo, 0, 5 - leo)) == []
    (message,) = broken(*WRITTEN, *LOST_POWER, (31, 1, "recovered", P, 4, 0, 1))
    assert message == (
        "The log of broker 1 for t-0 ended at offset 4 after the recovery at 0.000031 s, inside a batch: of its 3 records from "
        "offset 2 on 2 were left."
    )


def test_a_log_that_ends_below_its_start_begins_anew_there():
    """Inside what was a batch."""
    deleted = ((12, 1, "hw", P, 5, 3, True), (13, 1, "log-start", P, 4, 0, "delete-records"))
    back = ((31, 1, "recovered", P, 4, 4, 1), (31, 1, "log-start", P, 4, 0, "recovered"))

    assert broken(*WRITTEN, *deleted, *LOST_POWER, *back) == []


@pytest.mark.parametrize("cache", [(), ((1, 0),), ((1, 0), (3, 3)), ((1, 0), (2, 1), (3, 2)), ((1, 0), (3, 2), (4, 6))])
def test_the_epoch_cache_of_a_log_that_was_just_recovered(cache):
    back = (*WRITTEN, *LOST_POWER, (31, 1, "recovered", P, 5, 0, 0))

    (message,) = broken(*back, (31, 1, "epochs", P, cache))
    assert message.startswith("The recovered log of broker 1 for t-0 is broken at 0.000031 s: ")
    assert broken(*back, (31, 1, "epochs", P, ((1, 0), (3, 2)))) == []
    assert broken(*back, (31, 1, "epochs", P, ()), epoch_cache=False) == []


LOG = ((0, 1, (7, 8)), (2, 3, (9,)), (3, 3, (10,)))
"""Epoch 1 at offset 0, epoch 3 at offset 2; the log ends at 4."""


def final(cache, batches=LOG, leo=4):
    return (90, 1, "final", P, "leader", 3, leo, leo, cache, batches)


@pytest.mark.parametrize("cache", [((1, 0), (3, 2)), ((1, 0), (3, 2), (4, 4))])
def test_a_cache_with_every_epoch_at_its_first_record_is_right_also_with_an_empty_epoch_at_the_end(cache):
    assert broken(final(cache)) == []


@pytest.mark.parametrize(
    ("cache", "wrong"),
    [
        ((), "epoch 1 begins at offset 0, but the epoch cache does not say so"),
        (((1, 0),), "epoch 3 begins at offset 2, but the epoch cache does not say so"),
        (((1, 0), (3, 3)), "epoch 3 begins at offset 2, but the epoch cache does not say so"),
        (((3, 2), (1, 0)), "the epoch cache goes from epoch 3 at 2 to epoch 1 at 0"),
        (((1, 0), (2, 2), (3, 2)), "the epoch cache goes from epoch 2 at 2 to epoch 3 at 2"),
        (((1, 0), (2, 1), (3, 2)), "the epoch cache has epoch 2 at 1, in the middle of the records of another epoch"),
        (((1, 0), (3, 2), (4, 5)), "the epoch cache has epoch 4 at 5, beyond the log end offset 4"),
    ],
)
def test_a_cache_that_does_not_match_the_log(cache, wrong):
    assert broken(final(cache)) == [f"The final log of broker 1 for t-0 is broken: {wrong}."]


@pytest.mark.parametrize(
    ("batches", "wrong"),
    [
        (((0, 1, (7,)), (2, 1, (8,))), "a batch begins at offset 2 where 1 comes next"),
        (((0, 2, (7,)), (1, 1, (8,))), "the batch at offset 1 has epoch 1 after epoch 2"),
        (((0, 1, (7,)),), "its log end offset is 4, but its records end at 1"),
    ],
)
def test_final_batches_that_make_no_log(batches, wrong):
    assert broken(final((), batches)) == [f"The final log of broker 1 for t-0 is broken: {wrong}."]


def test_a_variant_without_epoch_cache_needs_none():
    assert broken(final(()), epoch_cache=False) == []


def test_a_replica_that_is_down_in_the_end_is_not_judged():
    assert broken((10, 1, "append", P, 0, 1, (7,)), (20, 1, "stop", "", "power"), final(())) == []


def told_of_two(start, how, *trace, hw=4):
    """Broker 2 may delete up to `start`; broker 1 has offsets 0 and 1, and goes on as `trace` says."""
    deleting = [
        (1, 2, "append", P, 0, 1, (7, 8, 9, 10)),
        (2, 2, "lead", P, 1, 4, 0, (2,)),
        (3, 2, "hw", P, hw, 1, True),
        (4, 2, "log-start", P, start, 0, how),
    ]
    return broken(*deleting, (10, 1, "append", P, 0, 1, (7, 8)), *trace)


GOES_ON_AT_4 = (20, 1, "append", P, 4, 1, (11,))


def test_a_gap_of_what_was_deleted_on_purpose_is_none():
    """A follower that is cut to a leader's log start, within a batch of its own."""
    assert told_of_two(4, "delete-records", GOES_ON_AT_4) == []
    assert told_of_two(4, "retention", GOES_ON_AT_4) == []


@pytest.mark.parametrize(
    ("start", "how", "hw"),
    [(3, "delete-records", 4), (4, "delete-records", 3), (4, "leader", 4), (4, "recovered", 4)],
)
def test_a_gap_of_anything_else_is(start, how, hw):
    assert told_of_two(start, how, GOES_ON_AT_4, hw=hw) == [
        "Broker 1 wrote a batch at offset 4 of t-0 at 0.000020 s, but its log ended at 2."
    ]


def test_an_epoch_must_not_decrease_across_a_gap_either():
    assert told_of_two(4, "delete-records", (20, 1, "append", P, 4, 0, (11,))) != []


def test_a_final_log_may_have_such_a_gap_and_may_end_in_it():
    batches = ((0, 1, (7, 8)), (4, 1, (11,)))
    assert told_of_two(4, "delete-records", GOES_ON_AT_4, final(((1, 0),), batches, 5)) == []
    assert told_of_two(4, "delete-records", final(((1, 0),), batches[:1], 4)) == []
    assert told_of_two(3, "delete-records", final(((1, 0),), batches[:1], 4)) == [
        "The final log of broker 1 for t-0 is broken: its log end offset is 4, but its records end at 2."
    ]


@pytest.mark.parametrize(("start", "sound"), [(4, True), (3, False)])
def test_an_epoch_of_which_all_was_deleted_may_stay_where_the_next_one_begins(start, sound):
    """Before KAFKA-7415 a new note threw nothing out."""
    trace = [
        (1, 1, "append", P, 0, 1, (7, 8, 9, 10)),
        (2, 1, "lead", P, 1, 4, 0, (1,)),
        (3, 1, "hw", P, 4, 1, True),
        (4, 1, "log-start", P, start, 0, "delete-records"),
        (5, 1, "append", P, 4, 3, (11,)),
    ]
    batches = ((0, 1, (7, 8, 9, 10)), (4, 3, (11,)))

    assert (broken(*trace, final(((1, 4), (3, 4)), batches, 5)) == []) is sound
    assert broken(*trace, final(((1, 4), (2, 4), (3, 4)), batches, 5)) != []


LEADS = [(1, 1, "lead", P, 2, 0, 0, (1,)), (2, 1, "append", P, 0, 2, (1, 2, 3, 4, 5))]
HOLE = [
    (3, 2, "append", P, 0, 2, (1,)),
    (4, 2, "append", P, 1, 3, (12, 13, 14)),
    (5, 2, "follow", P, 4, 1, 4, 1),
    (6, 2, "truncate", P, 3, 4, "why not", 4),
    (7, 2, "hole", P, 1, 3),
]
"""Broker 2 cuts to 3, inside its batch of 1 to 3, and has nothing from offset 1 on."""
FETCHES = [(8, 1, "lead", P, 4, 5, 5, (1,)), (9, 2, "fetched", P, 4, 1)]


@pytest.mark.parametrize(
    "since", [pytest.param(FETCHES, id="fetched"), pytest.param([(9, 2, "lead", P, 5, 3, 1, (2,))], id="lead")]
)
def test_a_hole_behind_a_cut_is_told_when_the_replica_counts_as_one_that_has_all(since):
    (message, *more) = broken(*LEADS, *HOLE, *since, (20, 2, "append", P, 3, 4, (4,)))

    assert more == []
    assert message == (
        "The log of broker 2 for t-0 has a hole since 0.000007 s: a cut fell inside a batch, and the whole batch went. The log "
        "goes on at offset 3, and nothing is there from offset 1 on."
    )


def test_a_hole_that_a_restart_closes_before_is_none():
    restarts = [(8, 2, "stop", "", "crash"), (8, 2, "start", "", 2), (8, 2, "recovered", P, 1, 1, 2)]

    assert broken(*LEADS, *HOLE, *restarts, *FETCHES, (20, 2, "append", P, 1, 2, (2, 3, 4))) == []


DELETED = [(6, 1, "hw", P, 5, 2, True), (6, 1, "log-start", P, 3, 0, "delete-records")]


def names(*trace):
    verdict = check(History.of(trace=trace))
    return [(one.name, one.verdict) for one in verdict.anomalies if one.verdict != "permitted"]


def test_a_hole_over_what_was_deleted_is_none_and_the_high_watermark_may_lie_in_it():
    told = [(9, 2, "hw", P, 3, 4, False), (9, 2, "log-start", P, 3, 0, "leader")]

    assert names(*LEADS, *DELETED, *HOLE, *FETCHES, *told) == []


def test_a_leader_that_others_have_deposed_does_not_begin_to_write_others_there():
    late = [(6, 3, "lead", P, 1, 0, 0, (3,))]

    assert names(*LEADS, *DELETED, *late, *HOLE, *FETCHES) == []


def test_nor_is_it_where_a_crash_brings_the_deleted_records_back_elsewhere():
    forgets = [
        (10, 1, "stop", "", "crash"),
        (11, 1, "start", "", 2),
        (12, 1, "recovered", P, 5, 5, 0),
        (13, 1, "lead", P, 6, 5, 5, (1,)),
        (14, 2, "follow", P, 6, 1, 3, 3),
        (15, 2, "fetched", P, 6, 1),
        (16, 2, "append", P, 3, 2, (4, 5)),
    ]

    assert names(*LEADS, *DELETED, *HOLE, *FETCHES, *forgets) == []


def test_a_hole_over_what_was_written_where_others_were_deleted_is_one():
    """What was deleted reached to 3; a leader with an empty log begins again at 0."""
    anew = [
        (6, 3, "hw", P, 3, 1, True),
        (6, 3, "log-start", P, 3, 0, "delete-records"),
        (7, 1, "lead", P, 2, 0, 0, (1,)),
    ]
    deleted = [(0, 3, "append", P, 0, 1, (91, 92, 93)), (0, 3, "lead", P, 1, 3, 3, (3,))]

    assert ("broken-log", "violation") in names(*deleted, *anew, LEADS[1], *HOLE, *FETCHES)


def test_the_record_that_went_with_the_batch_went_by_the_cut():
    committed = [(2, 1, "hw", P, 1, 2, True)]
    elsewhere = [(3, 1, "append", P, 5, 2, (6,)), (4, 2, "hw", P, 3, 3, True)]
    lost = check(History.of(trace=[*LEADS, *committed, *HOLE[:2], *elsewhere, *HOLE[2:], *FETCHES]))

    gone = [one for one in lost.named("lost-committed-write") if one.evidence["value"] == 12]
    assert [(one.evidence["destroyed_by"]["event"], one.evidence["elsewhere"]) for one in gone] == [
        (
            "never-had-it",
            [
                {
                    "node": 2, "event": "truncate", "time": 6, "trace_index": 8, "to": 1, "old_leo": 4, "reason": "why not",
                    "leader_epoch": 4,
                }
            ],
        )
    ]  # fmt: skip
