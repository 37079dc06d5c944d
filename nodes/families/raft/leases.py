"""Reads under a lease (Ongaro, "Consensus: Bridging Theory and Practice", 2014, section 6.4.1).

Who has answered a leader votes for nobody else for a session time-out (section 4.2.3). So for as long after the sending of what a
majority has answered there is no other leader, and what this one has committed is all that is committed. A server that restarts has
forgotten whom it answered: for as long it votes for nobody, and does not stand, whoever orders it. A new leader knows what is
committed once an entry of its own term is.

An operator's election needs the leader's leave: it gives its lease up, and lets the server stand (sections 3.10 and 6.4.1). Should
nothing come of that within a session time-out, it stands again itself.

Simulated clocks run at one speed; real ones do not, and a real lease is shorter by as much as they may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.raft.canvassing import CanvassingMember
from tidemark.nodes.families.raft.messages import HandOver, PermittedVoteRequest, StandNow
from tidemark.nodes.families.voting.member import NOBODY

if TYPE_CHECKING:
    from tidemark.nodes.families.voting.host import Seat
    from tidemark.nodes.families.voting.messages import VoteRequest


class LeasingMember(CanvassingMember):
    """Serves reads while no other can lead."""

    def __init__(self, seat: Seat) -> None:
        """Without a lease."""
        super().__init__(seat)
        self._own_from = 0
        """Where the first entry of its own term ends, while it leads."""
        self._handed_over_us = 0
        """When it gave its lease up, 0: it did not."""

    def start(self, now: int) -> None:
        """Whom it answered before it restarted, nobody knows."""
        super().start(now)
        if self.variant.lease_reads and self.host.incarnation > 1:
            self.heard_leader_us = now

    # Votes

    def withholds(self, now: int, m: VoteRequest) -> bool:
        """As long as there may be a leader that counts on it, unless that has given leave."""
        return self.variant.lease_reads and not isinstance(m, PermittedVoteRequest) and self.hears_leader(now)

    def on_stand(self, now: int, m: object) -> None:
        """An operator wants this server to lead: ask the leader for its leave; after a restart there may be one that it forgot."""
        if not self.variant.lease_reads or (self.leader == NOBODY and not self.hears_leader(now)):
            super().on_stand(now, m)
        elif self.leader != NOBODY and not self.leading:
            self.out.append(Send(self.leader, HandOver(self.node_id, self.name, self.generation)))

    def on_hand_over(self, now: int, m: HandOver) -> None:
        """Give the lease up for the rest of this reign."""
        if self.leading and m.generation == self.generation:
            self._handed_over_us = self._handed_over_us or now
            self.out.append(Send(m.source, StandNow(self.node_id, self.name, self.generation)))

    def on_stand_now(self, now: int, m: StandNow) -> None:
        """With the leader's leave."""
        if not self.leading and m.generation == self.generation:
            self.stand(now, PermittedVoteRequest)

    def lead_on(self, now: int) -> None:
        """Without a lease, nobody else having taken over: begin anew."""
        if self._handed_over_us and now - self._handed_over_us >= self.settings.session_us:
            self.stand(now, PermittedVoteRequest)
            return
        super().lead_on(now)

    # Reads

    def begin_reign(self) -> None:
        """No lease yet."""
        self._own_from = self.log.leo
        self._handed_over_us = 0

    def may_serve_reads(self, now: int) -> bool:
        """While it leads; with leases, while it has one, and knows what is committed."""
        if not self.variant.lease_reads or not self.leading:
            return self.leading
        if self.hw < self._own_from:
            return False
        session = self.settings.session_us
        until = self.heard_by_majority_us(now) + session - session * self.host.clock_drift_ppm // 1_000_000
        return (now < until and not self._handed_over_us) or not self.variant.lease_ends
