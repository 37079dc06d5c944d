"""What voting servers send each other about elections. ``generation`` is Raft's term, the seed's generation clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class VoteRequest:
    """A candidate asks for a vote; ``last_generation`` and ``leo`` say how up to date its log is."""

    source: int
    partition: str
    generation: int
    last_generation: int
    leo: int


@dataclass(slots=True)
class VoteResponse:
    """The vote, or a refusal."""

    source: int
    partition: str
    generation: int
    granted: bool


@dataclass(slots=True)
class StandForElection:
    """Stand for election now, as after a time-out (Raft's ``TimeoutNow``): what an operator's election is here."""

    partition: str
