"""What comes later in a history, so that a search for a legal order of its operations need not try what cannot lead to one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from tidemark.checkers.objects.linearizability.model import Machine, Parts, State
from tidemark.checkers.objects.linearizability.timeline import Step, Timeline
from tidemark.checkers.objects.linearizability.unsure import ILLEGAL, Unsure

UNSEEN = 0
"""The number of all states that nobody will see."""

_LOOK_AHEAD = 3
_FOLLOWED = 64
"""So many states are followed from one; of more it is said that all can come of it."""


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
        self._knows_viewers = not any(need.sees for need in needs)
        movers = {step.action for step in line.steps if not step.reads}
        self._parts = machine if isinstance(machine, Parts) and self._knows_viewers else None
        self._knows_sources = not machine.returns
        self._knows_all_sources = all(self._given[action] is not None for action in movers)
        self._edges = self._all_edges(movers)
        self._last_need: dict[int, int] = {}
        self._last_source: dict[int, int] = {}
        last_end: dict[int, int] = {}
        for step in line.steps:
            needed, given = self.needed[step.action], self._given[step.action]
            if needed is not None and step.ends is not None:
                self._last_need[needed] = step.begins
                last_end[needed] = max(last_end.get(needed, -1), step.ends)
            if given is not None and not step.reads:
                self._last_source[given] = step.begins
        self._views_by_begin = sorted(((begins, state) for state, begins in self._last_need.items()), reverse=True)
        self._views_by_end = sorted(((ends, state) for state, ends in last_end.items()), reverse=True)
        self._last_end = last_end
        self._blinds = [step for step in line.steps if self.blind[step.action]]
        self._blind_begins = [step.begins for step in self._blinds]
        self._needing = sorted(
            (step for step in line.steps if step.ends is not None and self.needed[step.action] is not None), key=_end
        )
        self._need_ends = [_end(step) for step in self._needing]
        self._idle: dict[int, list[tuple[int, int]]] = {}
        self._last_part: dict[int, int] = {}
        self._reached: dict[tuple[int, int], bool] = {}
        self._followers: dict[int, frozenset[int] | None] = {}
        self._last_seen: dict[int, int] = {}
        self._sources: dict[tuple[int, int], tuple[int, int]] = {}
        self._viewers: dict[tuple[int, int], int] = {}

    def step_unseen(self, action: int) -> int:
        """What an action does to a state that nobody will see."""
        if self.blind[action]:
            given = self._given[action]
            return ILLEGAL if given is None else given
        return UNSEEN if self.needed[action] is None else ILLEGAL

    def last_use(self, action: int) -> int:
        """The last event at which it may matter whether what need not take effect did: nobody sees later what it gives."""
        given = self._given[action]
        if given is None or not self._knows_viewers:
            return len(self._line.events)
        return self._last(given, self._last_end, self._views_by_end)

    def out_of_nowhere(self, initial: int) -> bool:
        """Some operation needs a state that is not the first, and that no operation brings about."""
        return self._knows_all_sources and any(
            state != initial and state not in self._last_source for state in self._last_need
        )

    def missed(self, event: int, mask: int, spent: int, state: int, unsure: Unsure) -> bool:
        """Some operation needs the state, which is left for good."""
        if not self._knows_sources or self._last_source.get(state, -1) > event:
            return False
        needing, sources = self._masks(event, state)
        return (
            (self._last_need.get(state, -1) > event or bool(needing & ~mask))
            and not sources & ~mask
            and state not in unsure.given(event, spent, self._gives)
        )

    def hopeless(self, event: int, mask: int, spent: int, state: int, unsure: Unsure) -> bool:
        """What must take effect next needs another state, which nothing can bring about in time."""
        if self._knows_all_sources:
            must = self.needed[self._line.events[event][0].action]
            if (
                must is not None
                and must != state
                and not self._masks(event, must)[1] & ~mask
                and must not in unsure.given(event, spent, self._gives)
            ):
                return True
        return any(
            not self._reaches(state, needed)
            and not any(self._reaches(given, needed) for given in self._blind_before(event, mask, end))
            and not any(self._reaches(given, needed) for given in unsure.given(event, spent, self._writes))
            for needed, end in self._next_needed(event, mask)
        )

    def unseen(self, event: int, mask: int, state: int) -> bool:
        """Nobody will see the state, whatever comes of it without a blind action."""
        if not self._knows_viewers:
            return False
        last = self._last_seen.get(state)
        if last is None:
            last = self._last_seen[state] = self._last(state, self._last_need, self._views_by_begin)
        return last <= event and not self._viewing(event, state) & ~mask

    def hidden(self, event: int, mask: int) -> int:
        """The open writes that must take effect, and that nobody will see."""
        hidden = 0
        for step in self._line.movers[event]:
            if not mask & step.bit and self.blind[step.action]:
                given = self._given[step.action]
                if given is not None and self.unseen(event, mask, given):
                    hidden |= step.bit
        return hidden

    def idle(self, event: int, mask: int) -> int:
        """The open operations that must take effect, can in every state, and are part of no state that anybody will see."""
        if self._parts is None:
            return 0
        known = self._idle.get(event)
        if known is None:
            known = self._idle[event] = [
                (step.bit, self._viewing_part(event, step.action))
                for step in self._line.movers[event]
                if self.needed[step.action] is None
                and not self.blind[step.action]
                and self._last_view_of_part(step.action) <= event
            ]
        return sum(bit for bit, viewers in known if not mask & bit and not viewers & ~mask)

    def _last_view_of_part(self, action: int) -> int:
        last = self._last_part.get(action)
        if last is None:
            seen = (begins for begins, needed in self._views_by_begin if self._is_part(action, needed))
            last = self._last_part[action] = next(seen, -1)
        return last

    def _viewing_part(self, event: int, action: int) -> int:
        viewers = 0
        for step in (*self._line.movers[event], *self._line.readers[event]):
            needed = self.needed[step.action]
            if needed is not None and self._is_part(action, needed):
                viewers |= step.bit
        return viewers

    def _is_part(self, action: int, state: int) -> bool:
        return self._parts is not None and self._parts.part(self._line.actions[action], self._states[state])

    def _gives(self, action: int) -> int | None:
        return self._given[action]

    def _writes(self, action: int) -> int | None:
        return self._given[action] if self.blind[action] else None

    def _last(self, state: int, last: dict[int, int], views: Sequence[tuple[int, int]]) -> int:
        """When somebody last sees a state or what comes of it, -1 if never; `views` are those of `last`, the latest first."""
        followers = self._following(state)
        if followers is not None:
            return max((last.get(one, -1) for one in followers), default=-1)
        return next((when for when, needed in views if self._reaches(state, needed)), -1)

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
        """What blind actions can still make of the state before an event, those aside that are open for ever."""
        for step in self._line.movers[event]:
            if self.blind[step.action] and not mask & step.bit:
                yield self._given[step.action] or 0
        for place in range(bisect_left(self._blind_begins, event), bisect_left(self._blind_begins, end)):
            yield self._given[self._blinds[place].action] or 0

    def _all_edges(self, movers: set[int]) -> dict[int, set[int]] | None:
        """From which state actions that are not blind lead to which; `None` if that is not known of all of them."""
        edges: dict[int, set[int]] = {}
        for action in movers:
            needed, given = self.needed[action], self._given[action]
            if self.blind[action]:
                continue
            if needed is None or given is None:
                return None
            edges.setdefault(needed, set()).add(given)
        return edges

    def _following(self, state: int) -> frozenset[int] | None:
        """The states that a state is or can become without a blind action; `None` if that is not known, or they are too many."""
        if self._edges is None:
            return None
        if state in self._followers:
            return self._followers[state]
        found, left = {state}, [state]
        while left and len(found) <= _FOLLOWED:
            more = self._edges.get(left.pop(), set()) - found
            found |= more
            left += more
        known = self._followers[state] = None if left else frozenset(found)
        return known

    def _reaches(self, state: int, needed: int) -> bool:
        if state == needed:
            return True
        if self._edges is not None:
            followers = self._following(state)
            return followers is None or needed in followers
        known = self._reached.get((state, needed))
        if known is None:
            known = state != UNSEEN and self._machine.reaches(self._states[state], self._states[needed])
            self._reached[state, needed] = known
        return known

    def _masks(self, event: int, state: int) -> tuple[int, int]:
        """The open operations that need a state and must take effect, and those that must and give it."""
        masks = self._sources.get((event, state))
        if masks is None:
            needing = sources = 0
            for step in (*self._line.movers[event], *self._line.readers[event]):
                if self.needed[step.action] == state:
                    needing |= step.bit
                if self._given[step.action] == state and not step.reads:
                    sources |= step.bit
            masks = self._sources[event, state] = needing, sources
        return masks

    def _viewing(self, event: int, state: int) -> int:
        """The open operations that will see a state, or what comes of it."""
        mask = self._viewers.get((event, state))
        if mask is None:
            mask = 0
            for step in (*self._line.movers[event], *self._line.readers[event]):
                needed = self.needed[step.action]
                if needed is not None and self._reaches(state, needed):
                    mask |= step.bit
            self._viewers[event, state] = mask
        return mask
