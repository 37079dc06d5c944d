"""Accounts between which money is transferred: every read shows the same total. Jepsen's ``tests.bank``.

Operations: ``transfer`` ``{"from": account, "to": account, "amount": integer}``; ``read``, answered with the balance of each
account. Of a read that has several faults the first of these is told: ``unexpected-key`` (no such account), ``nil-balance``,
``wrong-total``, ``negative-value``. If nobody says how much there is in all, the first read does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.workloads.halves import OK, clients, counted
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import Json

NAME = "bank"
SHOWN = 20


def bank(
    ops: Sequence[Op],
    *,
    total: int | None = None,
    negative_balances: bool = False,
    accounts: Collection[Any] | None = None,
) -> Result:
    """Judge a history of one bank.

    Args:
        ops: its halves.
        total: what there is in all accounts.
        negative_balances: whether a balance may be below 0.
        accounts: those that there are; None if nobody knows.

    Raises:
        ValueError: a read answers with no map of accounts to integers.
    """
    faults: dict[str, list[dict[str, Json]]] = {}
    reads = 0
    told = total is not None
    for index, op in enumerate(clients(ops)):
        if op.f != "read" or op.type != OK:
            continue
        if not isinstance(op.value, Mapping):
            raise ValueError(  # noqa: TRY004 - it is the history's
                f"operation {index}: a read of a bank answers with a balance of each account, not with {op.value!r:.60}"
            )
        reads += 1
        balances = [one for one in op.value.values() if one is not None]
        if not all(type(one) is int for one in balances):
            raise ValueError(f"operation {index}: a balance is an integer or null: {op.value!r:.60}")
        if total is None and len(balances) == len(op.value):
            total = sum(balances)
        fault = _fault(op.value, total, accounts, negative_balances=negative_balances)
        if fault:
            name, words = fault
            one = {
                "process": op.process,
                "time": op.time,
                "read": dict(op.value),
                "total": sum(balances),
                "words": words,
            }
            faults.setdefault(name, []).append(one)
    evidence: dict[str, Json] = {
        "read_count": reads,
        "total": total,
        "total_from": "the option" if told else "the first read",
        "error_count": sum(map(len, faults.values())),
        "errors": {
            name: {"count": len(found), "first": found[:SHOWN], "last": found[-1]} for name, found in faults.items()
        },
    }
    if faults:
        first = min((found[0] for found in faults.values()), key=lambda one: one["time"])
        kinds = ", ".join(f"{len(found)} of {name}" for name, found in faults.items())
        return Result(
            NAME, "invalid", f"{first['process']} read {first['words']}; of {reads} reads {kinds}", None, evidence
        )
    if not reads:
        return Result(NAME, "unknown", "no balances", "no read was ok", evidence)
    return Result(NAME, "valid", f"{counted(reads, 'read')} with a total of {total}", None, evidence)


def _fault(
    read: Mapping[Any, int | None], total: int | None, accounts: Collection[Any] | None, *, negative_balances: bool
) -> tuple[str, str] | None:
    unexpected = [] if accounts is None else [one for one in read if one not in accounts]
    if unexpected:
        return "unexpected-key", f"a balance of {unexpected[0]}, which is no account"
    nils = [account for account, balance in read.items() if balance is None]
    if nils:
        return "nil-balance", f"no balance of {nils[0]}"
    there = sum(balance or 0 for balance in read.values())
    if there != total:
        return "wrong-total", f"balances that make {there}, and there are {total} in all"
    below = [(account, balance) for account, balance in read.items() if balance is not None and balance < 0]
    if below and not negative_balances:
        return "negative-value", f"a balance of {below[0][1]} in {below[0][0]}"
    return None
