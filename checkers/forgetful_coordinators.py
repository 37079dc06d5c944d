"""What may follow from what a coordinator's log has lost.

What became of a transaction, or of a record that a share group was given, is decided in a log of its own (``__transaction_state``,
``__share_group_state``) on the same brokers. The history has no evidence of it, so nobody can tell what it lost: an election of a
replica that was not in sync, or a log that was lost, may take a decision back. From then on whatever clients saw of it is
permitted, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import TIME
from tidemark.checkers.history.unclean import Allowance
from tidemark.checkers.replicas.contract import NEEDS_REPLICAS, loses_logs
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History
    from tidemark.checkers.verdict.verdict import Anomaly


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
    lost = [event[TIME] for event in history.trace if loses_logs(event)]
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
