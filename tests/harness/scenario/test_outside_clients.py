"""The clients of a scenario on a system that is seen from outside: what they record, and that they hang up."""

import threading

import pytest

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.wire_client import NoAnswerError
from tidemark.harness.scenario.live.outside_clients import OutsideReader, OutsideSender

ADDRESS = ("127.0.0.1", 1)


class Scripted:
    """Answers as it is told, and counts how often it was closed."""

    def __init__(self, *answers, refuses=False):
        self.answers, self.refuses, self.closed = list(answers), refuses, 0
        self.hold = threading.Event()
        self.hold.set()

    def open(self, address):
        if self.refuses:
            raise OSError("nobody listens")

    def invoke(self, f, value):
        self.hold.wait(10)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        self.closed += 1
        self.hold.set()


@pytest.fixture
def ops():
    return []


def send(client, ops, *values):
    sender = OutsideSender(client, lambda: 7, ops, "p1", "t-0", values)
    sender.send(ADDRESS)
    if sender._thread is not None and client.hold.is_set():
        sender._thread.join(10)
    return sender


def told(ops):
    return [(op.type, op.value[0][2], op.error) for op in ops]


def test_the_records_of_a_batch_are_sent_one_after_the_other(ops):
    client = Scripted(Outcome("ok", 4), Outcome("ok", 5))
    sender = send(client, ops, 1, 2)

    assert sender.state == "acked"
    assert told(ops) == [("invoke", 1, None), ("ok", (4, 1), None), ("invoke", 2, None), ("ok", (5, 2), None)]
    assert client.closed == 1


@pytest.mark.parametrize(
    ("answer", "kind", "error"),
    [
        (Outcome("fail", error="too few"), "fail", "too few"),
        (OSError("it hung up"), "info", "OSError: it hung up"),
    ],
    ids=["refused", "raised"],
)
def test_what_goes_wrong_ends_the_batch(ops, answer, kind, error):
    client = Scripted(answer, Outcome("ok", 5))
    sender = send(client, ops, 1, 2)

    assert sender.state == error
    assert told(ops) == [("invoke", 1, None), (kind, 1, error)]
    assert client.closed == 1


def test_who_cannot_connect_has_asked_nothing(ops):
    client = Scripted(refuses=True)
    sender = send(client, ops, 1)

    assert sender.state == "not connected: nobody listens"
    assert [kind for kind, *_ in told(ops)] == ["invoke", "fail"]
    assert client.closed == 1


def test_what_has_no_answer_when_all_is_over_stays_unknown(ops):
    client = Scripted(Outcome("ok", 4))
    client.hold.clear()
    sender = send(client, ops, 1)
    sender.give_up()

    assert sender.state == "REQUEST_TIMED_OUT"
    assert told(ops) == [("invoke", 1, None), ("info", 1, "REQUEST_TIMED_OUT")]
    assert client.closed >= 1


def test_a_reader_reads_until_there_is_nothing_more(ops):
    client = Scripted(Outcome("ok", [(0, 1), (1, 2)]), Outcome("ok", [(2, 3)]), Outcome("ok", []))
    reader = OutsideReader(lambda: client, lambda: 7, ops, "final", "t-0", final=True)

    assert reader.read(ADDRESS) == (1, 2, 3)
    assert ops[-1].value == (("poll", {"t-0": [(0, 1), (1, 2), (2, 3)]}),)
    assert ops[-1].final
    assert client.closed == 1


@pytest.mark.parametrize("answer", [Outcome("fail", error="no leader"), OSError("it hung up")])
def test_a_read_that_does_not_come_to_its_end_is_none(ops, answer):
    client = Scripted(Outcome("ok", [(0, 1)]), answer)
    reader = OutsideReader(lambda: client, lambda: 7, ops, "c1", "t-0")

    with pytest.raises(NoAnswerError):
        reader.read(ADDRESS)
    assert [op.type for op in ops] == ["invoke", "fail"]
    assert client.closed == 1
