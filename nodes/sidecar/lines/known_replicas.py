"""What the lines have told of a broker's replicas so far: some lines only make sense with what stood before them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Question:
    """What a follower's fetcher last asked about one partition.

    Attributes:
        current: the follower's leader epoch, −1 if it did not say.
        epoch: the epoch it asked about, or of its last record before ``offset``; −1 if none.
        offset: fetch offset; None: it asked for the end of an epoch.
    """

    current: int
    epoch: int
    offset: int | None = None


@dataclass(slots=True)
class KnownReplica:
    """One replica of this broker, as its lines tell it.

    Attributes:
        directory: the log directory in which its log lies, empty before a line told it. Lines of another one are about the future
            log of a replica that is moved (KIP-113).
        leo: where its log ends. hw: −1 before a line told it.
        leader_epoch: −1 before it had a role. leading: None before it had one.
        announced: (leader epoch, leader) of the last LeaderAndIsr request, (−1, −1) before any.
        isr, maximal, partition_epoch: as leader.
        reason: why the next cut is made; empty if no line told.
        fetching, asking: the last fetch, and the last question for the end of an epoch, by fetcher.
    """

    name: str
    directory: str = ""
    leo: int = 0
    hw: int = -1
    leader_epoch: int = -1
    leading: bool | None = None
    announced: tuple[int, int] = (-1, -1)
    isr: tuple[int, ...] = ()
    maximal: tuple[int, ...] = ()
    partition_epoch: int = -1
    reason: str = ""
    fetching: dict[str, Question] = field(default_factory=dict)
    asking: dict[str, Question] = field(default_factory=dict)


class KnownReplicas:
    """All of them, and the topics' ids."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._by_name: dict[str, KnownReplica] = {}
        self.topics: dict[str, str] = {}
        """Topic id → name."""
        self.astray: set[str] = set()
        """Directories of logs that the broker found when it started, and has no replica for; by the name that it gave them."""

    def __getitem__(self, partition: str) -> KnownReplica:
        """The replica of a partition, made when it is first spoken of."""
        found = self._by_name.get(partition)
        if found is None:
            found = self._by_name[partition] = KnownReplica(partition)
        return found

    def topic(self, name: str | None, topic_id: str | None) -> str:
        """A topic's name; a request or response may give its name, its id or both. Empty if the id was never explained."""
        if name:
            if topic_id:
                self.topics[topic_id] = name
            return name
        return self.topics.get(topic_id or "", "")
