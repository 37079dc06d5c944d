"""A workload whose producers of transactions are Kafka's own Java clients, and whose consumers are librdkafka's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidemark.harness.clients.confluent_clients import ConfluentClients, Work
from tidemark.harness.clients.java_transactions import JavaProducers, JavaTransactions
from tidemark.harness.clients.journal import TransactionRecorder
from tidemark.harness.clients.transaction_script import TransactionScript

Jars = Callable[[], Mapping[str, bytes]]
"""File name → content, of Kafka's clients of the version that runs."""


def _none() -> dict[str, bytes]:
    return {}


@dataclass(eq=False)
class JavaClients(ConfluentClients):
    """As `LibraryClients`; ``jars`` gives the clients' jars."""

    jars: Jars = _none

    def __post_init__(self) -> None:
        super().__post_init__()
        self._jvm: JavaProducers | None = None

    def _transactions(self) -> dict[str, Work]:
        self._jvm = JavaProducers(self.bootstrap, self.cluster, self.jars(), security=self.security)
        return super()._transactions()

    def _transacts(self, script: TransactionScript, recorder: TransactionRecorder) -> Work:
        assert self._jvm is not None  # noqa: S101 - all are made after it
        return JavaTransactions(self._jvm, script, recorder, self.longest_transaction_s()).run

    def stop(self) -> None:
        """And end the JVM."""
        try:
            super().stop()
        finally:
            if self._jvm is not None:
                self._jvm.close()
