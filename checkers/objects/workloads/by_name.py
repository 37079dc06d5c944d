"""The checkers by their names, as ``tidemark check --model`` has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, Model, Register, linearizable
from tidemark.checkers.objects.linearizability.operation import Ties
from tidemark.checkers.objects.values import Value
from tidemark.checkers.objects.workloads.bank import bank
from tidemark.checkers.objects.workloads.causal_reverse import causal_reverse
from tidemark.checkers.objects.workloads.compose import Checker, together
from tidemark.checkers.objects.workloads.counter import counter
from tidemark.checkers.objects.workloads.final_set import final_set
from tidemark.checkers.objects.workloads.halves import filled
from tidemark.checkers.objects.workloads.long_fork import long_fork
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
WORKLOADS: dict[str, Callable[..., Result]] = {
    "set": final_set,
    "set-full": set_full,
    "counter": counter,
    "unique-ids": unique_ids,
    "total-queue": total_queue,
    "queue": queue,
    "bank": bank,
    "long-fork": long_fork,
    "causal-reverse": causal_reverse,
}
TIMED = ("set", "set-full", "total-queue", "queue")
"""Workloads that want to know what halves of one time mean."""
PUTS = ("add", "enqueue", "write")
"""Operations of workloads that are answered with what they were asked for, or with nothing."""
TRANSACTIONS = ("list-append", "rw-register")
NAMES = (*LINEARIZABLE, *WORKLOADS, *TRANSACTIONS)
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
    "bank": "transfer read",
    "long-fork": "write read",
    "causal-reverse": "write read",
    "list-append": "txn",
    "rw-register": "txn",
}
"""The operations of each, by which somebody's history is recognised."""
MICRO_OPERATIONS = ("long-fork", *TRANSACTIONS)
"""Those whose values are lists of ``[what, key, value]``."""
NEEDS_THE_END = ("set", "set-full", "total-queue")
"""Those that find something missing: of a history that was cut off, they can say nothing against it."""


@dataclass(frozen=True)
class Asked:
    """What some of the checkers can be told besides.

    Attributes:
        initial: of `REGISTERS`, what one holds at first.
        consistency: of transactions, the consistency model that is promised; None for the strongest.
        keys_are: of registers in transactions, what every key by itself is: ``sequential``, ``linearizable``.
        total: of a bank, what there is in all accounts; None for what the first read shows.
        negative_balances: whether an account of a bank may have less than nothing.
        linearizable: of a set that is read all the time, whether an element that a later read lacks makes it invalid; of a
            queue that is drained, whether one does that comes out again.
        drained: of such a queue, whether the last dequeue found it empty; if not, nothing of it is known to be lost.
    """

    initial: Value = None
    consistency: str | None = None
    keys_are: tuple[str, ...] = ()
    total: int | None = None
    negative_balances: bool = False
    linearizable: bool = False
    drained: bool = True


NOTHING = Asked()


def checker_named(
    name: str, ties: Ties = "concurrent", timeout: float | None = None, asked: Asked = NOTHING
) -> Checker:
    """The checker of a name in `NAMES`; `timeout` (s) is for linearizability."""
    if name in LINEARIZABLE:
        model = LINEARIZABLE[name]
        if isinstance(model, Register):
            model = replace(model, initial=asked.initial)
        return partial(linearizable, model=model, ties=ties, timeout=timeout)
    if name in TRANSACTIONS:
        return _transactions(name, ties, asked)
    if name == "bank":
        return partial(bank, total=asked.total, negative_balances=asked.negative_balances)
    if name == "set-full":
        return partial(set_full, linearizable=asked.linearizable, ties=ties)
    if name == "total-queue":
        return partial(total_queue, once=asked.linearizable, drained=asked.drained, ties=ties)
    if name in TIMED:
        return partial(WORKLOADS[name], ties=ties)
    return WORKLOADS[name]


def _transactions(name: str, ties: Ties, asked: Asked) -> Checker:
    from tidemark.checkers.objects.transactions import check  # it imports numpy

    promised = asked.consistency or check.PROMISED
    if name == check.LIST_APPEND:
        return partial(check.list_append, promised=promised, ties=ties)
    return partial(check.rw_register, promised=promised, keys_are=asked.keys_are, ties=ties)


def models_for(history: History) -> list[str]:
    """The models that have all operations of a history, in the order of `NAMES`; none if it has operations on logs.

    What was asked for and answered tells more, where it was kept: pairs are of a key, and lists are the elements of a set.
    """
    ops = history.ops
    kinds = {op.f for op in ops} if history.columns is None else _kinds(history.columns)
    fitting = [name for name, words in OPERATIONS.items() if kinds and kinds <= {*words.split()}]
    asked = [op.value for op in ops if op.f not in ("cas", "add") and op.value is not None]
    if asked and all(_is_list(value) and all(_is_list(one) and len(one) == 3 for one in value) for value in asked):
        return [name for name in fitting if name in MICRO_OPERATIONS]
    fitting = [name for name in fitting if name not in MICRO_OPERATIONS]
    keyed = [name for name in fitting if name in LINEARIZABLE and LINEARIZABLE[name].by_key]
    if keyed and asked and all(_is_list(value) and len(value) == 2 for value in asked):
        return keyed
    answers = [op.value for op in ops if op.f == "read" and op.type == "ok"]
    lists = bool(answers) and all(map(_is_list, answers))
    if ops and kinds & {"write", "cas"}:
        return [name for name in fitting if name not in keyed and (name == "causal-reverse") == lists]
    if answers and "add" in kinds:
        return [name for name in fitting if name.startswith("set") == lists]
    return fitting


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _kinds(columns: Columns) -> set[str]:
    return {columns.fs[number] for number in set(columns.f.tolist())}


def judge(history: History, name: str, timeout: float | None = None, asked: Asked = NOTHING) -> Result:
    """The checker of a name over a whole history, with how its operations ended. ``meta["ties"]`` may say that halves of one time
    happened in the order in which they are listed.

    Raises:
        ValueError: the operations are not those of such an object.
    """
    ops: Sequence[Op] = history.ops
    if history.columns is not None:
        raise ValueError("only the operations on logs were kept of this history; read it with its rows")
    ties: Ties = "listed" if history.meta.get("ties") == "listed" else "concurrent"
    found = checker_named(name, ties, timeout, asked)(filled(ops, PUTS) if name in WORKLOADS else ops)
    doubt = history.gaps or history.cut_off
    if doubt and (found.valid == "valid" or history.gaps or name in NEEDS_THE_END):
        found = Result(found.checker, "unknown", found.message, doubt, found.evidence, found.parts)
    parts = {name: found, "stats": op_stats(ops), "unhandled-exceptions": unhandled_exceptions(ops)}
    return together(parts, name)
