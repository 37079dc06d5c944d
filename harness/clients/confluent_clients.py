"""A workload on librdkafka: a thread for each client."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tidemark.harness.clients.confluent_consumer import AssignedConsumer, ConfluentConsumer, read_all
from tidemark.harness.clients.confluent_deletion import deletion
from tidemark.harness.clients.confluent_producer import LATE_S, PURGE_S, STATISTICS_S, ConfluentProducer
from tidemark.harness.clients.confluent_transactions import ConfluentTransactions, patience_s
from tidemark.harness.clients.deletions import Deed
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import PollRecorder, SendRecorder, TransactionRecorder
from tidemark.harness.clients.library_clients import LibraryClients
from tidemark.harness.clients.open_transactions import await_ends
from tidemark.harness.clients.script import ConsumerScript, ProducerScript
from tidemark.harness.clients.transaction_script import TransactionScript

Work = Callable[[threading.Event], None]
"""What a client does until it is told to stop."""

SLACK_S = 10.0
"""Over and above what a client's own time-outs add up to, for a busy machine."""


class _ClientThread(threading.Thread):
    """Runs one client; `failure` is what ended it before its time."""

    def __init__(self, name: str, work: Callable[[threading.Event], None], stopping: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.failure: Exception | None = None
        self._work = work
        self._stopping = stopping

    def run(self) -> None:
        try:
            self._work(self._stopping)
        except Exception as raised:  # noqa: BLE001 - told when the clients are stopped
            self.failure = raised


class ConfluentClients(LibraryClients):
    """All producers and consumers of a workload."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stopping = threading.Event()
        self._threads: list[_ClientThread] = []

    def start(self) -> None:
        works = self._transactions() if self.spec.transactional else self._producers()
        for number in range(1, self.spec.consumers + 1):
            consumer = ConsumerScript(number, self.spec, self.seed)
            works[consumer.process] = ConfluentConsumer(self._consumer(consumer.process), consumer).run
        self._threads = [_ClientThread(name, work, self._stopping) for name, work in works.items()]
        for thread in self._threads:
            thread.start()

    def _producers(self) -> dict[str, Work]:
        works: dict[str, Work] = {}
        for number in range(1, self.spec.producers + 1):
            producer = ProducerScript(number, self.spec, self._keys, self.seed, self.journal.clock)
            recorder = SendRecorder(self.journal, producer.process)
            log = self.log.logger(producer.process)
            works[producer.process] = ConfluentProducer(
                self.bootstrap,
                self.cluster,
                producer,
                recorder,
                log,
                idempotent=self.idempotent,
                security=self.security,
            ).run
        return works

    def _transactions(self) -> dict[str, Work]:
        works: dict[str, Work] = {}
        for number in range(1, self.spec.producers + 1):
            script = TransactionScript(number, self.spec, self._keys, self.seed, self.journal.clock)
            recorder = TransactionRecorder(self.journal, script.process)
            works[script.process] = self._transacts(script, recorder)
        return works

    def _transacts(self, script: TransactionScript, recorder: TransactionRecorder) -> Work:
        """What one producer of transactions does."""
        log = self.log.logger(script.process)
        return ConfluentTransactions(self.bootstrap, self.cluster, script, recorder, log, security=self.security).run

    def _consumer(self, process: str, *, final: bool = False) -> AssignedConsumer:
        recorder = PollRecorder(self.journal, process, final=final)
        log = self.log.logger(process)
        return AssignedConsumer(
            self.bootstrap,
            self.cluster,
            self._keys,
            recorder,
            log,
            to_the_end=final and self.own_entries,
            committed_only=self.spec.transactional > 0,
            security=self.security,
        )

    def stop(self) -> None:
        self._stopping.set()
        own = self.cluster.settings.produce_timeout_us / 1e6 + LATE_S + PURGE_S + STATISTICS_S
        if self.spec.transactional:
            own = self.longest_transaction_s()
        for thread in self._threads:
            thread.join(own + SLACK_S)
        for thread in self._threads:
            if thread.is_alive():
                raise ClientsError(f"Client {thread.name} did not stop: throw this run away and start Tidemark anew.")
            if thread.failure is not None:
                raise ClientsError(
                    f"Client {thread.name} ended before its time ({thread.failure!r}): throw this run away."
                ) from thread.failure
        if self.spec.transactional:
            self.open = await_ends(self.bootstrap, self.cluster, self._keys, self.log.logger("ends"), self.security)

    def longest_transaction_s(self) -> float:
        """Begun anew, each of its sends, commit, abort: none of them longer than the patience."""
        return (3 + self.spec.transactional) * patience_s(self.cluster)

    def final_read(self, in_time: Callable[[], bool]) -> bool:
        consumer = self._consumer("final", final=True)
        try:
            return read_all(consumer, self._keys, in_time)
        finally:
            consumer.close()

    def deed(self) -> Deed:
        return deletion(self.bootstrap, self.cluster, self.log.logger, self.security)
