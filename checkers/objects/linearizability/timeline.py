"""The operations of one key as the search reads them: events in order, and at each end which operations are open.

An open operation has a slot, a bit of a mask; a slot is free again once its operation has ended. So a mask is as long as operations
are concurrent, and says, together with the place of the event, which operations have taken effect.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        bit: its slot.
        reads: it never changes the state.
    """

    operation: Operation
    action: int
    begins: int
    ends: int | None
    bit: int
    reads: bool


class Timeline(NamedTuple):
    """The events of one key.

    Attributes:
        steps: the operations, in the order of their invocations.
        events: ``(step, whether it ends)`` in order.
        actions: each action once.
        movers: event → for ends the open operations that may change the state, the first to end first, and last those that need not
            take effect; empty for invocations.
        readers: event → for ends the open reads; empty for invocations.
    """

    steps: list[Step]
    events: list[tuple[Step, bool]]
    actions: list[Action]
    movers: list[tuple[Step, ...]]
    readers: list[tuple[Step, ...]]


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
    slots = _slots(moments)
    by_place: dict[int, Step] = {}
    for _, place, ends in moments:
        if not ends:
            number = numbers.setdefault(actions[place], len(numbers))
            by_place[place] = Step(
                operations[place],
                number,
                events_of[place, False],
                events_of.get((place, True)),
                1 << slots[place],
                actions[place] == END or machine.reads(actions[place]),
            )
    events = [(by_place[place], ends) for _, place, ends in moments]
    return Timeline(list(by_place.values()), events, list(numbers), *_open(events))


def _chosen(
    machine: Machine, operations: Sequence[Operation], actions: Sequence[Action], *, whole: bool
) -> dict[int, int | None]:
    """Place of each operation that counts → where it ends, `None` if it need not take effect."""
    ends = [one.end if one.outcome == OK else None for one in operations]
    unsure = [end is None for end in ends]
    if whole:
        useless = {place for place, action in enumerate(actions) if unsure[place] and machine.reads(action)}
    else:
        useless = machine.useless(actions, unsure)
    return {place: end for place, end in enumerate(ends) if place not in useless}


def _slots(moments: Sequence[tuple[int, int, bool]]) -> dict[int, int]:
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
    """For each end the open operations, that which ends there included: those that change the state, and reads."""
    never = len(events)
    open_: dict[int, Step] = {}
    movers: list[tuple[Step, ...]] = []
    readers: list[tuple[Step, ...]] = []
    for step, ends in events:
        if not ends:
            open_[step.begins] = step
            movers.append(())
            readers.append(())
            continue
        by_end = sorted(open_.values(), key=lambda one: (never if one.ends is None else one.ends, one.begins))
        movers.append(tuple(one for one in by_end if not one.reads))
        readers.append(tuple(one for one in by_end if one.reads))
        del open_[step.begins]
    return movers, readers
