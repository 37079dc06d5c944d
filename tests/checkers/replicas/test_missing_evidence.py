"""Evidence that is not there: unknown with the reason, never valid."""

from tidemark.checkers import History, Op, check, polled, sent

K = "t-0"
OPS = [
    Op(1, "p1", "invoke", "send", (("send", K, 7),), None, "all"),
    sent(2, "p1", K, 7, 0),
    Op(90, "final", "invoke", "poll", (("poll", {}),), final=True),
    polled(91, "final", K, (0, 7))._replace(final=True),
]
WORKED = [
    (0, 0, "elect", K, 1, 1, (1, 2), (), "initial", True, 0),
    (0, 1, "lead", K, 1, 0, 0, (1, 2)),
    (0, 2, "follow", K, 1, 1, 0, 0),
    (1, 1, "append", K, 0, 1, (7,)),
    (1, 2, "append", K, 0, 1, (7,)),
    (2, 1, "hw", K, 1, 1, True),
]
CONVERGED = (80, 0, "converged", K, True, "")
FINAL_1 = (95, 1, "final", K, "leader", 1, 1, 1, ((1, 0),), ((0, 1, (7,)),))
FINAL_2 = (95, 2, "final", K, "follower", 1, 1, 1, ((1, 0),), ((0, 1, (7,)),))
META = {"contract": "documented", "replicas": {K: [1, 2]}, "min_isr": 2, "faults": 0, "read_back": True}


def judged(*ending, ops=OPS, trace=WORKED, **meta):
    return check(History.of(ops=ops, trace=[*trace, *ending], **{**META, **meta}))


def test_with_all_its_evidence_a_run_is_valid():
    verdict = judged(CONVERGED, FINAL_1, FINAL_2)

    assert (verdict.valid, verdict.unknown_because, verdict.judged_from) == ("valid", None, "clients and replicas")


def test_final_reads_that_did_not_end_make_a_run_unknown():
    verdict = judged(CONVERGED, FINAL_1, FINAL_2, read_back=False)

    assert (verdict.valid, verdict.unknown_because) == ("unknown", "the final reads did not come to an end")


def test_nobody_looked_whether_all_came_to_rest():
    verdict = judged(FINAL_1, FINAL_2)

    assert (verdict.valid, verdict.unknown_because) == ("unknown", "nobody looked whether t-0 came to rest")


def test_a_partition_that_only_the_meta_line_names_has_to_come_to_rest_too():
    replicas = {K: [1, 2], "t-1": [1]}
    verdict = judged(CONVERGED, FINAL_1, FINAL_2, replicas=replicas)

    assert verdict.unknown_because == (
        "nobody looked whether t-1 came to rest; there is no final log of broker 1 for t-1"
    )


def test_a_final_log_that_is_missing_is_named():
    verdict = judged(CONVERGED, FINAL_1)

    assert (verdict.valid, verdict.unknown_because) == ("unknown", "there is no final log of broker 2 for t-0")


def test_what_is_missing_is_told_of_five_and_counted_beyond():
    replicas = {f"t-{partition}": [1] for partition in range(7)}
    verdict = judged(CONVERGED, FINAL_1, FINAL_2, replicas=replicas)

    assert verdict.unknown_because == (
        "nobody looked whether t-1, t-2, t-3, t-4, t-5 and 1 more came to rest; there is no final log of broker 1 for t-1, "
        "broker 1 for t-2, broker 1 for t-3, broker 1 for t-4, broker 1 for t-5 and 1 more"
    )


def test_a_broker_that_does_not_run_in_the_end_owes_no_log():
    assert judged((70, 2, "stop", "", "clean"), CONVERGED, FINAL_1).valid == "valid"


def test_a_broker_that_is_no_replica_any_more_owes_no_log():
    gone = (70, 0, "reassign", K, (1,), (), ())

    assert judged(gone, CONVERGED, FINAL_1).valid == "valid"


def test_a_violation_is_one_though_evidence_is_missing():
    verdict = judged((80, 0, "converged", K, False, "broker 2 is not in the ISR"), read_back=False)

    assert (verdict.valid, verdict.unknown_because) == ("invalid", None)


def test_a_run_that_names_replicas_and_has_no_trace_is_unknown():
    verdict = judged(trace=[])

    assert verdict.valid == "unknown"
    assert (
        verdict.unknown_because
        == "the history names replicas, and has no trace of them: it is judged by its clients alone"
    )


def test_a_history_without_replicas_says_by_whose_word_it_is_judged():
    verdict = check(History.of(ops=OPS))

    assert (verdict.valid, verdict.judged_from) == ("valid", "clients")


def test_a_system_that_traces_nothing_of_its_logs_owes_none():
    lives = [(0, 1, "start", "", 1), (50, 1, "stop", "", "crash"), (60, 1, "start", "", 2)]

    assert judged(trace=lives, replicas={}).valid == "valid"


def test_a_history_that_was_cut_off_is_unknown():
    history = History.of(ops=OPS, trace=[*WORKED, CONVERGED, FINAL_1, FINAL_2], **META)
    history.cut_off = "the history ends after 9 of 12 lines"
    verdict = check(history)

    assert (verdict.valid, verdict.unknown_because) == ("unknown", "the history ends after 9 of 12 lines")


def test_what_the_beginning_of_a_history_shows_is_a_violation():
    history = History.of(ops=[*OPS, polled(92, "c1", K, (1, 4711))])
    history.cut_off = "the history ends after 9 of 12 lines"

    assert check(history).valid == "invalid"


def test_a_history_with_gaps_proves_nothing_at_all():
    """A record whose invocation is missing would look like one that nobody sent."""
    history = History.of(ops=[*OPS, polled(92, "c1", K, (1, 4711))])
    history.gaps = "line 3 is missing"
    verdict = check(history)

    assert (verdict.valid, verdict.anomalies) == ("unknown", ())
    assert verdict.unknown_because == "the history is not whole: line 3 is missing"


def test_who_hears_that_it_is_a_replica_when_it_is_none_any_more_owes_no_log():
    """A late request of ZooKeeper's controller, to one that was added and taken back."""
    added_and_gone = [(60, 0, "reassign", K, (1, 3), (3,), ()), (70, 0, "reassign", K, (1,), (), ())]
    late = (71, 3, "follow", K, 1, 1, 0, 0)

    assert judged(*added_and_gone, late, CONVERGED, FINAL_1).valid == "valid"
