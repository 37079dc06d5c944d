"""What a leader that pushes knows of each follower: where it is, and which request is out."""

from __future__ import annotations


class Peer:
    """One follower.

    Attributes:
        match: up to where it is known to have this leader's log.
        next: where the next request begins. asked: number of the request that is out, 0 if none is. sent_us: when it was sent.
        joined: whether it has said where to begin, where it must.
    """

    __slots__ = ("asked", "joined", "match", "next", "sent_us")

    def __init__(self, begin: int) -> None:
        """Nothing is known but where this leader's log ends."""
        self.match = 0
        self.next = begin
        self.asked = 0
        self.sent_us = 0
        self.joined = False
