"""A producer on aiokafka."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from tidemark.harness.clients.aiokafka_gate import Gate, batch_error_name
from tidemark.harness.clients.aiokafka_start import start_or_leave
from tidemark.harness.clients.journal import SendRecorder
from tidemark.harness.clients.outcomes import OK, TRANSPORT, Report, judge
from tidemark.harness.clients.script import ProducerScript, topic_and_partition
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

LATE_S = 1.0
"""So long after the deadline an answer is still waited for; nothing is sent any more."""


class _Link(NamedTuple):
    """A producer that is connected, and the gate its requests go through."""

    producer: Any
    gate: Gate


class AiokafkaProducer:
    """Sends one batch at a time until it is told to stop.

    After an error it takes a new aiokafka producer: one whose batch failed leaves a gap in its sequence numbers, and refuses or
    is refused from then on.
    """

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        script: ProducerScript,
        recorder: SendRecorder,
        log: logging.Logger,
        *,
        idempotent: bool = True,
    ) -> None:
        """``run`` connects. With ``idempotent`` false, acks=all is without idempotence."""
        self._idempotent = idempotent and cluster.acks == "all"
        self._bootstrap = bootstrap
        self._times = Times.of(cluster.settings)
        self._acks = cluster.acks
        self._timeout = cluster.settings.produce_timeout_us / 1e6
        self._script = script
        self._recorder = recorder
        self._log = log
        self._linking: asyncio.Task[_Link] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Send and rest in turn, until ``stopping`` is set; an operation that has begun is finished."""
        self._link()
        try:
            while not await rest(stopping, self._script.pause()):
                key, values = self._script.batch()
                await self._operate(key, values)
        finally:
            await self._leave()

    def _link(self) -> asyncio.Task[_Link]:
        if self._linking is None:
            self._linking = asyncio.create_task(self._connect())
        return self._linking

    async def _connect(self) -> _Link:
        """A connected producer, however long that takes."""
        while True:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                client_id=self._script.process,
                acks=-1 if self._acks == "all" else int(self._acks),
                enable_idempotence=self._idempotent,
                request_timeout_ms=self._times.produce,
                retry_backoff_ms=self._times.retry,
                metadata_max_age_ms=self._times.metadata,
            )
            gate = Gate(producer.client, self._acks, idempotent=self._idempotent)
            try:
                await start_or_leave(producer, self._timeout)
            except KafkaError as error:
                self._log.info("cannot connect: %s", error)
                await producer.stop()
                await asyncio.sleep(self._times.retry / 1000)
            except BaseException:
                await producer.stop()
                raise
            else:
                return _Link(producer, gate)

    async def _operate(self, key: str, values: tuple[int, ...]) -> None:
        deadline = asyncio.get_running_loop().time() + self._timeout
        self._recorder.invoke(key, values)
        linking = self._link()
        await asyncio.wait({linking}, timeout=self._timeout)
        if not linking.done():
            report = judge(TRANSPORT, tries=0, acks=self._acks)
            self._recorder.complete(key, values, dict.fromkeys(values, report))
            return
        link = linking.result()
        link.gate.open_until(deadline)
        try:
            base = await asyncio.wait_for(self._send(link.producer, key, values), self._timeout + LATE_S)
        except (KafkaError, TimeoutError, AssertionError) as error:
            link.gate.shut()
            self._log.info("%s: %r after %d tries", values, error, link.gate.tries)
            report = judge(batch_error_name(error), tries=link.gate.tries, acks=self._acks)
            reports = dict.fromkeys(values, report)
            self._retire(link)
        else:
            reports = {value: Report(OK, None if base is None else base + i) for i, value in enumerate(values)}
        self._recorder.complete(key, values, reports)

    @staticmethod
    async def _send(producer: Any, key: str, values: tuple[int, ...]) -> int | None:  # noqa: ANN401 - has no types
        """Send the values as one record batch; the first one's offset, if it was told."""
        topic, partition = topic_and_partition(key)
        batch = producer.create_batch()
        for value in values:
            batch.append(timestamp=None, key=None, value=b"%d" % value)
        batch.close()
        told = await (await producer.send_batch(batch, topic, partition=partition))
        return told.offset if told is not None and told.offset >= 0 else None

    def _retire(self, link: _Link) -> None:
        self._linking = None
        task = asyncio.create_task(self._close(link))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, link: _Link) -> None:
        """In the background, since it waits for requests that a paused broker does not answer."""
        link.gate.shut()
        try:
            await asyncio.wait_for(link.producer.stop(), 2 * self._timeout)
        except (KafkaError, TimeoutError) as error:
            self._log.info("closing: %r", error)
            await link.producer.client.close()

    async def _leave(self) -> None:
        if self._linking is not None:
            if self._linking.done():
                self._retire(self._linking.result())
            else:
                self._linking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._linking
        if self._closing:
            await asyncio.wait(self._closing)


async def rest(stopping: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or until ``stopping`` is set; whether it is."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
    return stopping.is_set()
