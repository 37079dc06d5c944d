"""What a model says of an object: which operations it has, and what each does to its state.

A model finds the key of each operation, and makes a machine for all operations of one key: an initial state and a step. States and
actions can be hashed, and a step gives the same state for the same two, always: the search keeps what it gave.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tidemark.checkers.objects.linearizability.operation import INFO, Operation
from tidemark.checkers.objects.values import Value
from tidemark.checkers.verdict.verdict import plain
from tidemark.checkers.verdict.visible import brief

LONGEST = 160
"""A value of more characters is told by its beginning and its end."""
ENDS = 3

State = Any
"""A state of the object: anything that can be hashed, but `None`."""

Json = Any
"""What `json.dumps` takes."""

Action = tuple[Any, ...]
"""What an operation does and saw, such as ``("write", 3)``; equal for operations that nothing can tell apart."""


class Needs(NamedTuple):
    """What can be said of an action without knowing the state.

    Attributes:
        state: the only state in which it is possible; `None` if there are others.
        gives: the only state after it; `None` if there are others.
        blind: it is possible in every state, and `gives` the same in all.
        sees: it is possible in some states and not in others, though `state` is `None`.
    """

    state: State | None
    gives: State | None
    blind: bool = False
    sees: bool = False


class Machine(Protocol):
    """The sequential object behind one key.

    Attributes:
        initial: its first state.
        returns: an action of which it is not known what it gives may bring back a state that was left.
    """

    initial: State
    returns: bool

    def step(self, state: State, action: Action) -> State | None:
        """The state after the action, or `None` if it could not have had this answer in this state."""

    def reads(self, action: Action) -> bool:
        """The action never changes the state."""

    def needs(self, action: Action) -> Needs:
        """What can be said of the action beforehand."""

    def reaches(self, state: State, needed: State) -> bool:
        """The one is the other, or can become it without a blind action; also if that cannot be said."""

    def show(self, state: State) -> Json:
        """The state as people know it, as JSON."""

    def useless(self, actions: Sequence[Action], unsure: Sequence[bool]) -> set[int]:
        """Which actions whose outcome is unknown (`unsure`) can be left out, because nothing could tell whether they happened."""


@runtime_checkable
class Parts(Protocol):
    """A machine that can tell what its states are made of; a search is then quicker, where states are overwritten."""

    def part(self, action: Action, state: State) -> bool:
        """The action may have been one of those that brought the state about; also if that cannot be said."""


class Model(Protocol):
    """A kind of object."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def by_key(self) -> bool:
        """There is one for each key."""

    def key(self, operation: Operation) -> Value:
        """The key that the operation is about; `None` for all operations of a model without keys.

        Raises:
            ValueError: the model has no such operation, or it has another value.
        """

    def noun(self, key: Value) -> str:
        """The object behind a key, for people: ``the register``."""

    def describe(self, operation: Operation) -> str:
        """What an operation asked and was answered, for people: ``read by b returned 3``."""

    def machine(self, operations: Sequence[Operation]) -> tuple[Machine, list[Action]]:
        """The object behind one key, and what each of its operations does.

        Raises:
            ValueError: a value cannot be what the operation says.
        """


def refuse(operation: Operation, why: str) -> ValueError:
    """The error for an operation that a model cannot take."""
    index = operation.invoked if operation.completed is None else operation.completed
    return ValueError(f"operation {index}: {operation.f} of process {operation.process}: {why}")


def agreed(operation: Operation, asked: Value, answered: Value) -> Value:
    """What was asked for, which the answer, if it repeats it at all, repeats.

    Raises:
        ValueError: it answers something else.
    """
    if operation.outcome != INFO and answered is not None and answered != asked:
        raise refuse(operation, f"invoked with {asked!r}, and completed with {answered!r}")
    return asked


def told(value: Value) -> str:
    """A value for people, as JSON if it can be; of a long list the first and the last elements.

    >>> told([*range(100)])
    '[0, 1, 2, …, 97, 98, 99] (100 elements)'
    """
    text = _json(value)
    if len(text) <= LONGEST:
        return text
    if isinstance(value, list | tuple) and len(value) > 2 * ENDS:
        ends = [brief(_json(one), LONGEST // 4) for one in (*value[:ENDS], *value[-ENDS:])]
        return f"[{', '.join([*ends[:ENDS], '…', *ends[ENDS:]])}] ({len(value)} elements)"
    return brief(text, LONGEST)


def _json(value: Value) -> str:
    try:
        return json.dumps(plain(value), ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
