"""One partition's replica: log, epoch cache, high watermark, and the change of roles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import BeginAt, DropBefore, Sync, Truncate, WriteEpochs
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.follower import Following
from tidemark.nodes.core.leader import Leadership
from tidemark.nodes.core.log import Batch, Log
from tidemark.nodes.core.roles import TABLE, Cell, Event, Role, TransitionError

if TYPE_CHECKING:
    from tidemark.nodes.core.broker import Broker
    from tidemark.nodes.core.events import RetentionDue
    from tidemark.nodes.core.messages import AlterPartition, LeaderAndIsr
    from tidemark.nodes.core.recovery import RecoveredPartition

Handler = Callable[[int, Any], Any]


def _ignore(now: int, m: object) -> None:
    """What a role does with what does not concern it."""


STEPS = {name: attrgetter(name) for cells in TABLE.values() for cell in cells.values() for name in cell.does}
"""Name of a step → what finds it in a replica."""
OFTEN = (Event.FETCH, Event.EPOCH_REQUEST, Event.PRODUCE, Event.CONSUME, Event.RECORDS, Event.TICK)
"""Events that happen so often that what a role does with them is looked up beforehand, and not each time."""
ITS_BROKERS, ITS_OWN = (
    {
        role: [
            (event.value, cell, STEPS[cell.does[0]] if cell.does else lambda _: _ignore)
            for event, cell in cells.items()
            if event in OFTEN and shared == (not cell.then and all(name.startswith("broker.") for name in cell.does))
        ]
        for role, cells in TABLE.items()
    }
    for shared in (True, False)
)
"""Role → event, cell, and what finds its one step. What a replica's broker does, or nobody, is the same for all its replicas."""


