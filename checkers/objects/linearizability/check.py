"""Whether a history is linearizable (Herlihy and Wing 1990): every operation takes effect at one moment between its invocation
and its completion.

Each key is judged by itself. An operation that failed did not happen; one whose outcome is unknown (`info`, or never completed)
took effect at any time after its invocation, or never.

>>> from tidemark.checkers.history.history import Op
>>> from tidemark.checkers.objects.linearizability import Register, linearizable
>>> write = [Op(1, "a", "invoke", "write", 1), Op(2, "a", "ok", "write", 1)]
>>> linearizable([*write, Op(3, "b", "invoke", "read", None), Op(4, "b", "ok", "read", 1)], Register()).valid
'valid'
>>> linearizable([*write, Op(3, "b", "invoke", "read", None), Op(4, "b", "ok", "read", None)], Register()).message
'read by b returned null, and the register could only be 1 (operations 2 to 3)'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.explanation import SHOWN_STATES, Explaining, Partial
from tidemark.checkers.objects.linearizability.model import Model, told
from tidemark.checkers.objects.linearizability.operation import FAIL, OK, Operation, Ties, operations
from tidemark.checkers.objects.linearizability.search import MAX_STEPS, Limits, Search
from tidemark.checkers.objects.linearizability.timeline import timeline
from tidemark.checkers.objects.values import Value, identity
from tidemark.checkers.verdict.result import Result, Valid

SHOWN_KEYS = 10
FIRST_STEPS = 50_000
"""Effects tried in each of two orders, before one of them is tried to the end."""

OUT_OF_TIME = "the search ran out of time"


@dataclass(frozen=True, slots=True)
class KeyResult:
    """What was found of one key."""

    key: Value
    valid: Valid
    operations: int
    steps: int
    unknown_because: str | None
    partial: Partial | None


def linearizable(
    ops: Iterable[Op],
    model: Model,
    *,
    max_steps: int = MAX_STEPS,
    timeout: float | None = None,
    ties: Ties = "concurrent",
) -> Result:
    """Judge a history.

    Args:
        ops: halves of operations, in order.
        model: what the object is.
        max_steps: effects tried for each key before its verdict is `unknown`.
        timeout: seconds for everything, or `None`. With it, the verdict may depend on the machine; it then says so.
        ties: how to take halves of one time.

    Raises:
        ValueError: the history is no history of such an object; the sentence says which operation is wrong.
    """
    limits = Limits(max_steps, None if timeout is None else monotonic() + timeout)
    keys: dict[Any, tuple[Any, list[Operation]]] = {}
    happened = 0
    for one in operations(ops, ties):
        key = model.key(one)
        keys.setdefault(identity(key), (key, []))
        if one.outcome != FAIL:
            keys[identity(key)][1].append(one)
            happened += one.outcome == OK
    explaining = Explaining(model, limits)
    results = [_judge(key, found, model, explaining) for key, found in keys.values()]
    return _result(model, results, happened, timeout)


def _judge(key: Value, found: list[Operation], model: Model, explaining: Explaining) -> KeyResult:
    """What is to be said of one key's operations. A search that is long may be short in another order, so both are tried first."""
    machine, actions = model.machine(found)
    line = timeline(machine, found, actions)
    limits = explaining.limits
    short = min(FIRST_STEPS, limits.max_steps)
    steps = 0
    for budget, eager in ((short, False), (short, True), (limits.max_steps, False)):
        outcome = Search(
            machine, line, max(0, min(budget, limits.max_steps - steps)), limits.deadline, eager=eager
        ).run()
        steps += outcome.steps
        if outcome.found:
            return KeyResult(key, "valid", len(found), steps, None, None)
        if outcome.found is False:
            reached = line.events[outcome.event][0].operation
            return KeyResult(key, "invalid", len(found), steps, None, explaining.explained(found, reached))
        if outcome.exhausted == "time" or steps >= limits.max_steps:
            break
    why = OUT_OF_TIME if outcome.exhausted == "time" else f"the search ended after {steps} steps"
    return KeyResult(key, "unknown", len(found), steps, why, None)


