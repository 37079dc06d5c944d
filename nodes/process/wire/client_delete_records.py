"""DeleteRecords: a client moves log starts up (KIP-107); one response when all partitions of a request have their answer.

As long as a deletion waits for the followers it waits for the cluster's time, whatever timeout the client names.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from tidemark.nodes.core.messages import DeleteRecordsRequest, DeleteRecordsResponse
from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_entities import DELETE_RECORDS, NO_THROTTLE, response_entity
from tidemark.nodes.process.wire.client_partitions import UNKNOWN_TOPIC_OR_PARTITION

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Request


class _Slot(NamedTuple):
    """One partition of a request and its answer; ``low_watermark`` is −1 with an error."""

    topic: str
    partition: int
    error: str | None = None
    low_watermark: int = -1


class _Answer:
    """What becomes the response to one request, slot by slot, in the request's order."""

    __slots__ = ("open", "request", "slots")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.slots = [
            _Slot(topic.name, part.partition_index) for topic in request.body.topics for part in topic.partitions
        ]
        self.open = len(self.slots)

    def settle(self, at: int, error: str | None, low_watermark: int) -> None:
        """One partition's answer has come."""
        self.slots[at] = self.slots[at]._replace(error=error, low_watermark=low_watermark)
        self.open -= 1
        if not self.open:
            self.reply()

    def reply(self) -> None:
        """Say what is known of all partitions."""
        version = self.request.api_version
        part = response_entity(DELETE_RECORDS, version, "DeleteRecordsPartitionResult")
        topic = response_entity(DELETE_RECORDS, version, "DeleteRecordsTopicResult")
        response = response_entity(DELETE_RECORDS, version, "DeleteRecordsResponse")
        topics: dict[str, list[object]] = {}
        for slot in self.slots:
            answer = part(
                partition_index=slot.partition, low_watermark=slot.low_watermark, error_code=error_code(slot.error)
            )
            topics.setdefault(slot.topic, []).append(answer)
        self.request.reply(
            response(
                throttle_time=NO_THROTTLE,
                topics=tuple(topic(name=name, partitions=tuple(parts)) for name, parts in topics.items()),
            )
        )


class DeleteRecordsApi:
    """Hands deletions to the core."""

    def __init__(self, driver: ClientDriver, partitions: Partitions) -> None:
        self._driver = driver
        self._partitions = partitions
        self._numbers = count(1)
        self._waiting: dict[int, tuple[_Answer, int]] = {}
        """The core's correlation → answer and slot."""

    def handle(self, request: Request) -> None:
        """Ask the core about every partition that there is."""
        answer = _Answer(request)
        if not answer.slots:
            answer.reply()
        asked = [part.offset for topic in request.body.topics for part in topic.partitions]
        for at, (slot, offset) in enumerate(zip(list(answer.slots), asked, strict=True)):
            name = partition_name(slot.topic, slot.partition)
            if self._partitions.exists(name):
                message = DeleteRecordsRequest(request.connection.number, name, offset, next(self._numbers))
                self._waiting[message.correlation] = (answer, at)
                self._step(message)
            else:
                answer.settle(at, UNKNOWN_TOPIC_OR_PARTITION, -1)

    def _step(self, message: DeleteRecordsRequest) -> None:
        self._driver.perform(lambda now: self._driver.broker.step(now, message))

    def on_response(self, message: DeleteRecordsResponse) -> None:
        """The core's answer to one deletion."""
        waiting = self._waiting.pop(message.correlation, None)
        if waiting is not None:
            answer, at = waiting
            answer.settle(at, message.error, message.low_watermark)
