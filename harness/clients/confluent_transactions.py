"""A producer on librdkafka (confluent-kafka) that sends in Kafka's transactions (KIP-98).

A transaction is one operation ``txn`` of the history: invoked before anything of it is sent, and

- ``ok``: its commit was acknowledged;
- ``fail``: it was aborted, or nobody has ever asked to commit it: so nobody may ever read it with ``read_committed``;
- ``info``: the commit was asked for, and what came of it is not known.

An instance is used until an error is fatal, or a commit or abort has no end within the producer's patience. Then a new instance of
the same ``transactional.id`` takes its place, and has the coordinator end what the old one began (``init_transactions``).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tidemark.harness.clients.confluent_settings import NO_SECURITY, transactional_settings
from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.journal import TransactionRecorder
from tidemark.harness.clients.outcomes import FAIL, INFO, OK
from tidemark.harness.clients.script import topic_and_partition
from tidemark.harness.clients.transaction_script import IntendedTransaction, TransactionScript
from tidemark.nodes.core.cluster import ClusterSpec

PATIENCE = 4
"""So many times as long as a batch is tried a producer asks for the end of a transaction, before it begins anew."""
SLICE_S = 0.02


def patience_s(cluster: ClusterSpec) -> float:
    """In seconds."""
    return PATIENCE * cluster.settings.produce_timeout_us / 1e6


class _AbortError(Exception):
    """The transaction cannot be committed: abort it."""


class _UselessError(Exception):
    """The instance can do nothing more."""


class ConfluentTransactions:
    """Commits or aborts one transaction after the other until it is told to stop."""

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        script: TransactionScript,
        recorder: TransactionRecorder,
        log: logging.Logger,
        *,
        security: Mapping[str, str] = NO_SECURITY,
    ) -> None:
        """``run`` connects."""
        self._settings = transactional_settings(bootstrap, script.process, cluster, security=security)
        self._patience_s = patience_s(cluster)
        self._script, self._recorder, self._log = script, recorder, log
        self._producer: Producer | None = None

    def run(self, stopping: threading.Event) -> None:
        """Until `stopping` is set; a transaction that has begun is ended."""
        try:
            while not stopping.wait(self._script.pause()):
                if self._producer is None and not self._open(stopping):
                    continue
                self._transact(self._script.transaction())
        finally:
            self._close()

    def _open(self, stopping: threading.Event) -> bool:
        """A new instance, which the coordinator knows; whether there is one."""
        self._producer = Producer(self._settings | {"error_cb": self._on_error}, logger=self._log)
        deadline = time.monotonic() + self._patience_s
        while not stopping.is_set() and time.monotonic() < deadline:
            try:
                self._producer.init_transactions(self._left(deadline))
            except KafkaException as raised:
                error = _told(raised)
                self._log.info("init_transactions: %s", error.str())
                if error.retriable():
                    continue
            else:
                return True
            break
        self._close()
        return False

    def _on_error(self, error: KafkaError) -> None:
        self._log.info("%s: %s", error_name(error.code(), error.name()), error.str())

    def _transact(self, intended: IntendedTransaction) -> None:
        """One operation."""
        assert self._producer is not None  # noqa: S101 - it was opened
        self._recorder.invoke(intended.sends)
        offsets: dict[int, int] = {}
        asked_to_commit = False
        outcome: str = FAIL
        why: str | None = "aborted"
        try:
            try:
                self._send(self._producer, intended, offsets)
                if not intended.aborts:
                    asked_to_commit = True
                    self._to_the_end(self._producer.commit_transaction, may_abort=True)
                    outcome, why = OK, None
                else:
                    self._to_the_end(self._producer.abort_transaction)
            except _AbortError as raised:
                why = f"aborted: {raised}"
                self._to_the_end(self._producer.abort_transaction)
        except (_UselessError, _AbortError) as raised:
            outcome, why = (INFO if asked_to_commit else FAIL), str(raised)
            self._close()
        self._recorder.complete(intended.sends, outcome, why, offsets)

    def _send(self, producer: Producer, intended: IntendedTransaction, offsets: dict[int, int]) -> None:
        """All sends of a transaction, each after the answer to the one before."""
        self._called(producer.begin_transaction)
        for turn, (key, values) in enumerate(intended.sends):
            if turn:
                time.sleep(self._script.breath())
            self._send_one(producer, key, values, offsets)

    def _send_one(self, producer: Producer, key: str, values: Sequence[int], offsets: dict[int, int]) -> None:
        reported: list[KafkaError | None] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            reported.append(error)
            if error is None and (offset := message.offset()) is not None and offset >= 0:
                offsets[int(message.value() or b"-1")] = offset

        topic, number = topic_and_partition(key)
        for value in values:
            self._called(partial(producer.produce, topic, str(value), partition=number, callback=delivered))
        deadline = time.monotonic() + self._patience_s
        while len(reported) < len(values):
            self._called(partial(producer.poll, SLICE_S))
            if time.monotonic() > deadline:
                raise _AbortError("no delivery report")
        errors = [error_name(error.code(), error.name()) for error in reported if error is not None]
        if errors:
            raise _AbortError(errors[0])

    def _called(self, deed: Callable[[], object]) -> None:
        """Have librdkafka do something that is no end of a transaction.

        Raises:
            _AbortError, _UselessError: what is left to do.
        """
        try:
            deed()
        except BufferError as raised:
            raise _AbortError(str(raised)) from raised
        except KafkaException as raised:
            error = _told(raised)
            name = error_name(error.code(), error.name())
            self._log.info("%s", error.str())
            raise (_UselessError if error.fatal() else _AbortError)(name) from raised

    def _to_the_end(self, deed: Callable[[float], object], *, may_abort: bool = False) -> None:
        """Commit or abort, as often as it must be asked for.

        Raises:
            _AbortError: it must be aborted. _UselessError: nobody knows how it ended, or will end.
        """
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                deed(self._left(deadline))
            except KafkaException as raised:
                error = _told(raised)
                name = error_name(error.code(), error.name())
                self._log.info("%s: %s", getattr(deed, "__name__", "end"), error.str())
                if may_abort and error.txn_requires_abort():
                    raise _AbortError(name) from raised
                if not error.retriable() or time.monotonic() >= deadline:
                    raise _UselessError(name) from raised
            else:
                return

    @staticmethod
    def _left(deadline: float) -> float:
        """Seconds; librdkafka takes 0 for no time at all."""
        return max(deadline - time.monotonic(), 0.1)

    def _close(self) -> None:
        """What the instance has begun is left to the coordinator, or to the next instance."""
        self._producer = None


def _told(raised: KafkaException) -> KafkaError:
    error: KafkaError = raised.args[0]
    return error
