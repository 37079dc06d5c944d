"""One kept plan: what it is run under, what it shows, and where it came from; a JSON file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tidemark.harness.search.shrink.cause import Cause
from tidemark.harness.search.shrink.size import size_of
from tidemark.nemesis import Plan, PlanError
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import parse_variant

VALID = "valid"
"""Stands for the anomaly's name where there is to be none."""
_SENTENCES = ("message", "origin", "version")


class CorpusError(ValueError):
    """A file is no kept plan; a sentence with its path."""


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan, and what it must show each time it is run.

    Attributes:
        plan, variant, contract: what is run, and by which promise it is judged (None: the variant's own).
        cause: the anomaly and why it came about; None if the run must stay valid.
        message: the anomaly's sentence as it was when the plan was kept.
        repaired: a variant without the bug, under which the plan must show no violation.
        origin: how it was found. version: the commit it was kept with.
    """

    plan: Plan
    variant: str
    contract: str | None
    cause: Cause | None
    message: str
    origin: str
    version: str
    repaired: str | None = None

    @property
    def anomaly(self) -> str:
        """The anomaly's name, or :data:`VALID`."""
        return VALID if self.cause is None else self.cause.name

    @property
    def name(self) -> str:
        """Of its file, without the suffix: the same for all plans that show the same anomaly of the same cause in a variant."""
        what = self.plan.to_text() if self.cause is None else [self.cause.name, *self.cause.facts]
        key = json.dumps([self.variant, self.contract, what])
        return f"{self.variant}-{self.anomaly}-{sha256(key.encode()).hexdigest()[:8]}"

    def replaces(self, other: KeptPlan) -> bool:
        """Whether it is the smaller of two of one name, or the same and names a repair that the other does not."""
        if self.plan == other.plan:
            return self.repaired is not None and other.repaired is None
        return size_of(self.plan) < size_of(other.plan)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        cause = self.cause
        shown = (
            None
            if cause is None
            else {
                "name": cause.name,
                "verdict": cause.verdict,
                "clause": cause.clause,
                "facts": list(cause.facts),
                "message": self.message,
            }
        )
        return {
            "variant": self.variant,
            "contract": self.contract,
            "profile": self.plan.profile,
            "anomaly": shown,
            "repaired": self.repaired,
            "origin": self.origin,
            "version": self.version,
            "plan": self.plan.to_json(),
        }

    @staticmethod
    def from_json(data: Any, where: str) -> KeptPlan:  # noqa: ANN401 - anything a file may hold
        """The reverse of :meth:`to_json`; ``where`` names the file.

        Raises:
            CorpusError: it is no kept plan.
        """
        if not is_kept(data):
            raise CorpusError(f"{where} is no kept plan: it needs an object with `variant`, `anomaly` and `plan`")
        shown = data["anomaly"]
        try:
            cause = None if shown is None else _cause(shown)
            named = [name for name in (data["variant"], data.get("repaired")) if name is not None]
            for name in named:
                parse_variant(name)
            told = {"message": "" if shown is None else shown.get("message", ""), **data}
            sentences = {name: str(told.get(name, "")) for name in _SENTENCES}
            plan = Plan.from_json(data["plan"])
        except (PlanError, VariantError) as error:
            raise CorpusError(f"{where}: {error}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise CorpusError(f"{where} is no kept plan: {error}") from None
        return KeptPlan(plan, data["variant"], data.get("contract"), cause, repaired=data.get("repaired"), **sentences)


def is_kept(data: object) -> bool:
    """Whether a JSON file's content is meant for a kept plan, and not for a plan alone."""
    return isinstance(data, dict) and {"variant", "anomaly", "plan"} <= data.keys()


def read_kept(path: Path) -> KeptPlan:
    """Read a file.

    Raises:
        CorpusError: it cannot be read, or is no kept plan.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "not JSON"
        raise CorpusError(f"{path} cannot be read ({why})") from None
    return KeptPlan.from_json(data, str(path))


def _cause(shown: dict[str, Any]) -> Cause:
    return Cause(shown["name"], shown["verdict"], shown.get("clause"), tuple(shown["facts"]))
