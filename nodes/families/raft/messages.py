"""Raft's AppendEntries; its RequestVote is :mod:`nodes.families.voting.messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.core.log import Batch


@dataclass(slots=True)
class AppendEntries:
    """Entries behind ``base``, before which the leader has a record of ``before``; ``hw`` is its commit index (exclusive)."""

    source: int
    partition: str
    generation: int
    base: int
    before: int
    batches: list[Batch]
    hw: int
    correlation: int


@dataclass(slots=True)
class AppendResponse:
    """Up to ``end`` the logs are the same; without success, the leader is to try again from there."""

    source: int
    partition: str
    generation: int
    success: bool
    end: int
    correlation: int
