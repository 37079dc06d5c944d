"""A run whose replicas' evidence cannot be relied on: unknown, never invalid because of it, and never valid."""

import pytest

from tidemark.checkers import History, Op, check, polled, sent
from tidemark.checkers.check import doubts_about

K = "t-0"
NOT_UNDERSTOOD = {"not_understood": ["Broker 2, t-0: offset 2 holds 99, and its lines tell of 13."]}
DOUBTS = [NOT_UNDERSTOOD, {"not_understood": ["one", "two"]}]


# What is a doubt


def test_evidence_that_was_not_understood_is_told_in_its_own_words():
    assert doubts_about({"not_understood": ["one", "two"]}) == [
        "the replicas' evidence was not understood: one",
        "the replicas' evidence was not understood: two",
    ]


def test_a_history_without_such_entries_is_believed():
    assert doubts_about({}) == doubts_about({"not_understood": [], "died": []}) == []


# What a doubt does

ELECTED = [
    (0, 0, "elect", K, 1, 1, (1, 2), (), "initial", True, 1),
    (0, 1, "lead", K, 1, 0, 0, (1, 2)),
    (1, 1, "append", K, 0, 1, (7,)),
    (1, 2, "append", K, 0, 1, (7,)),
    (2, 1, "hw", K, 1, 1, True),
]
LOST = [
    *ELECTED,
    (5, 2, "truncate", K, 0, 1, "epoch", 2),
    (6, 0, "elect", K, 2, 2, (2, 1), (), "online", True, 2),
    (6, 2, "lead", K, 2, 0, 0, (2, 1)),
]
SPLIT = [
    *ELECTED,
    (5, 2, "append", K, 1, 2, (8,)),
    (5, 1, "append", K, 1, 1, (9,)),
    (8, 0, "converged", K, False, "broker 1 is not in the ISR"),
    (8, 1, "fatal", "", "the leader's log is shorter"),
    (8, 1, "stop", "", "fatal"),
]
ACKED = [Op(1, "p1", "invoke", "send", (("send", K, 7),), None, "all"), sent(2, "p1", K, 7, 0)]
READ = [*ACKED, polled(4, "c1", K, (0, 7))]
ENDED = [
    *ELECTED,
    (8, 0, "converged", K, True, ""),
    (9, 1, "final", K, "leader", 1, 1, 1, ((1, 0),), ((0, 1, (7,)),)),
    (9, 2, "final", K, "follower", 1, 1, 1, ((1, 0),), ((0, 1, (7,)),)),
]
MORE = [*ACKED, sent(3, "p1", K, 8, 1)]


def judged(ops=ACKED, trace=ELECTED, contract=None, **meta):
    return check(History.of(ops=ops, trace=trace, **{"contract": "documented", "min_isr": 2, **meta}), contract)


@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_would_be_valid_is_unknown(doubt):
    assert judged(READ, ENDED, faults=0).valid == "valid"

    verdict = judged(READ, ENDED, faults=0, **doubt)

    assert (verdict.valid, {anomaly.name for anomaly in verdict.anomalies} - {"unseen"}) == ("unknown", set())
    assert verdict.unknown_because == "; ".join(doubts_about(doubt))


@pytest.mark.parametrize("trace", [LOST, SPLIT])
@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_would_be_invalid_by_the_replicas_evidence_is_unknown(trace, doubt):
    assert judged(trace=trace).valid == "invalid"

    verdict = judged(trace=trace, **doubt)

    assert (verdict.valid, {anomaly.name for anomaly in verdict.anomalies} - {"unseen"}) == ("unknown", set())


def test_a_process_that_its_protocol_told_to_give_up_makes_a_run_invalid():
    died = [{"node": 1, "how": "fatal", "log": "the leader's log is shorter"}]

    assert "broker-stopped" in [anomaly.name for anomaly in judged(trace=SPLIT, died=died).anomalies]


# One node that is not believed

K3 = {"replicas": {K: [1, 2, 3]}}
OTHER = {"doubted_nodes": {"3": ["its file is torn"]}}
TOLD = "the evidence of broker 3 was not understood: its file is torn"


def test_what_would_be_valid_is_unknown_because_of_one_node():
    verdict = judged(READ, ENDED, faults=0, **OTHER)

    assert (verdict.valid, verdict.unknown_because, verdict.judged_from) == ("unknown", TOLD, "clients and replicas")


@pytest.mark.parametrize(("trace", "name"), [(LOST, "lost-committed-write"), (LOST, "leader-completeness")])
def test_what_the_others_show_counts(trace, name):
    assert name in [one.name for one in judged(trace=trace, **OTHER).anomalies]


def test_the_story_of_a_loss_names_the_same_events():
    (whole,) = (one for one in judged(trace=LOST).anomalies if one.name == "lost-committed-write")
    (rest,) = (one for one in judged(trace=LOST, **OTHER).anomalies if one.name == "lost-committed-write")

    assert {**rest.evidence, "ack_time": 2, "ack_process": "p1"} == whole.evidence


@pytest.mark.parametrize("node", ["1", "2"])
def test_the_doubted_nodes_own_words_count_for_nothing(node):
    verdict = judged(trace=LOST, doubted_nodes={node: ["riddles"]})

    assert verdict.valid == "unknown"
    assert [one.name for one in verdict.anomalies if one.name in ("lost-committed-write", "divergence")] == []


def test_where_nobody_is_believed_the_clients_are_asked_alone():
    verdict = judged(trace=LOST, doubted_nodes={"1": ["a"], "2": ["b"]})

    assert (verdict.valid, verdict.judged_from) == ("unknown", "clients")


