"""A difference that somebody has looked into: which one it is, and what it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """An examined difference. `scenario`, `system`, `aspect`, `model` and `seen` are patterns with ``*`` and ``?``.

    Attributes:
        why: what it comes from, in one sentence.
        source: where that can be read: a KIP, a JIRA key, a line of the broker's log.
        scenario: names of scripts.
        system: in which the difference shows, such as ``kafka:2.8.*@0.10.2``; ``containers`` for our own nodes in containers.
        aspect: what differs, such as ``HW of *``.
        model: how it is in the reference (the simulator).
        seen: how it is in the system.
        always: whether every run shows it; if not, it is not stale where it does not.
    """

    why: str
    source: str
    scenario: str
    system: str
    aspect: str
    model: str = "*"
    seen: str = "*"
    always: bool = True

    def concerns(self, scenario: str, system: str) -> bool:
        """Whether this script in this system should show it."""
        return fnmatchcase(scenario, self.scenario) and fnmatchcase(system, self.system)

    def explains(self, aspect: str, model: str, seen: str) -> bool:
        """Whether a difference between the two is this one, given that the finding concerns them."""
        pairs = ((aspect, self.aspect), (model, self.model), (seen, self.seen))
        return all(fnmatchcase(text, pattern) for text, pattern in pairs)

    @property
    def words(self) -> str:
        """What is told beside a difference."""
        return f"{self.why} ({self.source})"
