"""A producer on librdkafka (confluent-kafka)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tidemark.harness.clients.confluent_settings import NO_SECURITY, producer_settings
from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.journal import SendRecorder
from tidemark.harness.clients.outcomes import OK, TIMED_OUT, Report, judge
from tidemark.harness.clients.script import ProducerScript, topic_and_partition
from tidemark.harness.clients.transmissions import Mark, Transmissions
from tidemark.nodes.core.cluster import ClusterSpec

LATE_S = 2.5
"""librdkafka looks for time-outs once a second; a report that is this late is not waited for: the batch is purged."""
PURGE_S = 1.0
"""So long for the reports of purged batches."""
STATISTICS_S = 0.5
"""So long for the statistics after an error."""
SLICE_S = 0.02
"""The producer's own rest while it waits; librdkafka has its own threads."""

Delivery = tuple[str | None, int | None]
"""Error and offset of one record, as reported."""

_NO_DELIVERY: Delivery = (TIMED_OUT, None)


class ConfluentProducer:
    """Sends one batch at a time until it is told to stop; a fatal error of librdkafka begins a new instance."""

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        script: ProducerScript,
        recorder: SendRecorder,
        log: logging.Logger,
        *,
        idempotent: bool = True,
        security: Mapping[str, str] = NO_SECURITY,
    ) -> None:
        """``run`` connects. With ``idempotent`` false, acks=all is without idempotence."""
        self._settings = producer_settings(bootstrap, script.process, cluster, idempotent=idempotent, security=security)
        self._acks = cluster.acks
        self._timeout = cluster.settings.produce_timeout_us / 1e6
        self._script = script
        self._recorder = recorder
        self._log = log
        self._fatal = False
        self._open()

    def _open(self) -> None:
        self._fatal = False
        self._sent = Transmissions()
        callbacks: dict[str, Any] = {"stats_cb": self._sent.note, "error_cb": self._on_error}
        self._producer = Producer(self._settings | callbacks, logger=self._log)

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self._fatal = True
        self._log.info("%s: %s", error_name(error.code(), error.name()), error.str())

    def run(self, stopping: threading.Event) -> None:
        """Send and rest in turn, until `stopping` is set; an operation that has begun is finished."""
        try:
            while not self._rest(stopping):
                key, values = self._script.batch()
                self._operate(key, values)
        finally:
            self._close()

    def _rest(self, stopping: threading.Event) -> bool:
        until = time.monotonic() + self._script.pause()
        while not stopping.is_set() and time.monotonic() < until:
            self._serve()
        return stopping.is_set()

    def _serve(self) -> None:
        """Let librdkafka make its callbacks."""
        try:
            self._producer.poll(SLICE_S)
        except KafkaException as raised:
            # How confluent-kafka hands over a fatal error; the delivery reports come with the next call.
            self._fatal = True
            self._log.info("%s", raised)

    def _serve_until(self, done: Callable[[], bool], deadline: float) -> None:
        while not done() and time.monotonic() < deadline:
            self._serve()

    def _operate(self, key: str, values: tuple[int, ...]) -> None:
        if self._fatal:
            self._close()
            self._open()
        mark = self._sent.mark()
        self._recorder.invoke(key, values)
        deliveries: dict[int, Delivery] = {}
        refused = self._hand_over(key, values, deliveries)
        taken = len(values) - len(refused)
        self._await(lambda: len(deliveries) >= taken)
        well = sum(error is None for error, _ in deliveries.values())
        tries = self._tries(mark, taken) if well < taken else 0
        reports = {value: judge(error, tries=0, acks=self._acks) for value, error in refused.items()}
        reports |= self._reports([value for value in values if value not in refused], deliveries, tries)
        self._recorder.complete(key, values, reports)

    def _hand_over(self, key: str, values: Sequence[int], deliveries: dict[int, Delivery]) -> dict[int, str]:
        """Queue a batch, whose reports will go to ``deliveries``; returns the errors of records that were not taken."""
        topic, number = topic_and_partition(key)
        messages: list[dict[str, Any]] = [
            {"value": str(value), "callback": partial(self._delivered, deliveries, value)} for value in values
        ]
        try:
            self._producer.produce_batch(topic, messages, partition=number)
        except (KafkaException, BufferError) as raised:
            # Perhaps after some records were queued: those without a report are judged by the statistics.
            self._log.info("produce: %s", raised)
        refused = {}
        for value, message in zip(values, messages, strict=True):
            if "_error" in message:
                error: KafkaError = message["_error"]
                refused[value] = error_name(error.code(), error.name())
        return refused

    def _await(self, all_reported: Callable[[], bool]) -> None:
        self._serve_until(all_reported, time.monotonic() + self._timeout + LATE_S)
        if not all_reported():
            self._producer.purge()
            self._serve_until(all_reported, time.monotonic() + PURGE_S)

    @staticmethod
    def _delivered(deliveries: dict[int, Delivery], value: int, error: KafkaError | None, message: Message) -> None:
        name = None if error is None else error_name(error.code(), error.name())
        deliveries[value] = (name, message.offset())

    def _tries(self, mark: Mark, records: int) -> int | None:
        now = time.monotonic()
        self._serve_until(lambda: self._sent.measured_at > now, now + STATISTICS_S)
        return self._sent.tries_since(mark, records) if self._sent.measured_at > now else None

    def _reports(
        self, values: Sequence[int], deliveries: dict[int, Delivery], tries: int | None
    ) -> Iterator[tuple[int, Report]]:
        placed = True
        for value in values:
            error, offset = deliveries.get(value, _NO_DELIVERY)
            if error is None:
                # librdkafka counts up from the first record's offset, also where that one is -1, for unknown.
                placed = placed and offset is not None and offset >= 0
                yield value, Report(OK, offset if placed else None)
            else:
                yield value, judge(error, tries=tries, acks=self._acks)

    def _close(self) -> None:
        self._producer.purge()
        self._serve()
        self._producer.close()
