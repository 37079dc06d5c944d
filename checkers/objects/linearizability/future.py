"""What comes later in a history, so that a search for a legal order of its operations need not try what cannot lead to one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from tidemark.checkers.objects.linearizability.model import Machine, State
from tidemark.checkers.objects.linearizability.timeline import Step, Timeline

ILLEGAL = -1
UNSEEN = 0
"""The number of all states that nobody will see."""

_LOOK_AHEAD = 3


def _end(step: Step) -> int:
    return -1 if step.ends is None else step.ends


class Future:
    """What comes later: which states are still needed, and which can still be brought about."""

    def __init__(
        self, machine: Machine, line: Timeline, number: Callable[[State], int], states: Sequence[State]
    ) -> None:
        needs = [machine.needs(action) for action in line.actions]
        self.blind = [need.blind for need in needs]
        self.needed = [None if need.state is None else number(need.state) for need in needs]
        self._given = [None if need.gives is None else number(need.gives) for need in needs]
        self._machine, self._line, self._states = machine, line, states
        self._knows_sources = not machine.returns
        self._knows_all_sources = all(self._given[step.action] is not None for step in line.steps if not step.reads)
        self._knows_viewers = not any(need.sees for need in needs)
        self._last_need: dict[int, int] = {}
        self._last_view: dict[int, int] = {}
        self._last_source: dict[int, int] = {}
        for step in line.steps:
            needed, given = self.needed[step.action], self._given[step.action]
            if needed is not None:
                self._last_view[needed] = step.begins
                if step.ends is not None:
                    self._last_need[needed] = step.begins
            if given is not None and not step.reads:
                self._last_source[given] = step.begins
        self._blinds = [step for step in line.steps if self.blind[step.action]]
        self._blind_begins = [step.begins for step in self._blinds]
        self._needing = sorted(
            (step for step in line.steps if step.ends is not None and self.needed[step.action] is not None), key=_end
        )
        self._need_ends = [_end(step) for step in self._needing]
        self._reached: dict[tuple[int, int], bool] = {}
        self._last_seen: dict[int, int] = {}
        self._sources: dict[tuple[int, int], tuple[int, int]] = {}
        self._viewers: dict[tuple[int, int], int] = {}

    def step_unseen(self, action: int) -> int:
        """What an action does to a state that nobody will see."""
        if self.blind[action]:
            return self._given[action] or ILLEGAL
        return UNSEEN if self.needed[action] is None else ILLEGAL

    def out_of_nowhere(self, initial: int) -> bool:
        """Some operation needs a state that is not the first, and that no operation brings about."""
        return self._knows_all_sources and any(
            state != initial and state not in self._last_source for state in self._last_need
        )

    def missed(self, event: int, mask: int, state: int) -> bool:
        """Some operation needs the state, which is left for good."""
        if not self._knows_sources or self._last_source.get(state, -1) > event:
            return False
        needing, sources = self._masks(event, state)
        return (self._last_need.get(state, -1) > event or bool(needing & ~mask)) and not sources & ~mask

    def hopeless(self, event: int, mask: int, state: int) -> bool:
        """What must take effect next needs another state, which nothing can bring about in time."""
        if self._knows_all_sources:
            must = self.needed[self._line.events[event][0].action]
            if must is not None and must != state and not self._masks(event, must)[1] & ~mask:
                return True
        return any(
            not self._reaches(state, needed)
            and not any(self._reaches(given, needed) for given in self._blind_before(event, mask, end))
            for needed, end in self._next_needed(event, mask)
        )

    def unseen(self, event: int, mask: int, state: int) -> bool:
        """Nobody will see the state, whatever comes of it without a blind action."""
        if not self._knows_viewers:
            return False
        last = self._last_seen.get(state)
        if last is None:
            seen = (begins for needed, begins in self._last_view.items() if self._reaches(state, needed))
            last = self._last_seen[state] = max(seen, default=-1)
        return last <= event and not self._viewing(event, state) & ~mask

    def hidden(self, event: int, mask: int) -> int:
        """The open writes that must take effect, and that nobody will see."""
        hidden = 0
        for step in self._line.movers[event]:
            if step.ends is not None and not mask & step.bit and self.blind[step.action]:
                given = self._given[step.action]
                if given is not None and self.unseen(event, mask, given):
                    hidden |= step.bit
        return hidden

    def _next_needed(self, event: int, mask: int) -> list[tuple[int, int]]:
        """The states that the next operations to end need, and where they end."""
        found: list[tuple[int, int]] = []
        for place in range(bisect_left(self._need_ends, event), len(self._need_ends)):
            step = self._needing[place]
            needed = self.needed[step.action]
            if needed is not None and (step.begins > event or not mask & step.bit):
                found.append((needed, self._need_ends[place]))
                if len(found) == _LOOK_AHEAD:
                    break
        return found

    def _blind_before(self, event: int, mask: int, end: int) -> Iterator[int]:
        """What blind actions can still make of the state before an event."""
        for step in self._line.movers[event]:
            if self.blind[step.action] and not mask & step.bit:
                yield self._given[step.action] or 0
        for place in range(bisect_left(self._blind_begins, event), bisect_left(self._blind_begins, end)):
            yield self._given[self._blinds[place].action] or 0

    def _reaches(self, state: int, needed: int) -> bool:
        if state == needed:
            return True
        known = self._reached.get((state, needed))
        if known is None:
            known = state != UNSEEN and self._machine.reaches(self._states[state], self._states[needed])
            self._reached[state, needed] = known
        return known

    def _masks(self, event: int, state: int) -> tuple[int, int]:
        """The open operations that need a state and must take effect, and those that give it."""
        masks = self._sources.get((event, state))
        if masks is None:
            needing = sources = 0
            for step in (*self._line.movers[event], *self._line.readers[event]):
                if self.needed[step.action] == state and step.ends is not None:
                    needing |= step.bit
                if self._given[step.action] == state and not step.reads:
                    sources |= step.bit
            masks = self._sources[event, state] = needing, sources
        return masks

    def _viewing(self, event: int, state: int) -> int:
        """The open operations that may see a state, or what comes of it."""
        mask = self._viewers.get((event, state))
        if mask is None:
            mask = 0
            for step in (*self._line.movers[event], *self._line.readers[event]):
                needed = self.needed[step.action]
                if needed is not None and self._reaches(state, needed):
                    mask |= step.bit
            self._viewers[event, state] = mask
        return mask