def test_a_silent_node_may_have_held_what_was_lost():
    """Min ISR 1: had broker 3 held the record, its lost log would permit the loss."""
    lost_log = [*ELECTED, (4, 3, "stop", "", "power"), *LOST[len(ELECTED) :]]
    ask = {"trace": lost_log, "contract": "durable", "min_isr": 1}

    assert "lost-committed-write" in [one.name for one in judged(**ask).anomalies if one.verdict == "violation"]
    assert judged(**ask, **OTHER).valid == "unknown"


def test_a_silent_node_may_have_deleted_what_is_gone():
    deleted = [
        *ELECTED,
        (3, 3, "log-start", K, 1, 0, "delete-records"),
        (4, 2, "log-start", K, 1, 0, "follow"),
        *LOST[-2:],
    ]

    assert judged(trace=deleted, **OTHER).valid == "unknown"


def test_a_silent_node_may_lead_and_have_what_another_lacks():
    """Broker 3 leads epoch 2, of which only the controller tells; broker 2 still takes itself for the leader."""
    trace = [
        *ELECTED,
        (5, 0, "elect", K, 3, 2, (3,), (), "online", True, 2),
        (6, 3, "lead", K, 2, 1, 1, (3,)),
        (7, 1, "truncate", K, 0, 1, "epoch", 2),
    ]

    assert judged(trace=trace, **OTHER).valid == "unknown"


def test_a_log_that_cannot_be_kept_leaves_the_others():
    sparse = [*LOST, (7, 3, "append", K, 1 << 40, 2, (9,))]

    verdict = judged(trace=sparse)

    assert (verdict.valid, "lost-committed-write" in [one.name for one in verdict.anomalies]) == ("invalid", True)
    assert "so that broker's evidence was not used" in judged(READ, [*ENDED, sparse[-1]]).unknown_because


# A broker that crashes by itself


def crashed(node, log="", incarnation=1, how="broken-off"):
    return {"died": [{"node": node, "incarnation": incarnation, "time": 8, "how": how, "log": log}]}


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            "first\nShutdown broker because all log dirs have failed\n",
            "Shutdown broker because all log dirs have failed",
        ),
        ("", "it did not say why"),
        ("\n \n", "it did not say why"),
    ],
)
def test_a_process_that_broke_off_is_a_finding_with_its_last_line(log, words):
    verdict = judged(READ, ENDED, faults=0, **crashed(2, log))

    assert verdict.valid == "invalid"
    assert [(one.name, one.message) for one in verdict.anomalies] == [
        ("broker-crashed", f"Broker 2 crashed at 0.000008 s, and nobody had asked it to: {words}.")
    ]


@pytest.mark.parametrize("how", ["fatal", "clean"])
def test_a_process_that_its_protocol_told_to_give_up_has_not_crashed(how):
    assert judged(READ, ENDED, faults=0, **crashed(2, how=how)).valid == "valid"


def test_the_evidence_of_the_others_counts_all_the_same():
    names = {one.name for one in judged(trace=LOST, **crashed(3)).anomalies}

    assert {"broker-crashed", "lost-committed-write"} <= names


def test_the_crash_of_a_process_that_said_it_gave_up_is_told_once():
    names = [one.name for one in judged(trace=SPLIT, **crashed(1)).anomalies]

    assert ("broker-crashed" in names, "broker-stopped" in names) == (True, False)


def test_another_life_of_the_same_broker_gave_up_by_itself():
    names = [one.name for one in judged(trace=SPLIT, **crashed(1, incarnation=2)).anomalies]

    assert ("broker-crashed" in names, "broker-stopped" in names) == (True, True)


def test_a_crash_is_a_finding_though_the_evidence_was_not_understood():
    verdict = judged(READ, ENDED, **NOT_UNDERSTOOD, **crashed(2))

    assert (verdict.valid, [one.name for one in verdict.anomalies]) == ("invalid", ["broker-crashed"])


# What only the clients saw

UNREAD = [*MORE, polled(9, "c1", K, (1, 8))]
"""The first record was acknowledged, and never read."""
READ_AND_OVERWRITTEN = [*ACKED, polled(4, "c1", K, (0, 7)), sent(6, "p1", K, 8, 0), polled(9, "c1", K, (0, 8))]
"""The first record was read, and then another one stood in its place."""


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize("contract", ["documented", "kip-966", "durable"])
@pytest.mark.parametrize(("ops", "name"), [(UNREAD, "lost-write"), (READ_AND_OVERWRITTEN, "inconsistent-offsets")])
def test_a_loss_is_told_and_left_undecided_whatever_was_promised(ops, name, contract, doubt):
    """Every promise lapses at some point, and only the replicas' evidence could tell whether it had."""
    verdict = judged(ops=ops, contract=contract, **doubt)

    assert verdict.valid == "unknown"
    assert [(anomaly.name, anomaly.verdict, anomaly.clause) for anomaly in verdict.anomalies] == [
        (name, "permitted", "needs-replica-evidence")
    ]
    assert verdict.unknown_because == "; ".join(doubts_about(doubt))


@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_no_promise_ever_permits_is_invalid_all_the_same(doubt):
    """A record that nobody sent."""
    verdict = judged(ops=[*ACKED, polled(9, "c1", K, (0, 7), (1, 4711))], **doubt)

    assert verdict.valid == "invalid"
    assert [anomaly.name for anomaly in verdict.anomalies] == ["phantom"]


@pytest.mark.parametrize("ops", [UNREAD, READ_AND_OVERWRITTEN])
def test_histories_that_never_had_any_replicas_are_judged_as_before(ops):
    """Somebody else's system, known by its clients only, is held to the strictest promise."""
    verdict = check(History.of(ops=ops))

    assert (verdict.valid, verdict.contract) == ("invalid", "durable")
