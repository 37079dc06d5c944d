"""A store of registers by key, each judged by itself (Herlihy and Wing 1990: linearizability is local).

The value of every operation is ``[key, value]``, as Jepsen's ``independent`` has it; `read` may be called ``get``, and `write`
``put``, as in Porcupine's. ``cas`` has ``[key, [old, new]]``. ``delete`` (``[key, null]``) makes a key what it was before the first
write. ``append`` adds a string to a string (Porcupine's), and to a key without value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checkers.objects.linearizability.model import Action, Needs, State, agreed, refuse, told
from tidemark.checkers.objects.linearizability.operation import OK, Operation
from tidemark.checkers.objects.linearizability.register import (
    CAS,
    Exchange,
    Register,
    RegisterMachine,
    describe,
    register_action,
)
from tidemark.checkers.objects.values import Value, Values

APPEND, DELETE = "append", "delete"
_NAMES = {"get": "read", "put": "write"}


class StringMachine(RegisterMachine):
    """A register to which strings are appended as well; `strings` if all values are."""

    returns = True

    def __init__(self, initial: Value, values: Values, *, sets: bool, strings: bool) -> None:
        super().__init__(initial, values, sets=sets)
        self.strings = strings

    def step(self, state: State, action: Action) -> State | None:
        """As of a register, and for ``append``: the old string and the new one."""
        if action[0] != APPEND:
            return super().step(state, action)
        before = self.show(state)
        if before is not None and not isinstance(before, str):
            return None
        return self.values.number((before or "") + action[1])

    def useless(self, actions: Sequence[Action], unsure: Sequence[bool]) -> set[int]:
        """Reads without an answer."""
        return {place for place, action in enumerate(actions) if unsure[place] and self.reads(action)}

    def part(self, action: Action, state: State) -> bool:
        """What was appended is in the string."""
        text = self.show(state)
        return action[0] != APPEND or (isinstance(text, str) and action[1] in text)

    def needs(self, action: Action) -> Needs:
        """Appending sees what is no string."""
        return Needs(None, None, sees=not self.strings) if action[0] == APPEND else super().needs(action)

    def reaches(self, state: State, needed: State) -> bool:
        """A string that is not written anew only grows; but a compare-and-set may write it anew."""
        before, after = self.show(state), self.show(needed)
        return self.sets or before is None or before == after or (isinstance(after, str) and after.startswith(before))


@dataclass(frozen=True)
class KeyValue(Register):
    """Registers by key, with compare-and-set, delete and append."""

    name: str = "key-value"
    cas: bool = True
    by_key: bool = True

    def key(self, operation: Operation) -> Value:
        """The first of the two that make the value."""
        return keyed(operation).asked[0]

    def noun(self, key: Value) -> str:
        """Such as ``key "x"``."""
        return f"key {told(key)}"

    def describe(self, operation: Operation) -> str:
        """Such as ``get by b returned 3``."""
        asked, answered = keyed(operation)
        return describe(operation, Exchange(asked[1], answered if answered is None else answered[1]))

    def machine(self, operations: Sequence[Operation]) -> tuple[RegisterMachine, list[Action]]:
        """One key's register, and what each operation does."""
        values = Values()
        actions = [self._action(one, values) for one in operations]
        sets = any(action[0] == CAS for action in actions)
        if any(action[0] == APPEND for action in actions):
            written = [action[-1] for action in actions if action[0] in ("write", CAS)]
            strings = all(
                isinstance(values.value(number), str | None) for number in [values.number(self.initial), *written]
            )
            return StringMachine(self.initial, values, sets=sets, strings=strings), actions
        return RegisterMachine(self.initial, values, sets=sets), actions

    def _action(self, operation: Operation, values: Values) -> Action:
        asked, answered = keyed(operation)
        one = operation._replace(f=_NAMES.get(operation.f, operation.f))
        value = Exchange(asked[1], answered if answered is None else answered[1])
        if one.f == APPEND:
            if not isinstance(value.asked, str):
                raise refuse(operation, f"only a string can be appended, and not {value.asked!r}")
            return (APPEND, agreed(operation, value.asked, value.answered))
        if one.f == DELETE:
            return ("write", values.number(self.initial))
        return register_action(self, one, value, values)


def keyed(operation: Operation) -> Exchange:
    """What was asked and answered, each a pair of key and value.

    Raises:
        ValueError: it is none, or the answer is about another key.
    """
    asked, answered = operation.asked, operation.answered
    if not isinstance(asked, (list, tuple)) or len(asked) != 2:
        raise refuse(operation, f"its value is [key, value], and not {asked!r}")
    if operation.outcome != OK or answered is None:
        return Exchange(asked, None)
    if not isinstance(answered, (list, tuple)) or len(answered) < 2:
        raise refuse(operation, f"its value is [key, value], and not {answered!r}")
    if answered[0] != asked[0]:
        raise refuse(operation, f"invoked for the key {asked[0]!r}, and completed for {answered[0]!r}")
    return Exchange(asked, answered)
