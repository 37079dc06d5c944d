"""`hanging-transaction`: a transaction stays open for ever, and hides what comes after it from whoever reads what is committed.

Once clients have stopped, and every transaction's time is up, its coordinator aborts it (KIP-98): the last stable offset of a
partition is its high watermark then. Where it stays behind, no coordinator knows of the transaction, and nobody will ever end it
(KIP-664, KIP-890).

>>> from tidemark.checkers import History, check
>>> told = History.of(transactions=True, open_transactions={"t-0": (31, 40)}, end_us=60_000_000)
>>> print(check(told).named("hanging-transaction")[0].message)
A transaction in t-0 never ended: the last stable offset stands at 31, though the high watermark is 40, no client works any more, \
and every transaction has timed out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly

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
