"""How many of the acknowledged records are gone: the first that a person wants to know, in a sentence and in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tidemark.checkers.replicas.contract import NEEDS_REPLICAS
from tidemark.checkers.verdict.verdict import VIOLATION, Judgement

CLAUSES: Final = {
    "no-live-isr-member": "after a moment without any live in-sync replica",
    "unclean-shutdowns>=min-isr": "after as many of its holders as min ISR had shut down uncleanly",
    "lost-logs>=min-isr": "after as many of its holders as min ISR had lost their logs",
    "unclean-election": "after an unclean election that was asked for",
    "acks-1-not-replicated": "acknowledged under acks=1 or 0, before replication",
    NEEDS_REPLICAS: "as far as clients alone can tell",
    "damaged>=majority": "after files of a majority of the replicas had been damaged",
    "lost-disk": "after a replica had lost its disk",
    "lost-disks>=ack-quorum": "after as many bookies as an ack quorum had lost their disks",
    "deleted": "of one offset where all other records were deleted on purpose",
    "producers-not-idempotent": "as a client of that message format may write again what was written",
    "log-start-forgotten": "of records below a log start that a crash has taken back since",
    "across-leaderships": "as the leader changed: a new leader knows no more than it had heard as a follower",
}
"""Clause of a promise → in which circumstances it lets a record be lost, or what else it permits (docs/anomalies.md)."""


def numbers_of(lost: Iterable[Judgement], deleted: int, unknown: int) -> dict[str, Any]:
    """What the statistics of a verdict say of the acknowledged records that are not known to be there.

    Args:
        lost: how each that is lost is to be taken.
        deleted: how many were deleted on purpose.
        unknown: of how many no final read and no replica tells.
    """
    judged = Counter((fate.verdict == VIOLATION, fate.clause) for fate in lost)
    permitted = {str(clause): count for (violates, clause), count in judged.items() if not violates}
    return {
        "acked_lost_violation": judged.total() - sum(permitted.values()),
        "acked_lost_permitted": sum(permitted.values()),
        "acked_lost_by_clause": dict(sorted(permitted.items())),
        "acked_deleted": deleted,
        "acked_unknown": unknown,
    }


def of_acknowledged(stats: Mapping[str, Any]) -> str:
    """The same as a sentence or two; of statistics that somebody stored long ago what they have, nothing
    of none.

    >>> of_acknowledged({"acked": 244, "acked_lost_violation": 0, "acked_lost_permitted": 13,
    ...                  "acked_lost_by_clause": {"unclean-election": 13}})
    '13 of 244 acknowledged records are gone (permitted: after an unclean election that was asked for).'
    >>> of_acknowledged({"acked": 244, "acked_lost_violation": 0, "acked_lost_permitted": 0, "acked_unknown": 3})
    'None of 244 acknowledged records is known to be gone. Of 3 nobody can tell.'
    """
    if (operations := stats.get("operations")) is not None:
        return (
            f"{operations['count']} operations: {operations['ok']} ok, {operations['fail']} failed, "
            f"{operations['info']} unknown; {stats['object']}."
        )
    total = stats.get("acked")
    if total is None:
        return ""
    if not total:
        return "No record was acknowledged."
    violating, permitted = stats.get("acked_lost_violation") or 0, stats.get("acked_lost_permitted") or 0
    deleted, unknown = stats.get("acked_deleted") or 0, stats.get("acked_unknown") or 0
    lost = violating + permitted
    records = "acknowledged record" if total == 1 else "acknowledged records"
    if lost:
        said = f"{lost} of {total} {records} {'is' if lost == 1 else 'are'} gone{_taken(stats, violating, permitted)}."
    elif unknown == total:
        return f"Of {total} {records} nobody can tell whether {'it is' if total == 1 else 'they are'} still there."
    else:
        said = f"None of {total} {records} is {'known to be ' if unknown else ''}gone."
    if deleted:
        said += f" {deleted} {'was' if deleted == 1 else 'were'} deleted on purpose."
    return said + (f" Of {unknown} nobody can tell." if unknown else "")


def _taken(stats: Mapping[str, Any], violating: int, permitted: int) -> str:
    clauses = dict(stats.get("acked_lost_by_clause") or {})
    undecided = clauses.pop(NEEDS_REPLICAS, 0)
    parts = [(violating, "against the promise"), (undecided, "nobody can tell whether that was permitted")]
    parts += [(count, f"permitted: {CLAUSES.get(clause, clause)}") for clause, count in clauses.items()]
    parts += [(permitted - undecided - sum(clauses.values()), "permitted")]
    told = [(count, words) for count, words in parts if count]
    alone = len(told) == 1
    return f" ({'; '.join(words if alone else f'{count} {words}' for count, words in told)})"
