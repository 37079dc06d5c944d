"""One partition's replica: log, epoch cache, high watermark, and the change of roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.core.actions import Truncate, WriteEpochs
from nodes.core.epoch_cache import EpochEnd
from nodes.core.follower import Following
from nodes.core.leader import Leadership
from nodes.core.log import Batch, Log

if TYPE_CHECKING:
    from nodes.core.broker import Broker
    from nodes.core.messages import LeaderAndIsr
    from nodes.core.recovery import RecoveredPartition


class Replica:
    """State of one replica. It leads (:class:`Leadership`), follows (:class:`Following`), or neither (no leader known).

    It is also the :class:`~nodes.core.truncation.LogView` that a truncation rule sees.
    """

    def __init__(self, broker: Broker, name: str, recovered: RecoveredPartition | None) -> None:
        """Begin with what recovery left, knowing no leader."""
        self.broker = broker
        self.name = name
        self.node_id = broker.node_id
        self.variant = broker.variant
        self.settings = broker.settings
        self.out = broker.out
        self.rule = self.variant.rule
        self._keeps_epochs = self.rule.keeps_epochs
        self._empty_epochs_stay = "KAFKA-10706" in self.variant.bugs
        self.log = Log(list(recovered.batches) if recovered else [])
        self.cache = self.rule.epoch_cache(
            recovered.epochs if recovered else (), epoch_on_lead=self.variant.epoch_on_lead
        )
        self.hw = recovered.hw if recovered else 0
        self.leader_epoch = -1
        self.leader = -1
        self.last_leader = -1
        """The last real leader; −1 does not overwrite it (KAFKA-7164 compares ids)."""
        self.partition_epoch = -1
        self.leading: Leadership | None = None
        self.following: Following | None = None
        self._correlation = broker.incarnation << 32
        """Requests of two processes of one broker never share a number: an answer may outlive the process that asked."""

    # LogView

    @property
    def leo(self) -> int:
        """Log end offset."""
        return self.log.leo

    @property
    def latest_epoch(self) -> int:
        """Latest epoch in the cache, −1 if there is none."""
        return self.cache.latest

    def end_offset_for(self, epoch: int) -> EpochEnd:
        """Where ``epoch`` ends in this log."""
        return self.cache.end_offset_for(epoch, self.log.leo)

    # Shared by both roles

    def next_correlation(self) -> int:
        """A number for the next request."""
        self._correlation += 1
        return self._correlation

    def note_epoch(self, batch: Batch) -> None:
        """Keep the epoch cache in step with an appended batch (the write to disk is only asked for when it changed)."""
        if self._keeps_epochs and self.cache.assign(batch.epoch, batch.base):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))

    def follow_hw(self, now: int, leader_hw: int) -> None:
        """A follower's HW is the leader's, but never beyond its own log end; it may go back."""
        hw = min(leader_hw, self.log.leo)
        if hw != self.hw:
            self.hw = hw
            self.out.append((now, self.node_id, "hw", self.name, hw, self.leader_epoch, False))

    def cut(self, now: int, offset: int, why: str) -> None:
        """Truncate the log, the epoch cache and the high watermark to ``offset``."""
        before = self.log.leo
        after = self.log.truncate(offset)
        if after < before:
            self.out.append(Truncate(self.name, after))
            self.out.append((now, self.node_id, "truncate", self.name, after, before, why, self.leader_epoch))
        if (after < before or not self._empty_epochs_stay) and self.cache.truncate_from_end(after):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))
        if self.hw > after:
            self.hw = after
            self.out.append((now, self.node_id, "hw", self.name, after, self.leader_epoch, False))

    # Roles

    def on_leader_and_isr(self, now: int, m: LeaderAndIsr) -> None:
        """Take the controller's word, unless it is older than what is known."""
        if m.leader_epoch < self.leader_epoch:
            return
        if m.leader_epoch == self.leader_epoch:
            if m.partition_epoch > self.partition_epoch:
                self.partition_epoch = m.partition_epoch
                if self.leading is not None:
                    self.leading.on_state(now, m)
            return
        self.leader_epoch = m.leader_epoch
        self.partition_epoch = m.partition_epoch
        self.leader = m.leader
        if self.leading is not None:
            self.leading.resign()
        self.leading = None
        if m.leader == self.node_id:
            self._lead(now, m)
        else:
            self._follow(now, m)

    def _lead(self, now: int, m: LeaderAndIsr) -> None:
        self.following = None
        self.last_leader = self.node_id
        self.leading = Leadership(now, self, m)
        start = self.log.leo
        if self.variant.epoch_on_lead and self._keeps_epochs and self.cache.assign(m.leader_epoch, start):
            self.out.append(WriteEpochs(self.name, self.cache.entries()))
        self.out.append((now, self.node_id, "lead", self.name, m.leader_epoch, start, self.hw, m.isr))
        self.leading.maybe_advance_hw(now)

    def _follow(self, now: int, m: LeaderAndIsr) -> None:
        same_leader = m.leader == self.last_leader
        self.out.append((now, self.node_id, "follow", self.name, m.leader_epoch, m.leader, self.log.leo, self.hw))
        if m.leader < 0:
            self.following = None
            return
        keep_state = not self.variant.restart_on_epoch and same_leader
        asking = keep_state and self.following is not None and self.following.asking
        self.last_leader = m.leader
        self.following = Following(self, m.leader, m.leader_epoch)
        self.following.begin(now, truncate=asking or not keep_state)
