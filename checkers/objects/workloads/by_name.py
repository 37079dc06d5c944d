"""The checkers by their names, as ``tidemark check --model`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, Model, Register, linearizable
from tidemark.checkers.objects.linearizability.operation import Ties
from tidemark.checkers.objects.values import Value
from tidemark.checkers.objects.workloads.compose import Checker, together
from tidemark.checkers.objects.workloads.counter import counter
from tidemark.checkers.objects.workloads.final_set import final_set
from tidemark.checkers.objects.workloads.op_stats import op_stats
from tidemark.checkers.objects.workloads.queue import queue
from tidemark.checkers.objects.workloads.set_full import set_full
from tidemark.checkers.objects.workloads.total_queue import total_queue
from tidemark.checkers.objects.workloads.unhandled_exceptions import unhandled_exceptions
from tidemark.checkers.objects.workloads.unique_ids import unique_ids
from tidemark.checkers.verdict.result import Result

if TYPE_CHECKING:
    from tidemark.checkers.history.columns.columns import Columns

LINEARIZABLE: dict[str, Model] = {model.name: model for model in (Register(), CasRegister(), KeyValue(), AppendLog())}
WORKLOADS: dict[str, Checker] = {
    "set": final_set,
    "set-full": set_full,
    "counter": counter,
    "unique-ids": unique_ids,
    "total-queue": total_queue,
    "queue": queue,
}
NAMES = (*LINEARIZABLE, *WORKLOADS)
REGISTERS = tuple(name for name, model in LINEARIZABLE.items() if isinstance(model, Register))
OPERATIONS: dict[str, str] = {
    "register": "read write",
    "cas-register": "read write cas",
    "key-value": "read write cas get put delete append",
    "append-log": "append read",
    "set": "add read",
    "set-full": "add read",
    "counter": "add read",
    "unique-ids": "generate",
    "total-queue": "enqueue dequeue drain",
    "queue": "enqueue dequeue",
}
"""The operations of each, by which somebody's history is recognised."""
NEEDS_THE_END = ("set", "set-full", "total-queue")
"""Those that find something missing: of a history that was cut off, they can say nothing against it."""


def checker_named(name: str, ties: Ties = "concurrent", timeout: float | None = None, initial: Value = None) -> Checker:
    """The checker of a name in `NAMES`; `ties` and `timeout` (s) are for linearizability, `initial` for `REGISTERS`: what one
    holds at first.
    """
    if name in LINEARIZABLE:
        model = LINEARIZABLE[name]
        if isinstance(model, Register):
            model = replace(model, initial=initial)
        return partial(linearizable, model=model, ties=ties, timeout=timeout)
    return WORKLOADS[name]


def models_for(history: History) -> list[str]:
    """The models that have all operations of a history, in the order of `NAMES`; none if it has operations on logs.

    What was asked for and answered tells more, where it was kept: pairs are of a key, and lists are the elements of a set.
    """
    ops = history.ops
    kinds = {op.f for op in ops} if history.columns is None else _kinds(history.columns)
    fitting = [name for name, words in OPERATIONS.items() if kinds and kinds <= {*words.split()}]
    asked = [op.value for op in ops if op.f not in ("cas", "add") and op.value is not None]
    if asked and all(isinstance(value, list | tuple) and len(value) == 2 for value in asked):
        keyed = [name for name in fitting if name in LINEARIZABLE and LINEARIZABLE[name].by_key]
        return keyed or fitting
    if ops and kinds & {"write", "cas"}:
        return [name for name in fitting if not LINEARIZABLE[name].by_key]
    answers = [op.value for op in ops if op.f == "read" and op.type == "ok"]
    if answers and "add" in kinds:
        sets = all(isinstance(value, list | tuple) for value in answers)
        return [name for name in fitting if name.startswith("set") == sets]
    return fitting


def _kinds(columns: Columns) -> set[str]:
    return {columns.fs[number] for number in set(columns.f.tolist())}


def judge(history: History, name: str, timeout: float | None = None, initial: Value = None) -> Result:
    """The checker of a name over a whole history, with how its operations ended; see `checker_named`. ``meta["ties"]`` may say that
    halves of one time happened in the order in which they are listed.

    Raises:
        ValueError: the operations are not those of such an object.
    """
    ops: Sequence[Op] = history.ops
    if history.columns is not None:
        raise ValueError("only the operations on logs were kept of this history; read it with its rows")
    ties: Ties = "listed" if history.meta.get("ties") == "listed" else "concurrent"
    found = checker_named(name, ties, timeout, initial)(ops)
    doubt = history.gaps or history.cut_off
    if doubt and (found.valid == "valid" or history.gaps or name in NEEDS_THE_END):
        found = Result(found.checker, "unknown", found.message, doubt, found.evidence)
    parts = {name: found, "stats": op_stats(ops), "unhandled-exceptions": unhandled_exceptions(ops)}
    return together(parts, name)
