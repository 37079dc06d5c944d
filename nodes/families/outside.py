"""Protocols of which nothing is known but what they promise: those of systems that somebody else wrote, seen from outside.

They run nowhere but in these systems, so no name that a person types is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NoReturn

from tidemark.nodes.core.recovery import RecoveryRules
from tidemark.nodes.families.family import Family

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class OutsideVariant:
    """A system as it was asked for.

    Attributes:
        name: of the system. contract: its promise. not_suffered: kind of fault → why it cannot suffer it.
    """

    name: str
    contract: str
    not_suffered: Mapping[str, str] = field(default_factory=dict, compare=False)
    has_epoch_cache: ClassVar[bool] = False
    recovery: ClassVar[RecoveryRules] = RecoveryRules()

    @property
    def judged_by(self) -> str:
        """The promise, in words."""
        return self.contract


def _nowhere(*_: object) -> NoReturn:
    raise NotImplementedError("nobody knows the protocol of a system that is seen from outside")


OUTSIDE = Family(
    name="outside",
    title="systems seen from outside",
    presets={"": OutsideVariant("", "majority")},
    machine=_nowhere,
    hears=False,
    marks=frozenset(),
    differs=lambda variant: {"not_suffered": variant.not_suffered},
)
