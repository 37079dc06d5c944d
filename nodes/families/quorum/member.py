"""A server's replica under the high-water mark (seed page "High-water mark"; the quotations are its own).

"For each log entry, the leader appends it to its local write ahead log, and then sends it to all the followers." There is one
request to a follower out at a time; what was appended meanwhile goes with the next. A server that finds a leader it is not in step
with (a new generation, or the same one after a restart) first asks for the high-water mark, and mends its log by the variant's
rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.log import Batch
from tidemark.nodes.families.quorum.messages import (
    HighWaterMarkRequest,
    HighWaterMarkResponse,
    ReplicationRequest,
    ReplicationResponse,
)
from tidemark.nodes.families.voting.member import majority_end
from tidemark.nodes.families.voting.pushing import Peer, PushingMember

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.families.quorum.variant import QuorumVariant
    from tidemark.nodes.families.voting.host import Seat

UNJOINED = -1


class QuorumMember(PushingMember):
    """Pushes, or is pushed to."""

    variant: QuorumVariant

    steps: ClassVar[Mapping[type, str]] = {
        ReplicationRequest: "on_replicate",
        ReplicationResponse: "on_response",
        HighWaterMarkRequest: "on_question",
        HighWaterMarkResponse: "on_answer",
    }

    def __init__(self, seat: Seat) -> None:
        """Knowing nobody."""
        super().__init__(seat)
        self._rule = self.variant.rule
        self._in_step = False
        """Whether its log was mended for the leader it follows."""
        self._asked = 0
        self._asked_us = 0

    def may_serve_reads(self, _now: int) -> bool:
        """Any server shows what lies below its high-water mark."""
        return True

    # Leader

    def lead(self, now: int) -> None:
        """Make itself known; nobody is in step yet."""
        self._followers = {peer: Peer(self.log.leo) for peer in self.peers}
        self.lead_on(now)

    def replicate(self, now: int) -> None:
        """Send what is new to all followers that are not busy."""
        for peer, follower in self._followers.items():
            if follower.joined and not follower.asked:
                self._push(now, peer, follower)

    def _push(self, now: int, peer: int, follower: Peer) -> None:
        base, batches = UNJOINED, list[Batch]()
        if follower.joined:
            base, batches = follower.next, self.log.read(follower.next, self.settings.max_fetch_batches)
        self.correlation += 1
        follower.asked, follower.sent_us = self.correlation, now
        request = ReplicationRequest(self.node_id, self.name, self.generation, base, batches, self.hw, self.correlation)
        self.out.append(Send(peer, request))

    def on_question(self, now: int, m: HighWaterMarkRequest) -> None:
        """A server rejoins. What it was known to have is not known any more."""
        self.sees(now, m.generation)
        if not self.leading or m.generation != self.generation:
            return
        follower = self._followers[m.source]
        follower.joined, follower.match = False, 0
        follower.asked, follower.sent_us = m.correlation, now
        answer = HighWaterMarkResponse(self.node_id, self.name, self.generation, self.hw, m.correlation)
        self.out.append(Send(m.source, answer))

    def on_response(self, now: int, m: ReplicationResponse) -> None:
        """From this "the leader keeps track of log indexes replicated at each server"."""
        self.sees(now, m.generation)
        follower = self._followers.get(m.source)
        if not self.leading or m.generation != self.generation or follower is None or m.correlation != follower.asked:
            return
        follower.asked = 0
        follower.joined = True
        follower.match, follower.next = m.replicated, m.next
        self.commit(now)
        if follower.next < self.log.leo:
            self._push(now, m.source, follower)

    def committed_end(self) -> int:
        """``computeHighwaterMark(logIndexesAtAllServers(), config.numberOfServers())``."""
        return majority_end(self.ends(), lower_middle=self.variant.majority_index)

    # Follower

    def forget_leader(self) -> None:
        """The next leader is a new one."""
        self._followers = {}
        self._in_step = self._paired = False
        self._asked = 0

    def on_replicate(self, now: int, m: ReplicationRequest) -> None:
        """Append what this log has not, learn the high-water mark, and say how far it goes."""
        if not self.follow(now, m.generation, m.source):
            self._respond(m.source, m.correlation, 0, 0)
            return
        if not self._in_step:
            if not self._asked or now - self._asked_us >= self.settings.request_timeout_us:
                self.correlation += 1
                self._asked, self._asked_us = -self.correlation, now
                self.out.append(
                    Send(m.source, HighWaterMarkRequest(self.node_id, self.name, self.generation, self._asked))
                )
            return
        if m.base == UNJOINED:
            begin = self._rule.begin(self.hw, self.log.leo)
            self._respond(m.source, m.correlation, self._counted(begin), begin)
            return
        if m.base > self.log.leo:
            self._respond(m.source, m.correlation, self._counted(self.log.leo), self.log.leo)
            return
        self._append_sent(now, m.batches, self._rule.conflict, "another generation than the leader's entry")
        has = min(m.batches[-1].end if m.batches else m.base, self.log.leo)
        if has == self.log.leo:
            self.pair(now)
        self.learn_hw(now, min(m.hw, has if self.variant.compared else self.log.leo))
        self._respond(m.source, m.correlation, self._counted(has), has if self.variant.compared else self.log.leo)

    def _counted(self, compared: int) -> int:
        return compared if self.variant.compared else self.log.leo

    def on_answer(self, now: int, m: HighWaterMarkResponse) -> None:
        """Mend the log, and say from where on entries are wanted."""
        if m.generation != self.generation or m.correlation != self._asked or m.source != self.leader:
            return
        self._asked = 0
        self._in_step = True
        self.cut(now, self._rule.keep(self.hw, m.hw, self.log.leo), f"rejoins: to high watermark ({self._rule.name})")
        begin = self._rule.begin(self.hw, self.log.leo)
        self._respond(m.source, m.correlation, self._counted(begin), begin)

    def _respond(self, to: int, correlation: int, replicated: int, following: int) -> None:
        response = ReplicationResponse(self.node_id, self.name, self.generation, replicated, following, correlation)
        self.out.append(Send(to, response))
