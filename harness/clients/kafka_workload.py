"""Kafka's own clients as the workload of a run: producers, consumers, those that delete records, and a reader at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.checkers.history.history import Op
from tidemark.harness.clients.client_log import ClientLog
from tidemark.harness.clients.confluent_settings import NO_SECURITY
from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.deletions import Deletions
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import Journal
from tidemark.harness.clients.libraries import AIOKAFKA, CONFLUENT, JAVA, LIBRARIES, Library, available
from tidemark.harness.clients.library_clients import LibraryClients
from tidemark.harness.clients.own_consumers import OwnConsumers
from tidemark.harness.clients.share_group import ShareGroup
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

if TYPE_CHECKING:
    from tidemark.harness.clients.java_clients import Jars

SLACK_S = 15.0
"""Over and above the time for which a broker may let a deletion wait."""


class KafkaWorkload:
    """Producers ``p1`` … and consumers ``c1`` … that record what they saw as ``docs/history.md`` has it.

    Start once, stop once, then `final_read`.
    """

    def __init__(  # noqa: PLR0913 (what a workload is made of)
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        spec: WorkloadSpec,
        *,
        clock: Callable[[], int],
        record: Callable[[Op], None],
        noise_seed: int,
        library: Library = CONFLUENT,
        counters: Counters | None = None,
        log: Path | None = None,
        idempotent: bool = True,
        reads_anywhere: bool = False,
        asks_leaders: bool = False,
        own_entries: bool = False,
        topic: str = "",
        security: Mapping[str, str] = NO_SECURITY,
        jars: Jars | None = None,
    ) -> None:
        """Connect nothing yet.

        Args:
            bootstrap: brokers to begin with, ``host:port,host:port``.
            cluster: partitions, acks and times.
            spec: how many clients, and how busy.
            clock: µs since the run began.
            record: takes every half of an operation, one at a time and in order of time, in a thread of the clients.
            noise_seed: names the noise streams, as in the simulator.
            library: whose producer and consumer to use.
            counters: to count with, for a progress display; else new ones.
            log: where the libraries' own words go; nowhere without it.
            idempotent: whether producers with acks=all are; brokers of an old message format refuse that.
            reads_anywhere: whether consumers read from any replica, which only ours do: the libraries' go to leaders.
            asks_leaders: whether each poll of a consumer asks the leader itself, which only ours do: the libraries' read ahead.
            topic: whose partitions are worked on, where that is not the topic of a run's cluster.
            security: librdkafka's settings for TLS and SASL (`tidemark.harness.clients.client_config`).
            jars: gives the jars of Kafka's clients, where the library is `java`.
            own_entries: whether leaders write records that no client sees, with one of which a log may end.

        Raises:
            ClientsError: the library is not here.
        """
        if library == JAVA and (jars is None or not spec.transactional):
            raise ClientsError(
                "Kafka's Java clients send transactions to --system kafka:VERSION (--workload transactions)."
            )
        if library != JAVA and library not in [found.name for found in available()]:
            raise ClientsError(
                f"The client library {library!r} is not here: choose one of {', '.join(LIBRARIES)}, or run make env."
            )
        self._journal = Journal(clock, record, cluster.acks, counters)
        self._log = ClientLog(log, clock)
        self._readers: OwnConsumers | None = None
        if reads_anywhere or asks_leaders:
            self._readers = OwnConsumers(
                bootstrap, cluster, spec, self._journal, noise_seed, leaders_only=not reads_anywhere
            )
            spec = replace(spec, consumers=0)
        self._share_group: ShareGroup | None = None
        if spec.share_members:
            self._share_group = ShareGroup(bootstrap, cluster, spec, self._journal, noise_seed)
        self._transactional = spec.transactional > 0
        made = _java(jars) if library == JAVA and jars is not None else _clients_of(library)
        ends = own_entries or self._transactional
        self._clients = made(
            bootstrap,
            cluster,
            spec,
            self._journal,
            self._log,
            noise_seed,
            idempotent,
            ends,
            topic,
            security,
        )
        if self._transactional and library == AIOKAFKA:
            raise ClientsError(f"{AIOKAFKA} sends no transactions here: --clients {CONFLUENT} or {JAVA}.")
        patience_s = cluster.settings.produce_timeout_us / 1e6 + SLACK_S
        self._deletions = Deletions(self._clients.deed(), self._journal, patience_s)

    @property
    def counters(self) -> Counters:
        """How far the clients are."""
        return self._journal.counters

    def start(self) -> None:
        self._clients.start()
        if self._readers is not None:
            self._readers.start()
        if self._share_group is not None:
            self._share_group.start()

    def delete(self, key: str, offset: int) -> None:
        """Have a client ask for the deletion of a partition's records below an offset; nobody waits for it before `stop`."""
        self._deletions.begin(key, offset)

    def stop(self) -> None:
        try:
            self._deletions.stop()
            if self._readers is not None:
                self._readers.stop()
            if self._share_group is not None:
                self._share_group.stop()
            self._clients.stop()
        finally:
            self._log.close()

    def told(self) -> dict[str, Any]:
        """For the meta line: transactions that are open though none may be; a share group (docs/history.md)."""
        still_open = self._clients.open
        if self._share_group is not None:
            return self._share_group.told()
        if not self._transactional:
            return {}
        return {"transactions": True, **({} if not still_open else {"open_transactions": still_open})}

    def final_read(self, deadline_us: int) -> bool:
        """Read every partition from offset 0, or its log start, to its high watermark, once, with a new consumer. Before that, and
        in time of its own, a share group takes what it has not taken.

        Returns:
            Whether that was done when the clock said ``deadline_us``, and no transaction may still hide anything.
        """
        readers = self._clients if self._readers is None else self._readers
        began_us = self._journal.clock()
        if self._share_group is not None:
            self._share_group.take_the_rest()
        deadline_us += self._journal.clock() - began_us
        try:
            return readers.final_read(lambda: self._journal.clock() < deadline_us) and self._clients.open == {}
        finally:
            self._log.close()


def _java(jars: Jars) -> Callable[..., LibraryClients]:
    from tidemark.harness.clients.java_clients import JavaClients

    return partial(JavaClients, jars=jars)


def _clients_of(library: Library) -> type[LibraryClients]:
    if library == CONFLUENT:
        from tidemark.harness.clients.confluent_clients import ConfluentClients

        return ConfluentClients
    from tidemark.harness.clients.aiokafka_clients import AiokafkaClients

    return AiokafkaClients
