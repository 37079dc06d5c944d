"""Consumers on librdkafka (confluent-kafka)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tidemark.harness.clients.confluent_settings import NO_SECURITY, consumer_settings
from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.journal import PollRecorder
from tidemark.harness.clients.polling import PolledRecord, Polling, Trouble, value_of
from tidemark.harness.clients.script import ConsumerScript, topic_and_partition
from tidemark.nodes.core.cluster import ClusterSpec

POLL_S = 0.05
"""How long one poll waits for records."""
MOST_RECORDS = 10_000
"""So many one poll returns at most."""
WATERMARK_S = 0.5
"""How long one question for a high watermark may take."""


class AssignedConsumer:
    """A librdkafka consumer, assigned all partitions from offset 0 on, whose polls are written down."""

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        keys: Sequence[str],
        recorder: PollRecorder,
        log: logging.Logger,
        *,
        to_the_end: bool = False,
        committed_only: bool = False,
        security: Mapping[str, str] = NO_SECURITY,
    ) -> None:
        """Begin to fetch in the background. Who reads ``to_the_end`` is told where that is, also behind records that no client
        sees: those that leaders of other families than Kafka's write of their own, and the ends of transactions. Who reads
        ``committed_only`` is given no record of a transaction that was not committed.
        """
        self._partitions = {key: TopicPartition(*topic_and_partition(key), 0) for key in keys}
        self._keys = {(at.topic, at.partition): key for key, at in self._partitions.items()}
        self._log = log
        self._down = False
        self.polling = Polling(recorder, keys)
        more: dict[str, Any] = {"error_cb": self._on_error, "enable.partition.eof": to_the_end}
        settings = consumer_settings(
            bootstrap, recorder.process, cluster, committed_only=committed_only, security=security
        )
        self._consumer = Consumer(settings | more, logger=log)
        self._consumer.assign(list(self._partitions.values()))

    def _on_error(self, error: KafkaError) -> None:
        self._down = self._down or error.code() == KafkaError._ALL_BROKERS_DOWN  # noqa: SLF001 - its name
        self._log.info("%s: %s", error_name(error.code(), error.name()), error.str())

    def poll(self) -> None:
        """One operation, which takes `POLL_S` unless there is very much to read."""
        self.polling.begin()
        self._down = False
        self.polling.end(list(self._fetched()))

    def _fetched(self) -> Iterator[PolledRecord | Trouble]:
        nothing = True
        try:
            for message in self._consumer.consume(MOST_RECORDS, POLL_S):
                nothing = False
                error = message.error()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name
                    key = self._keys[message.topic() or "", message.partition() or 0]
                    self.polling.at_end(key, message.offset() or 0)
                elif error is not None:
                    self._log.info("%s", error.str())
                    # librdkafka asks who coordinates the group, though nobody joins it: who may not know reads all the same.
                    if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                        continue
                    yield Trouble(error_name(error.code(), error.name()))
                else:
                    key = self._keys[message.topic() or "", message.partition() or 0]
                    yield PolledRecord(key, message.offset() or 0, value_of(message.value()))
        except KafkaException as raised:
            nothing = False
            found: KafkaError = raised.args[0]
            self._log.info("%s", found.str())
            yield Trouble(error_name(found.code(), found.name()))
        if nothing and self._down:
            yield Trouble("_ALL_BROKERS_DOWN")

    def end_of(self, key: str) -> int | None:
        """The partition's high watermark, or last stable offset for who reads what is committed only, as its leader says now, or 0
        if nothing lies below it any more; `None` if there was no answer.
        """
        try:
            answer = self._consumer.get_watermark_offsets(self._partitions[key], timeout=WATERMARK_S, cached=False)
        except KafkaException as raised:
            self._log.info("%s", raised)
            return None
        if answer is None:
            return None
        start, end = answer
        return end if start < end else 0

    def close(self) -> None:
        """End the background threads."""
        self._consumer.close()


class ConfluentConsumer:
    """Polls and rests in turn until it is told to stop."""

    def __init__(self, consumer: AssignedConsumer, script: ConsumerScript) -> None:
        self._consumer = consumer
        self._script = script

    def run(self, stopping: threading.Event) -> None:
        """Until ``stopping`` is set."""
        try:
            while not stopping.wait(self._script.pause()):
                self._consumer.poll()
        finally:
            self._consumer.close()


def read_all(consumer: AssignedConsumer, keys: Sequence[str], in_time: Callable[[], bool]) -> bool:
    """Read every partition from the start to its high watermark; whether that was done in time."""
    ends: dict[str, int] = {}
    while in_time():
        for key in keys:
            if key not in ends and in_time() and (end := consumer.end_of(key)) is not None:
                ends[key] = end
        consumer.poll()
        if len(ends) == len(keys) and all(consumer.polling.position[key] >= end for key, end in ends.items()):
            return True
    return False
