"""Why an anomaly came about, from the evidence and the trace."""

import pytest

from tidemark.checkers import Anomaly, History, check, polled, sent
from tidemark.harness.search.shrink.cause import causes_of, without_numbers

P = "t-0"
BOTH = (1, 2)


def elect(time, leader, epoch, isr=BOTH, elr=()):
    return (time, 0, "elect", P, leader, epoch, isr, elr, "online", leader in (*isr, *elr), epoch)


def lead(time, node, epoch, leo, hw=0, isr=BOTH):
    return (time, node, "lead", P, epoch, leo, hw, isr)


COMMITTED = [
    elect(5, 1, 0),
    lead(6, 1, 0, 0),
    (7, 2, "follow", P, 0, 1, 0, 0),
    (8, 2, "fetched", P, 0, 1),
    (10, 1, "append", P, 0, 0, (7,)),
    (11, 2, "append", P, 0, 0, (7,)),
    (12, 1, "hw", P, 1, 0, True),
]
"""Broker 1 leads epoch 0, 2 follows; record 7 is on both, and committed at 12."""


def facts(trace, name="lost-committed-write", ops=()):
    """Those of the first anomaly of that name."""
    history = History.of(trace=trace, ops=[*ops])
    verdict = check(history)
    return causes_of(verdict.named(name)[0], verdict, history)[0].facts


FROM_ISR = "which was elected from the ISR"


def test_a_truncation_to_the_high_watermark():
    trace = [
        *COMMITTED,
        elect(20, 1, 1),
        (21, 2, "follow", P, 1, 1, 1, 0),
        (22, 2, "truncate", P, 0, 1, "to high watermark", 1),
        elect(30, 2, 2),
        lead(31, 2, 2, 0),
    ]
    assert facts(trace) == ("the later leader had cut it from its log (to high watermark)", FROM_ISR)


@pytest.mark.parametrize(
    ("between", "told"),
    [
        ([lead(21, 1, 1, 1)], ""),
        ([lead(21, 1, 1, 1), elect(23, 2, 2)], ", told by a leader that had been deposed"),
        ([], ", told by a leader that had not heard of that epoch"),
    ],
)
def test_a_truncation_by_a_leaders_word_tells_what_that_leader_was(between, told):
    trace = [
        *COMMITTED,
        elect(20, 1, 1),
        (22, 2, "follow", P, 1, 1, 1, 0),
        *between,
        (24, 2, "truncate", P, 0, 1, "to the leader's offset 0", 1),
        elect(30, 2, 3),
        lead(31, 2, 3, 0),
    ]
    assert facts(trace)[0] == f"the later leader had cut it from its log (to the leader's offset N{told})"


@pytest.mark.parametrize("how", ["disk", "power"])
def test_a_recovery_after_a_stop(how):
    trace = [
        *COMMITTED,
        (20, 2, "stop", "", how),
        (21, 2, "start", "", 2),
        (22, 2, "recovered", P, 0, 0, 1),
        elect(30, 2, 1),
        lead(31, 2, 1, 0),
    ]
    assert facts(trace) == (f"the later leader's recovery after stop {how} left too little", FROM_ISR)


@pytest.mark.parametrize(
    ("isr", "elr", "whence"),
    [
        (BOTH, (), FROM_ISR),
        ((1,), (2,), "which was elected from the ELR"),
        ((1,), (), "which was elected from outside ISR and ELR"),
    ],
)
def test_whence_the_later_leader_came(isr, elr, whence):
    trace = [
        *COMMITTED[:5],
        (11, 0, "isr-change", P, isr, elr, 1),
        (12, 1, "hw", P, 1, 0, True),
        elect(30, 2, 1, (2,)),
        lead(31, 2, 1, 0, isr=(2,)),
    ]
    assert facts(trace)[:2] == ("the later leader never had the record", whence)


def test_a_record_that_its_leader_committed_though_a_member_of_the_isr_lacked_it():
    trace = [*COMMITTED[:5], COMMITTED[6], elect(30, 2, 1), lead(31, 2, 1, 0)]
    assert facts(trace) == (
        "the later leader never had the record",
        FROM_ISR,
        "it was committed though a member of the leader's ISR lacked it",
    )


def test_a_record_that_a_deposed_leader_committed():
    trace = [
        *COMMITTED[:6],
        elect(12, 2, 1),
        (13, 1, "hw", P, 1, 0, True),
        (14, 2, "truncate", P, 0, 1, "x", 1),
        lead(15, 2, 1, 0),
    ]
    assert "it was committed by a leader that had been deposed" in facts(trace)


def test_what_follows_from_a_loss_has_its_cause():
    trace = [
        *COMMITTED[:5],
        COMMITTED[6],
        elect(30, 2, 1),
        lead(31, 2, 1, 0),
        (32, 2, "append", P, 0, 1, (8,)),
        (33, 2, "hw", P, 1, 1, True),
    ]
    ops = [sent(13, "p1", P, 7, 0), polled(14, "c1", P, (0, 7)), sent(34, "p1", P, 8, 0), polled(35, "c2", P, (0, 8))]
    loss = facts(trace, ops=ops)
    for name in ("leader-completeness", "truncated-under-consumer", "inconsistent-offsets"):
        assert facts(trace, name, ops) == loss


