"""Whether the operations of one key have a legal order, each between its invocation and its completion.

The search of Wing and Gong (1993) with Lowe's memory of configurations (*Testing for linearizability*, 2017; Porcupine has it too),
just in time (Lowe's second algorithm): an operation takes effect no earlier than some operation must, because it ends. A
configuration is an end that cannot be passed yet, the open operations that have taken effect, and the state; none is tried twice.

What makes it quick, and loses no order:

- An open read that is legal takes effect at once, and this is never taken back: the state is the same without it.
- Of open operations with the same action the first to end comes first: two could be swapped in any order that has them otherwise.
- With `ahead`: who leaves a state that some operation still needs, and that none can bring back, need not go on.
- With `ahead`: what overwrites the state may as well overwrite all open writes whose values nobody will see.
- With `ahead`: on a state that nobody will see, all takes effect that no state which somebody will see is made of.
- With `ahead`: all states that nobody will see are one.
- With `ahead`: what need not take effect does so only if the next operation sees it, and before the last that could see it.
- Of two configurations that differ only in what took effect and need not have, that with less of it can do all that the other can.

The last six are what makes histories with many clients or many unknown outcomes feasible. Five look at what comes later, so the
place where such a search stops tells nothing; a search without them stops at the first completion that cannot be explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from tidemark.checkers.objects.linearizability.future import UNSEEN, Future
from tidemark.checkers.objects.linearizability.model import Machine, State
from tidemark.checkers.objects.linearizability.timeline import END, Step, Timeline
from tidemark.checkers.objects.linearizability.unsure import ILLEGAL, Unsure

MAX_STEPS = 2_000_000
"""Effects tried for each key before its verdict is `unknown`: about ten seconds."""

_CLOCK_EVERY = 1024


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
    hidden: int
    step: Step


_UNSEEN_STATE: State = ("unseen",)


class Configuration(NamedTuple):
    """A place in the search.

    Attributes:
        event: the end that cannot be passed yet; the number of events once all are.
        mask: the slots of the open operations that have taken effect.
        spent: which have of those that need not.
        state: number of the state.
        chain: how it came about.
        seen_next: the next operation must see the state.
    """

    event: int
    mask: int
    spent: int
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
    _future: Future | None = None
    _unsure: Unsure = field(init=False)
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
        future = Future(self.machine, line, self._number, self._states) if self.ahead else None
        self._future = future
        unsure = self._unsure = Unsure(line, self._step, future.last_use if future else lambda _: len(line.events))
        first = self._passed(0, 0, 0, start, None)
        end, width = len(line.events), len(line.events) + 1
        best, furthest, states = first, first.event, {first.state: None}
        known: dict[tuple[int, int], tuple[int, ...]] = {}
        stack = [] if future is not None and future.out_of_nowhere(start) else [first]
        steps = look_at_clock = 0
        exhausted: str | None = None
        while stack:
            here = stack.pop()
            if here.event >= furthest:
                if here.event > furthest:
                    furthest, states, best = here.event, {}, here
                elif _effects(here) > _effects(best):
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
            if future is not None and future.hopeless(here.event, here.mask, here.spent, here.state, unsure):
                continue
            children = []
            for child in self._children(here):
                steps += 1
                if child is None:
                    continue
                key = ((child.mask * width + child.event) * 2 + child.seen_next, child.state)
                spent = child.spent
                before = known.get(key, ())
                for one in before:
                    if one & spent == one:
                        break
                else:
                    known[key] = (*before, spent)
                    children.append(child)
            children.reverse()
            children.sort(key=_event_and_effects if self.eager else _event)
            stack += children
        found = None if exhausted else False
        return Outcome(found, steps, exhausted, furthest, [self._states[state] for state in states], best)

    def _children(self, here: Configuration) -> Iterator[Configuration | None]:
        """What may take effect next; `None` for what was tried and is not legal."""
        event, mask, spent, state, _, seen_next = here
        future = self._future
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
            taken = mask | step.bit
            hidden = 0
            if future is not None:
                if after != state and future.missed(event, taken, spent, state, self._unsure):
                    yield None
                    continue
                if future.blind[action]:
                    hidden = future.hidden(event, taken)
                    if state == UNSEEN:
                        hidden |= future.idle(event, taken)
                    taken |= hidden
            yield self._taken(here, step, hidden, taken, spent, after)
        for choice in self._unsure.choices(event, state) if self.line.spare else ():
            if not choice.left(spent):
                continue
            step = choice.first(spent)
            blind = future is not None and future.blind[step.action]
            if seen_next and blind:
                continue
            more = spent | step.bit
            if future is not None and future.missed(event, mask, more, state, self._unsure):
                yield None
                continue
            hidden = future.hidden(event, mask) if future is not None and blind else 0
            yield self._taken(here, step, hidden, mask | hidden, more, choice.after)

    def _taken(
        self, here: Configuration, step: Step, hidden: int, mask: int, spent: int, state: int
    ) -> Configuration | None:
        """What comes of a configuration by a step, with the reads that are legal then; `None` if that is of no use."""
        event = here.event
        seen = mask | self._reads(event, state)
        lonely = False
        if self._future is not None:
            lonely = step.ends is None and seen == mask
            if self._future.unseen(event, seen, state):
                if lonely:
                    return None
                state = UNSEEN
                idle = self._future.idle(event, seen)
                hidden |= idle
                seen |= idle
        link = Chain(here.chain, event, hidden, step)
        if seen & self.line.events[event][0].bit:
            return self._passed(event, seen, spent, state, link)
        return Configuration(event, seen, spent, state, link, lonely)

    def _passed(self, event: int, mask: int, spent: int, state: int, chain: Chain | None) -> Configuration:
        """Go on from an event to the next end that cannot be passed; reads that begin on the way take effect if they can."""
        events, table = self.line.events, self._table
        for place in range(event, len(events)):
            step, ends = events[place]
            if ends:
                if not mask & step.bit:
                    if self._future is not None and self._future.unseen(place, mask, state):
                        state = UNSEEN
                    return Configuration(place, mask, spent, state, chain)
                mask ^= step.bit
            elif step.reads:
                after = table[step.action].get(state)
                if (self._step(state, step.action) if after is None else after) == state:
                    mask |= step.bit
        return Configuration(len(events), mask, spent, state, chain)

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


def _effects(configuration: Configuration) -> int:
    return configuration.mask.bit_count() + configuration.spent.bit_count()


def _event_and_effects(configuration: Configuration) -> tuple[int, int]:
    return configuration.event, _effects(configuration)
