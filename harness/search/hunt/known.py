"""What a hunt knows already: it is counted, and the search goes on beside it.

A violation is known if the same plan passes under the variant with the repairs of what is known of it. That is the control of a
repair, and it needs no guess: what else is wrong shows there too. Of what has no repair, a kept plan's cause must do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Repair(NamedTuple):
    """What is known by what repairs it: the variant without it, and how it is called."""

    variant: str
    title: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a variant.

    Attributes:
        repairs: of single bugs. all_repaired: the variant with all that are modifiers of it; empty: there are none.
        preset: the variant without its modifiers, if it has any: what does not show there is theirs.
        causes: an anomaly and its cause → how what has no repair is called.
    """

    repairs: tuple[Repair, ...] = ()
    all_repaired: str = ""
    preset: str = ""
    causes: tuple[tuple[tuple[str, str], str], ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.repairs or self.causes)

    def to_json(self) -> list[Any]:
        """Plain values."""
        return [
            [list(one) for one in self.repairs],
            self.all_repaired,
            self.preset,
            [[[*one], title] for one, title in self.causes],
        ]

    @staticmethod
    def from_json(data: Any) -> Known:  # noqa: ANN401 (as JSON gives it)
        """The reverse."""
        repairs, all_repaired, preset, causes = data
        shown = tuple(((name, cause), title) for (name, cause), title in causes)
        return Known(tuple(Repair(*one) for one in repairs), all_repaired, preset, shown)

    def by_cause(self, name: str, cause: str) -> str:
        """How an anomaly of a cause that nothing repairs is called; empty: it is new."""
        return dict(self.causes).get((name, cause), "")
