"""Logs by key: elements are appended, and a log is read whole.

| f | value |
|---|---|
| ``append`` | ``[key, element]``; answered ``[key, element, offset]`` where the log told the element's place, from 0 |
| ``read`` | ``[key, null]``; answered ``[key, [elements from the first to the last]]`` |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checkers.objects.linearizability.key_value import keyed
from tidemark.checkers.objects.linearizability.model import Action, Json, Needs, State, agreed, refuse, told
from tidemark.checkers.objects.linearizability.operation import OK, Operation
from tidemark.checkers.objects.values import Value, Values

APPEND, READ, ANY_READ = "append", "read", "any read"


class LogMachine:
    """One log. Its state is a tuple of its elements' numbers."""

    initial: State = ()
    returns = False

    def __init__(self, values: Values) -> None:
        self.values = values

    def step(self, state: State, action: Action) -> State | None:
        """Appends go to the end."""
        if action[0] == READ:
            return state if state == action[1] else None
        if action[0] == APPEND:
            return (*state, action[1]) if action[2] in (None, len(state)) else None
        return state

    def reads(self, action: Action) -> bool:
        """All but appends."""
        return bool(action[0] != APPEND)

    def needs(self, action: Action) -> Needs:
        """An offset tells how long the log was."""
        if action[0] == READ:
            return Needs(action[1], action[1])
        return Needs(None, None, sees=action[0] == APPEND and action[2] is not None)

    def reaches(self, state: State, needed: State) -> bool:
        """A log only grows."""
        return bool(needed[: len(state)] == state)

    def show(self, state: State) -> Json:
        """The elements."""
        return [self.values.value(number) for number in state]

    def useless(self, actions: Sequence[Action], unsure: Sequence[bool]) -> set[int]:
        """Reads without an answer; appends of what nobody read, unless offsets count it."""
        counted = any(action[0] == APPEND and action[2] is not None for action in actions)
        seen = {element for action in actions if action[0] == READ for element in action[1]}
        return {
            place
            for place, action in enumerate(actions)
            if unsure[place] and (self.reads(action) or (not counted and action[1] not in seen))
        }


@dataclass(frozen=True)
class AppendLog:
    """Logs by key."""

    name: str = "append-log"
    by_key: bool = True

    def key(self, operation: Operation) -> Value:
        """The first of the two that make the value."""
        return keyed(operation).asked[0]

    def noun(self, key: Value) -> str:
        """Such as ``log "x"``."""
        return f"log {told(key)}"

    def describe(self, operation: Operation) -> str:
        """Such as ``read by b returned [1, 2]``."""
        asked, answered = keyed(operation)
        if operation.f == READ:
            return f"read by {operation.process} returned {told(answered[1])}"
        offset = f" at offset {answered[2]}" if answered is not None and len(answered) == 3 else ""
        return f"append by {operation.process} put {told(asked[1])}{offset}"

    def machine(self, operations: Sequence[Operation]) -> tuple[LogMachine, list[Action]]:
        """One key's log, and what each operation does."""
        values = Values()
        return LogMachine(values), [self._action(one, values) for one in operations]

    def _action(self, one: Operation, values: Values) -> Action:
        asked, answered = keyed(one)
        if one.f == READ:
            if one.outcome != OK:
                return (ANY_READ,)
            if answered is None or not isinstance(answered[1], (list, tuple)):
                raise refuse(one, f"a read is answered with [key, [elements]], and not with {one.answered!r}")
            return (READ, tuple(values.number(element) for element in answered[1]))
        if one.f != APPEND:
            raise refuse(one, f"the model {self.name} has append and read")
        offset = answered[2] if answered is not None and len(answered) == 3 else None
        if offset is not None and (type(offset) is not int or offset < 0):
            raise refuse(one, f"an offset is an integer from 0, and not {offset!r}")
        return (APPEND, values.number(agreed(one, asked[1], answered and answered[1])), offset)
