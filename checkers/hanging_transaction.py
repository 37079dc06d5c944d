"""`hanging-transaction`: a transaction stays open for ever, and hides what comes after it from whoever reads what is committed.

Once clients have stopped, and every transaction's time is up, its coordinator aborts it (KIP-98): the last stable offset of a
partition is its high watermark then. Where it stays behind, no coordinator knows of the transaction, and nobody will ever end it
(KIP-664, KIP-890).

>>> from tidemark.checkers import History, check
>>> told = History.of(transactions=True, open_transactions={"t-0": (31, 40)}, end_us=60_000_000)
>>> print(check(told).named("hanging-transaction")[0].message)
A transaction in t-0 never ended: the last stable offset stands at 31, though the high watermark is 40, no client works any more, \
and every transaction has timed out.

What became of a transaction is decided in a log of its own, ``__transaction_state``, on the same brokers. The history has no
evidence of it, so nobody can tell what it lost: an election of a replica that was not in sync, or a log that was lost, may take a
decision back. From then on whatever clients saw of transactions is permitted, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark.checkers.history.trace_events import KIND, TIME, Stop
from tidemark.checkers.history.unclean import Allowance
from tidemark.checkers.replicas.contract import LOG_LOSSES, NEEDS_REPLICAS
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History

NAME = "hanging-transaction"


def hanging(meta: Mapping[str, Any]) -> list[Anomaly]:
    """The partitions that the meta line tells of."""
    time = meta.get("end_us", 0)
    return [_anomaly(time, *told) for told in sorted(meta.get("open_transactions", {}).items())]


def _anomaly(time: int, partition: str, ends: tuple[int, int]) -> Anomaly:
    stable, high = ends
    message = (
        f"A transaction in {partition} never ended: the last stable offset stands at {stable}, though the high watermark is "
        f"{high}, no client works any more, and every transaction has timed out."
    )
    evidence = {"last_stable_offset": stable, "high_watermark": high}
    return Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence)


def excused(
    anomalies: list[Anomaly], history: History, names: Mapping[str, Callable[[], Collection[str]]]
) -> list[Anomaly]:
    """The anomalies, with those permitted that may follow from what coordinators' logs have lost.

    Args:
        anomalies: of a run.
        history: where it says when that may have been.
        names: entry of the meta line that tells of a coordinator → gives the names of all that may follow.
    """
    told = [name for name in names if history.meta.get(name)]
    if not told:
        return anomalies
    lost = [event[TIME] for event in history.trace if event[KIND] == "stop" and Stop(event).how in LOG_LOSSES]
    allowed = Allowance(history).first_us
    since = min(lost if allowed is None else [allowed, *lost], default=None)
    if since is None:
        return anomalies
    may = {name for one in told for name in names[one]()}
    return [
        replace(one, verdict=PERMITTED, clause=NEEDS_REPLICAS)
        if one.verdict == VIOLATION and one.name in may and one.time >= since
        else one
        for one in anomalies
    ]
