"""A register: read and write, and compare-and-set where the model has it. After Knossos's ``Register`` and ``CASRegister``.

| f | value | |
|---|---|---|
| ``read`` | asked `None`, answered with the value | |
| ``write`` | the value | |
| ``cas`` | ``[old, new]`` | ok: it was set; fail: it did not happen |
| ``cas`` | answered ``[old, new, false]`` | ok: it was compared, and the register held something else |

Knossos takes an answered read of nil as one whose value nobody noted, `nil_reads="anything"` here; else nil is what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tidemark.checkers.objects.linearizability.model import Action, Json, Needs, State, agreed, refuse, told
from tidemark.checkers.objects.linearizability.operation import OK, Operation
from tidemark.checkers.objects.values import Value, Values

READ, WRITE, CAS, REFUSED, ANY_READ = "read", "write", "cas", "refused", "any read"

NilReads = Literal["value", "anything"]


class Exchange(NamedTuple):
    """What an operation on one register asked and what it was answered, without its key."""

    asked: Value
    answered: Value


class RegisterMachine:
    """One register. Its state is the number of its value; `sets` if there is compare-and-set."""

    returns = False

    def __init__(self, initial: Value, values: Values, *, sets: bool) -> None:
        self.values = values
        self.sets = sets
        self.initial: State = values.number(initial)

    def step(self, state: State, action: Action) -> State | None:
        """As the table above has it."""
        what = action[0]
        if what == READ:
            return state if state == action[1] else None
        if what == WRITE:
            return action[1]
        if what == CAS:
            return action[2] if state == action[1] else None
        if what == REFUSED:
            return state if state != action[1] else None
        return state

    def reads(self, action: Action) -> bool:
        """Also a compare-and-set that was refused."""
        return action[0] in (READ, REFUSED, ANY_READ)

    def needs(self, action: Action) -> Needs:
        """A refused compare-and-set sees which value there is not."""
        what = action[0]
        if what == READ:
            return Needs(action[1], action[1])
        if what == WRITE:
            return Needs(None, action[1], blind=True)
        if what == CAS:
            return Needs(action[1], action[2])
        return Needs(None, None, sees=what == REFUSED)

    def reaches(self, state: State, needed: State) -> bool:
        """By compare-and-set."""
        return state == needed or self.sets

    def show(self, state: State) -> Json:
        """The value."""
        return self.values.value(state)

    def useless(self, actions: Sequence[Action], unsure: Sequence[bool]) -> set[int]:
        """Reads without an answer; writes of what nobody read or compared with."""
        out = {place for place, action in enumerate(actions) if unsure[place] and self.reads(action)}
        if any(action[0] == REFUSED for action in actions):
            return out
        while True:
            seen = {action[1] for place, action in enumerate(actions) if place not in out and action[0] in (READ, CAS)}
            more = {
                place
                for place, action in enumerate(actions)
                if unsure[place] and place not in out and action[-1] not in seen
            }
            if not more:
                return out
            out |= more


@dataclass(frozen=True)
class Register:
    """A register that is read and written.

    Attributes:
        initial: its value before the first write.
        nil_reads: whether an answered read of nil read nil, or `anything` (Knossos).
    """

    initial: Value = None
    nil_reads: NilReads = "value"
    name: str = "register"
    cas: bool = False
    by_key: bool = False

    def key(self, operation: Operation) -> None:
        """There is one register."""

    def noun(self, key: Value) -> str:
        """There is one."""
        return "the register"

    def describe(self, operation: Operation) -> str:
        """Such as ``read by b returned 3``."""
        return describe(operation, Exchange(operation.asked, operation.answered))

    def machine(self, operations: Sequence[Operation]) -> tuple[RegisterMachine, list[Action]]:
        """The register, and what each operation does."""
        values = Values()
        actions = [register_action(self, one, Exchange(one.asked, one.answered), values) for one in operations]
        return RegisterMachine(self.initial, values, sets=any(action[0] == CAS for action in actions)), actions


def register_action(model: Register, operation: Operation, value: Exchange, values: Values) -> Action:
    """What an operation on a register does."""
    f = operation.f
    if f == READ:
        if operation.outcome != OK or (value.answered is None and model.nil_reads == "anything"):
            return (ANY_READ,)
        return (READ, values.number(value.answered))
    if f == WRITE:
        return (WRITE, values.number(agreed(operation, value.asked, value.answered)))
    if f == CAS and model.cas:
        return _cas(operation, value, values)
    known = "read, write and cas" if model.cas else "read and write"
    raise refuse(operation, f"the model {model.name} has {known}")


def _cas(operation: Operation, value: Exchange, values: Values) -> Action:
    asked, answered = value
    if not isinstance(asked, (list, tuple)) or len(asked) != 2:
        raise refuse(operation, f"the value of a cas is [old, new], and not {asked!r}")
    old, new = (values.number(one) for one in asked)
    if isinstance(answered, (list, tuple)) and len(answered) == 3 and isinstance(answered[2], bool):
        agreed(operation, list(asked), list(answered[:2]))
        return (CAS, old, new) if answered[2] else (REFUSED, old)
    agreed(operation, list(asked), None if answered is None else list(answered))
    return (CAS, old, new)


def describe(operation: Operation, value: Exchange) -> str:
    """What an operation on a register asked and was answered, for people."""
    by = f"by {operation.process}"
    if operation.f != CAS:
        return f"{operation.f} {by} returned {told(value.answered)}"
    answered = value.answered
    if isinstance(answered, (list, tuple)) and len(answered) == 3 and not answered[2]:
        return f"cas {told(value.asked)} {by} found another value"
    return f"cas {told(value.asked)} {by} was done"
