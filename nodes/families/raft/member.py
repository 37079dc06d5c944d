"""A server's replica under Raft: AppendEntries with the consistency check, and commitment (Raft, 5.3 and 5.4).

An index of the paper is an offset here, exclusive where it is an end; an entry is a record, though entries travel and are cut in
the batches in which they were written. There is one request to a follower out at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.raft.leases import LeasingMember
from tidemark.nodes.families.raft.messages import (
    AppendEntries,
    AppendResponse,
    HandOver,
    PermittedVoteRequest,
    PreVoteRequest,
    PreVoteResponse,
    StandNow,
)
from tidemark.nodes.families.voting.log_view import conflict_with, first_of_generation, generation_at
from tidemark.nodes.families.voting.pushing import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping


class RaftMember(LeasingMember):
    """Leader, candidate or follower."""

    steps: ClassVar[Mapping[type, str]] = {
        AppendEntries: "on_append",
        AppendResponse: "on_response",
        PreVoteRequest: "on_pre_vote_request",
        PreVoteResponse: "on_pre_vote",
        PermittedVoteRequest: "on_vote_request",
        HandOver: "on_hand_over",
        StandNow: "on_stand_now",
    }

    # Leader

    def lead(self, now: int) -> None:
        """Upon election it makes itself known; with the no-op, if there is one."""
        begin = self.log.batches[-1].base if self.variant.begins_with_no_op else self.log.leo
        self._followers = {peer: Peer(begin, now) for peer in self.peers}
        self.begin_reign()
        self.lead_on(now)

    def replicate(self, now: int) -> None:
        """Send what is new to all followers that are not busy."""
        for peer, follower in self._followers.items():
            if not follower.asked:
                self._push(now, peer, follower)

    def _push(self, now: int, peer: int, follower: Peer) -> None:
        batches = self.log.read(follower.next, self.settings.max_fetch_batches)
        base = batches[0].base if batches else self.log.leo
        self.correlation += 1
        follower.asked, follower.sent_us = self.correlation, now
        before = generation_at(self.log, base - 1)
        request = AppendEntries(
            self.node_id, self.name, self.generation, base, before, batches, self.hw, self.correlation
        )
        self.out.append(Send(peer, request))

    def on_response(self, now: int, m: AppendResponse) -> None:
        """If successful, "update nextIndex and matchIndex for follower"; else go back to where the follower says."""
        self.sees(now, m.generation)
        follower = self._followers.get(m.source)
        if not self.leading or m.generation != self.generation or follower is None or m.correlation != follower.asked:
            return
        follower.asked = 0
        follower.answered_us = follower.sent_us
        follower.next = m.end
        if m.success:
            follower.match = max(follower.match, m.end)
            self.commit(now)
        if not m.success or follower.next < self.log.leo:
            self._push(now, m.source, follower)

    # Follower

    def forget_leader(self) -> None:
        """The next leader is a new one."""
        super().forget_leader()
        self._followers = {}
        self._paired = False

    def on_append(self, now: int, m: AppendEntries) -> None:
        """AppendEntries RPC, receiver's steps 1 to 5."""
        if not self.follow(now, m.generation, m.source):
            self._respond(m, 0, success=False)
            return
        if m.base > self.log.leo:
            self._respond(m, self.log.leo, success=False)
            return
        if m.base and generation_at(self.log, m.base - 1) != m.before:
            self._respond(m, first_of_generation(self.log, m.base - 1), success=False)
            return
        self._append_sent(now, m.batches, conflict_with, "another term than the leader's entry")
        end = m.batches[-1].end if m.batches else m.base
        if end == self.log.leo:
            self.pair(now)
        self.learn_hw(now, min(m.hw, end))
        self._respond(m, end, success=True)

    def _respond(self, m: AppendEntries, end: int, *, success: bool) -> None:
        response = AppendResponse(self.node_id, self.name, self.generation, success, end, m.correlation)
        self.out.append(Send(m.source, response))
