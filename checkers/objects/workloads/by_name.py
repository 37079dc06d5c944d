"""The checkers by their names, as ``tidemark check --model`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, Model, Register, linearizable
from tidemark.checkers.objects.linearizability.operation import Ties
from tidemark.checkers.objects.workloads.bank import bank
from tidemark.checkers.objects.workloads.causal_reverse import causal_reverse
from tidemark.checkers.objects.workloads.compose import Checker, together
from tidemark.checkers.objects.workloads.counter import counter
from tidemark.checkers.objects.workloads.final_set import final_set
from tidemark.checkers.objects.workloads.long_fork import long_fork
from tidemark.checkers.objects.workloads.op_stats import op_stats
from tidemark.checkers.objects.workloads.queue import queue
from tidemark.checkers.objects.workloads.set_full import set_full
from tidemark.checkers.objects.workloads.total_queue import total_queue
from tidemark.checkers.objects.workloads.unhandled_exceptions import unhandled_exceptions
from tidemark.checkers.objects.workloads.unique_ids import unique_ids
from tidemark.checkers.verdict.result import Result

LINEARIZABLE: dict[str, Model] = {model.name: model for model in (Register(), CasRegister(), KeyValue(), AppendLog())}
WORKLOADS: dict[str, Checker] = {
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
TRANSACTIONS = ("list-append", "rw-register")
NAMES = (*LINEARIZABLE, *WORKLOADS, *TRANSACTIONS)
NEEDS_THE_END = ("set", "set-full", "total-queue")
"""Those that find something missing: of a history that was cut off, they can say nothing against it."""


@dataclass(frozen=True)
class Asked:
    """What some of the checkers can be told besides.

    Attributes:
        consistency: of transactions, the consistency model that is promised; None for the strongest.
        keys_are: of registers in transactions, what every key by itself is: ``sequential``, ``linearizable``.
        total: of a bank, what there is in all accounts; None for what the first read shows.
        negative_balances: whether an account of a bank may have less than nothing.
    """

    consistency: str | None = None
    keys_are: tuple[str, ...] = ()
    total: int | None = None
    negative_balances: bool = False


NOTHING = Asked()


def checker_named(
    name: str, ties: Ties = "concurrent", timeout: float | None = None, asked: Asked = NOTHING
) -> Checker:
    """The checker of a name in `NAMES`; `ties` are for linearizability and transactions, `timeout` (s) is for the former."""
    if name in LINEARIZABLE:
        return partial(linearizable, model=LINEARIZABLE[name], ties=ties, timeout=timeout)
    if name in TRANSACTIONS:
        return _transactions(name, ties, asked)
    if name == "bank":
        return partial(bank, total=asked.total, negative_balances=asked.negative_balances)
    return WORKLOADS[name]


def _transactions(name: str, ties: Ties, asked: Asked) -> Checker:
    from tidemark.checkers.objects.transactions import check  # it imports numpy

    promised = asked.consistency or check.PROMISED
    if name == check.LIST_APPEND:
        return partial(check.list_append, promised=promised, ties=ties)
    return partial(check.rw_register, promised=promised, keys_are=asked.keys_are, ties=ties)


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
    found = checker_named(name, ties, timeout, asked)(ops)
    doubt = history.gaps or history.cut_off
    if doubt and (found.valid == "valid" or history.gaps or name in NEEDS_THE_END):
        found = Result(found.checker, "unknown", found.message, doubt, found.evidence, found.parts)
    parts = {name: found, "stats": op_stats(ops), "unhandled-exceptions": unhandled_exceptions(ops)}
    return together(parts, name)
