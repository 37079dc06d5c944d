"""What a checker of operations says: valid, invalid or unknown, in one sentence, with evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tidemark.checkers.verdict.verdict import plain

Valid = Literal["valid", "invalid", "unknown"]

_WEIGHT: dict[str, int] = {"valid": 0, "unknown": 1, "invalid": 2}


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one checker over one history.

    Attributes:
        checker: its name.
        valid: ``"invalid"`` if it found what must not be, ``"unknown"`` if it cannot tell, else ``"valid"``.
        message: what it found, in one sentence; of an unknown result what was found as far as it went.
        unknown_because: why it cannot tell, or `None`.
        evidence: can be written as JSON.
        parts: the results of the checkers it is made of, by name.
    """

    checker: str
    valid: Valid
    message: str
    unknown_because: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Result] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON data, always with the same order of keys."""
        told = {
            "checker": self.checker,
            "valid": self.valid,
            "message": self.message,
            "unknown_because": self.unknown_because,
            "evidence": plain(self.evidence),
        }
        if self.parts:
            told["parts"] = {name: part.to_json() for name, part in self.parts.items()}
        return told


def worst(valids: list[Valid]) -> Valid:
    """What is said of the whole: invalid before unknown before valid, as in Jepsen's ``merge-valid``."""
    return max(valids, key=_WEIGHT.__getitem__, default="valid")
