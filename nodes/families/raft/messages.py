"""Raft's AppendEntries, and what pre-vote and leases add; its RequestVote is :mod:`tidemark.nodes.families.voting.messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tidemark.nodes.families.voting.messages import VoteRequest

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch


@dataclass(slots=True)
class AppendEntries:
    """Entries behind ``base``, before which the leader has a record of ``before``; ``hw`` is its commit index (exclusive)."""

    api_key: ClassVar[int] = 1000
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

    api_key: ClassVar[int] = 1001
    source: int
    partition: str
    generation: int
    success: bool
    end: int
    correlation: int


@dataclass(slots=True)
class PreVoteRequest:
    """Would you vote for me in ``generation``, if I stood?"""

    api_key: ClassVar[int] = 1002
    source: int
    partition: str
    generation: int
    last_generation: int
    leo: int


@dataclass(slots=True)
class PreVoteResponse:
    """Whether the vote would be had in the generation ``asked_for``; ``generation`` is the newest that the sender knows."""

    api_key: ClassVar[int] = 1003
    source: int
    partition: str
    generation: int
    asked_for: int
    granted: bool


@dataclass(slots=True)
class PermittedVoteRequest(VoteRequest):
    """A candidate asks for a vote with the leave of the leader, which has given its lease up."""

    api_key: ClassVar[int] = 1004


@dataclass(slots=True)
class HandOver:
    """A server asks the leader of ``generation`` for leave to stand."""

    api_key: ClassVar[int] = 1005
    source: int
    partition: str
    generation: int


@dataclass(slots=True)
class StandNow:
    """The leader of ``generation`` gives it (Raft's ``TimeoutNow``)."""

    api_key: ClassVar[int] = 1006
    source: int
    partition: str
    generation: int
