"""DeleteRecords: a client moves log starts up (KIP-107); one response when all partitions of a request have their answer.

As long as a deletion waits for the followers it waits for the cluster's time, whatever timeout the client names.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tidemark.nodes.core.messages import DeleteRecordsRequest, DeleteRecordsResponse
from tidemark.nodes.formats.wire.names import partition_name
from tidemark.nodes.process.wire.client_answers import Gathering
from tidemark.nodes.process.wire.client_partitions import UNKNOWN_TOPIC_OR_PARTITION

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Request


_KINDS = ("DeleteRecordsPartitionResult", "DeleteRecordsTopicResult", "DeleteRecordsResponse")


class DeleteRecordsApi:
    """Hands deletions to the core."""

    def __init__(self, driver: ClientDriver, partitions: Partitions) -> None:
        self._driver = driver
        self._partitions = partitions
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Gathering, int]] = {}
        """The core's correlation → answer and slot."""

    def handle(self, request: Request) -> None:
        """Ask the core about every partition that there is."""
        asked = [(topic.name, part) for topic in request.body.topics for part in topic.partitions]
        places = [(topic, part.partition_index) for topic, part in asked]
        answer = Gathering(request, _KINDS, places, {"low_watermark": -1})
        if not asked:
            answer.reply()
        for at, (topic, part) in enumerate(asked):
            name = partition_name(topic, part.partition_index)
            if self._partitions.exists(name):
                message = DeleteRecordsRequest(request.connection.number, name, part.offset, next(self._numbers))
                self._waiting[message.correlation] = (answer, at)
                self._step(message)
            else:
                answer.settle(at, UNKNOWN_TOPIC_OR_PARTITION)

    def _step(self, message: DeleteRecordsRequest) -> None:
        self._driver.perform(lambda now: self._driver.core.step(now, message))

    def on_response(self, message: DeleteRecordsResponse) -> None:
        """The core's answer to one deletion."""
        waiting = self._waiting.pop(message.correlation, None)
        if waiting is not None:
            answer, at = waiting
            answer.settle(at, message.error, low_watermark=message.low_watermark)
