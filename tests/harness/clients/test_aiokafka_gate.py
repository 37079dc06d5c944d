"""The gate before aiokafka's produce requests."""

import asyncio
from types import SimpleNamespace

import pytest
from aiokafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    NodeNotReadyError,
    NotEnoughReplicasError,
    RequestTimedOutError,
    UnknownError,
)
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.protocol.produce import ProduceRequest

from tidemark.harness.clients.aiokafka_gate import Gate, GivenUpError, batch_error_name

PRODUCE = ProduceRequest(None, -1, 1000, [])


class Client:
    """Answers every request in the same way."""

    def __init__(self, answer):
        self._answer = answer

    async def send(self, node_id, request, *, group=None):
        if isinstance(self._answer, Exception):
            raise self._answer
        if self._answer == "never":
            await asyncio.Event().wait()
        return self._answer


def answered(code):
    return SimpleNamespace(topics=[("t", [(0, code, 5, -1)])])


def ask(answer, acks="all", request=PRODUCE, open_for=1.0):
    """What comes of a request: the response or the error; and the tries."""

    async def main():
        client = Client(answer)
        gate = Gate(client, acks)
        gate.open_until(asyncio.get_running_loop().time() + open_for)
        try:
            return await client.send(1, request), gate.tries
        except Exception as error:  # noqa: BLE001
            return error, gate.tries

    return asyncio.run(main())


def test_a_response_passes():
    response = answered(0)
    assert ask(response) == (response, 1)


def test_other_requests_pass_uncounted():
    assert ask("metadata", request=MetadataRequest([]), open_for=-1) == ("metadata", 0)


def test_nothing_leaves_after_the_deadline():
    error, tries = ask(answered(0), open_for=-1)
    assert isinstance(error, GivenUpError)
    assert (error.name, error.retriable, tries) == ("_MSG_TIMED_OUT", False, 0)


def test_an_answer_that_does_not_come_is_given_up_at_the_deadline():
    error, tries = ask("never", open_for=0.05)
    assert isinstance(error, GivenUpError)
    assert (error.name, tries) == ("_MSG_TIMED_OUT", 1)


def test_without_a_connection_nothing_left():
    error, tries = ask(NodeNotReadyError(), acks="1")
    assert isinstance(error, NodeNotReadyError)
    assert tries == 0


@pytest.mark.parametrize(
    ("error", "name"), [(KafkaConnectionError("broken"), "_TRANSPORT"), (RequestTimedOutError(), "_MSG_TIMED_OUT")]
)
def test_doubt_is_followed_by_another_try_with_idempotence_only(error, name):
    assert ask(error, "all") == (error, 1)
    given_up, tries = ask(error, "1")
    assert isinstance(given_up, GivenUpError)
    assert (given_up.name, tries) == (name, 1)


@pytest.mark.parametrize(
    ("code", "name"), [(7, "REQUEST_TIMED_OUT"), (13, "NETWORK_EXCEPTION"), (-1, "UNKNOWN_SERVER_ERROR")]
)
def test_so_is_an_answer_that_leaves_doubt(code, name):
    assert ask(answered(code), "all")[0].topics[0][1][0][1] == code
    error, _ = ask(answered(code), "1")
    assert isinstance(error, GivenUpError)
    assert error.name == name


@pytest.mark.parametrize("code", [0, 3, 6, 10, 19])
def test_a_refusal_passes_and_may_be_repeated(code):
    assert ask(answered(code), "1")[0].topics[0][1][0][1] == code


def test_without_acknowledgements_there_is_no_response_to_look_at():
    assert ask(None, "0") == (None, 1)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (GivenUpError("X"), "X"),
        (NotEnoughReplicasError(), "NOT_ENOUGH_REPLICAS"),
        (UnknownError(), "UNKNOWN_SERVER_ERROR"),
        (KafkaConnectionError(), "_TRANSPORT"),
        (TimeoutError(), "_MSG_TIMED_OUT"),
        (KafkaTimeoutError(), "KafkaTimeoutError"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_names(error, name):
    assert batch_error_name(error) == name
