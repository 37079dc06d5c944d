"""Transactions of keys, judged: the anomalies of a history, and the consistency models that it refutes.

A model of `tidemark.checkers.objects.transactions.consistency` is promised; the anomalies that it forbids make the history invalid,
and others are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.operation import Ties
from tidemark.checkers.objects.transactions.columns import Transactions, transactions
from tidemark.checkers.objects.transactions.consistency import forbidden, refuted, weakest
from tidemark.checkers.objects.transactions.cycles import cycles
from tidemark.checkers.objects.transactions.lists import Lists
from tidemark.checkers.objects.transactions.registers import Registers
from tidemark.checkers.objects.transactions.words import Words
from tidemark.checkers.objects.workloads.halves import counted
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, Json

LIST_APPEND, RW_REGISTER = "list-append", "rw-register"
PROMISED = "strict-serializable"
"""What is promised if nobody says: the strongest, as for Jepsen."""
MOST_TOLD = 20
"""So many anomalies of one name are told one by one."""


def list_append(ops: Sequence[Op], *, promised: str = PROMISED, ties: Ties = "concurrent") -> Result:
    """Judge transactions that append to lists and read them.

    Raises:
        ValueError: an operation is no such transaction.
    """
    found = transactions(ops, lists=True)
    return _judged(LIST_APPEND, found, Lists(found), promised, ties)


def rw_register(
    ops: Sequence[Op], *, promised: str = PROMISED, keys_are: Collection[str] = (), ties: Ties = "concurrent"
) -> Result:
    """Judge transactions that write registers and read them.

    Args:
        ops: halves of operations.
        promised: a consistency model.
        keys_are: ``sequential`` or ``linearizable``, if every key by itself is that.
        ties: whether halves of one time are concurrent, or happened as they are listed.

    Raises:
        ValueError: an operation is no such transaction.
    """
    found = transactions(ops, lists=False)
    return _judged(RW_REGISTER, found, Registers(found, keys_are, listed=ties == "listed"), promised, ties)


def _judged(name: str, found: Transactions, versions: Lists | Registers, promised: str, ties: Ties) -> Result:
    words = Words(found, versions, forbidden(promised))
    sights = versions.sights()
    count = Counter([*(one.name for one in found.contradictions), *(one.name for one in sights)])
    told: dict[str, list[Anomaly]] = {}
    for contradiction in found.contradictions:
        if len(told.setdefault(contradiction.name, [])) < MOST_TOLD:
            told[contradiction.name].append(words.of_contradiction(contradiction))
    for sight in sights:
        if len(told.setdefault(sight.name, [])) < MOST_TOLD:
            told[sight.name].append(words.of_sight(sight))
    circles = cycles(versions.graph(), found, listed=ties == "listed")
    count.update(one.name for one in circles)
    for circle in circles:
        if len(told.setdefault(circle.name, [])) < MOST_TOLD:
            told[circle.name].append(words.of_cycle(circle))
    anomalies = [one for of_name in told.values() for one in of_name]
    return _result(name, found, versions, promised, anomalies, count)


def _result(
    name: str,
    found: Transactions,
    versions: Lists | Registers,
    promised: str,
    anomalies: list[Anomaly],
    count: Counter[str],
) -> Result:
    broken = refuted(count)
    least = sorted(weakest(broken))
    doubtful = [found.keys[key] for key in versions.writers.doubtful.nonzero()[0].tolist()]
    evidence: dict[str, Json] = {
        "promised": promised,
        "transactions": {"ok": int(found.ok.sum()), "count": len(found)},
        "anomaly_counts": dict(sorted(count.items())),
        "refuted": {"weakest": least, "all": sorted(broken)},
        "anomalies": [one.to_json() for one in anomalies],
    }
    parts = {
        one: _part(one, [other for other in anomalies if other.name == one], times) for one, times in count.items()
    }
    models = f"not {' and not '.join(least)}" if least else f"nothing that contradicts {promised}"
    message = f"{counted(len(found), 'transaction')}, {models}"
    if promised in broken:
        return Result(name, "invalid", message, None, evidence, parts)
    because = None
    if not found.ok.any():
        because = "no transaction was ok"
    elif not len(found.read_of):
        because = "no transaction that was ok read anything"
    elif doubtful:
        because = f"a value was written twice to {counted(len(doubtful), 'key')}, such as {doubtful[0]}: nothing is known of that"
    return Result(name, "unknown" if because else "valid", message, because, evidence, parts)


def _part(name: str, anomalies: list[Anomaly], times: int) -> Result:
    """What is told of all anomalies of one name."""
    first = anomalies[0]
    more = f" There are {times - 1} more." if times > 1 else ""
    forbidden_ = first.verdict == VIOLATION
    allowed = "" if forbidden_ else " (allowed by what is promised)"
    return Result(name, "invalid" if forbidden_ else "valid", f"{first.message}{more}{allowed}")
