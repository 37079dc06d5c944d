"""What may happen next: the branches of the search, and their names."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a move is. Those of a follower and its leader are a request and its answer at once (docs/exploring.md)."""

    APPEND = "append"
    FETCH = "fetch"
    FETCH_UNANSWERED = "fetch unanswered"
    """The leader has the request, and its answer never arrives."""
    ASK = "ask"
    """``OffsetForLeaderEpoch``."""
    HEAR = "hear"
    SHRINK = "shrink"
    DECIDE = "decide"
    """The controller takes or refuses a leader's proposal, and the leader hears of it."""
    DECIDE_UNHEARD = "decide unheard"
    ELECT = "elect"
    ELECT_UNCLEAN = "elect uncleanly"
    LAPSE = "lapse"
    RETURN = "return"
    CRASH = "crash"
    START = "start"


class Move(NamedTuple):
    """A branch.

    Attributes:
        kind: what happens. broker: to whom.
        other: the follower's leader; the member that is too slow; 0.
        number: which of the words it has not heard; the high watermark that a crash leaves; 0.
    """

    kind: Kind
    broker: int
    other: int = 0
    number: int = 0
