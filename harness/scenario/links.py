"""What scripts say about messages: the links that carry them, and what a leader answered."""

from __future__ import annotations

from typing import NamedTuple


class Link(NamedTuple):
    """Messages of a kind (`None`: all) from a node to a node (`None`: any); 0 is the controller."""

    kind: str | None
    source: int | None
    to: int | None


class LeaderAnswer(NamedTuple):
    """What a leader told a follower about where its log ends.

    `asked` is the epoch of an ``OffsetForLeaderEpoch``, or, for a fetch, the last fetched epoch, with the fetch offset beside it.
    """

    follower: int
    asked: int
    offset: int | None
    epoch: int
    end: int

    def __str__(self) -> str:
        question = f"epoch {self.asked}" if self.offset is None else f"fetch {self.offset} after epoch {self.asked}"
        return f"{question} -> ({self.epoch}, {self.end})"
