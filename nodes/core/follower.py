"""What a replica does while it follows: truncate as its rule says, then fetch (PROTOCOL section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.core.actions import Append, Halt, Send
from nodes.core.epoch_cache import UNDEFINED, EpochEnd
from nodes.core.log import OutOfOrderError
from nodes.core.messages import OFFSET_OUT_OF_RANGE, EpochRequest, EpochResponse, FetchRequest, FetchResponse

if TYPE_CHECKING:
    from nodes.core.replica import Replica
    from nodes.core.truncation import Step


class Following:
    """One follower's work for one leader in one leader epoch.

    Attributes:
        asking: an OffsetForLeaderEpoch is outstanding or due (state *truncating*); otherwise fetches are.
        established: the first fetch of this epoch was answered with neither error nor divergence.
    """

    __slots__ = ("asking", "epoch", "established", "in_flight", "leader", "replica", "sent_us")

    def __init__(self, replica: Replica, leader: int, epoch: int) -> None:
        """Follow ``leader`` in ``epoch``; nothing is sent before :meth:`begin`."""
        self.replica = replica
        self.leader = leader
        self.epoch = epoch
        self.asking = False
        self.established = False
        self.in_flight = 0
        """Correlation of the request that is waited for; 0: none, the next tick sends one (back-off)."""
        self.sent_us = 0

    def begin(self, now: int, *, truncate: bool) -> None:
        """Apply the truncation rule (unless the fetcher was never interrupted), then fetch."""
        if truncate:
            self._do(now, self.replica.rule.on_new_leader(self.replica))
        else:
            self._fetch(now)

    def _do(self, now: int, step: Step) -> None:
        if step.cut is not None:
            self.replica.cut(now, step.cut, step.why)
        if step.halt:
            self.replica.out.append((now, self.replica.node_id, "fatal", self.replica.name, step.why))
            self.replica.out.append(Halt("fatal"))
            return
        self.asking = step.ask and self.replica.latest_epoch != UNDEFINED
        self._send(now)

    def _send(self, now: int) -> None:
        if self.asking:
            self._ask(now)
        else:
            self._fetch(now)

    def _ask(self, now: int) -> None:
        replica = self.replica
        self.sent_us = now
        self.in_flight = correlation = replica.next_correlation()
        epoch = replica.latest_epoch
        replica.out.append((now, replica.node_id, "ask", replica.name, self.leader, epoch))
        replica.out.append(
            Send(self.leader, EpochRequest(replica.node_id, replica.name, epoch, self.epoch, correlation))
        )

    def _fetch(self, now: int) -> None:
        replica = self.replica
        self.sent_us = now
        self.in_flight = correlation = replica.next_correlation()
        last = replica.cache.latest if replica.rule.epoch_in_fetch else UNDEFINED
        replica.out.append(
            Send(
                self.leader,
                FetchRequest(
                    replica.node_id,
                    replica.name,
                    replica.log.leo,
                    self.epoch,
                    last,
                    replica.broker.broker_epoch,
                    correlation,
                ),
            )
        )

    def on_epoch_response(self, now: int, m: EpochResponse) -> None:
        """Cut as the rule says; an error is retried at the next tick."""
        if m.correlation != self.in_flight:
            return
        self.in_flight = 0
        if m.error is None:
            self._do(now, self.replica.rule.on_answer(self.replica, m.answer))

    def on_fetch_response(self, now: int, m: FetchResponse) -> None:
        """Append what came, follow the leader's high watermark, fetch on."""
        if m.correlation != self.in_flight:
            return
        self.in_flight = 0
        if m.error is not None:
            if m.error == OFFSET_OUT_OF_RANGE:
                self._on_out_of_range(now, m)
            return
        if m.diverging is not None:
            self._on_diverging(now, m, m.diverging)
            return
        replica = self.replica
        log = replica.log
        out = replica.out
        if not self.established:
            self.established = True
            out.append((now, replica.node_id, "fetched", replica.name, self.epoch, self.leader))
        for batch in m.batches:
            try:
                log.append(batch)
            except OutOfOrderError:
                out.append((now, replica.node_id, "out-of-order", replica.name, batch.base, log.leo))
                return
            if batch.epoch != replica.cache.latest:
                replica.note_epoch(batch)
            out.append(Append(replica.name, batch))
        if m.hw != replica.hw:
            replica.follow_hw(now, m.hw)
        self._fetch(now)

    def _on_diverging(self, now: int, m: FetchResponse, diverging: EpochEnd) -> None:
        self._do(now, self.replica.rule.on_answer(self.replica, diverging))
        if "KAFKA-14704" in self.replica.variant.bugs:
            self.replica.follow_hw(now, m.hw)

    def _on_out_of_range(self, now: int, m: FetchResponse) -> None:
        """The rule says what to do if the leader's log ends before this one; if it has grown meanwhile, fetch at the next tick."""
        replica = self.replica
        if m.leo < replica.log.leo:
            unclean = replica.settings.unclean_election
            self._do(now, replica.rule.on_out_of_range(replica, m.leo, unclean_election=unclean))

    def on_tick(self, now: int) -> None:
        """Send again what was refused or got no answer."""
        if self.in_flight == 0 or now - self.sent_us >= self.replica.settings.request_timeout_us:
            self._send(now)
