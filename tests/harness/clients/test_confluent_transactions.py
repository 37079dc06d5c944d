"""What becomes of a transaction, on librdkafka's mock cluster, as an operation of the history."""

import contextlib
import logging
import threading

import pytest

from tidemark.harness.clients.confluent_transactions import ConfluentTransactions
from tidemark.harness.clients.journal import TransactionRecorder
from tidemark.harness.clients.transaction_script import IntendedTransaction, TransactionScript

T, U = "t-0", "t-1"
PRODUCE, INIT, END = 0, 22, 26
TOO_LARGE, COORDINATOR_LOADS, NOT_ALLOWED, FENCED, MUST_ABORT = 10, 14, 53, 90, 120
SENDS = ((T, (1, 2)), (U, (3,)))


class Hand:
    """A producer whose transactions are begun by hand."""

    def __init__(self, mock, run):
        log = logging.Logger("test")  # noqa: LOG001
        log.addHandler(logging.NullHandler())
        self.run = run
        script = TransactionScript(1, run.spec, run.keys, 1)
        recorder = TransactionRecorder(run.journal, "p1")
        self.producer = ConfluentTransactions(mock.bootstrap, run.cluster, script, recorder, log)

    def does(self, sends=SENDS, *, aborts=False):
        """What is recorded of a transaction: process, outcome, what was sent, error."""
        if self.producer._producer is None:
            assert self.producer._open(threading.Event())
        self.producer._transact(IntendedTransaction(sends, aborts))
        (process, kind, value, error) = self.run.said("txn")[-1]
        return process, kind, [micro[2] for micro in value], error


@pytest.fixture
def hand(mock, run_of):
    with contextlib.ExitStack() as kept:
        made = Hand(mock, run_of(transactional=3))
        kept.callback(made.producer._close)
        yield made


def test_a_commit_that_was_acknowledged(hand):
    process, outcome, sent, error = hand.does()
    assert (process, outcome, error) == ("p1", "ok", None)
    assert [value for _, value in sent] == [1, 2, 3]
    first = sent[0][0]
    assert [offset for offset, _ in sent[:2]] == [first, first + 1]


def test_it_is_one_operation_from_before_its_first_record(hand):
    hand.does()
    begun, ended = hand.run.ops
    assert (begun.type, begun.f, ended.f) == ("invoke", "txn", "txn")
    assert begun.value == (("send", T, 1), ("send", T, 2), ("send", U, 3))


def test_aborted_on_purpose(hand):
    assert hand.does(aborts=True) == ("p1", "fail", [1, 2, 3], "aborted")
    assert hand.does(((T, (4,)),))[:2] == ("p1", "ok")


def test_a_record_that_is_refused_aborts_the_rest(hand, mock):
    mock.answer(PRODUCE, TOO_LARGE)
    assert hand.does() == ("p1", "fail", [1, 2, 3], "aborted: MESSAGE_TOO_LARGE")
    outcomes = [hand.does(((T, (value,)),))[1] for value in (4, 5, 6)]
    assert outcomes[-1] == "ok"  # librdkafka may still be putting its sequence numbers right


def test_a_commit_is_asked_for_again(hand, mock):
    mock.answer(END, COORDINATOR_LOADS, COORDINATOR_LOADS)
    assert hand.does()[:2] == ("p1", "ok")


def test_a_commit_that_has_to_be_an_abort(hand, mock):
    mock.answer(END, MUST_ABORT)
    assert hand.does()[:2] == ("p1", "fail")


def test_nobody_knows_what_became_of_a_commit_that_another_producer_fenced(hand, mock):
    mock.answer(END, FENCED)
    process, outcome, sent, error = hand.does()
    assert (process, outcome) == ("p1", "info")
    assert error
    assert [one[1] if isinstance(one, tuple) else one for one in sent] == [1, 2, 3]


def test_after_that_another_instance_goes_on_as_another_process(hand, mock):
    mock.answer(END, FENCED)
    hand.does()
    assert hand.producer._producer is None
    assert hand.does(((T, (4,)),))[:2] == ("p1.1", "ok")


def test_an_abort_without_an_end_was_no_commit(hand, mock):
    mock.answer(END, FENCED)
    assert hand.does(aborts=True)[:2] == ("p1", "fail")
    assert hand.producer._producer is None


def test_a_producer_that_is_not_let_in_tries_again_later(hand, mock):
    mock.answer(INIT, NOT_ALLOWED)
    assert not hand.producer._open(threading.Event())
    assert hand.does()[:2] == ("p1", "ok")


def test_it_works_until_it_is_told_to_stop(hand):
    stopping = threading.Event()
    worker = threading.Thread(target=hand.producer.run, args=(stopping,))
    worker.start()
    while len(hand.run.said("txn")) < 5:
        assert worker.is_alive()
    stopping.set()
    worker.join(20)
    assert not worker.is_alive()
    outcomes = [outcome for _, outcome, _, _ in hand.run.said("txn")]
    assert set(outcomes) <= {"ok", "fail"}
    assert len(hand.run.ops) == 2 * len(outcomes)


def test_what_is_sent_is_drawn_from_the_plan_s_noise(run_of):
    run = run_of(transactional=4, batch=3)
    one, other = (TransactionScript(1, run.spec, run.keys, 7) for _ in range(2))
    drawn = [one.transaction() for _ in range(200)]
    assert drawn == [other.transaction() for _ in range(200)]
    assert {len(each.sends) for each in drawn} == {1, 2, 3, 4}
    assert 0.1 < sum(each.aborts for each in drawn) / 200 < 0.3
    values = [value for each in drawn for _, values in each.sends for value in values]
    assert values == [*range(1_000_000, 1_000_000 + len(values))]
