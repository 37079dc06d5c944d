"""A workload on aiokafka: one thread with an event loop for all clients."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tidemark.harness.clients.aiokafka_consumer import CLOSE_S, AssignedConsumer, consume, read_all
from tidemark.harness.clients.aiokafka_deletion import deletion
from tidemark.harness.clients.aiokafka_producer import LATE_S, AiokafkaProducer
from tidemark.harness.clients.deletions import Deed
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import PollRecorder, SendRecorder
from tidemark.harness.clients.library_clients import LibraryClients
from tidemark.harness.clients.script import ConsumerScript, ProducerScript

T = TypeVar("T")

CONNECTIONS_END_S = 0.1
SLACK_S = 10.0
"""Over and above what the clients' own time-outs add up to, for a busy machine."""


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Aiokafka closes its connections without waiting for them: the loop must go on a little for them to be gone."""
    try:
        return await work
    finally:
        await asyncio.sleep(CONNECTIONS_END_S)


class AiokafkaClients(LibraryClients):
    """All producers and consumers of a workload."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._thread = threading.Thread(target=self._run, name="aiokafka", daemon=True)
        self._begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()
        self._begun.wait()

    def _run(self) -> None:
        try:
            with self.log.listening("aiokafka"):
                asyncio.run(_to_the_end(self._work()))
        except Exception as raised:  # noqa: BLE001 - told when the clients are stopped
            self._failure = raised
        finally:
            self._begun.set()

    async def _work(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        stopping = self._stopping = asyncio.Event()
        loop.set_exception_handler(self._on_loop_error)
        self._begun.set()
        async with asyncio.TaskGroup() as group:
            for number in range(1, self.spec.producers + 1):
                script = ProducerScript(number, self.spec, self._keys, self.seed, self.journal.clock)
                recorder = SendRecorder(self.journal, script.process)
                log = self.log.logger(script.process)
                producer = AiokafkaProducer(
                    self.bootstrap, self.cluster, script, recorder, log, idempotent=self.idempotent
                )
                group.create_task(producer.run(stopping))
            for number in range(1, self.spec.consumers + 1):
                pauses = ConsumerScript(number, self.spec, self.seed)
                group.create_task(consume(self._consumer(pauses.process), pauses, stopping))

    def _consumer(self, process: str, *, final: bool = False) -> AssignedConsumer:
        recorder = PollRecorder(self.journal, process, final=final)
        return AssignedConsumer(self.bootstrap, self.cluster, self._keys, recorder, self.log.logger(process))

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        logger: logging.Logger = self.log.logger("loop")
        logger.warning("%s (%r)", context.get("message"), context.get("exception"))

    def stop(self) -> None:
        if self._loop is None or self._stopping is None:
            return
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop ended just now
                self._loop.call_soon_threadsafe(self._stopping.set)
        timeout = self.cluster.settings.produce_timeout_us / 1e6
        self._thread.join(4 * timeout + LATE_S + CLOSE_S + SLACK_S)
        if self._thread.is_alive():
            raise ClientsError("The aiokafka clients did not stop: throw this run away and start Tidemark anew.")
        if self._failure is not None:
            raise ClientsError(
                f"A client ended before its time ({self._failure!r}): throw this run away."
            ) from self._failure

    def final_read(self, in_time: Callable[[], bool]) -> bool:
        with self.log.listening("aiokafka"):
            return asyncio.run(_to_the_end(self._final_read(in_time)))

    async def _final_read(self, in_time: Callable[[], bool]) -> bool:
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        return await read_all(self._consumer("final", final=True), in_time, own_entries=self.own_entries)

    def deed(self) -> Deed:
        return deletion(self.bootstrap, self.cluster)
