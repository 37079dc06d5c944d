"""The producers and consumers of a workload, whichever library they are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidemark.harness.clients.client_log import ClientLog
from tidemark.harness.clients.deletions import Deed
from tidemark.harness.clients.journal import Journal
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec


@dataclass(eq=False)
class LibraryClients(ABC):
    """All of them; nothing is connected before :meth:`start`.

    Attributes:
        bootstrap, cluster, spec: as `KafkaWorkload` has them. seed: names the noise streams.
        journal: takes what they do. log: takes what the library says.
        idempotent: false: acks=all is without idempotence.
        own_entries: whether a log may end with a record that no client sees: a leader's own, or the end of a transaction.
        topic: whose partitions, where that is not the one of a run's cluster.
        security: librdkafka's settings for TLS and SASL; other libraries have none.
        open: once they have stopped, where a transaction is open, which none may be any more; None if nobody knows.
    """

    bootstrap: str
    cluster: ClusterSpec
    spec: WorkloadSpec
    journal: Journal
    log: ClientLog
    seed: int
    idempotent: bool
    own_entries: bool
    topic: str = ""
    security: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.open: dict[str, tuple[int, int]] | None = {}
        self._keys = (
            tuple(f"{self.topic}-{number}" for number in range(self.cluster.partitions))
            if self.topic
            else tuple(self.cluster.assignment())
        )

    @abstractmethod
    def start(self) -> None:
        """Begin the work of every client."""

    @abstractmethod
    def stop(self) -> None:
        """Let every client finish its operation, and end it.

        Raises:
            ClientsError: a client did not end, or had ended before.
        """

    @abstractmethod
    def final_read(self, in_time: Callable[[], bool]) -> bool:
        """Read everything from the start, as long as it is in time."""

    @abstractmethod
    def deed(self) -> Deed:
        """How the library deletes records."""
