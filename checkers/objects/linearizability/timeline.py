"""The operations of one key as the search reads them: events in order, and at each end which operations are open.

An open operation that must take effect has a slot, a bit of a mask; a slot is free again once its operation has ended. So a mask is
as long as operations are concurrent, and says, together with the place of the event, which of them have taken effect.

Those that need not take effect stay open for ever, and there may be thousands. They are kept apart, and nothing can tell those with
the same action from each other: which have taken effect is how many of each action have, the first invoked first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from tidemark.checkers.objects.linearizability.model import Action, Machine
from tidemark.checkers.objects.linearizability.operation import OK, Operation

END: Action = ("the end",)
"""What cannot happen: a search gets no further."""


class Step(NamedTuple):
    """One operation that must or may take effect.

    Attributes:
        operation: what it is.
        action: number of its action (`Timeline.actions`).
        begins: event of its invocation.
        ends: event of its completion; `None` if it need not take effect.
        bit: its slot; of one that need not take effect, its bit among those (`Spare`).
        reads: it never changes the state.
    """

    operation: Operation
    action: int
    begins: int
    ends: int | None
    bit: int
    reads: bool


class Spare(NamedTuple):
    """The operations of one action that need not take effect, in the order of their invocations.

    Attributes:
        action: number of the action.
        steps: the operations. The bit of each is the double of that of the one before it.
    """

    action: int
    steps: list[Step]


class Timeline(NamedTuple):
    """The events of one key.

    Attributes:
        steps: the operations, in the order of their invocations.
        events: ``(step, whether it ends)`` in order.
        actions: each action once.
        movers: event → for ends the open operations that must take effect and may change the state, the first to end first; empty
            for invocations.
        readers: event → for ends the open reads; empty for invocations.
        spare: the operations that need not take effect, by their actions.
    """

    steps: list[Step]
    events: list[tuple[Step, bool]]
    actions: list[Action]
    movers: list[tuple[Step, ...]]
    readers: list[tuple[Step, ...]]
    spare: list[Spare]


def timeline(
    machine: Machine, operations: Sequence[Operation], actions: Sequence[Action], *, whole: bool = False
) -> Timeline:
    """The events of one key.

    Args:
        machine: the key's object.
        operations: its operations, without those that failed.
        actions: what each does.
        whole: keep operations of unknown outcome that nothing could tell from ones that did not happen, too.
    """
    numbers: dict[Action, int] = {}
    chosen = _chosen(machine, operations, actions, whole=whole)
    moments = [(operations[place].call, place, False) for place in chosen]
    moments += [(end, place, True) for place, end in chosen.items() if end is not None]
    moments.sort()
    events_of = {(place, ends): event for event, (_, place, ends) in enumerate(moments)}
    slots = _slots(moment for moment in moments if chosen[moment[1]] is not None)
    by_place: dict[int, Step] = {}
    unsure: dict[int, list[int]] = {}
    for _, place, ends in moments:
        if not ends:
            number = numbers.setdefault(actions[place], len(numbers))
            if chosen[place] is None:
                unsure.setdefault(number, []).append(place)
    slots |= {place: bit for bit, place in enumerate(place for same in unsure.values() for place in same)}
    for _, place, ends in moments:
        if not ends:
            by_place[place] = Step(
                operations[place],
                numbers[actions[place]],
                events_of[place, False],
                events_of.get((place, True)),
                1 << slots[place],
                actions[place] == END or machine.reads(actions[place]),
            )
    events = [(by_place[place], ends) for _, place, ends in moments]
    spare = [Spare(number, [by_place[place] for place in same]) for number, same in unsure.items()]
    return Timeline(list(by_place.values()), events, list(numbers), *_open(events), spare)


def _chosen(
    machine: Machine, operations: Sequence[Operation], actions: Sequence[Action], *, whole: bool
) -> dict[int, int | None]:
    """Place of each operation that counts → where it ends, `None` if it need not take effect."""
    ends = [one.end if one.outcome == OK else None for one in operations]
    unsure = [end is None for end in ends]
    useless = {place for place, action in enumerate(actions) if unsure[place] and machine.reads(action)}
    if not whole:
        useless |= machine.useless(actions, unsure)
    return {place: end for place, end in enumerate(ends) if place not in useless}


def _slots(moments: Iterable[tuple[int, int, bool]]) -> dict[int, int]:
    """A slot for each operation, the lowest that is free."""
    free: list[int] = []
    slots: dict[int, int] = {}
    high = 0
    for _, place, ends in moments:
        if ends:
            heappush(free, slots[place])
        elif free:
            slots[place] = heappop(free)
        else:
            slots[place] = high
            high += 1
    return slots


def _open(events: Sequence[tuple[Step, bool]]) -> tuple[list[tuple[Step, ...]], list[tuple[Step, ...]]]:
    """For each end the open operations that must take effect, that which ends there included: those that may change the state,
    and reads.
    """
    open_: dict[int, Step] = {}
    movers: list[tuple[Step, ...]] = []
    readers: list[tuple[Step, ...]] = []
    for step, ends in events:
        if not ends:
            if step.ends is not None:
                open_[step.begins] = step
            movers.append(())
            readers.append(())
            continue
        by_end = sorted(open_.values(), key=_end)
        movers.append(tuple(one for one in by_end if not one.reads))
        readers.append(tuple(one for one in by_end if one.reads))
        del open_[step.begins]
    return movers, readers


def _end(step: Step) -> int:
    return -1 if step.ends is None else step.ends
