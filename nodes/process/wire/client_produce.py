"""Produce: batches of clients into the core, and one response when all partitions of a request have their answer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.messages import ALL, ProduceRequest, ProduceResponse
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Header, Records, checked_header
from tidemark.nodes.formats.wire.names import partition_name
from tidemark.nodes.process.wire.client_answers import Gathering
from tidemark.nodes.process.wire.client_partitions import UNKNOWN_TOPIC_OR_PARTITION, leader_in
from tidemark.nodes.process.wire.client_producers import PartitionProducers

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Request

INVALID_RECORD = "INVALID_RECORD"
INVALID_REQUIRED_ACKS = "INVALID_REQUIRED_ACKS"
INVALID_TXN_STATE = "INVALID_TXN_STATE"
MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"

MAX_BATCH_BYTES = 1_048_588
"""``message.max.bytes``, Kafka's default."""

_ACKS = {-1: ALL, 1: "1", 0: "0"}
_TRANSACTIONAL = 0x10


_KINDS = ("PartitionProduceResponse", "TopicProduceResponse", "ProduceResponse")
_REFUSED = {"base_offset": -1, "log_start_offset": -1, "record_errors": ()}


class _NoAnswer(Gathering):
    """acks=0: nothing is sent; a refusal ends the connection, so that the client asks anew who leads (as in Kafka)."""

    __slots__ = ()

    def settle(self, at: int, error: str | None, **fields: object) -> None:
        """Nothing, or the end."""
        if error is not None:
            self.request.connection.refuse(f"a batch with acks=0 was refused with {error}")

    def reply(self) -> None:
        """Nobody waits."""


class ProduceApi:
    """Takes Produce requests.

    Idempotent batches are judged by what the log holds at the moment when they would be appended, within the same step: no other
    batch can come in between.
    """

    def __init__(self, driver: ClientDriver, partitions: Partitions) -> None:
        self._driver = driver
        self._partitions = partitions
        self._min_isr = driver.config.cluster.settings.min_isr
        self._producers: dict[str, PartitionProducers] = {}
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Gathering, int]] = {}
        """The core's correlation → answer and slot."""

    def handle(self, request: Request) -> None:
        """Check every partition's batch, hand the good ones to the core, answer the others."""
        body = request.body
        acks = _ACKS.get(body.acks)
        sent = [(topic.name, part) for topic in body.topic_data for part in topic.partition_data]
        if acks == "0":
            request.no_reply()
        kind = _NoAnswer if acks == "0" else Gathering
        answer = kind(request, _KINDS, [(topic, part.index) for topic, part in sent], _REFUSED)
        if not sent:
            answer.reply()
        for at, (topic, part) in enumerate(sent):
            name = partition_name(topic, part.index)
            if acks is None:
                answer.settle(at, INVALID_REQUIRED_ACKS)
            elif not self._partitions.exists(name):
                answer.settle(at, UNKNOWN_TOPIC_OR_PARTITION)
            else:
                self._take(answer, at, name, part.records, acks)

    def _take(self, answer: Gathering, at: int, name: str, raw: bytes | None, acks: str) -> None:
        try:
            header = _checked(raw)
        except BadBatchError as problem:
            answer.settle(at, problem.error)
            return
        source = answer.request.connection.number
        message = ProduceRequest(source, name, Records(raw or b""), acks, next(self._numbers))
        self._driver.perform(lambda now: self._append(now, message, header, answer, at))

    def _append(self, now: int, message: ProduceRequest, header: Header, answer: Gathering, at: int) -> None:
        """One step of the core, in which an idempotent batch may prove to be a repeated one, or none to append."""
        replica = self._may_judge(message, header)
        if replica is None:
            self._step(now, message, answer, at)
            return
        producers = self._producers.setdefault(message.partition, PartitionProducers())
        verdict = producers.judge(replica.log, header)
        if isinstance(verdict, str):
            answer.settle(at, verdict)
        elif verdict is None:
            self._step(now, message, answer, at)
            producers.note(header, replica.log, message.values)
        elif message.acks != "0":
            self._waiting[message.correlation] = (answer, at)
            leader_in(replica).on_duplicate(now, message, verdict.base, verdict.end)

    def _may_judge(self, message: ProduceRequest, header: Header) -> Any:  # noqa: ANN401 (of any family)
        """The replica, if this node leads and could append. Too small an ISR is said first, as in Kafka."""
        if header.producer_id < 0:
            return None
        replica = self._driver.core.replicas.get(message.partition)
        leader = leader_in(replica)
        if leader is None:
            return None
        if message.acks == ALL and isinstance(leader, Leadership) and len(leader.isr) < self._min_isr:
            return None
        return replica

    def _step(self, now: int, message: ProduceRequest, answer: Gathering, at: int) -> None:
        self._waiting[message.correlation] = (answer, at)
        actions = self._driver.core.step(now, message)
        if message.acks == "0" and not any(_answers(action, message) for action in actions):
            del self._waiting[message.correlation]

    def on_response(self, message: ProduceResponse) -> None:
        """The core's answer to one batch."""
        waiting = self._waiting.pop(message.correlation, None)
        if waiting is not None:
            answer, at = waiting
            replica = self._driver.core.replicas.get(message.partition)
            if message.error is None and replica is not None:
                answer.settle(at, None, base_offset=message.base_offset, log_start_offset=replica.log.start)
            else:
                answer.settle(at, message.error)

    def after_step(self, traces: Iterable[tuple[object, ...]]) -> None:
        """What producers wrote is read anew from a log that was cut; one that retention made shorter is not."""
        for trace in traces:
            if trace[2] in ("truncate", "removed") or trace[-1] == "begin-anew":
                self._producers.pop(str(trace[3]), None)


def _answers(action: object, message: ProduceRequest) -> bool:
    if not isinstance(action, Send) or not isinstance(action.message, ProduceResponse):
        return False
    return action.to == message.source and action.message.correlation == message.correlation


def _checked(raw: bytes | None) -> Header:
    """The header of a partition's records field, which must be exactly one batch of a client.

    Raises:
        BadBatchError: what is wrong with it, with Kafka's name for it.
    """
    if not raw:
        raise BadBatchError(INVALID_RECORD, "There must be a record batch.")
    if len(raw) > MAX_BATCH_BYTES:
        raise BadBatchError(MESSAGE_TOO_LARGE, f"A batch has at most {MAX_BATCH_BYTES} bytes.")
    header = checked_header(raw)
    if header.size != len(raw):
        raise BadBatchError(INVALID_RECORD, "There must be one record batch for a partition.")
    if header.base_offset != 0:
        raise BadBatchError(INVALID_RECORD, "A client's batch begins at offset 0.")
    if header.attributes & _TRANSACTIONAL:
        raise BadBatchError(INVALID_TXN_STATE, "There are no transactions.")
    return header