DIVERGED = [
    *COMMITTED,
    (20, 2, "append", P, 1, 0, (8,)),
    elect(25, 1, 2),
    lead(26, 1, 2, 1),
    (27, 1, "append", P, 1, 2, (9,)),
]
"""Broker 2 has record 8 of epoch 0 where its leader has 9 of epoch 2."""


@pytest.mark.parametrize(
    ("did", "fact"),
    [
        ([], "the follower had cut nothing of its log, and not asked"),
        ([(29, 2, "ask", P, 1, 0)], "the follower had asked its leader, and cut nothing"),
        (
            [
                (29, 2, "append", P, 2, 0, (5,)),
                (29, 2, "ask", P, 1, 0),
                (30, 2, "truncate", P, 2, 3, "to the leader's offset 2", 2),
            ],
            "the follower had cut its log, and not far enough (to the leader's offset N)",
        ),
    ],
)
def test_what_a_follower_did_before_it_diverged(did, fact):
    trace = [*DIVERGED, (28, 2, "follow", P, 2, 1, 2, 1), *did, (31, 2, "fetched", P, 2, 1)]
    assert facts(trace, "divergence") == (fact, "its record is of an older epoch")


def test_a_follower_that_had_not_heard_of_the_epoch():
    assert (
        facts([*DIVERGED, (31, 2, "fetched", P, 2, 1)], "divergence")[0]
        == "the follower had not heard of the leader's epoch"
    )


def test_records_lost_in_a_recovery_are_told_of_a_difference():
    lost = [(21, 1, "stop", "", "power"), (22, 1, "start", "", 2), (23, 1, "recovered", P, 1, 1, 2)]
    trace = [*DIVERGED[:8], *lost, *DIVERGED[8:], (28, 2, "follow", P, 2, 1, 2, 1), (31, 2, "fetched", P, 2, 1)]
    assert facts(trace, "divergence")[2:] == ("one of the two had lost records in a recovery",)


def test_a_broker_that_gives_up_because_its_leader_has_less():
    trace = [
        *COMMITTED,
        (20, 1, "truncate", P, 0, 1, "to high watermark", 1),
        elect(25, 1, 2),
        lead(26, 1, 2, 0),
        (28, 2, "follow", P, 2, 1, 1, 0),
        (30, 2, "fatal", P, "leader's log end 0 is below own 1, and unclean election is disabled"),
        (31, 2, "stop", "", "fatal"),
    ]
    assert facts(trace, "broker-stopped") == (
        "it gave up: leader's log end N is below own N, and unclean election is disabled",
        "its leader had cut its own log (to high watermark)",
    )


def test_each_sentence_that_explains_a_stuck_partition_is_a_cause():
    trace = [
        *COMMITTED,
        (20, 2, "stop", "", "crash"),
        (21, 2, "start", "", 2),
        (22, 2, "recovered", P, 1, 1, 0),
        (25, 1, "out-of-order", P, 5, 1),
        (40, 0, "converged", P, False, "broker 2 is in leader epoch -1, not 0"),
    ]
    history = History.of(trace=trace)
    verdict = check(history)
    told = [cause.facts for cause in causes_of(verdict.named("stuck")[0], verdict, history)]
    assert told == [
        ("Broker N has not been told anything since it started.",),
        ("Broker N refuses the batch at offset N as out of order since N s: its log ends at N.",),
    ]


def test_logs_that_differ_though_nobody_traced_why_have_their_own_sentence():
    message = "The logs of nodes 1 and 2 for t-0 differ when all is over."
    differ = Anomaly("divergence", "violation", 12, P, message, evidence={"offset": 0, "nodes": [1, 2]})
    history = History.of(trace=COMMITTED)

    assert causes_of(differ, check(history), history)[0].facts == (without_numbers(message),)


def test_any_other_anomaly_is_its_own_sentence():
    trace = [elect(5, 1, 0), lead(6, 1, 0, 0), lead(9, 2, 0, 0)]
    (fact,) = facts(trace, "two-leaders")
    assert fact == without_numbers(check(History.of(trace=trace)).named("two-leaders")[0].message)
    assert not any(letter.isdigit() for letter in fact)


def test_the_same_in_another_run_is_the_same():
    other = [(entry[0] + 1_000, *entry[1:]) for entry in DIVERGED]
    one = facts([*DIVERGED, (31, 2, "fetched", P, 2, 1)], "divergence")
    assert one == facts([*other, (1_031, 2, "fetched", P, 2, 1)], "divergence")


def test_a_difference_between_the_final_logs_of_a_system_that_tells_nothing_else_is_its_own_sentence():
    trace = [(90, node, "final", P, role, -1, 1, 1, (), ((0, 0, (value,)),)) for node, role, value in FINALS]
    history = History.of(untold=True, isr=False, min_isr=2, replicas={P: [1, 2]}, trace=trace, contract="majority")
    verdict = check(history)
    (anomaly,) = verdict.named("divergence")

    assert causes_of(anomaly, verdict, history)[0].facts == (without_numbers(anomaly.message),)


FINALS = ((1, "leader", 7), (2, "follower", 8))
