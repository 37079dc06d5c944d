"""A leader that pushes: what it keeps of each follower, and when one is sent to; and how a follower takes what it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.nodes.families.voting.log_view import beyond
from tidemark.nodes.families.voting.member import Member

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.nodes.core.log import Batch, Log
    from tidemark.nodes.families.voting.host import Seat


@dataclass(slots=True)
class Peer:
    """One follower.

    Attributes:
        next: where the next request begins; at first nothing is known but where this leader's log ends.
        answered_us: when the last request was sent that was answered; at first, since when this server leads.
        match: up to where it is known to have this leader's log.
        asked: number of the request that is out, 0 if none is. sent_us: when it was sent.
        joined: whether it has said where to begin, where it must.
    """

    next: int
    answered_us: int = 0
    match: int = 0
    asked: int = 0
    sent_us: int = 0
    joined: bool = False


class PushingMember(Member):
    """There is one request to a follower out at a time."""

    def __init__(self, seat: Seat) -> None:
        """Knowing nobody."""
        super().__init__(seat)
        self._followers: dict[int, Peer] = {}

    def lead_on(self, now: int) -> None:
        """Heartbeat, or send again what was not answered."""
        again = self.settings.request_timeout_us
        for peer, follower in self._followers.items():
            since = now - follower.sent_us
            if not follower.sent_us or since >= (again if follower.asked else self.settings.heartbeat_us):
                self._push(now, peer, follower)

    def _push(self, now: int, peer: int, follower: Peer) -> None:
        """Send a follower what it lacks, or a heartbeat."""
        raise NotImplementedError

    def ends(self) -> list[int]:
        """Up to where each server is known to have this leader's log."""
        return [self.log.leo, *(follower.match for follower in self._followers.values())]

    def _append_sent(
        self, now: int, batches: Sequence[Batch], conflict: Callable[[Log, Batch], int | None], why: str
    ) -> None:
        """Append what this log has not, and cut what contradicts it."""
        for batch in batches:
            at = conflict(self.log, batch)
            if at is not None:
                self.cut(now, at, why)
            if batch.end > self.log.leo:
                self.write(beyond(batch, self.log.leo))
        if batches:
            self.sync()
