"""The verdict over a whole run."""

import json

import pytest

from tidemark.checkers import History, Op, check, polled, sent

K = "t-0"
SEND = Op(1, "p1", "invoke", "send", (("send", K, 7),), None, "all")
ACK = sent(2, "p1", K, 7, 0)
POLL = Op(3, "c1", "invoke", "poll", (("poll", {}),))


def test_an_orderly_run_is_valid_and_silent(orderly):
    verdict = check(orderly())

    assert verdict.anomalies == ()
    assert verdict.valid == "valid"
    assert verdict.stats == {
        "acked": 132,
        "sends": 132,
        "polls": 132,
        "elections": 3,
        "unclean_elections": 0,
        "truncations": 3,
        "records_truncated": 3,
        "recoveries": 0,
        "epoch_round_trips": 3,
        "one_round": 3,
        "two_rounds": 0,
        "more_rounds": 0,
        "hw_checkpoints": None,
        "acked_lost_violation": 0,
        "acked_lost_permitted": 0,
        "acked_lost_by_clause": {},
        "acked_deleted": 0,
        "acked_unknown": 0,
        "first_violation_us": None,
        "availability": 1.0,
        "recovery_us": 100,
    }


def test_a_violation_makes_a_run_invalid():
    verdict = check(History.of(ops=[sent(1, "p1", K, 7, 0), sent(2, "p1", K, 8, 1), polled(3, "c1", K, (1, 8))]))

    assert verdict.valid == "invalid"
    assert verdict.stats["first_violation_us"] == 3
    assert verdict.stats["acked_lost_violation"] == 1


def test_a_run_without_an_acknowledged_send_is_unknown():
    verdict = check(History.of(ops=[polled(3, "c1", K)]))

    assert (verdict.valid, verdict.unknown_because) == ("unknown", "no send was acknowledged")


def test_a_run_in_which_a_kind_of_operation_never_succeeded_is_unknown():
    verdict = check(History.of(ops=[SEND, ACK, POLL, Op(4, "c1", "fail", "poll", (("poll", {}),), "TIMED_OUT")]))

    assert verdict.valid == "unknown"
    assert verdict.unknown_because == (
        "these operations never succeeded: poll; "
        "1 acknowledged record was never read, and no final read says that there is nothing more to read"
    )


READ = [SEND, ACK, POLL, polled(4, "c1", K, (0, 7))]
QUIET = [
    (0, 0, "elect", K, 1, 1, (1,), (), "initial", True, 0),
    (0, 1, "lead", K, 1, 0, 0, (1,)),
    (1, 1, "append", K, 0, 1, (7,)),
    (1, 1, "hw", K, 1, 1, True),
]
RESTED = (90, 0, "converged", K, True, "")


def final(node, epoch, *batches):
    leo = sum(len(values) for _, _, values in batches)
    cache = tuple((epoch, base) for base, epoch, _ in batches)
    return (91, node, "final", K, "leader", epoch, leo, leo, cache, batches)


AT_REST = [RESTED, final(1, 1, (0, 1, (7,)))]


def test_a_run_in_which_nothing_happened_to_the_replicas_is_unknown():
    verdict = check(History.of(ops=READ, trace=[*QUIET, *AT_REST]))

    assert verdict.valid == "unknown"
    assert verdict.unknown_because == ("there was no election beyond the initial one, no truncation and no recovery")


@pytest.mark.parametrize(("faults", "valid"), [(0, "valid"), (1, "unknown")])
def test_a_quiet_run_is_valid_only_if_no_fault_was_asked_for(faults, valid):
    assert check(History.of(ops=READ, trace=[*QUIET, *AT_REST], faults=faults)).valid == valid


@pytest.mark.parametrize("told", [{"transactions": True}, {"share_group": {"drained": True}}], ids=str)
def test_what_rests_on_coordinators_can_suffer_where_no_replica_does(told):
    assert check(History.of(ops=READ, trace=[*QUIET, *AT_REST], faults=1, **told)).valid == "valid"


