"""Produce: batches of clients into the core, and one response when all partitions of a request have their answer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.messages import ALL, ProduceRequest, ProduceResponse
from tidemark.nodes.formats.record_batch import BadBatchError, Header, Records, checked_header
from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_entities import NO_THROTTLE, PRODUCE, response_entity
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


class _Slot(NamedTuple):
    """One partition of a request and its answer; ``base`` and ``start``, the log start, are −1 with an error."""

    topic: str
    partition: int
    error: str | None = None
    base: int = -1
    start: int = -1


class _Answer:
    """What becomes the response to one request, slot by slot, in the request's order."""

    __slots__ = ("open", "request", "slots")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.slots: list[_Slot] = []
        self.open = 1
        """Slots without an answer, and one more until the whole request has been looked at."""

    def settle(self, at: int, error: str | None, base: int = -1, start: int = -1) -> None:
        """One partition's answer has come."""
        self.slots[at] = self.slots[at]._replace(error=error, base=base, start=start)
        self.close_one()

    def close_one(self) -> None:
        """Reply if that was the last thing to wait for."""
        self.open -= 1
        if not self.open:
            self._reply()

    def _reply(self) -> None:
        version = self.request.api_version
        part = response_entity(PRODUCE, version, "PartitionProduceResponse")
        topic = response_entity(PRODUCE, version, "TopicProduceResponse")
        response = response_entity(PRODUCE, version, "ProduceResponse")
        topics: dict[str, list[object]] = {}
        for slot in self.slots:
            answer = part(
                index=slot.partition,
                error_code=error_code(slot.error),
                base_offset=slot.base,
                log_start_offset=slot.start,
                record_errors=(),
            )
            topics.setdefault(slot.topic, []).append(answer)
        self.request.reply(
            response(
                responses=tuple(topic(name=name, partition_responses=tuple(parts)) for name, parts in topics.items()),
                throttle_time=NO_THROTTLE,
            )
        )


class _NoAnswer(_Answer):
    """acks=0: nothing is sent; a refusal ends the connection, so that the client asks anew who leads (as in Kafka)."""

    __slots__ = ()

    def settle(self, at: int, error: str | None, base: int = -1, start: int = -1) -> None:
        """Nothing, or the end."""
        if error is not None:
            self.request.connection.refuse(f"a batch with acks=0 was refused with {error}")

    def close_one(self) -> None:
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
        self._waiting: dict[int, tuple[_Answer, int]] = {}
        """The core's correlation → answer and slot."""

    def handle(self, request: Request) -> None:
        """Check every partition's batch, hand the good ones to the core, answer the others."""
        body = request.body
        acks = _ACKS.get(body.acks)
        answer = _Answer(request)
        if acks == "0":
            request.no_reply()
            answer = _NoAnswer(request)
        found: list[tuple[int, str, bytes | None]] = []
        for topic in body.topic_data:
            for part in topic.partition_data:
                found.append((len(answer.slots), partition_name(topic.name, part.index), part.records))
                answer.slots.append(_Slot(topic.name, part.index))
        answer.open += len(found)
        for at, name, raw in found:
            if acks is None:
                answer.settle(at, INVALID_REQUIRED_ACKS)
            elif not self._partitions.exists(name):
                answer.settle(at, UNKNOWN_TOPIC_OR_PARTITION)
            else:
                self._take(answer, at, name, raw, acks)
        answer.close_one()

    def _take(self, answer: _Answer, at: int, name: str, raw: bytes | None, acks: str) -> None:
        try:
            header = _checked(raw)
        except BadBatchError as problem:
            answer.settle(at, problem.error)
            return
        source = answer.request.connection.number
        message = ProduceRequest(source, name, Records(raw or b""), acks, next(self._numbers))
        self._driver.perform(lambda now: self._append(now, message, header, answer, at))

    def _append(self, now: int, message: ProduceRequest, header: Header, answer: _Answer, at: int) -> None:
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
        replica = self._driver.broker.replicas.get(message.partition)
        leader = leader_in(replica)
        if leader is None:
            return None
        if message.acks == ALL and isinstance(leader, Leadership) and len(leader.isr) < self._min_isr:
            return None
        return replica

    def _step(self, now: int, message: ProduceRequest, answer: _Answer, at: int) -> None:
        self._waiting[message.correlation] = (answer, at)
        actions = self._driver.broker.step(now, message)
        if message.acks == "0" and not any(_answers(action, message) for action in actions):
            del self._waiting[message.correlation]

    def on_response(self, message: ProduceResponse) -> None:
        """The core's answer to one batch."""
        waiting = self._waiting.pop(message.correlation, None)
        if waiting is not None:
            answer, at = waiting
            replica = self._driver.broker.replicas.get(message.partition)
            if message.error is None and replica is not None:
                answer.settle(at, None, message.base_offset, replica.log.start)
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
