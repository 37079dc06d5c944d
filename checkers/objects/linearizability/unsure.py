"""The operations that need not take effect, as a search meets them: which of them may at an event, and which still matter.

Of those with the same action the first invoked comes first, so which have taken effect is a number for each action. It is kept in
one integer, `spent`, as so many lowest bits of the action's span: fewer are then a subset, which a search asks for all the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tidemark.checkers.objects.linearizability.timeline import Spare, Step, Timeline

ILLEGAL = -1
"""The number of no state: the action is not possible."""


class Choice(NamedTuple):
    """The operations of one action that are open.

    Attributes:
        spare: all operations of the action.
        low: the bit of the first.
        span: the bits of all.
        open: the bits of those that are open.
        after: the state after one of them.
    """

    spare: Spare
    low: int
    span: int
    open: int
    after: int

    def left(self, spent: int) -> bool:
        """One of them has not taken effect."""
        return spent & self.span != self.open

    def first(self, spent: int) -> Step:
        """The first that has not."""
        return self.spare.steps[(spent & self.span).bit_count()]


class Unsure:
    """All of them, of one search."""

    def __init__(self, line: Timeline, step: Callable[[int, int], int], last_use: Callable[[int], int]) -> None:
        """Of a history.

        Args:
            line: the history.
            step: the state after an action, or `ILLEGAL`.
            last_use: action → the last event at which it may matter whether it took effect.
        """
        self._step = step
        self._starts, self._open = _epochs(line, last_use)
        self._choices: dict[tuple[int, int], list[Choice]] = {}
        self._among: dict[tuple[int, Callable[[int], int | None]], list[Choice]] = {}

    def choices(self, event: int, state: int) -> list[Choice]:
        """Which may take effect in a state, and change it."""
        epoch = bisect_right(self._starts, event)
        known = self._choices.get((epoch, state))
        if known is None:
            known = self._choices[epoch, state] = [
                one._replace(after=after)
                for one in self._open[epoch]
                if (after := self._step(state, one.spare.action)) not in (ILLEGAL, state)
            ]
        return known

    def given(self, event: int, spent: int, gives: Callable[[int], int | None]) -> Iterator[int]:
        """The states that those can give of which it is known, which `gives` tells of an action."""
        epoch = bisect_right(self._starts, event)
        known = self._among.get((epoch, gives))
        if known is None:
            known = self._among[epoch, gives] = [
                one._replace(after=after) for one in self._open[epoch] if (after := gives(one.spare.action)) is not None
            ]
        return (one.after for one in known if spent & one.span != one.open)


def _epochs(line: Timeline, last_use: Callable[[int], int]) -> tuple[list[int], list[tuple[Choice, ...]]]:
    """The events from which on others are open, and which are before the first and from each on."""
    changes: list[tuple[int, int, int]] = []
    for place, spare in enumerate(line.spare):
        last = last_use(spare.action)
        begun = [(step.begins, place, step.bit) for step in spare.steps if step.begins <= last]
        if begun:
            changes += [*begun, (last + 1, place, 0)]
    changes.sort()
    spans = [sum(step.bit for step in spare.steps) for spare in line.spare]
    starts: list[int] = []
    open_: dict[int, Choice] = {}
    epochs: list[tuple[Choice, ...]] = [()]
    for event, place, bit in changes:
        if not bit:
            del open_[place]
        elif place in open_:
            open_[place] = open_[place]._replace(open=open_[place].open | bit)
        else:
            spare = line.spare[place]
            open_[place] = Choice(spare, spare.steps[0].bit, spans[place], bit, ILLEGAL)
        starts.append(event)
        epochs.append(tuple(open_.values()))
    return starts, epochs
