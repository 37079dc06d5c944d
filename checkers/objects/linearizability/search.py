"""Whether the operations of one key have a legal order, each between its invocation and its completion.

The search of Wing and Gong (1993) with Lowe's memory of configurations (*Testing for linearizability*, 2017; Porcupine has it too),
just in time (Lowe's second algorithm): an operation takes effect no earlier than some operation must, because it ends. A
configuration is an end that cannot be passed yet, the open operations that have taken effect, and the state; none is tried twice.

What makes it quick, and loses no order:

- An open read that is legal takes effect at once, and this is never taken back: the state is the same without it.
- Of open operations with the same action the first to end comes first: two could be swapped in any order that has them otherwise.
- With `ahead`: who leaves a state that some operation still needs, and that none can bring back, need not go on.
- With `ahead`: what overwrites the state may as well overwrite all open writes whose values nobody will see.
- With `ahead`: all states that nobody will see are one.
- With `ahead`: a write whose outcome is unknown takes effect only if the next operation sees it.

The last four are what makes histories with many clients or many unknown outcomes feasible. They look at what comes later, so the
place where such a search stops tells nothing; a search without them stops at the first completion that cannot be explained.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from tidemark.checkers.objects.linearizability.model import Machine, State
from tidemark.checkers.objects.linearizability.timeline import END, Step, Timeline

MAX_STEPS = 2_000_000
"""Effects tried for each key before its verdict is `unknown`: about ten seconds."""

ILLEGAL = -1
UNSEEN = 0
"""The number of all states that nobody will see."""

_CLOCK_EVERY = 1024
_LOOK_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to search.

    Attributes:
        max_steps: effects tried for each key; the same history then always gets the same verdict.
        deadline: `time.monotonic` after which every search ends, or `None`.
    """

    max_steps: int = MAX_STEPS
    deadline: float | None = None


class Chain(NamedTuple):
    """The operations that have taken effect by themselves, the last first."""

    before: Chain | None
    event: int
    mask: int
    hidden: int
    step: Step


_UNSEEN_STATE: State = ("unseen",)


class Configuration(NamedTuple):
    """A place in the search.

    Attributes:
        event: the end that cannot be passed yet; the number of events once all are.
        mask: the slots of the open operations that have taken effect.
        state: number of the state.
        chain: how it came about.
        seen_next: the next operation must see the state.
    """

    event: int
    mask: int
    state: int
    chain: Chain | None
    seen_next: bool = False


@dataclass(slots=True)
class Outcome:
    """How a search ended.

    Attributes:
        found: there is a legal order; `None` if the search ended before it knew.
        steps: how many effects were tried.
        exhausted: ``"steps"`` or ``"time"`` if that ended it, else `None`.
        event: the furthest end that was not passed, or the number of events.
        states: the states in which that end was tried, in the order of discovery.
        best: the configuration there with the most effects (that of the whole order, if there is one).
    """

    found: bool | None
    steps: int
    exhausted: str | None
    event: int
    states: list[State]
    best: Configuration


