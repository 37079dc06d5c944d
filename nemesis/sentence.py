"""What a kind of fault does, as one sentence with places that are filled in by who tells it.

It is told in a plan's language, with the names of its fields; in general; and as one plan has it, with its measures.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Words(NamedTuple):
    """One place of a sentence.

    Attributes:
        in_plans: with the names of a plan's fields.
        in_general: without them.
        as_planned: by `pick`, modulo their number; ``{time}``, ``{share}`` and ``{number}`` stand for the fault's
            `amount`.
    """

    in_plans: str
    in_general: str
    as_planned: tuple[str, ...]


class Sentence:
    """One sentence, of words and of places.

    >>> Sentence("the target's clock is ", TIME, " slow").in_plans
    "the target's clock is `amount` µs slow"
    >>> Sentence("the target's clock is ", TIME, " slow").as_planned(0, time="3.00 ms", share="")
    "the target's clock is 3.00 ms slow"
    """

    def __init__(self, *parts: str | Words) -> None:
        self._parts = [Words(part, part, (part,)) if isinstance(part, str) else part for part in parts]

    @property
    def in_plans(self) -> str:
        """In the language of plans."""
        return "".join(part.in_plans for part in self._parts)

    @property
    def in_general(self) -> str:
        """Without the names of a plan's fields."""
        return "".join(part.in_general for part in self._parts)

    def as_planned(self, pick: int, time: str, share: str, number: str = "") -> str:
        """As a plan has it, whose amount is told as a time, as a share, and as it is."""
        told = "".join(part.as_planned[pick % len(part.as_planned)] for part in self._parts)
        return told.format(time=time, share=share, number=number)


def by_pick(in_plans: str, in_general: str = "", *as_planned: str) -> Words:
    """What a number drawn with the fault settles."""
    return Words(in_plans, in_general, as_planned or (in_general,))


TIME: Final = Words("`amount` µs", "a given time", ("{time}",))
SHARE: Final = Words("`amount` per mille", "a given share", ("{share}",))
REPLICAS: Final = Words("`amount`", "a given number", ("{number}",))
RATE: Final = Words(
    "`amount` bytes a second (0: as fast as it can)", "a given rate", ("{number} bytes a second (0: no bound)",)
)
BITS: Final = Words("`amount` bits", "a few bits", ("{number} bits",))
CHANCE: Final = Words("with `amount` per mille", "(a given share)", ("({share})",))
LATELY: Final = Words("of the last `amount` µs", "of a given time before", ("of {time} before",))