class Replica:
    """State of one replica; what it does with an event depends on its role (:mod:`tidemark.nodes.core.roles`).

    It is also the :class:`~tidemark.nodes.core.truncation.LogView` that a truncation rule sees.

    Attributes:
        role: what it is doing. on: event that happens often → what this role does with it, given the time and the message.
        leading: its term, while it leads. following: its leader and the request that is out, while it follows.
    """

    role: Role
    on: dict[str, Handler]

    def __init__(self, broker: Broker, name: str, recovered: RecoveredPartition | None) -> None:
        """Begin with what recovery left, knowing no leader."""
        self.broker = broker
        self.name = name
        self.node_id = broker.node_id
        self.variant = broker.variant
        self.settings = broker.settings
        self.out = broker.out
        self.rule = self.variant.rule_of(broker.node_id)
        self._keeps_epochs = self.rule.keeps_epochs
        self.epoch_in_fetch = self.rule.epoch_in_fetch
        self.hw_at_log_end = self.rule.hw_at_log_end
        self._empty_epochs_stay = "KAFKA-10706" in self.variant.bugs
        variant = self.variant
        self._isr_changes_within_epoch = variant.metadata_log or variant.elr or not variant.shrink_raises_epoch
        self.log = Log(list(recovered.batches), recovered.start, recovered.leo) if recovered else Log()
        self.cache = self.rule.epoch_cache(
            recovered.epochs if recovered else (), epoch_on_lead=self.variant.epoch_on_lead
        )
        self.hw = recovered.hw if recovered else 0
        self.leader_epoch = -1
        self.leader = -1
        self.last_leader = -1
        """The last real leader; −1 does not overwrite it (KAFKA-7164 compares ids)."""
        self.partition_epoch = -1
        self.isr_request: AlterPartition | None = None
        """What this broker asks the controller, in whatever reign (KAFKA-12686; else it is a leader's own affair)."""
        self.leading: Leadership | None = None
        self.following: Following | None = None
        self.correlation = broker.incarnation << 32
        """Number of the last request. Requests of two processes of one broker never share one: an answer may outlive the
        process that asked."""
        self._handlers: dict[Role, dict[str, Handler]] = {}
        self._enter(Role.NO_LEADER)

    # LogView

    @property
    def leo(self) -> int:
        """Log end offset."""
        return self.log.leo

    @property
    def latest_epoch(self) -> int:
        """Latest epoch in the cache, −1 if there is none."""
        return self.cache.latest

    @property
    def epochs(self) -> tuple[tuple[int, int], ...]:
        """All (epoch, start offset) pairs of the cache, oldest first."""
        return self.cache.entries()

    @property
    def answers(self) -> int:
        """How many of its questions in this leader epoch were answered."""
        return self.following.answers if self.following else 0

    def end_offset_for(self, epoch: int) -> EpochEnd:
        """Where ``epoch`` ends in this log."""
        return self.cache.end_offset_for(epoch, self.log.leo)

    # Shared by both roles

    def note_epoch(self, batch: Batch) -> None:
        """Keep the epoch cache in step with an appended batch (the write to disk is only asked for when it changed)."""
        if self._keeps_epochs and self.cache.assign(batch.epoch, batch.base):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))

    def follow_hw(self, now: int, leader_hw: int) -> None:
        """A follower's HW is the leader's, but neither beyond its own log end nor below its log start; it may go back."""
        log = self.log
        hw = leader_hw if log.start <= leader_hw <= log.leo else max(min(leader_hw, log.leo), log.start)
        if hw != self.hw:
            self.hw = hw
            self.out.append((now, self.node_id, "hw", self.name, hw, self.leader_epoch, False))

    def cut(self, now: int, offset: int, why: str) -> None:
        """Truncate the log, the epoch cache and the high watermark to ``offset``, also where the records end before it."""
        before, start = self.log.leo, self.log.start
        records_end = self.log.truncate(offset)
        if self.variant.cut_ends_at_batch:
            self.log.truncate(records_end)
        after = self.log.leo
        if self.log.start < start and self.variant.log_start_with_cut:
            self.broker.checkpoint_log_starts()
        if after < before:
            self.out.append(Truncate(self.name, records_end))
            self.out.append((now, self.node_id, "truncate", self.name, after, before, why, self.leader_epoch))
            if records_end < after:
                self.out.append((now, self.node_id, "hole", self.name, records_end, after))
        if (after < before or not self._empty_epochs_stay) and self.cache.truncate_from_end(after):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))
        if self.hw > after:
            self.hw = after
            self.out.append((now, self.node_id, "hw", self.name, after, self.leader_epoch, False))

    # Log start

    def advance_start(self, now: int, offset: int, how: str) -> None:
        """Move the log start up, and the epoch cache with it (``UnifiedLog.maybeIncrementLogStartOffset``); never back.

        Args:
            now: the time.
            offset: at most the high watermark.
            how: as the trace has it (docs/history.md).
        """
        before = self.log.start
        if offset > before:
            self.log.start = offset
            self.out.append((now, self.node_id, "log-start", self.name, offset, before, how))
            if self.variant.log_start_first:
                self.broker.checkpoint_log_starts()
            if self.cache.truncate_from_start(offset):
                self.out.append(WriteEpochs(self.name, self.cache.entries()))

    def begin_at(self, now: int, offset: int, why: str) -> None:
        """Drop the whole log and begin anew at ``offset`` (``UnifiedLog.truncateFullyAndStartAt``).

        The high watermark is ``offset`` then. Before KAFKA-9491 it stayed, if it was lower.
        """
        log = self.log
        start, leo = log.start, log.leo
        log.begin_at(offset)
        if offset < start and self.variant.log_start_with_cut:
            self.broker.checkpoint_log_starts()
        self.out.append(BeginAt(self.name, offset))
        if leo > start:
            self.out.append((now, self.node_id, "truncate", self.name, start, leo, why, self.leader_epoch))
        self.out.append((now, self.node_id, "log-start", self.name, offset, start, "begin-anew"))
        if self.cache.clear():
            self.out.append(WriteEpochs(self.name, ()))
        hw = min(self.hw, offset) if "KAFKA-9491" in self.variant.bugs else offset
        if hw != self.hw:
            self.hw = hw
            self.out.append((now, self.node_id, "hw", self.name, hw, self.leader_epoch, False))

    def drop_oldest(self, now: int, m: RetentionDue) -> None:
        """Delete the oldest batches, as far as they lie below the high watermark (``UnifiedLog.deleteOldSegments``).

        Before KAFKA-5634 nobody looked at that.
        """
        limit = self.log.leo if "KAFKA-5634" in self.variant.bugs else self.hw
        gone = [batch for batch in self.log.batches[: m.batches] if batch.end <= limit]
        if gone:
            end = gone[-1].end
            self.advance_start(now, end, "retention")
            self.log.drop(end)
            self.out.append(DropBefore(self.name, end))

    # Roles

    def on_leader_and_isr(self, now: int, m: LeaderAndIsr) -> None:
        """Take the controller's word, unless it is older than what is known.

        ZooKeeper's controller raises the leader epoch with every change of its own, and brokers look at nothing else
        (``ReplicaManager.becomeLeaderOrFollower``, to 2.8). Where a variant has it make changes without one, they must.
        """
        if m.leader_epoch > self.leader_epoch:
            self.happens(self._elected(m), now, m)
        elif (
            m.leader_epoch == self.leader_epoch
            and m.partition_epoch > self.partition_epoch
            and self._isr_changes_within_epoch
        ):
            self.happens(Event.NEW_STATE, now, m)

    def _elected(self, m: LeaderAndIsr) -> Event:
        if m.leader == self.node_id:
            return Event.ELECTED if self.leading is None else Event.ELECTED_AGAIN
        if m.leader < 0:
            return Event.NOBODY_ELECTED
        if m.leader == self.last_leader and not self.variant.restart_on_epoch:
            return Event.SAME_LEADER
        return Event.OTHER_ELECTED

    def happens(self, event: Event, now: int, m: object) -> None:
        """Do what the table says of an event in this role."""
        cell = TABLE[self.role][event]
        if cell.then:
            self._change(cell, now, m)
        elif cell.does:
            STEPS[cell.does[0]](self)(now, m)

    def _enter(self, role: Role) -> None:
        """Be in this role from now on."""
        self.role = role
        on = self._handlers.get(role)
        if on is None:
            shared = self.broker.dispatch
            on = shared.get(role)
            if on is None:
                on = shared[role] = {event: step(self) for event, _, step in ITS_BROKERS[role]}
            if own := ITS_OWN[role]:
                on = on.copy()
                change = self._change
                for event, cell, step in own:
                    on[event] = partial(change, cell) if cell.then else step(self)
            self._handlers[role] = on
        self.on = on

    def _change(self, cell: Cell, now: int, m: object) -> None:
        """Take the steps of a cell, one after the other, and enter the role that comes next."""
        role = None
        for name in cell.does:
            role = STEPS[name](self)(now, m)
        role = cell.then[0] if len(cell.then) == 1 else role
        if role not in cell.then:
            raise TransitionError(f"{self.role}: {', '.join(cell.does)} chose {role}, and may choose {cell.then}")
        self._enter(role)

    # Steps

    def lead(self, now: int, m: LeaderAndIsr) -> None:
        """Begin to lead, knowing nothing of the followers."""
        self._adopt(m)
        self.last_leader = self.node_id
        self._begin_epoch(now, m, Leadership(self))

    def lead_on(self, now: int, m: LeaderAndIsr) -> None:
        """Lead in a newer epoch without ever having stopped in its own eyes; producers that wait go on waiting."""
        leading = self.leading
        self._adopt(m)
        self._begin_epoch(now, m, leading or Leadership(self))

    def _begin_epoch(self, now: int, m: LeaderAndIsr, leading: Leadership) -> None:
        self.leading = leading
        leading.begin(now, m)
        start = self.log.leo
        if self.variant.epoch_on_lead and self._keeps_epochs and self.cache.assign(m.leader_epoch, start):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))
        self.out.append((now, self.node_id, "lead", self.name, m.leader_epoch, start, self.hw, m.isr))
        leading.maybe_advance_hw(now)

    def follow(self, now: int, m: LeaderAndIsr) -> None:
        """Know whom to follow; nothing is sent yet."""
        self._adopt(m)
        self.last_leader = m.leader
        self.following = Following(self, m.leader, m.leader_epoch)
        self._trace_follow(now, m)

    def wait(self, now: int, m: LeaderAndIsr) -> None:
        """Know that there is no leader; the last one is remembered."""
        self._adopt(m)
        self._trace_follow(now, m)

    def note_partition_epoch(self, _now: int, m: LeaderAndIsr) -> None:
        """Only a leader needs to know the ISR."""
        self.partition_epoch = m.partition_epoch

    def sync(self, _now: int, _m: object) -> None:
        """Have the log on disk."""
        self.out.append(Sync(self.name))

    def _adopt(self, m: LeaderAndIsr) -> None:
        """A new leader epoch: what was known of the last one is over."""
        if self.rule.writes_hw_on_election:
            self.broker.checkpoint_high_watermarks()
        self.leader_epoch = m.leader_epoch
        self.partition_epoch = m.partition_epoch
        if self.leader != m.leader:
            self.broker.leaves_fetcher(self.leader, self)
        self.leader = m.leader
        self.leading = None
        self.following = None
        self._handlers = {}

    def _trace_follow(self, now: int, m: LeaderAndIsr) -> None:
        self.out.append((now, self.node_id, "follow", self.name, m.leader_epoch, m.leader, self.log.leo, self.hw))
