"""One pass over the replicas' trace: what every replica held, believed and lost, at every moment.

A replica's log is kept as a list of records ``(leader epoch, value)`` by offset, and beside it a *chain*:
``chain[o]`` is a sum over the records ``[0, o)`` of squares of their hashes (a sum of the hashes themselves would not do: those of
tuples that differ in their last places alone differ by the same amount). Two logs agree between two offsets iff their chains rise
by as much, so comparing costs one comparison, however long the logs are. Below its log start a log has nothing: what
is in the list there is what was deleted, or a `HOLE` if the replica never had it.

Checkers are `TraceChecker`s: they override the moments they care about, and `replay` calls them after the
replica has been brought up to date. `index` is always the event's place in the trace; it orders events that
share a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from tidemark.checkers.history.history import TraceEvent, Value

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
"""Stands at offsets that an append skipped, which is a `broken-log`, and below a log start for what was never there."""


class Removal(NamedTuple):
    """Records that left the end of a log: `records` were at the offsets from `to` on. The event is ``trace[at]``."""

    at: int
    to: int
    records: list[Record]


NEVER = 1 << 62
"""After the end of every trace."""


class Stop(NamedTuple):
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
        "assigned", "chain", "epoch", "final", "followers", "hw", "hw_before", "leading", "node", "partition", "records",
        "removals", "source", "start", "stops", "up", "waits",
    )  # fmt: skip

    def __init__(self, node: int, partition: str) -> None:
        self.node = node
        self.partition = partition
        self.records: list[Record] = []
        self.chain: list[int] = [0]
        self.start = 0
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
        self.waits: tuple[ReplayedReplica, TraceEvent] | None = None
        """The leader and the `fetched` of a pair whose leader has not told yet that it leads: the stamps of two machines differ."""
        self.removals: list[Removal] = []
        self.stops: list[Stop] = []
        self.final: TraceEvent | None = None

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
        del self.records[to:]
        del self.chain[to + 1 :]
        if removal.records:
            self.removals.append(removal)
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

    def had_at(self, stop: Stop, offset: int, record: Record) -> bool:
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


def agree(one: Sequence[int], other: Sequence[int], begin: int, end: int) -> bool:
    """Whether two logs have the same records between two offsets, by their chains."""
    return one[end] - one[begin] == other[end] - other[begin]


def first_difference(one: Sequence[int], other: Sequence[int], end: int, begin: int = 0) -> int:
    """The offset of the first record from `begin` on in which two logs differ, by their chains; there is one below `end`."""
    same, different = begin, end
    while different - same > 1:
        middle = (same + different) // 2
        if agree(one, other, begin, middle):
            same = middle
        else:
            different = middle
    return same


def in_common(one: ReplayedReplica, other: ReplayedReplica, end: int) -> int:
    """Where the comparison of two logs up to `end` begins: at the larger log start."""
    return min(max(one.start, other.start), end)


class TraceChecker:
    """What a checker can be told during the pass. Override what is needed; the rest costs nothing.

    Attributes:
        wanted: the moments that a class overrides.
    """

    wanted: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Note what is overridden, once for all passes."""
        names = TraceChecker.moments()
        cls.wanted = tuple(name for name in names if getattr(cls, name) is not getattr(TraceChecker, name))

    @staticmethod
    def moments() -> list[str]:
        """The names of all."""
        return [name for name in vars(TraceChecker) if name.startswith("on_")]

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """The trace begins; `replicas` will always be up to date."""

    def on_append(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A batch was written."""

    def on_unlike(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """One of a pair wrote a batch, and it was not seen at once that the follower's log is a beginning of the leader's."""

    def on_misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A batch is about to be written that does not continue the log: wrong offset, or an older epoch."""

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """The log was cut: truncation, recovery, an append below its end, or the replica was removed."""

    def on_log_start(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A replica's log start moved; it was `previous` before."""

    def on_hw_beyond(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica's high watermark moved beyond the end of its log."""

    def on_differing(self, index: int, event: TraceEvent) -> None:
        """A log grew, a high watermark moved or a pair began while there are pairs whose logs differ."""

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A leader's high watermark moved; it was `previous` before."""

    def on_any_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica's high watermark moved, leader or not."""

    def on_lead(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica became leader of an epoch."""

    def on_fetched(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """A follower's first good fetch in an epoch: from here it is paired with `leader`."""

    def on_elect(self, index: int, event: TraceEvent) -> None:
        """The controller chose a leader."""

    def on_stop(self, index: int, event: TraceEvent) -> None:
        """A node is gone."""

    def on_membership(self, index: int, event: TraceEvent) -> None:
        """Who may be in an ISR, or is: the controller chose a leader or an ISR, a process started, stopped or was registered."""

    def on_own_isr(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """The ISR changed that a leader goes by."""

    def on_fatal(self, index: int, event: TraceEvent) -> None:
        """A node says why it gives up."""

    def on_converged(self, index: int, event: TraceEvent) -> None:
        """Whether a partition came to rest at the end."""

    def on_final(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica's state at the end; its log has been replaced by the one given."""

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """The trace is over; `index` is its length."""


Configured = tuple[int, int, Sequence[int]]
"""An entry that says who belongs to a group: its offset, its epoch, the nodes."""


class ReplayedReplicas:
    """All replicas of a run, by ``(node, partition)`` and by partition."""

    def __init__(self) -> None:
        self.by_place: dict[tuple[int, str], ReplayedReplica] = {}
        self.by_partition: dict[str, list[ReplayedReplica]] = defaultdict(list)
        self.by_node: dict[int, list[ReplayedReplica]] = defaultdict(list)
        self.differing: dict[ReplayedReplica, ReplayedReplica] = {}
        """Follower → leader of the pairs whose logs differ: `Divergence` keeps them."""
        self.configurations: dict[str, list[Configured]] = {}
        """Per partition what entries of the log say of its group, by offset and epoch; nothing where groups never change."""
        self.settled: dict[str, Configured] = {}
        """Per partition the newest of them that is known to be committed."""

    def at(self, node: int, partition: str) -> ReplayedReplica:
        """The replica of `partition` on `node`; a new empty one if it was not heard of."""
        replica = self.by_place.get((node, partition))
        if replica is None:
            replica = self.by_place[node, partition] = ReplayedReplica(node, partition)
            if partition in self.settled:
                replica.assigned = node in self.settled[partition][2]
            self.by_partition[partition].append(replica)
            self.by_node[node].append(replica)
        return replica

    def take_apart(self) -> None:
        """Nobody asks any more who follows whom: the replicas refer to each other, and would wait for the garbage collector."""
        for replica in self.by_place.values():
            replica.unpair()


_Written = tuple[Sequence[Value], list[Record], int, list[int]]
"""A batch: its values, the records they make, the link of a chain before it, and the links that it adds there."""


_Batch = tuple[int, int, Sequence[Value]]
"""Base offset, epoch, values: as `final` tells of a log."""


class _Replay:
    """The handlers of the trace's events: each brings the replica up to date, then calls the checkers that asked."""

    def __init__(self, checkers: Sequence[TraceChecker]) -> None:
        self.replicas = ReplayedReplicas()
        self._known = self.replicas.by_place.get
        self._holes = 0
        self._written: dict[tuple[str, int, int], _Written] = {}
        """Per partition, base offset and epoch the batch that was written there last."""
        self._recovered_to: dict[ReplayedReplica, int] = {}
        self._final_logs: dict[str, tuple[Sequence[_Batch], list[Record]]] = {}
        """Per partition the batches and records of a final log that was as the trace had told, and without gaps."""
        hooks: dict[str, list[Callable[..., None]]] = {name: [] for name in TraceChecker.moments()}
        for checker in checkers:
            for name in checker.wanted:
                hooks[name].append(getattr(checker, name))
        self._hooks = hooks
        self._append_hooks = hooks["on_append"]
        self._unlike_hooks = hooks["on_unlike"]
        self._misfit_hooks = hooks["on_misfit"]
        self._removed_hooks = hooks["on_removed"]
        self._log_start_hooks = hooks["on_log_start"]
        self._hw_beyond_hooks = hooks["on_hw_beyond"]
        self._differing_hooks = hooks["on_differing"]
        self._leader_hw_hooks = hooks["on_leader_hw"]
        self._any_hw_hooks = hooks["on_any_hw"]
        self._lead_hooks = hooks["on_lead"]
        self._fetched_hooks = hooks["on_fetched"]
        self._stop_hooks = hooks["on_stop"]
        self._elect_hooks = hooks["on_elect"]
        self._membership_hooks = hooks["on_membership"]
        self._own_isr_hooks = hooks["on_own_isr"]
        self._final_hooks = hooks["on_final"]
        self.begin_hooks = hooks["on_begin"]
        self.end_hooks = hooks["on_end"]

    def handlers(self) -> dict[str, Callable[[int, TraceEvent], None]]:
        """Event → what takes it in."""
        return {
            "append": self._append,
            "hw": self._hw,
            "truncate": self._truncate,
            "log-start": self._log_start,
            "recovered": self._recovered,
            "lead": self._lead,
            "follow": self._follow,
            "fetched": self._fetched,
            "start": self._start,
            "stop": self._stop,
            "reassign": self._reassign,
            "members": self._members,
            "removed": self._gone,
            "final": self._final,
            "elect": self._elect,
            "isr-change": self._tell("on_membership"),
            "register": self._tell("on_membership"),
            "isr": self._own_isr,
            "fatal": self._tell("on_fatal"),
            "converged": self._tell("on_converged"),
        }

    def _tell(self, name: str) -> Callable[[int, TraceEvent], None]:
        hooks = self._hooks[name]

        def tell(index: int, event: TraceEvent) -> None:
            for hook in hooks:
                hook(index, event)

        return tell

    def _append(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, base_offset, epoch, values = event
        replica = self._known((node, partition)) or self.replicas.at(node, partition)
        records = replica.records
        if base_offset != len(records) or (records and epoch < records[-1][0]):
            self._misfit(index, event, replica)
        written = self._written.get((partition, base_offset, epoch))
        if written is not None and written[0] == values and len(records) == base_offset:
            _, its_records, before, links = written
            chain = replica.chain
            records += its_records
            if chain[-1] == before:
                chain += links
            else:
                risen = chain[-1] - before
                chain += [link + risen for link in links]
        else:
            self._write(replica, base_offset, epoch, values)
        source = replica.source
        if source is not None:
            chain, its_chain = replica.chain, source.chain
            end = len(chain) - 1
            if end >= len(its_chain) or chain[end] != its_chain[end]:
                self._unlike(index, event, replica, source)
        else:
            for follower in replica.followers:
                if len(follower.records) > base_offset:
                    self._unlike(index, event, follower, replica)
        for hook in self._append_hooks:
            hook(index, event, replica)
        if self.replicas.differing:
            self._differing(index, event)

    def _unlike(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        for hook in self._unlike_hooks:
            hook(index, event, replica, leader)

    def _differing(self, index: int, event: TraceEvent) -> None:
        for hook in self._differing_hooks:
            hook(index, event)

    def _write(self, replica: ReplayedReplica, base_offset: int, epoch: int, values: Sequence[Value]) -> None:
        """A batch that no replica has written yet: the next one to do so need not work out its links again."""
        begin = len(replica.records)
        replica.extend(epoch, values)
        if begin == base_offset:
            chain = replica.chain
            self._written[replica.partition, base_offset, epoch] = (
                values, replica.records[begin:], chain[begin], chain[begin + 1 :],
            )  # fmt: skip

    def _misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        for hook in self._misfit_hooks:
            hook(index, event, replica)
        base_offset = event[4]
        if base_offset < len(replica.records):
            self._cut(index, replica, base_offset)
        else:
            self._fill(replica, base_offset)

    def _fill(self, replica: ReplayedReplica, to: int) -> None:
        self._holes += replica.fill_to(to)
        if self._holes > MOST_HOLES:
            raise TooSparseError(
                replica.node, f"the replicas' logs have {self._holes} offsets of which nothing is known"
            )

    def _cut(self, index: int, replica: ReplayedReplica, to: int) -> None:
        removal = replica.cut(index, to)
        if removal.records:
            for hook in self._removed_hooks:
                hook(index, replica, removal)

    def _hw(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, hw, _, is_leader = event
        replica = self._known((node, partition)) or self.replicas.at(node, partition)
        previous = replica.hw
        replica.hw = hw
        if is_leader:
            for hook in self._leader_hw_hooks:
                hook(index, event, replica, previous)
        for any_hook in self._any_hw_hooks:
            any_hook(index, event, replica)
        if hw > len(replica.records):
            for hook in self._hw_beyond_hooks:
                hook(index, event, replica)
        if self.replicas.differing:
            self._differing(index, event)

    def _truncate(self, index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        replica.unpair()
        self._cut(index, replica, event[4])
        replica.start = min(replica.start, event[4])
        replica.hw = min(replica.hw, event[4])

    def _log_start(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, start, _, how = event
        replica = self.replicas.at(node, partition)
        previous = replica.start
        if how == "begin-anew":
            self._cut(index, replica, start)
        replica.start = start
        if how == "begin-anew":
            self._fill(replica, start)
        elif how == "recovered":
            self._fill(replica, min(start, self._recovered_to.get(replica, 0)))
        for hook in self._log_start_hooks:
            hook(index, event, replica, previous)

    def _recovered(self, index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        replica.unpair()
        self._cut(index, replica, event[4])
        self._recovered_to[replica] = event[4]
        replica.start = 0
        replica.hw = event[5]

    def _lead(self, index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        replica.unpair()
        replica.leading = True
        replica.epoch = event[4]
        replica.hw_before = min(replica.hw, len(replica.records))
        replica.hw = event[6]
        for hook in self._lead_hooks:
            hook(index, event, replica)
        for follower in self.replicas.by_partition[event[3]]:
            waits = follower.waits
            if waits is not None and waits[0] is replica and waits[1][4] == event[4]:
                self._pair(index, (event[0], *waits[1][1:]), follower, replica)

    def _follow(self, _index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        replica.unpair()
        replica.leading = False
        replica.epoch = event[4]
        replica.hw = event[7]

    def _fetched(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, epoch, leader_node = event
        replica = self.replicas.at(node, partition)
        leader = self.replicas.at(leader_node, partition)
        if replica.leading or replica.epoch > epoch:
            return
        if leader.epoch < epoch and not leader.leading:
            replica.epoch = epoch
            replica.unpair()
            replica.waits = leader, event
        elif leader.leading and leader.epoch == epoch:
            self._pair(index, event, replica, leader)

    def _pair(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        replica.epoch = event[4]
        replica.unpair()
        replica.source = leader
        leader.followers.append(replica)
        for hook in self._fetched_hooks:
            hook(index, event, replica, leader)
        if self.replicas.differing:
            self._differing(index, event)

    def _elect(self, index: int, event: TraceEvent) -> None:
        for hook in (*self._elect_hooks, *self._membership_hooks):
            hook(index, event)

    def _own_isr(self, index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        for hook in self._own_isr_hooks:
            hook(index, event, replica)

    def _start(self, index: int, event: TraceEvent) -> None:
        for replica in self.replicas.by_node[event[1]]:
            replica.up = True
        for hook in self._membership_hooks:
            hook(index, event)

    def _stop(self, index: int, event: TraceEvent) -> None:
        for replica in self.replicas.by_node[event[1]]:
            replica.unpair()
            replica.leading = False
            replica.up = False
            until = NEVER if replica.assigned else index
            replica.stops.append(Stop(index, event[4], len(replica.records), until))
        for hook in (*self._stop_hooks, *self._membership_hooks):
            hook(index, event)

    def _members(self, index: int, event: TraceEvent) -> None:
        """A group's configuration is written, or known to be committed: from then on who is not in it is no replica."""
        partition, nodes, offset, epoch, committed = event[3:8]
        known = self.replicas.configurations.setdefault(partition, [])
        if offset >= 0 and all(one[:2] != (offset, epoch) for one in known):
            known.append((offset, epoch, nodes))
            known.sort(key=lambda one: one[:2])
        settled = self.replicas.settled
        if committed and (partition not in settled or offset >= settled[partition][0]):
            settled[partition] = offset, epoch, nodes
            self._reassign(index, event)

    def _reassign(self, index: int, event: TraceEvent) -> None:
        """Who is no replica any more owes nothing, from now on, whenever it hears of that."""
        for replica in self.replicas.by_partition[event[3]]:
            replica.assigned = replica.node in event[4]
            if not replica.assigned:
                replica.unpair()
                replica.stops = [stop._replace(until=min(stop.until, index)) for stop in replica.stops]

    def _gone(self, index: int, event: TraceEvent) -> None:
        """A replica was removed and its log deleted; should it come back, it begins as a new one."""
        replica = self.replicas.at(event[1], event[3])
        replica.unpair()
        replica.leading = False
        replica.epoch = -1
        self._cut(index, replica, 0)
        replica.start = 0
        replica.hw = 0

    def _final(self, index: int, event: TraceEvent) -> None:
        replica = self.replicas.at(event[1], event[3])
        replica.final = event
        known = self._final_logs.get(event[3])
        if known is None or known[0] != event[9] or known[1] != replica.records:
            self._end_with(index, event, replica)
        for hook in self._final_hooks:
            hook(index, event, replica)

    def _end_with(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """Make the replica's log the one that it says it ended with."""
        leo, batches = event[6], event[9]
        holes = self._holes
        begin = batches[0][0] if batches else min(leo, replica.start)
        records = replica.records[:begin]
        for base, epoch, values in batches:
            self._holes += max(0, base - len(records))
            if self._holes > MOST_HOLES:
                raise TooSparseError(
                    replica.node,
                    f"the final log of broker {replica.node} for {replica.partition} goes on at offset {base}, far beyond what is "
                    "known of it",
                )
            records += [HOLE] * (base - len(records))
            written = self._written.get((replica.partition, base, epoch))
            if written is not None and written[0] == values:
                records += written[1]
            else:
                records += [(epoch, value) for value in values]
        if records != replica.records:
            same = 0
            for one, other in zip(records, replica.records, strict=False):
                if one != other:
                    break
                same += 1
            self._cut(index, replica, same)
            for epoch, value in records[same:]:
                replica.extend(epoch, (value,))
        elif batches and holes == self._holes:
            self._final_logs[replica.partition] = batches, records


def replay(trace: Sequence[TraceEvent], checkers: Sequence[TraceChecker] = ()) -> ReplayedReplicas:
    """Replay `trace` once, telling `checkers` what happens; returns the replicas as they are in the end.

    Events that this module does not know are ignored.
    """
    run = _Replay(checkers)
    for hook in run.begin_hooks:
        hook(run.replicas)
    find = run.handlers().get
    for index, event in enumerate(trace):
        handler = find(event[2])
        if handler is not None:
            handler(index, event)
    for hook in run.end_hooks:
        hook(len(trace), run.replicas)
    return run.replicas


def replay_before(trace: Sequence[TraceEvent], moments: Iterable[int]) -> Iterator[tuple[int, ReplayedReplicas]]:
    """Replay `trace`, and give the replicas as they are before each event whose index is in `moments`; the end's is its length."""
    run = _Replay(())
    find = run.handlers().get
    begin = 0
    for moment in sorted(moments):
        for index in range(begin, moment):
            event = trace[index]
            handler = find(event[2])
            if handler is not None:
                handler(index, event)
        begin = moment
        yield moment, run.replicas
