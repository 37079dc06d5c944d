"""What nobody saw in the end: lost where a final read says that there is nothing more, else unknown."""

import pytest

from tidemark.checkers import History, Op, check, deleted, polled, sent

K = "t-0"
FIFTY = [sent(time, "p1", K, time, time - 1) for time in range(1, 51)]
NEVER_READ = "and no final read says that there is nothing more to read"


def final(time, *records, key=K, process="f"):
    return polled(time, process, key, *records)._replace(final=True)


def judged(*ops, contract=None, **meta):
    return check(History.of(ops=[*FIFTY, *ops], **meta), contract)


def lost(verdict):
    return [one.evidence.get("value") for one in verdict.anomalies if one.name == "lost-write"]


def test_fifty_records_that_an_empty_poll_does_not_show_are_unknown():
    verdict = judged(polled(60, "c1", K))

    assert (verdict.valid, verdict.unknown_because) == (
        "unknown",
        f"50 acknowledged records were never read, {NEVER_READ}",
    )


def test_they_are_lost_if_that_poll_says_that_it_is_final():
    verdict = judged(final(60))

    assert verdict.valid == "invalid"
    assert lost(verdict) == [*range(1, 21), None]
    assert verdict.anomalies[-1].evidence == {"count": 30, "violations": 30}
    assert sum(one.times for one in verdict.anomalies) == 50
    assert verdict.stats["acked_lost_violation"] == 50
    assert verdict.anomalies[0].message == (
        "Record 1 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was never read, "
        "although f had read all of t-0 by 0.000060 s."
    )
    assert verdict.anomalies[0].evidence == {
        "value": 1,
        "offset": 0,
        "ack_time": 1,
        "ack_process": "p1",
        "final_read": {"process": "f", "began": 60, "ended": 60},
    }


@pytest.mark.parametrize("value", [(("poll", {}),), (("poll", {K: []}),)])
def test_a_poll_that_returned_nothing_at_all_tells_of_every_key(value):
    assert judged(Op(60, "f", "ok", "poll", value, final=True)).valid == "invalid"


SOME = [(offset, offset + 1) for offset in range(40)]
REST = [(offset, offset + 1) for offset in range(40, 50)]


def test_one_poll_is_a_whole_final_read():
    assert lost(judged(final(60, *SOME))) == list(range(41, 51))


def test_of_several_polls_the_last_must_have_returned_nothing():
    unfinished = judged(final(60, *SOME[:20]), final(61, *SOME[20:]))
    finished = judged(final(60, *SOME[:20]), final(61, *SOME[20:]), final(62))

    assert (unfinished.valid, lost(unfinished)) == ("unknown", [])
    assert unfinished.unknown_because == f"10 acknowledged records were never read, {NEVER_READ}"
    assert (finished.valid, lost(finished)) == ("invalid", list(range(41, 51)))


def test_a_run_that_says_that_all_was_read_needs_no_empty_poll():
    polls = [final(60, *SOME[:20]), final(61, *SOME[20:])]

    assert lost(judged(*polls, read_back=True)) == list(range(41, 51))
    assert lost(judged(*polls, final(62), read_back=False)) == []


def test_a_poll_of_another_key_does_not_end_the_read_of_this_one():
    other = final(61, (0, 4711), key="t-1")
    verdict = judged(sent(52, "p1", "t-1", 4711, 0), final(60, *SOME[:20]), final(60, *SOME[20:]), other)

    assert (verdict.valid, lost(verdict)) == ("unknown", [])


@pytest.mark.parametrize("kind", ["invoke", "fail", "info"])
def test_a_reader_that_did_not_get_to_its_end_proves_nothing(kind):
    verdict = judged(final(60), Op(61, "f", kind, "poll", (("poll", {}),), final=True))

    assert (verdict.valid, lost(verdict)) == ("unknown", [])


def test_what_was_acknowledged_after_the_read_began_could_not_be_read():
    late = Op(55, "f", "invoke", "poll", (("poll", {}),), final=True)
    verdict = judged(late, sent(58, "p1", K, 99, 50), final(60, *SOME, *REST))

    assert (verdict.valid, lost(verdict)) == ("unknown", [])
    assert verdict.unknown_because == f"1 acknowledged record was never read, {NEVER_READ}"


def test_a_record_of_which_nobody_knows_the_offset_is_lost_too():
    (anomaly,) = judged(sent(51, "p1", K, 99), final(60, *SOME, *REST)).anomalies

    assert anomaly.message == (
        "Record 99 of t-0 (acknowledged to p1 at 0.000051 s) was never read, although f had read all of t-0 by 0.000060 s."
    )


@pytest.mark.parametrize("acks", ["0", "1"])
def test_a_record_that_one_broker_acknowledged_may_have_gone(acks):
    verdict = judged(sent(51, "p1", K, 99, 50, acks), final(60, *SOME, *REST))

    assert (verdict.valid, lost(verdict)) == ("unknown", [])


