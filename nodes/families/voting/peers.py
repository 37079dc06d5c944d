"""What a leader that pushes knows of each follower: where it is, and which request is out."""

from __future__ import annotations


class Peer:
    """One follower.

    Attributes:
        match: up to where it is known to have this leader's log.
        next: where the next request begins. asked: number of the request that is out, 0 if none is. sent_us: when it was sent.
        answered_us: when the last request was sent that was answered.
        joined: whether it has said where to begin, where it must.
    """

    __slots__ = ("answered_us", "asked", "joined", "match", "next", "sent_us")

    def __init__(self, begin: int, now: int = 0) -> None:
        """Nothing is known but where this leader's log ends, and since when it leads."""
        self.match = 0
        self.next = begin
        self.asked = 0
        self.sent_us = 0
        self.answered_us = now
        self.joined = False
