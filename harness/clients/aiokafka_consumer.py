"""Consumers on aiokafka."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from tidemark.harness.clients.aiokafka_gate import batch_error_name
from tidemark.harness.clients.aiokafka_producer import LATE_S, rest
from tidemark.harness.clients.aiokafka_start import start_or_leave
from tidemark.harness.clients.journal import PollRecorder
from tidemark.harness.clients.outcomes import TRANSPORT
from tidemark.harness.clients.polling import PolledRecord, Polling, Trouble, value_of
from tidemark.harness.clients.script import ConsumerScript, topic_and_partition
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

POLL_S = 0.05
"""How long one poll waits for records."""
MOST_RECORDS = 10_000
"""So many one poll returns at most."""
CONNECT_S = 0.4
"""So long a poll waits for a connection before it fails."""
CLOSE_S = 5.0
"""So long for closing."""


class AssignedConsumer:
    """An aiokafka consumer, assigned all partitions from offset 0 on, whose polls are written down."""

    def __init__(
        self, bootstrap: str, cluster: ClusterSpec, keys: Sequence[str], recorder: PollRecorder, log: logging.Logger
    ) -> None:
        self._bootstrap = bootstrap
        self._times = Times.of(cluster.settings)
        self._process = recorder.process
        self._partitions = {key: TopicPartition(*topic_and_partition(key)) for key in keys}
        self._keys = {at: key for key, at in self._partitions.items()}
        self._log = log
        self._linking: asyncio.Task[Any] | None = None
        self.polling = Polling(recorder, keys)

    async def _connected(self) -> Any:  # noqa: ANN401 - aiokafka has no types
        """The consumer, or `None` if it is not connected within `CONNECT_S`."""
        if self._linking is None:
            self._linking = asyncio.create_task(self._connect())
        await asyncio.wait({self._linking}, timeout=CONNECT_S)
        return self._linking.result() if self._linking.done() else None

    async def _connect(self) -> Any:  # noqa: ANN401
        while True:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=self._bootstrap,
                client_id=self._process,
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_uncommitted",
                check_crcs=True,
                fetch_max_wait_ms=self._times.fetch_wait,
                request_timeout_ms=self._times.produce,
                retry_backoff_ms=self._times.retry,
                metadata_max_age_ms=self._times.metadata,
            )
            try:
                await start_or_leave(consumer, self._times.produce / 1000)
            except KafkaError as error:
                self._log.info("cannot connect: %s", error)
                await consumer.stop()
                await asyncio.sleep(self._times.retry / 1000)
            except BaseException:
                await consumer.stop()
                raise
            else:
                consumer.assign(list(self._partitions.values()))
                for partition in self._partitions.values():
                    consumer.seek(partition, 0)
                return consumer

    async def poll(self) -> None:
        """One operation."""
        self.polling.begin()
        consumer = await self._connected()
        if consumer is None:
            self.polling.end([Trouble(TRANSPORT)])
            return
        try:
            answer = await consumer.getmany(timeout_ms=int(POLL_S * 1000), max_records=MOST_RECORDS)
        except KafkaError as error:
            self._log.info("poll: %r", error)
            self.polling.end([Trouble(batch_error_name(error))])
        else:
            self.polling.end(list(self._fetched(answer)))

    def _fetched(self, answer: dict[Any, list[Any]]) -> Iterator[PolledRecord]:
        for partition, records in answer.items():
            for record in records:
                yield PolledRecord(self._keys[partition], record.offset, value_of(record.value))

    async def ends(self) -> dict[str, int]:
        """The high watermarks, or 0 where nothing lies below one any more; empty if one leader did not answer, since aiokafka asks
        for all at once.
        """
        consumer = await self._connected()
        if consumer is None:
            return {}
        try:
            starts = await consumer.beginning_offsets(list(self._keys))
            ends = await consumer.end_offsets(list(self._keys))
        except KafkaError as error:
            self._log.info("end offsets: %r", error)
            return {}
        return {self._keys[partition]: end if starts[partition] < end else 0 for partition, end in ends.items()}

    async def look_where_it_is(self) -> None:
        """Positions count records that no client sees: those that leaders of other families than Kafka's write of their own."""
        consumer = await self._connected()
        if consumer is not None:
            for key, partition in self._partitions.items():
                self.polling.at_end(key, await consumer.position(partition))

    async def close(self) -> None:
        """End the background tasks."""
        linking, self._linking = self._linking, None
        if linking is None:
            return
        if not linking.done():
            linking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await linking
            return
        consumer = linking.result()
        try:
            await asyncio.wait_for(consumer.stop(), CLOSE_S)
        except (KafkaError, TimeoutError) as error:
            self._log.info("closing: %r", error)
            # Its connections are closed at once; what is waited for is that their ends are heard of.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(consumer._client.close(), LATE_S)  # noqa: SLF001 - nothing else names it


async def consume(consumer: AssignedConsumer, script: ConsumerScript, stopping: asyncio.Event) -> None:
    """Poll and rest in turn, until ``stopping`` is set."""
    try:
        while not await rest(stopping, script.pause()):
            await consumer.poll()
    finally:
        await consumer.close()


async def read_all(consumer: AssignedConsumer, in_time: Callable[[], bool], *, own_entries: bool = False) -> bool:
    """Read every partition from the start to its high watermark; whether that was done in time."""
    ends: dict[str, int] = {}
    try:
        while in_time():
            ends = ends or await consumer.ends()
            await consumer.poll()
            if own_entries:
                await consumer.look_where_it_is()
            if ends and all(consumer.polling.position[key] >= end for key, end in ends.items()):
                return True
        return False
    finally:
        await consumer.close()