def test_what_somebody_read_before_is_lost_all_the_same():
    verdict = judged(polled(55, "c1", K, *SOME, *REST), final(60))

    assert (verdict.valid, lost(verdict)) == ("invalid", [*range(1, 21), None])
    assert verdict.anomalies[0].message == (
        "Record 1 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was read by c1 at 0.000055 s and is gone: "
        "f had read all of t-0 by 0.000060 s and did not get it."
    )
    assert verdict.anomalies[0].evidence["last_read"] == {"time": 55, "process": "c1"}
    assert verdict.stats["acked_lost_violation"] == 50


def test_so_are_the_last_ones_and_the_first_ones():
    assert lost(judged(polled(55, "c1", K, *SOME, *REST), final(60, *SOME))) == list(range(41, 51))
    assert lost(judged(polled(55, "c1", K, *SOME, *REST), final(60, *REST[5:]))) == [*range(1, 21), None]


def test_of_several_final_reads_the_last_decides():
    early, late = final(60, *SOME, *REST, process="f"), final(70, *SOME, process="g")

    assert lost(judged(early, late)) == list(range(41, 51))
    assert lost(judged(late._replace(time=60), early._replace(time=70))) == []


def test_what_was_read_when_the_final_read_was_over_is_there():
    assert lost(judged(final(60, *SOME), polled(70, "c1", K, *SOME, *REST))) == []


@pytest.mark.parametrize("kind", ["ok", "info", "invoke"])
@pytest.mark.parametrize("acks", ["1", "0", None])
def test_what_a_poll_returned_was_committed_whatever_became_of_its_send(kind, acks):
    told = (("send", K, (50, 99)),) if kind == "ok" else (("send", K, 99),)
    send = Op(51, "p2", kind, "send", told, None, acks)
    verdict = judged(send, polled(55, "c1", K, (50, 99)), final(60, *SOME, *REST))

    assert lost(verdict) == [99]


@pytest.mark.parametrize(("kind", "f"), [("fail", "send"), ("info", "txn"), ("fail", "txn")])
def test_what_may_have_been_aborted_need_not_stay(kind, f):
    """A consumer that reads what is not committed may have seen it."""
    send = Op(51, "p2", kind, f, (("send", K, 99),))
    verdict = judged(send, polled(55, "c1", K, *SOME, *REST, (50, 99)), final(60, *SOME, *REST))

    assert lost(verdict) == []


def test_a_poll_that_did_not_end_ok_proves_nothing():
    torn = Op(55, "c1", "info", "poll", (("poll", {K: [(50, 99)]}),))

    assert lost(judged(Op(51, "p2", "info", "send", (("send", K, 99),)), torn, final(60, *SOME, *REST))) == []


def test_a_read_that_goes_on_from_where_its_process_was_tells_of_what_follows():
    before = polled(55, "f", K, *SOME)

    assert judged(before, final(60, *REST)).valid == "valid"
    assert lost(judged(before, polled(56, "c1", K, *SOME, *REST), final(60, *REST[:5]))) == list(range(46, 51))
    assert lost(judged(before, Op(57, "f", "ok", "assign", (K,)), final(60, *REST))) == [*range(1, 21), None]


ASSIGNED = Op(61, "f", "ok", "assign", (K,))
OUT_OF_RANGE = Op(60, "f", "fail", "poll", (("poll", {}),), "OFFSET_OUT_OF_RANGE", final=True)


@pytest.mark.parametrize("ends", [(ASSIGNED,), (OUT_OF_RANGE, ASSIGNED)])
def test_a_final_read_that_another_keys_reset_interrupts_is_one(ends):
    """Our own consumers say with an `assign` that names the others that they begin anew with one key."""
    began = [final(59, *SOME), *ends]

    assert judged(*began, final(62, *REST)).valid == "valid"
    assert judged(*began, final(62, *REST), ASSIGNED._replace(time=63), final(64)).valid == "valid"
    assert lost(judged(*began, final(62, *REST[:5]), final(63))) == list(range(46, 51))
    assert lost(judged(*began, final(62, *REST[2:]), final(63))) == [41, 42]
    assert lost(judged(final(59, *SOME[1:]), *ends, final(62, *REST))) == [1]
    assert (
        lost(judged(final(59, *SOME, *REST), *ends, final(62, (0, 4711), key="t-1"), final(63), read_back=True)) == []
    )


def test_but_not_one_that_begins_again_elsewhere():
    """A client of Jepsen's assigns the same keys and seeks to their beginning."""
    assert lost(judged(final(59, *SOME, *REST), ASSIGNED, final(62, *REST), final(63))) == [*range(1, 21), None]
    assert lost(judged(final(59, *SOME), ASSIGNED._replace(value=("t-1",)), final(62, *REST), final(63))) == [
        *range(1, 21),
        None,
    ]


OTHERS = [(0, 4711)]


