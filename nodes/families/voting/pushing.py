"""A leader that pushes: what it keeps of each follower, and when one is sent to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.families.voting.member import Member

if TYPE_CHECKING:
    from tidemark.nodes.families.voting.host import Seat
    from tidemark.nodes.families.voting.peers import Peer


class PushingMember(Member):
    """There is one request to a follower out at a time."""

    def __init__(self, seat: Seat) -> None:
        """Knowing nobody."""
        super().__init__(seat)
        self._followers: dict[int, Peer] = {}
        self._paired = False

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
