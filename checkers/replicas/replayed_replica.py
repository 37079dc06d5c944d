"""A replica as its trace tells it: what it has, what it believes, what it lost, and all replicas of a run.

A replica's log is kept as a list of records ``(leader epoch, value)`` by offset, and beside it the chain by which logs are compared
(:mod:`tidemark.checkers.replicas.log_chain`). Below its log start a log has nothing: what is in the list there is what was deleted,
or a `HOLE` if the replica never had it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import Fetched, Final

Record = tuple[int, Value]
"""``(leader epoch, value)``."""

MOST_HOLES = 2_000_000
"""So many offsets without records may the logs of a run have, all together: a log is kept by offset."""


class TooSparseError(ValueError):
    """Logs begin or go on so far beyond what is known of them that they cannot be kept; a sentence.

    Attributes:
        node: the one whose log was too much.
        words: the same, and what follows from it.
    """

    def __init__(self, node: int, words: str) -> None:
        super().__init__(words)
        self.node = node
        self.words = f"{words}, so that broker's evidence was not used"


HOLE: Record = (-1, None)
"""Stands at offsets that an append skipped, or a cut inside a batch, and below a log start for what was never there."""


def in_words(record: Record) -> str:
    """A record, or that there is none."""
    return "nothing" if record == HOLE else f"record {record[1]} of epoch {record[0]}"


ON_PURPOSE = ("delete-records", "retention")
"""How a log start moves when somebody wants records to go (docs/history.md, `log-start`)."""


class Removal(NamedTuple):
    """Records that left the end of a log: `records` were at the offsets from `to` on. The event is ``trace[at]``."""

    at: int
    to: int
    records: list[Record]


NEVER = 1 << 62
"""After the end of every trace."""


class LogAtStop(NamedTuple):
    """A node stopped at ``trace[at]``; the replica's log ended at `leo` then.

    It counts while the node has a replica in the controller's eyes: up to ``trace[until]``, when it is taken out of them, and
    others have its part.
    """

    at: int
    how: str
    leo: int
    until: int = NEVER


class ReplayedReplica:
    """One replica of one partition, as its trace tells it."""

    __slots__ = (
        "assigned", "chain", "deleted_hole", "epoch", "final", "followers", "hw", "hw_before", "leading", "node", "partition",
        "records", "removals", "source", "start", "stops", "up", "waits",
    )  # fmt: skip

    def __init__(self, node: int, partition: str) -> None:
        self.node = node
        self.partition = partition
        self.records: list[Record] = []
        self.chain: list[int] = [0]
        self.start = 0
        self.deleted_hole = 0
        """Where its last hole ends of which all was deleted on purpose: as below a log start, nobody misses what lies below."""
        self.hw = 0
        self.hw_before = 0
        """What it knew before it began to lead, as far as its log reached."""
        self.epoch = -1
        self.leading = False
        self.up = True
        self.assigned = True
        """Whether the controller counts it among the partition's replicas."""
        self.source: ReplayedReplica | None = None
        """The leader this replica is paired with: from its `fetched` until either changes epoch, stops or truncates."""
        self.followers: list[ReplayedReplica] = []
        """The other side of `source`."""
        self.waits: tuple[ReplayedReplica, Fetched] | None = None
        """The leader and the `fetched` of a pair whose leader has not told yet that it leads: the stamps of two machines differ."""
        self.removals: list[Removal] = []
        self.stops: list[LogAtStop] = []
        self.final: Final | None = None

    def extend(self, epoch: int, values: Iterable[Value]) -> None:
        """Write `values` at the end of the log, all in one `epoch`."""
        records, chain = self.records, self.chain
        offset, link = len(records), chain[-1]
        for value in values:
            hashed = hash((offset, epoch, value))
            link += hashed * hashed
            chain.append(link)
            records.append((epoch, value))
            offset += 1

    def cut(self, index: int, to: int) -> Removal:
        """Cut the log at offset `to`, because of ``trace[index]``."""
        removal = Removal(index, to, self.records[to:])
        if to < self.deleted_hole:
            self.deleted_hole = 0
        del self.records[to:]
        del self.chain[to + 1 :]
        if removal.records:
            self.removals.append(removal)
        return removal

    def cut_inside_a_batch(self, index: int, begin: int) -> Removal:
        """The cut that was just told fell inside a batch that began at `begin`: all of it went, by the same event.

        ``trace[index]`` says so; it counts where no cut was told before.
        """
        earlier = self.removals[-1] if self.removals and self.removals[-1].to == len(self.records) else None
        removal = self.cut(index, begin)
        if earlier is not None and removal.records:
            removal = Removal(earlier.at, begin, removal.records + earlier.records)
            self.removals[-2:] = [removal]
        return removal

    def fill_to(self, offset: int) -> int:
        """Go on at an offset, if the log ends before it; returns how many offsets that skips.

        Raises:
            TooSparseError: more than a log is kept with.
        """
        holes = max(0, offset - len(self.records))
        if holes > MOST_HOLES:
            raise TooSparseError(
                self.node,
                f"the log of broker {self.node} for {self.partition} goes on at offset {offset}, {holes} offsets beyond what is "
                "known of it",
            )
        self.extend(HOLE[0], [HOLE[1]] * holes)
        return holes

    def unpair(self) -> None:
        """End the pairs this replica is in, on either side, and the one it waits for."""
        self.waits = None
        if self.source is not None:
            self.source.followers.remove(self)
            self.source = None
        for follower in self.followers:
            follower.source = None
        self.followers.clear()

    def has(self, offset: int, record: Record) -> bool:
        """Whether the log has this record at this offset now."""
        return self.start <= offset < len(self.records) and self.records[offset] == record

    def ever_had(self, value: Value) -> bool:
        """Whether a record with this value is, or was once, anywhere in the log."""
        logs = [self.records, *(removal.records for removal in self.removals)]
        return any(value == one for records in logs for _, one in records)

    def had_at(self, stop: LogAtStop, offset: int, record: Record) -> bool:
        """Whether the log had this record at this offset when the node stopped."""
        if offset >= stop.leo:
            return False
        for removal in self.removals:
            if removal.at > stop.at and removal.to <= offset:
                return removal.records[offset - removal.to : offset - removal.to + 1] == [record]
        return self.records[offset : offset + 1] == [record]

    def removal_of(self, offset: int, record: Record, before: int | None = None) -> Removal | None:
        """The last event (before the trace index `before`, if given) that took this record from this log."""
        for removal in reversed(self.removals):
            place = offset - removal.to
            in_time = before is None or removal.at < before
            if in_time and 0 <= place < len(removal.records) and removal.records[place] == record:
                return removal
        return None