def test_a_final_read_covers_the_keys_of_which_its_polls_tell():
    """Each of two readers had a key of its own, and nobody says so: what ends both is an answer without any."""
    both = [final(60, *SOME, *REST), final(60, *OTHERS, key="t-1", process="g")]
    ends = [Op(61, process, "ok", "poll", (("poll", {}),), final=True) for process in "fg"]
    verdict = judged(sent(52, "p2", "t-1", 4711, 0), *both, *ends)

    assert (verdict.valid, lost(verdict)) == ("valid", [])


def test_and_the_keys_that_its_process_was_assigned():
    reads = [polled(53, "c1", "t-1", *OTHERS), final(60, *SOME, *REST), final(62)]
    both, one = (Op(57, "f", "ok", "assign", keys) for keys in ((K, "t-1"), (K,)))

    assert lost(judged(sent(52, "p2", "t-1", 4711, 0), *reads[:1], both, *reads[1:], final(63, key="t-1"))) == [4711]
    assert lost(judged(sent(52, "p2", "t-1", 4711, 0), *reads[:1], one, *reads[1:])) == []


def test_a_poll_whose_invocation_alone_is_older_than_an_acknowledgement_began_before_it():
    begun = Op(49, "f", "invoke", "poll", (("poll", {}),))

    assert lost(judged(polled(55, "c1", K, *SOME, *REST), begun, final(60, *SOME))) == list(range(41, 49))


def test_what_may_have_been_deleted_is_neither_lost_nor_unseen():
    assert judged(deleted(55, "d1", K, 50), final(60)).valid == "valid"
    assert lost(judged(deleted(55, "d1", K, 49), final(60))) == [50]
    assert judged(deleted(55, "d1", K, 50), polled(60, "c1", K)).valid == "valid"


def test_of_a_history_that_was_cut_off_no_read_is_the_final_one():
    history = History.of(ops=[*FIFTY, final(60)])
    history.cut_off = "the history ends after 60 of 90 lines"

    assert check(history).valid == "unknown"


def test_by_a_weaker_promise_such_a_loss_is_undecided():
    verdict = judged(final(60), contract="documented")

    assert verdict.valid == "unknown"
    assert {one.clause for one in verdict.anomalies} == {"needs-replica-evidence"}


def test_both_kinds_of_loss_are_told_of_once():
    """The first is missing below what was read, the last ones beyond it."""
    assert lost(judged(final(60, *SOME[1:]))) == [1, *range(41, 51)]


# With a trace

KEPT = [
    (0, 0, "elect", K, 1, 1, (1,), (), "initial", True, 0),
    (0, 1, "lead", K, 1, 0, 0, (1,)),
    (1, 1, "append", K, 0, 1, tuple(range(1, 51))),
    (50, 1, "hw", K, 50, 1, True),
    (55, 0, "converged", K, True, ""),
    (65, 1, "final", K, "leader", 1, 50, 50, ((1, 0),), ((0, 1, tuple(range(1, 51))),)),
]


def test_what_the_replicas_have_and_a_final_read_does_not_show_breaks_every_promise():
    verdict = check(History.of(ops=[*FIFTY, final(60, *SOME)], trace=KEPT, faults=0))

    assert verdict.valid == "invalid"
    assert lost(verdict) == list(range(41, 51))
    assert verdict.anomalies[0].breaks == ("documented", "kip-966", "durable")


def test_what_the_replicas_have_and_nobody_read_is_unknown():
    verdict = check(History.of(ops=[*FIFTY, polled(60, "c1", K, *SOME)], trace=KEPT, faults=0))

    assert (verdict.valid, verdict.unknown_because) == (
        "unknown",
        f"10 acknowledged records were never read, {NEVER_READ}",
    )


def test_what_the_replicas_were_permitted_to_lose_is_told_by_them_alone():
    unclean = [
        *KEPT[:4],
        (52, 0, "elect", K, 2, 2, (2,), (), "unclean", False, 1),
        (53, 2, "lead", K, 2, 0, 0, (2,)),
        (54, 1, "stop", "", "clean"),
        KEPT[4],
        (65, 2, "final", K, "leader", 2, 0, 0, (), ()),
    ]
    verdict = check(History.of(ops=[*FIFTY, final(60)], trace=unclean, unclean_election=True))

    assert (verdict.valid, lost(verdict)) == ("valid", [])


def test_what_a_final_read_lacks_before_a_deletion_is_asked_for_was_not_deleted_by_it():
    asked = [Op(70, "a", "invoke", "delete", (("delete", K, 50),)), deleted(80, "a", K, 50)]

    assert judged(final(60), *asked).stats["acked_lost_violation"] == 50
    assert judged(*asked, final(90)).stats["acked_lost_violation"] == 0


def test_a_deletion_after_a_final_read_that_lacked_it_excuses_nothing_in_the_next_one():
    asked = [Op(70, "a", "invoke", "delete", (("delete", K, 50),)), deleted(80, "a", K, 50)]

    assert judged(final(60), *asked, final(90, process="g")).stats["acked_lost_violation"] == 50
    assert judged(final(60, *((one - 1, one) for one in range(1, 51))), *asked, final(90, process="g")).valid == "valid"