@dataclass(slots=True)
class Search:
    """One search.

    Attributes:
        machine: the key's object.
        line: its operations.
        max_steps: how many effects may be tried.
        deadline: `time.monotonic` after which it ends, or `None`.
        ahead: look at what comes later.
        eager: of configurations that are equally far, go on first from that with the most effects.
    """

    machine: Machine
    line: Timeline
    max_steps: int
    deadline: float | None = None
    ahead: bool = True
    eager: bool = False
    _future: _Future | None = None
    _states: list[State] = field(default_factory=list)
    _numbers: dict[State, int] = field(default_factory=dict)
    _table: list[dict[int, int]] = field(default_factory=list)
    _legal: list[dict[int, int]] = field(default_factory=list)

    def run(self) -> Outcome:
        """Search."""
        line = self.line
        self._table = [{} for _ in line.actions]
        self._legal = [{} for _ in line.events]
        self._number(_UNSEEN_STATE)
        start = self._number(self.machine.initial)
        future = _Future(self.machine, line, self._number, self._states) if self.ahead else None
        self._future = future
        first = self._passed(0, 0, start, None)
        end, width = len(line.events), len(line.events) + 1
        best, furthest, states = first, first.event, {first.state: None}
        known: set[tuple[int, int]] = set()
        stack = [] if future is not None and future.out_of_nowhere(start) else [first]
        steps = look_at_clock = 0
        exhausted: str | None = None
        while stack:
            here = stack.pop()
            if here.event >= furthest:
                count = here.mask.bit_count()
                if here.event > furthest:
                    furthest, states, best = here.event, {}, here
                elif count > best.mask.bit_count():
                    best = here
                states[here.state] = None
            if here.event == end:
                return Outcome(True, steps, None, end, [self._states[here.state]], here)
            if steps >= self.max_steps:
                exhausted = "steps"
                break
            if self.deadline is not None and steps >= look_at_clock:
                look_at_clock = steps + _CLOCK_EVERY
                if monotonic() > self.deadline:
                    exhausted = "time"
                    break
            if future is not None and future.hopeless(here):
                continue
            children = []
            for child in self._children(here):
                steps += 1
                if child is None:
                    continue
                key = ((child.mask * width + child.event) * 2 + child.seen_next, child.state)
                if key not in known:
                    known.add(key)
                    children.append(child)
            children.reverse()
            children.sort(key=_event_and_effects if self.eager else _event)
            stack += children
        found = None if exhausted else False
        return Outcome(found, steps, exhausted, furthest, [self._states[state] for state in states], best)

    def _children(self, here: Configuration) -> Iterator[Configuration | None]:
        """What may take effect next; `None` for what was tried and is not legal."""
        event, mask, state, chain, seen_next = here
        future = self._future
        must = self.line.events[event][0].bit
        tried = set()
        for step in self.line.movers[event]:
            action = step.action
            if mask & step.bit or action in tried:
                continue
            tried.add(action)
            if seen_next and future is not None and future.blind[action]:
                continue
            after = self._table[action].get(state)
            if after is None:
                after = self._step(state, action)
            if after == ILLEGAL:
                yield None
                continue
            hidden = 0
            lonely = False
            if future is not None:
                if after != state and future.missed(event, mask | step.bit, state):
                    yield None
                    continue
                if future.blind[action]:
                    hidden = future.hidden(event, mask | step.bit)
                    lonely = step.ends is None
            taken = mask | step.bit | hidden
            seen = taken | self._reads(event, after)
            if future is not None and future.unseen(event, seen, after):
                if lonely and seen == taken:
                    continue
                after = UNSEEN
            link = Chain(chain, event, mask, hidden, step)
            if seen & must:
                yield self._passed(event, seen, after, link)
            else:
                yield Configuration(event, seen, after, link, lonely and seen == taken)

    def _passed(self, event: int, mask: int, state: int, chain: Chain | None) -> Configuration:
        """Go on from an event to the next end that cannot be passed; reads that begin on the way take effect if they can."""
        events, table = self.line.events, self._table
        for place in range(event, len(events)):
            step, ends = events[place]
            if ends:
                if not mask & step.bit:
                    if self._future is not None and self._future.unseen(place, mask, state):
                        state = UNSEEN
                    return Configuration(place, mask, state, chain)
                mask ^= step.bit
            elif step.reads:
                after = table[step.action].get(state)
                if (self._step(state, step.action) if after is None else after) == state:
                    mask |= step.bit
        return Configuration(len(events), mask, state, chain)

    def _reads(self, event: int, state: int) -> int:
        """The open reads that are legal in a state."""
        known = self._legal[event]
        mask = known.get(state)
        if mask is None:
            mask = 0
            for step in self.line.readers[event]:
                if self._step(state, step.action) == state:
                    mask |= step.bit
            known[state] = mask
        return mask

    def _step(self, state: int, action: int) -> int:
        after = self._table[action].get(state)
        if after is None:
            if self.line.actions[action] == END:
                after = ILLEGAL
            elif state == UNSEEN and self._future is not None:
                after = self._future.step_unseen(action)
            else:
                found = self.machine.step(self._states[state], self.line.actions[action])
                after = ILLEGAL if found is None else self._number(found)
            self._table[action][state] = after
        return after

    def _number(self, state: State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number


def _event(configuration: Configuration) -> int:
    return configuration.event


def _event_and_effects(configuration: Configuration) -> tuple[int, int]:
    return configuration.event, configuration.mask.bit_count()


def _end(step: Step) -> int:
    return -1 if step.ends is None else step.ends


class _Future:
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

    def hopeless(self, here: Configuration) -> bool:
        """What must take effect next needs another state, which nothing can bring about in time."""
        event, mask, state = here.event, here.mask, here.state
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
