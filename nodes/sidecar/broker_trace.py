"""From a broker's log lines to the node's trace: typed events in, trace entries (docs/history.md) and the replicas' state out.

Entries stand in the order of the lines, with the times at which the lines came.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tidemark.nodes.admin.trace_file import Entry
from tidemark.nodes.formats.record_batch import read_header
from tidemark.nodes.sidecar import line_events as e
from tidemark.nodes.sidecar.quorum_place import QuorumPlace
from tidemark.nodes.sidecar.replica_status import FOLLOWER, LEADER, NO_LEADER, ReplicaStatus

if TYPE_CHECKING:
    from tidemark.nodes.sidecar.segment_tail import SegmentTail

log = logging.getLogger(__name__)

_ANY_EPOCH = 1 << 31
_FIRST_OFFSET = re.compile(r"[Ff]irst offset:? (?:Some\()?(\d+)")


class Seen(NamedTuple):
    """An event, and when its line came (µs)."""

    at: int
    event: e.Event


class BrokerTrace:
    """Tells one life of a broker.

    Args:
        node: its id.
        partitions: those that are told of.
        tail: makes the tail of a partition's log files.
        checkpointed: partition → high watermark that was on the disk when this life began.
        aside: partition → the log directory that has failed, if it holds a log of the partition; else empty.

    Attributes:
        replicas: partition → what is known of it.
        tails: partition → its log files, once its log was loaded.
        broker_epoch: of this incarnation, −1 before it is registered, or if no line tells.
        started: whether the broker serves.
        shutting_down, shut_down: whether an orderly shutdown began, and came to its end.
        last_words: why the broker gave up; empty if it did not say.
        quorum: the node's place in a quorum of controllers.
    """

    def __init__(
        self,
        node: int,
        partitions: Sequence[str],
        tail: Callable[[str], SegmentTail],
        checkpointed: Mapping[str, int],
        aside: Callable[[str], str] = lambda _partition: "",
    ) -> None:
        """Nothing has happened."""
        self.node = node
        self.replicas: dict[str, ReplicaStatus] = {}
        self.tails: dict[str, SegmentTail] = {}
        self.broker_epoch = -1
        self.started = False
        self.shutting_down = False
        self.shut_down = False
        self.last_words = ""
        self.quorum = QuorumPlace()
        self._partitions = frozenset(partitions)
        self._make_tail = tail
        self._checkpointed = dict(checkpointed)
        self._aside = aside

    def look(self) -> None:
        """Look at the log files; to be called often."""
        for tail in self.tails.values():
            tail.look()

    def tell(self, seen: Sequence[Seen]) -> list[Entry]:
        """The trace of events that came together: everything that could be read, so that no older line is outstanding."""
        self._find_logs(seen)
        entries: list[Entry] = []
        for i, (at, event) in enumerate(seen):
            if isinstance(event, _OF_THE_NODE):
                self._node_event(event)
                if isinstance(event, e.QuorumRole) and event.leads:
                    entries.append((at, self.node, "controls", "", event.epoch))
                elif isinstance(event, e.VotersRead):
                    entries.append((at, self.node, "voters-read", "", event.offset, event.voters))
                elif isinstance(event, e.LogDirOffline):
                    entries.append((at, self.node, "log-dir", "", event.directory.rpartition("/")[2], "offline"))
                continue
            name = event.partition
            if name not in self._partitions:
                continue
            state = self.replicas.setdefault(name, ReplicaStatus())
            if isinstance(event, e.Appended):
                cut_follows = any(_cuts(later.event, event) for later in seen[i + 1 :])
                fields = self._appended(state, event, cut_follows=cut_follows)
            else:
                fields = _TOLD[type(event)](self, state, event)
            entries += [(at, self.node, field[0], name, *field[1:]) for field in fields]
        return entries

    def _find_logs(self, seen: Sequence[Seen]) -> None:
        """Begin to read the files of logs that were loaded, and look at all files: the lines are older than what is in them."""
        for _, event in seen:
            if (
                isinstance(event, e.Loaded)
                and event.partition in self._partitions
                and event.partition not in self.tails
            ):
                self.tails[event.partition] = self._make_tail(event.partition)
        self.look()

    def _node_event(self, event: e.Event) -> None:
        match event:
            case e.Started():
                self.started = True
            case e.Registered(epoch):
                self.broker_epoch = max(epoch, self.broker_epoch)
            case e.ShuttingDown():
                self.shutting_down = True
            case e.ShutDown():
                self.shut_down = True
            case e.QuorumRole(epoch, leads):
                self.quorum.epoch, self.quorum.leads = epoch, leads
            case e.MetadataCommitted(hw):
                self.quorum.hw = max(hw, self.quorum.hw)
            case e.Fatal(words):
                self.last_words = self.last_words or words

    # Events of a replica: each gives what is to be traced, (event, *fields)

    def _appended(self, state: ReplicaStatus, event: e.Appended, *, cut_follows: bool) -> list[_Fields]:
        state.leo = event.next
        state.refused = ""
        tail = self.tails.get(event.partition)
        newest = state.leader_epoch if state.leader_epoch >= 0 else _ANY_EPOCH
        batches = None
        if tail is not None:
            batches = tail.claim(event.first, event.next, newest_epoch=newest, cut_follows=cut_follows)
        if batches is None:
            log.warning(
                "%s: offsets %d to %d were cut before they could be read", event.partition, event.first, event.next
            )
            return []
        headers = [read_header(raw) for raw in batches]
        return [("append", h.base_offset, h.leader_epoch, raw) for h, raw in zip(headers, batches, strict=True)]

    def _loaded(self, state: ReplicaStatus, event: e.Loaded) -> list[_Fields]:
        state.loaded = True
        state.start, state.leo = event.start, event.leo
        state.hw = max(min(self._checkpointed.get(event.partition, 0), event.leo), event.start)
        self.tails[event.partition].loaded(event.leo)
        start = [("log-start", event.start, 0, "recovered")] if event.start else []
        aside = self._aside(event.partition) if not event.leo else ""
        anew = [("log-lost", aside)] if aside else []  # it begins anew in a directory that works
        return [*anew, ("recovered", event.leo, state.hw, -1), *start]

    def _log_start(self, state: ReplicaStatus, event: e.LogStart) -> list[_Fields]:
        before, state.start = state.start, event.start
        return [("log-start", event.start, before, event.how)] if event.start != before else []

    def _removed(self, state: ReplicaStatus, event: e.Removed) -> list[_Fields]:
        """The log's files are out of the way; a replica that is made later has others."""
        del self.replicas[event.partition]
        tail = self.tails.get(event.partition)
        if tail is not None:
            tail.close()
            self.tails[event.partition] = self._make_tail(event.partition)
        return [("removed", state.leo, state.leader_epoch)]

    def _truncated(self, state: ReplicaStatus, event: e.Truncated) -> list[_Fields]:
        """Kafka goes on at the offset it was told, also where that lies in a batch, and so behind the end of its records."""
        old = state.leo
        state.start = min(state.start, event.to)
        end = self._cut(state, event.partition, event.to)
        epoch = event.leader_epoch if event.leader_epoch >= 0 else state.leader_epoch
        hole = [("hole", end, event.to)] if end < event.to else []
        return [("truncate", event.to, old, event.reason, epoch), *hole] if event.to < old else []

    def _truncated_fully(self, state: ReplicaStatus, event: e.TruncatedFully) -> list[_Fields]:
        """All records are gone, also where the log goes on at a later offset than 0."""
        old, before = state.leo, state.start
        to = before if event.start else 0
        self._cut(state, event.partition, 0)
        state.start = state.leo = event.start
        told: list[_Fields] = [("truncate", to, old, event.reason, state.leader_epoch)] if to < old else []
        if event.start and (told or event.start != before):
            told.append(("log-start", event.start, before, "begin-anew"))
        return told

    def _cut(self, state: ReplicaStatus, partition: str, to: int) -> int:
        """Gives where the records end."""
        state.leo = to
        state.hw = min(state.hw, to)
        tail = self.tails.get(partition)
        return to if tail is None else tail.cut(to)

    def _high_watermark(self, state: ReplicaStatus, event: e.HighWatermark) -> list[_Fields]:
        if event.hw == state.hw:
            return []
        state.hw = event.hw
        leads = event.is_leader if event.is_leader is not None else state.role == LEADER
        return [("hw", event.hw, state.leader_epoch, leads)]

    def _leads(self, state: ReplicaStatus, event: e.Leads) -> list[_Fields]:
        anew = (state.role, state.leader_epoch) != (LEADER, event.leader_epoch)
        state.role, state.leader, state.leader_epoch = LEADER, self.node, event.leader_epoch
        state.isr = state.maximal = event.isr
        state.refused = ""
        if event.leo >= 0:
            state.leo = event.leo
        if event.hw >= 0:
            state.hw = event.hw
        return [("lead", event.leader_epoch, state.leo, state.hw, event.isr)] if anew else []

    def _follows(self, state: ReplicaStatus, event: e.Follows) -> list[_Fields]:
        role = FOLLOWER if event.leader >= 0 else NO_LEADER
        anew = (state.role, state.leader, state.leader_epoch) != (role, event.leader, event.leader_epoch)
        state.role, state.leader, state.leader_epoch = role, event.leader, event.leader_epoch
        state.isr = state.maximal = ()
        state.refused = ""
        if event.leo >= 0:
            state.leo = event.leo
        if event.hw >= 0:
            state.hw = event.hw
        return [("follow", event.leader_epoch, event.leader, state.leo, state.hw)] if anew else []

    def _fetched(self, state: ReplicaStatus, event: e.Fetched) -> list[_Fields]:
        state.refused = ""
        if event.leader != state.leader or state.fetched_epoch == state.leader_epoch:
            return []
        state.fetched_epoch = state.leader_epoch
        return [("fetched", state.leader_epoch, event.leader)]

    def _isr_view(self, state: ReplicaStatus, event: e.IsrView) -> list[_Fields]:
        same = (state.isr, state.maximal) == (event.isr, event.maximal)
        state.isr, state.maximal = event.isr, event.maximal
        if event.partition_epoch >= 0:
            state.partition_epoch = event.partition_epoch
        return [] if same else [("isr", event.isr, event.maximal, state.partition_epoch)]

    def _asked(self, _state: ReplicaStatus, event: e.Asked) -> list[_Fields]:
        return [("ask", event.leader, event.epoch)]

    def _answered(self, _state: ReplicaStatus, event: e.Answered) -> list[_Fields]:
        return [("answer", event.asked, event.offset, event.epoch, event.end)]

    def _refused(self, state: ReplicaStatus, event: e.Refused) -> list[_Fields]:
        state.refused = event.words
        found = _FIRST_OFFSET.search(event.words)
        return [("out-of-order", int(found[1]), state.leo)] if found else []


