"""One pass over the replicas' trace: what every replica held, believed and lost, at every moment.

A long file, since it is one idea: a method for each event that changes what a replica holds, in one loop that must be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.checkers.replicas.replayed_replica import (
    HOLE,
    MOST_HOLES,
    NEVER,
    ON_PURPOSE,
    LogAtStop,
    Record,
    ReplayedReplica,
    ReplayedReplicas,
    TooSparseError,
)
from tidemark.checkers.replicas.trace_checker import TraceChecker

_Written = tuple[Sequence[Value], list[Record], int, list[int]]
"""A batch: its values, the records they make, the link of a chain before it, and the links that it adds there."""


_Batch = tuple[int, int, Sequence[Value]]
"""Base offset, epoch, values: as `final` tells of a log."""


class _Replay:
    """The handlers of the trace's events: each brings the replica up to date, then calls the checkers that asked."""

    def __init__(self, checkers: Sequence[TraceChecker]) -> None:
        self.replicas = ReplayedReplicas()
        self._known, self._differing = self.replicas.by_place.get, self.replicas.differing
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
        self._leader_hw_hooks = hooks["on_leader_hw"]
        self._any_hw_hooks = hooks["on_any_hw"]

    def handlers(self) -> dict[str, Callable[[int, TraceEvent], None]]:
        """Event → what takes it in."""
        return {
            "append": self._append,
            "hw": self._hw,
            "truncate": self._truncate,
            "hole": self._hole,
            "log-start": self._log_start,
            "recovered": self._recovered,
            "epochs": self._epochs,
            "lead": self._lead,
            "follow": self._follow,
            "fetched": self._fetched,
            "start": self._start,
            "stop": self._stop,
            "log-lost": self._log_lost,
            "reassign": lambda index, event: self._assign(index, trace_events.Reassign(event)),
            "members": self._members,
            "removed": self._removed,
            "final": self._final,
            "elect": self._elect,
            "isr-change": self._told_of("on_membership", trace_events.IsrChange),
            "register": self._told_of("on_membership", trace_events.Register),
            "isr": self._own_isr,
            "fatal": self._told_of("on_fatal", trace_events.Fatal),
            "converged": self._told_of("on_converged", trace_events.Converged),
        }

    def tell(self, moment: str, *told: object) -> None:
        """Call whoever asked for a moment that is rare enough to look them up."""
        for hook in self._hooks[moment]:
            hook(*told)

    def _told_of(self, moment: str, kind: type[trace_events.Event]) -> Callable[[int, TraceEvent], None]:
        hooks = self._hooks[moment]

        def tell(index: int, event: TraceEvent) -> None:
            told = kind(event)
            for hook in hooks:
                hook(index, told)

        return tell

    def _append(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, base_offset, epoch, values = event
        replica = self._known((node, partition)) or self.replicas.at(node, partition)
        records = replica.records
        if base_offset != len(records) or (records and epoch < records[-1][0]):
            self._misfit(index, event, replica, base_offset)
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
                for unlike in self._unlike_hooks:
                    unlike(index, event, replica, source)
        else:
            for follower in replica.followers:
                if len(follower.records) > base_offset:
                    for unlike in self._unlike_hooks:
                        unlike(index, event, follower, replica)
        for hook in self._append_hooks:
            hook(index, event, replica)
        if self._differing:
            self.tell("on_differing", index, event)

    def _write(self, replica: ReplayedReplica, base_offset: int, epoch: int, values: Sequence[Value]) -> None:
        """A batch that no replica has written yet: the next one to do so need not work out its links again."""
        begin = len(replica.records)
        replica.extend(epoch, values)
        if begin == base_offset:
            chain = replica.chain
            self._written[replica.partition, base_offset, epoch] = (
                values, replica.records[begin:], chain[begin], chain[begin + 1 :],
            )  # fmt: skip

    def _misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica, base_offset: int) -> None:
        self.tell("on_misfit", index, event, replica)
        if base_offset < len(replica.records):
            self._cut(index, replica, base_offset)
        else:
            self._fill(replica, base_offset)

    def _fill(self, replica: ReplayedReplica, to: int) -> None:
        holes = replica.fill_to(to)
        self._holes += holes
        if holes and to <= self.replicas.deleted.get(replica.partition, 0):
            replica.deleted_hole = to
        if self._holes > MOST_HOLES:
            raise TooSparseError(
                replica.node, f"the replicas' logs have {self._holes} offsets of which nothing is known"
            )

    def _cut(self, index: int, replica: ReplayedReplica, to: int) -> None:
        removal = replica.cut(index, to)
        if removal.records:
            self.tell("on_removed", index, replica, removal)

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
            self.tell("on_hw_beyond", index, event, replica)
        if self._differing:
            self.tell("on_differing", index, event)

    def _truncate(self, index: int, event: TraceEvent) -> None:
        cut = trace_events.Truncate(event)
        replica = self.replicas.at(cut.node, cut.partition)
        replica.unpair()
        self._cut(index, replica, cut.to)
        replica.start = min(replica.start, cut.to)
        replica.hw = min(replica.hw, cut.to)

    def _hole(self, index: int, event: TraceEvent) -> None:
        hole = trace_events.Hole(event)
        replica = self.replicas.at(hole.node, hole.partition)
        removal = replica.cut_inside_a_batch(index, hole.begin)
        self._fill(replica, hole.leo)
        if removal.records:
            self.tell("on_removed", index, replica, removal)
        self.tell("on_hole", index, hole, replica)

    def _log_start(self, index: int, event: TraceEvent) -> None:
        moved = trace_events.LogStart(event)
        replica = self.replicas.at(moved.node, moved.partition)
        previous = replica.start
        if moved.how == "begin-anew":
            self._cut(index, replica, moved.start)
        replica.start = moved.start
        if moved.how in ON_PURPOSE:
            deleted = self.replicas.deleted
            deleted[moved.partition] = max(deleted.get(moved.partition, 0), min(moved.start, replica.hw))
        if moved.how == "begin-anew":
            self._fill(replica, moved.start)
        elif moved.how == "recovered":
            self._fill(replica, min(moved.start, self._recovered_to.get(replica, 0)))
        self.tell("on_log_start", index, moved, replica, previous)

    def _recovered(self, index: int, event: TraceEvent) -> None:
        recovered = trace_events.Recovered(event)
        replica = self.replicas.at(recovered.node, recovered.partition)
        replica.unpair()
        self._cut(index, replica, recovered.leo)
        self._recovered_to[replica] = recovered.leo
        replica.start = 0
        replica.hw = recovered.hw

    def _epochs(self, index: int, event: TraceEvent) -> None:
        epochs = trace_events.Epochs(event)
        self.tell("on_epochs", index, epochs, self.replicas.at(epochs.node, epochs.partition))

    def _lead(self, index: int, event: TraceEvent) -> None:
        lead = trace_events.Lead(event)
        replica = self.replicas.at(lead.node, lead.partition)
        replica.unpair()
        replica.leading = True
        replica.epoch = lead.leader_epoch
        replica.hw_before = min(replica.hw, len(replica.records))
        replica.hw = lead.hw
        everyone = self.replicas.by_partition[lead.partition]
        if len(replica.records) < self.replicas.deleted.get(lead.partition, 0) and all(
            one.epoch <= lead.leader_epoch
            for one in everyone  # a reign that others have deposed begins nothing
        ):
            self.replicas.deleted[lead.partition] = len(replica.records)
        self.tell("on_lead", index, lead, replica)
        for follower in everyone:
            if follower.waits is not None:
                leader, fetched = follower.waits
                if leader is replica and fetched.leader_epoch == lead.leader_epoch:
                    self._pair(index, trace_events.Fetched((lead.time, *fetched[1:])), follower, replica)

    def _follow(self, _index: int, event: TraceEvent) -> None:
        _, node, _, partition, epoch, _, _, hw = event
        replica = self.replicas.at(node, partition)
        replica.unpair()
        replica.leading = False
        replica.epoch, replica.hw = epoch, hw

    def _fetched(self, index: int, event: TraceEvent) -> None:
        _, node, _, partition, epoch, leads = event
        replica = self.replicas.at(node, partition)
        leader = self.replicas.at(leads, partition)
        if replica.leading or replica.epoch > epoch:
            return
        if leader.epoch < epoch and not leader.leading:
            replica.epoch = epoch
            replica.unpair()
            replica.waits = leader, trace_events.Fetched(event)
        elif leader.leading and leader.epoch == epoch:
            self._pair(index, trace_events.Fetched(event), replica, leader)

    def _pair(
        self, index: int, fetched: trace_events.Fetched, replica: ReplayedReplica, leader: ReplayedReplica
    ) -> None:
        replica.epoch = fetched.leader_epoch
        replica.unpair()
        replica.source = leader
        leader.followers.append(replica)
        self.tell("on_fetched", index, fetched, replica, leader)
        if self._differing:
            self.tell("on_differing", index, fetched)

    def _elect(self, index: int, event: TraceEvent) -> None:
        elect = trace_events.Elect(event)
        self.tell("on_elect", index, elect)
        self.tell("on_membership", index, elect)

    def _own_isr(self, index: int, event: TraceEvent) -> None:
        isr = trace_events.Isr(event)
        self.tell("on_own_isr", index, isr, self.replicas.at(isr.node, isr.partition))

    def _start(self, index: int, event: TraceEvent) -> None:
        start = trace_events.Start(event)
        for replica in self.replicas.by_node[start.node]:
            replica.up = True
        self.tell("on_membership", index, start)

    def _stop(self, index: int, event: TraceEvent) -> None:
        stop = trace_events.Stop(event)
        for replica in self.replicas.by_node[stop.node]:
            replica.unpair()
            replica.leading = False
            replica.up = False
            until = NEVER if replica.assigned else index
            replica.stops.append(LogAtStop(index, stop.how, len(replica.records), until))
        self.tell("on_stop", index, stop)
        self.tell("on_membership", index, stop)

    def _log_lost(self, index: int, event: TraceEvent) -> None:
        """This replica has lost what one has whose broker has lost its disk; the broker's others have not."""
        lost = trace_events.LogLost(event)
        replica = self.replicas.at(lost.node, lost.partition)
        until = NEVER if replica.assigned else index
        replica.stops.append(LogAtStop(index, "disk", len(replica.records), until))

    def _members(self, index: int, event: TraceEvent) -> None:
        """A group's configuration is written, or known to be committed: from then on who is not in it is no replica."""
        told = trace_events.Members(event)
        place = told.offset, told.epoch
        known = self.replicas.configurations.setdefault(told.partition, [])
        if told.offset >= 0 and all(one[:2] != place for one in known):
            known.append((*place, told.replicas))
            known.sort(key=lambda one: one[:2])
        settled = self.replicas.settled
        if told.committed and (told.partition not in settled or told.offset >= settled[told.partition][0]):
            settled[told.partition] = *place, told.replicas
            self._assign(index, told)

    def _assign(self, index: int, told: trace_events.Members | trace_events.Reassign) -> None:
        """Who is no replica any more owes nothing, from now on, whenever it hears of that."""
        self.replicas.assigned[told.partition] = told.replicas
        for replica in self.replicas.by_partition[told.partition]:
            replica.assigned = replica.node in told.replicas
            if not replica.assigned:
                replica.unpair()
                replica.stops = [stop._replace(until=min(stop.until, index)) for stop in replica.stops]

    def _removed(self, index: int, event: TraceEvent) -> None:
        """A replica was removed and its log deleted; should it come back, it begins as a new one."""
        removed = trace_events.Removed(event)
        replica = self.replicas.at(removed.node, removed.partition)
        replica.unpair()
        replica.leading = False
        replica.epoch = -1
        self._cut(index, replica, 0)
        replica.start = 0
        replica.hw = 0

    def _final(self, index: int, event: TraceEvent) -> None:
        final = trace_events.Final(event)
        replica = self.replicas.at(final.node, final.partition)
        replica.final = final
        known = self._final_logs.get(final.partition)
        if known is None or known[0] != final.batches or known[1] != replica.records:
            self._end_with(index, final, replica)
        self.tell("on_final", index, final, replica)

    def _end_with(self, index: int, final: trace_events.Final, replica: ReplayedReplica) -> None:
        """Make the replica's log the one that it says it ended with."""
        batches, holes = final.batches, self._holes
        begin = batches[0][0] if batches else min(final.leo, replica.start)
        records = replica.records[:begin]
        for base, epoch, values in batches:
            missing = base - len(records)
            if missing > 0:
                self._holes += missing
                if self._holes > MOST_HOLES:
                    raise TooSparseError(
                        replica.node,
                        f"the final log of broker {replica.node} for {replica.partition} goes on at offset {base}, far beyond "
                        "what is known of it",
                    )
                records += [HOLE] * missing
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
    run.tell("on_begin", run.replicas)
    find = run.handlers().get
    for index, event in enumerate(trace):
        handler = find(event[2])
        if handler is not None:
            handler(index, event)
    run.tell("on_end", len(trace), run.replicas)
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