def test_without_faults_a_run_still_has_to_acknowledge_something():
    assert check(History.of(ops=[SEND], trace=QUIET, faults=0)).valid == "unknown"


@pytest.mark.parametrize(
    "events",
    [
        [(5, 0, "elect", K, 1, 2, (1,), (), "online", True, 1), (5, 1, "lead", K, 2, 1, 1, (1,))],
        [(5, 2, "truncate", K, 0, 1, "epoch", 1), (6, 2, "stop", "", "clean")],
        [(5, 1, "stop", "", "crash"), (6, 1, "start", "", 2), (7, 1, "recovered", K, 1, 1, 0)],
    ],
)
def test_an_election_a_truncation_or_a_recovery_is_enough(events):
    assert check(History.of(ops=READ, trace=[*QUIET, *events, *AT_REST])).valid == "valid"


def test_availability_counts_the_sends_invoked_before_healing():
    ops = [
        SEND,
        ACK,
        Op(3, "p1", "invoke", "send", (("send", K, 8),)),
        Op(12, "p1", "info", "send", (("send", K, 8),)),
        Op(13, "p1", "invoke", "send", (("send", K, 9),)),
        Op(14, "p1", "ok", "send", (("send", K, (1, 9)),)),
    ]

    assert check(History.of(ops=ops, faults_end_us=10)).stats["availability"] == 0.5


def test_recovery_is_the_time_from_healing_to_the_last_partition_at_rest():
    trace = [(120, 0, "converged", K, True, ""), (150, 0, "converged", "t-1", True, "")]

    assert check(History.of(trace=trace, faults_end_us=100)).stats["recovery_us"] == 50


def test_there_is_no_recovery_time_if_one_partition_is_stuck():
    trace = [(120, 0, "converged", K, True, ""), (150, 0, "converged", "t-1", False, "its ISR")]

    assert check(History.of(trace=trace, faults_end_us=100)).stats["recovery_us"] is None


LOSING = [
    *QUIET,
    (5, 0, "elect", K, 2, 2, (2,), (), "unclean", False, 1),
    (6, 2, "lead", K, 2, 0, 0, (2,)),
    (7, 1, "stop", "", "clean"),
    RESTED,
    final(2, 2),
]


def test_lost_acknowledged_records_are_counted_by_judgement():
    verdict = check(History.of(ops=[SEND, ACK], trace=LOSING, unclean_election=True))

    assert verdict.valid == "valid"
    assert (verdict.stats["acked_lost_violation"], verdict.stats["acked_lost_permitted"]) == (0, 1)
    assert verdict.stats["unclean_elections"] == 1


def test_a_verdict_is_the_same_bytes_every_time():
    def judged():
        return json.dumps(check(History.of(ops=[SEND, ACK], trace=LOSING, unclean_election=True)).to_json())

    assert judged() == judged()
    assert list(json.loads(judged())) == [
        "valid", "contract", "unknown_because", "judged_from", "stats", "anomalies",
    ]  # fmt: skip


def lost_as_clients_see_it():
    return [sent(1, "p1", "t-0", 7, 0), sent(2, "p1", "t-0", 8, 1), polled(3, "c1", "t-0", (1, 8))]


def test_clients_alone_are_judged_by_the_strictest_promise():
    verdict = check(History.of(ops=lost_as_clients_see_it()))

    assert (verdict.valid, verdict.contract) == ("invalid", "durable")


def test_by_a_weaker_promise_their_losses_are_undecided():
    verdict = check(History.of(ops=lost_as_clients_see_it()), "documented")

    assert (verdict.valid, verdict.contract) == ("unknown", "documented")
    assert [(a.name, a.verdict, a.clause) for a in verdict.anomalies] == [
        ("lost-write", "permitted", "needs-replica-evidence")
    ]
