"""A server's replica under replication reconciliation (seed page of that name; the quotations are its own).

Followers fetch. "When the new leader (S2) receives the fetch latest request, it realizes that S1's request does not match its local
state", and answers with "the latest offset available with its local state, for generation 1"; the follower "deletes all entries for
generation 1 in its local state" after it, and asks again. The offset in a request is also the follower's word that it has all
before, and the high watermark is what a majority has said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.reconciliation.messages import NONE_OF_IT, LatestRequest, LatestResponse, Leading
from tidemark.nodes.families.voting.log_view import (
    beyond,
    end_of_generation,
    last_generation,
    start_of_generation,
)
from tidemark.nodes.families.voting.member import Member

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.families.reconciliation.variant import ReconciliationVariant
    from tidemark.nodes.families.voting.host import Seat


class ReconcilingMember(Member):
    """Fetches, or is fetched from."""

    variant: ReconciliationVariant

    steps: ClassVar[Mapping[type, str]] = {
        Leading: "on_leading",
        LatestRequest: "on_request",
        LatestResponse: "on_response",
    }

    def __init__(self, seat: Seat) -> None:
        """Knowing nobody."""
        super().__init__(seat)
        self._ends: dict[int, int] = {}
        self._waiting: dict[int, tuple[LatestRequest, int]] = {}
        self._said_us = 0
        self._asked = 0
        self._asked_us = 0
        self._reconciled = False

    # Leader

    def lead(self, now: int) -> None:
        """Make itself known; nobody has fetched yet."""
        self._ends = dict.fromkeys(self.peers, 0)
        self._say(now)

    def lead_on(self, now: int) -> None:
        """Say so again and again; answer who has waited for entries long enough."""
        if now - self._said_us >= self.settings.heartbeat_us:
            self._say(now)
        for source in [source for source, (_, until) in self._waiting.items() if until <= now]:
            self._answer(self._waiting.pop(source)[0])

    def _say(self, now: int) -> None:
        self._said_us = now
        self.out += [Send(peer, Leading(self.node_id, self.name, self.generation)) for peer in self.peers]

    def replicate(self, _now: int) -> None:
        """Answer who waits for entries."""
        waiting, self._waiting = self._waiting, {}
        for request, _ in waiting.values():
            self._answer(request)

    def on_request(self, now: int, m: LatestRequest) -> None:
        """Compare, and answer with what differs or with entries; without either the request waits."""
        self.sees(now, m.generation)
        if not self.leading or m.generation != self.generation:
            return
        self._waiting.pop(m.source, None)
        if not (m.reconciled and self.variant.one_round):
            diverging = self._diverging(m)
            if diverging is not None:
                self._answer(m, diverging)
                return
        self._ends[m.source] = max(self._ends[m.source], m.offset)
        behind = self.hw
        self.commit(now)
        if m.offset < self.log.leo or not m.reconciled or self.hw > behind:
            self._answer(m)
        else:
            self._waiting[m.source] = (m, now + self.settings.fetch_wait_us)

    def _diverging(self, m: LatestRequest) -> int | None:
        """Where the follower's log leaves this one, as far as its latest generation tells; None if it does not."""
        if not m.offset:
            return None
        end = end_of_generation(self.log, m.latest)
        if end is None:
            return NONE_OF_IT
        return end if end < m.offset else None

    def _answer(self, m: LatestRequest, diverging: int | None = None) -> None:
        batches = [] if diverging is not None else self.log.read(m.offset, self.settings.max_fetch_batches)
        response = LatestResponse(self.node_id, self.name, self.generation, batches, self.hw, diverging, m.correlation)
        self.out.append(Send(m.source, response))

    def ends(self) -> list[int]:
        """As they have said."""
        return [self.log.leo, *self._ends.values()]

    # Follower

    def forget_leader(self) -> None:
        """The next leader is a new one."""
        self._ends, self._waiting = {}, {}
        self._asked = 0
        self._reconciled = self._paired = False

    def on_leading(self, now: int, m: Leading) -> None:
        """There is a leader: fetch from it, unless that is going on."""
        if self.follow(now, m.generation, m.source) and (
            not self._asked or now - self._asked_us >= self.settings.request_timeout_us
        ):
            self._ask(now)

    def _ask(self, now: int) -> None:
        self.correlation += 1
        self._asked, self._asked_us = self.correlation, now
        request = LatestRequest(
            self.node_id,
            self.name,
            self.generation,
            self.log.leo,
            last_generation(self.log),
            self._reconciled,
            self.correlation,
        )
        self.out.append(Send(self.leader, request))

    def on_response(self, now: int, m: LatestResponse) -> None:
        """Delete what differs, or append; then ask again."""
        if m.generation != self.generation or m.source != self.leader or m.correlation != self._asked:
            return
        self.heard(now)
        self._reconciled = True
        if m.diverging is not None:
            self._delete(now, m.diverging)
        else:
            self._append(now, m)
        self._ask(now)

    def _delete(self, now: int, end: int) -> None:
        """Of the latest generation, what the leader has not."""
        latest = last_generation(self.log)
        self.out.append((now, self.node_id, "ask", self.name, self.leader, latest))
        begin = start_of_generation(self.log, latest)
        self.cut(now, max(end, begin), f"generation {latest} is another one at the leader")

    def _append(self, now: int, m: LatestResponse) -> None:
        self.pair(now)
        for batch in m.batches:
            if batch.end > self.log.leo:
                self.write(beyond(batch, self.log.leo))
        if m.batches:
            self.sync()
        self.learn_hw(now, min(m.hw, self.log.leo))