_Fields = tuple[object, ...]
"""``(event, *fields)`` of a trace entry, without time, node and partition."""

_OF_THE_NODE = (
    e.Started,
    e.Registered,
    e.ShuttingDown,
    e.ShutDown,
    e.Fatal,
    e.QuorumRole,
    e.MetadataCommitted,
    e.VotersRead,
    e.LogDirOffline,
)

_TOLD: dict[type, Callable[..., list[_Fields]]] = {
    e.Loaded: BrokerTrace._loaded,  # noqa: SLF001 (this module's own)
    e.Removed: BrokerTrace._removed,  # noqa: SLF001
    e.Truncated: BrokerTrace._truncated,  # noqa: SLF001
    e.TruncatedFully: BrokerTrace._truncated_fully,  # noqa: SLF001
    e.LogStart: BrokerTrace._log_start,  # noqa: SLF001
    e.HighWatermark: BrokerTrace._high_watermark,  # noqa: SLF001
    e.Leads: BrokerTrace._leads,  # noqa: SLF001
    e.Follows: BrokerTrace._follows,  # noqa: SLF001
    e.Fetched: BrokerTrace._fetched,  # noqa: SLF001
    e.IsrView: BrokerTrace._isr_view,  # noqa: SLF001
    e.Asked: BrokerTrace._asked,  # noqa: SLF001
    e.Answered: BrokerTrace._answered,  # noqa: SLF001
    e.Refused: BrokerTrace._refused,  # noqa: SLF001
}


def _cuts(event: e.Event, appended: e.Appended) -> bool:
    """Whether an event takes away something of what was appended."""
    if isinstance(event, e.Truncated):
        return event.partition == appended.partition and event.to < appended.next
    return isinstance(event, e.TruncatedFully | e.Removed) and event.partition == appended.partition