Configured = tuple[int, int, Sequence[int]]
"""An entry that says who belongs to a group: its offset, its epoch, the nodes."""


class ReplayedReplicas:
    """All replicas of a run, by ``(node, partition)`` and by partition."""

    def __init__(self) -> None:
        self.by_place: dict[tuple[int, str], ReplayedReplica] = {}
        self.by_partition: dict[str, list[ReplayedReplica]] = defaultdict(list)
        self.by_node: dict[int, list[ReplayedReplica]] = defaultdict(list)
        self.deleted: dict[str, int] = {}
        """Per partition up to where anybody deleted records on purpose, and nobody has begun to write others since."""
        self.differing: dict[ReplayedReplica, ReplayedReplica] = {}
        """Follower → leader of the pairs whose logs differ: `Divergence` keeps them."""
        self.configurations: dict[str, list[Configured]] = {}
        """Per partition what entries of the log say of its group, by offset and epoch; nothing where groups never change."""
        self.settled: dict[str, Configured] = {}
        """Per partition the newest of them that is known to be committed."""
        self.assigned: dict[str, Sequence[int]] = {}
        """Per partition who is a replica, once anybody has told that this changed."""

    def at(self, node: int, partition: str) -> ReplayedReplica:
        """The replica of `partition` on `node`; a new empty one if it was not heard of."""
        replica = self.by_place.get((node, partition))
        if replica is None:
            replica = self.by_place[node, partition] = ReplayedReplica(node, partition)
            if partition in self.assigned:
                replica.assigned = node in self.assigned[partition]
            self.by_partition[partition].append(replica)
            self.by_node[node].append(replica)
        return replica

    def take_apart(self) -> None:
        """Nobody asks any more who follows whom: the replicas refer to each other, and would wait for the garbage collector."""
        for replica in self.by_place.values():
            replica.unpair()