def _result(model: Model, results: Sequence[KeyResult], happened: int, timeout: float | None) -> Result:
    invalid = [one for one in results if one.valid == "invalid"]
    unknown = [one for one in results if one.valid == "unknown"]
    evidence: dict[str, Any] = {
        "model": model.name,
        "keys": len(results),
        "operations": sum(one.operations for one in results),
        "steps": sum(one.steps for one in results),
        "invalid_keys": [one.key for one in invalid],
        "unknown_keys": [one.key for one in unknown],
        "failures": [
            {"key": one.key, "message": _of_key(model, one)} | one.partial.to_json()
            for one in invalid[:SHOWN_KEYS]
            if one.partial is not None
        ],
    }
    unknown_because = None
    if unknown:
        of = "" if unknown[0].key is None else f" of key {told(unknown[0].key)}"
        more = "" if len(unknown) == 1 else f", and those of {len(unknown) - 1} more keys likewise"
        limit = f" (time-out {timeout:g} s)" if unknown[0].unknown_because == OUT_OF_TIME else ""
        unknown_because = f"{unknown[0].unknown_because}{limit}{of}{more}"
    elif not happened and not invalid:
        unknown_because = "no operation succeeded"
    if invalid:
        return Result(model.name, "invalid", _sentence(model, invalid), None, evidence)
    found = f"{evidence['operations']} operations on {_objects(model, len(results))}"
    if unknown_because is not None:
        return Result(model.name, "unknown", found, unknown_because, evidence)
    return Result(model.name, "valid", f"{found} have a legal order", None, evidence)


def _objects(model: Model, keys: int) -> str:
    return f"{keys} key{'s' * (keys != 1)}" if model.by_key else "one object"


def _sentence(model: Model, invalid: Sequence[KeyResult]) -> str:
    more = "" if len(invalid) == 1 else f"; {len(invalid) - 1} more of the keys have no legal order"
    told = _of_key(model, invalid[0])
    return told if invalid[0].partial is None else f"{told}{more}"


def _of_key(model: Model, one: KeyResult) -> str:
    """Why there is no legal order."""
    if one.partial is None:
        return f"{model.noun(one.key)} has no legal order"
    found = model.describe(one.partial.stuck)
    where = f"operations {one.partial.stuck.invoked} to {one.partial.stuck.completed}"
    return f"{found}, and {could_be(model.noun(one.key), one.partial)}{_parting(one.partial)} ({where})"


def _parting(partial: Partial) -> str:
    """Where a list that was read parts from what could be there: of long ones only the ends are told."""
    answered = partial.stuck.answered
    read = answered[1] if isinstance(answered, list | tuple) and len(answered) == 2 else None
    there = partial.states[0] if len(partial.states) == 1 else None
    if not isinstance(read, list | tuple) or not isinstance(there, list | tuple) or read == there:
        return ""
    if "…" not in told(read) + told(there):
        return ""
    shared = sum(
        1 for _ in takewhile(lambda pair: identity(pair[0]) == identity(pair[1]), zip(read, there, strict=False))
    )
    ends = [told(one[shared]) if shared < len(one) else "nothing" for one in (read, there)]
    return f"; they differ from element {shared + 1} on, {ends[0]} and {ends[1]}"


def could_be(noun: str, partial: Partial) -> str:
    """What the object could be, for people."""
    shown = [told(state) for state in partial.states[:SHOWN_STATES]]
    if not partial.all_states:
        return f"no order of what was before allows that; in one, {noun} was {shown[-1]}"
    if len(partial.states) > SHOWN_STATES:
        return f"{noun} could only be one of {len(partial.states)} others, such as {shown[0]}"
    return f"{noun} could only be {' or '.join(shown)}"
