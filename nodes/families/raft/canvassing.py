"""Pre-vote (Ongaro, "Consensus: Bridging Theory and Practice", 2014, section 9.6): who would stand for election asks first.

A server that was cut off has heard no leader, and would stand again and again, in higher and higher terms; when it is back, its
term deposes a leader that all others follow. With pre-vote it stands only if a majority would vote for it and hears no leader
either. A leader that nobody answers must then make way itself (section 6.2): those that still hear it would elect nobody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.raft.messages import PreVoteRequest, PreVoteResponse
from tidemark.nodes.families.voting.log_view import last_generation
from tidemark.nodes.families.voting.member import majority_end
from tidemark.nodes.families.voting.pushing import PushingMember

if TYPE_CHECKING:
    from tidemark.nodes.families.raft.variant import RaftVariant
    from tidemark.nodes.families.voting.host import Seat

LONG_AGO = -(1 << 62)


class CanvassingMember(PushingMember):
    """Asks who would vote for it before it stands."""

    variant: RaftVariant

    def __init__(self, seat: Seat) -> None:
        """Having heard of no leader."""
        super().__init__(seat)
        self.heard_leader_us = LONG_AGO
        """When a leader made itself known last."""
        self._would_vote: set[int] | None = None
        """Who said yes; None: it does not ask."""

    def follow(self, now: int, generation: int, leader: int) -> bool:
        """Remember when."""
        found = super().follow(now, generation, leader)
        if found:
            self.heard_leader_us = now
            self._would_vote = None
        return found

    def time_out(self, now: int) -> None:
        """Ask before standing."""
        if not self.variant.pre_vote:
            self.stand(now)
            return
        self.heard(now)
        self._would_vote = {self.node_id}
        request = PreVoteRequest(self.node_id, self.name, self.generation + 1, last_generation(self.log), self.log.leo)
        self.out += [Send(peer, request) for peer in self.peers]
        self._maybe_stand(now)

    def on_pre_vote_request(self, now: int, m: PreVoteRequest) -> None:
        """Say whether the vote would be had. Nothing is promised, and nothing written."""
        granted = (
            m.generation > self.generation
            and not self.hears_leader(now)
            and (not self.variant.up_to_date_votes or self.is_behind(m.last_generation, m.leo))
        )
        if granted:
            self.out.append((now, self.node_id, "pre-vote", self.name, m.generation, m.source))
        response = PreVoteResponse(self.node_id, self.name, self.generation, m.generation, granted)
        self.out.append(Send(m.source, response))

    def on_pre_vote(self, now: int, m: PreVoteResponse) -> None:
        """Count who would."""
        self.sees(now, m.generation)
        if self._would_vote is not None and m.granted and m.asked_for == self.generation + 1:
            self._would_vote.add(m.source)
            self._maybe_stand(now)

    def _maybe_stand(self, now: int) -> None:
        if self._would_vote is not None and self.is_majority(self._would_vote):
            self._would_vote = None
            self.stand(now)

    def hears_leader(self, now: int) -> bool:
        """Whether there is a leader that others may hear as well, as far as can be told here."""
        since = self.heard_by_majority_us(now) if self.leading else self.heard_leader_us
        return now - since < self.settings.session_us

    def forget_leader(self) -> None:
        """Another generation has begun: what was asked was about the one before."""
        super().forget_leader()
        self._would_vote = None

    # Leader

    def lead_on(self, now: int) -> None:
        """Make way if no majority answers any more; it is given as long as the slowest follower gives it."""
        if self.variant.pre_vote and now - self.heard_by_majority_us(now) > 2 * self.settings.session_us:
            self.resign(now)
            return
        super().lead_on(now)

    def heard_by_majority_us(self, now: int) -> int:
        """When a majority, this server included, had last been asked what it has answered since."""
        return majority_end([now, *(follower.answered_us for follower in self._followers.values())])
