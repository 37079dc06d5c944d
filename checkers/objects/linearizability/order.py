"""The operations that a search has given a place, in their order."""

from __future__ import annotations

from typing import Any

from tidemark.checkers.objects.linearizability.model import Machine
from tidemark.checkers.objects.linearizability.operation import Operation
from tidemark.checkers.objects.linearizability.search import Chain, Configuration
from tidemark.checkers.objects.linearizability.timeline import END, Step, Timeline


def order(machine: Machine, line: Timeline, reached: Configuration) -> list[tuple[Operation, Any]]:
    """The operations that have taken effect in a configuration, in their order, each with the state after it."""
    links: list[Chain] = []
    link = reached.chain
    while link is not None:
        links.append(link)
        link = link.before
    links.reverse()
    placed: list[tuple[Operation, Any]] = []
    state, mask, event = machine.initial, 0, 0

    def legal(step: Step) -> bool:
        action = line.actions[step.action]
        return action != END and machine.step(state, action) == state

    def take(step: Step) -> None:
        nonlocal state, mask
        after = machine.step(state, line.actions[step.action])
        state = after
        if step.ends is not None:
            mask |= step.bit
        placed.append((step.operation, machine.show(state)))

    def go_on(until: int) -> None:
        nonlocal mask, event
        for step, ends in line.events[event:until]:
            if ends:
                mask &= ~step.bit
            elif step.reads and legal(step):
                take(step)
        event = until

    for link in links:
        go_on(link.event)
        for step in line.movers[event]:
            if step.bit & link.hidden:
                take(step)
        take(link.step)
        for step in line.readers[event]:
            if not mask & step.bit and legal(step):
                take(step)
    go_on(reached.event)
    return placed
