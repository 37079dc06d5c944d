"""Why there is no legal order: the longest that there is, and the first operation that has no place in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tidemark.checkers.objects.linearizability.model import Json, Model
from tidemark.checkers.objects.linearizability.operation import INFO, OK, Operation
from tidemark.checkers.objects.linearizability.order import order
from tidemark.checkers.objects.linearizability.search import Limits, Outcome, Search
from tidemark.checkers.objects.linearizability.timeline import END, Timeline, timeline

SHOWN_STATES = 10
EXPLAIN_STEPS = 50_000
"""Effects tried to find all states that the objects could have, over all keys; beyond, one state of each must do."""
EXPLAIN_FIRST_STEPS, EXPLAIN_OTHER_STEPS = 10_000, 1_000
"""Effects tried for the first key, which is told of, and for each of the others."""

_FEW_STEPS = 2
"""So many effects for each operation show most orders that there are."""


class Partial(NamedTuple):
    """The evidence that the operations of one key have no legal order.

    Attributes:
        stuck: the first operation whose end no order explains: up to the event before it there is one.
        linearization: the longest order of what was before, with the state after each.
        states: what the object could be when `stuck` had to take effect, as JSON.
        pending: the other operations that were open then, and that the order leaves for later.
        all_states: those are all states; else the search for them was too long.
        first: no operation ended earlier without an explanation; else the search for it was too long.
    """

    stuck: Operation
    linearization: list[tuple[Operation, Json]]
    states: list[Json]
    pending: list[Operation]
    all_states: bool
    first: bool

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "operation": self.stuck.to_json(),
            "first": self.first,
            "states": self.states[:SHOWN_STATES],
            "further_states": max(0, len(self.states) - SHOWN_STATES),
            "all_states": self.all_states,
            "linearization": [one.to_json() | {"state": state} for one, state in self.linearization],
            "pending": [one.to_json() for one in self.pending],
        }


class Explaining:
    """The search for explanations, with its limits for all keys together."""

    def __init__(self, model: Model, limits: Limits) -> None:
        self.model = model
        self.limits = limits
        self.left = EXPLAIN_STEPS
        self.most = EXPLAIN_FIRST_STEPS

    def explained(self, found: Sequence[Operation], reached: Operation) -> Partial:
        """Why the operations of one key, which have no legal order, have none; all that ended before `reached` have one.

        The history is cut to the shortest beginning without a legal order, which ends with the operation in question. Then all
        orders of what was before are looked for, first without that operation, then as if it were still open.
        """
        stuck, first = _first(self.model, found, reached, self.limits)
        place = stuck.call if stuck.end is None else stuck.end
        before = until(found, place - 1)
        others = [one for one in before if one.invoked != stuck.invoked]
        explained = self._all_states((others, before), stuck, place)
        if explained is None:
            machine, actions = self.model.machine(before)
            line = timeline(machine, before, actions)
            outcome = Search(machine, line, self.limits.max_steps, self.limits.deadline).run()
            placed = order(machine, line, outcome.best)
            states = [placed[-1][1] if placed else machine.show(machine.initial)]
            explained = Partial(stuck, placed, states, _pending(line, outcome, stuck), all_states=False, first=True)
        self.most = EXPLAIN_OTHER_STEPS
        return explained._replace(first=first)

    def _all_states(self, either: Sequence[Sequence[Operation]], stuck: Operation, place: int) -> Partial | None:
        """By a search without foresight, of the first of some histories for which there is an order, if it is not too long."""
        for before in either:
            machine, actions = self.model.machine(before)
            end = stuck._replace(call=place, end=place, outcome=OK)
            line = timeline(machine, [*before, end], [*actions, END], whole=True)
            outcome = Search(machine, line, min(self.left, self.most), self.limits.deadline, ahead=False).run()
            self.left -= outcome.steps
            if outcome.found is not False:
                return None
            if line.actions[line.events[outcome.event][0].action] == END:
                states = [machine.show(state) for state in outcome.states]
                placed = order(machine, line, outcome.best)
                return Partial(stuck, placed, states, _pending(line, outcome, stuck), all_states=True, first=True)
        return None


def _first(model: Model, found: Sequence[Operation], reached: Operation, limits: Limits) -> tuple[Operation, bool]:
    """The operation that ends the shortest beginning without a legal order, and whether the limits allowed to be sure of that.

    It ends with `reached` or soon after. A beginning with an order is judged soon, one without may take long. So it is looked for
    from there on, in strides that double, with few steps; of one beginning that takes more it is asked in the end what it is.
    """
    by_end = sorted((one.end, place) for place, one in enumerate(found) if one.end is not None and one.outcome == OK)

    def legal(last: int, max_steps: int) -> bool | None:
        beginning = until(found, by_end[last][0])
        machine, actions = model.machine(beginning)
        line = timeline(machine, beginning, actions)
        return Search(machine, line, min(max_steps, limits.max_steps), limits.deadline).run().found

    low = next(at for at, (_, place) in enumerate(by_end) if found[place] is reached)
    known = len(by_end) - 1
    while True:
        high, stride, strides = known, 1, True
        while low < high:
            middle = min(low + stride - 1, high - 1) if strides else (low + high) // 2
            judged = legal(middle, _FEW_STEPS * len(found))
            if judged:
                low, stride = middle + 1, 2 * stride
            else:
                high, strides = middle, False
                known = middle if judged is False else known
        if high == known:
            return found[by_end[high][1]], True
        judged = legal(high, limits.max_steps)
        if not judged:
            return found[by_end[high][1]], judged is False
        low = high + 1


def until(found: Sequence[Operation], place: int) -> list[Operation]:
    """The history as it was after an event: what ended later was open, and nobody knew its answer."""
    return [
        one if one.end is None or one.end <= place else one._replace(outcome=INFO, answered=None, end=None)
        for one in found
        if one.call <= place
    ]


def _pending(line: Timeline, outcome: Outcome, stuck: Operation) -> list[Operation]:
    """What else was open where the search stopped, and has no place yet."""
    best = outcome.best
    return [
        step.operation
        for step in line.steps
        if step.begins < best.event
        and (step.ends is None or step.ends >= best.event)
        and not (best.spent if step.ends is None else best.mask) & step.bit
        and step.operation.invoked != stuck.invoked
    ]
