"""`wrong-deletion`: records were deleted that nobody may delete, or that nobody asked to delete.

A client's request, or a broker's own retention, moves a log start, but never beyond that replica's high watermark.
Any other way (a follower takes over its leader's log start, begins anew there, or recovers it) leads to an offset
that some replica had moved its log start to on purpose. What a node's first process finds was there before. Once per
replica.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7, 8)),
...     (30, 1, "hw", "t-0", 1, 1, True),
...     (40, 1, "log-start", "t-0", 2, 0, "delete-records"),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1 deleted records of t-0 up to offset 2 at 0.000040 s (delete-records), beyond its high watermark 1.
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import LogStart
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ON_PURPOSE, ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "wrong-deletion"


class WrongDeletion(Finder):
    """Remembers how far each partition was deleted on purpose."""

    def __init__(self) -> None:
        super().__init__()
        self._deleted: dict[str, int] = {}

    def on_log_start(self, index: int, event: LogStart, replica: ReplayedReplica, previous: int) -> None:
        """A log start moves up on purpose below the high watermark, or to where another one has been."""
        partition, start, how = replica.partition, replica.start, event.how
        deleted = self._deleted.get(partition, 0)
        found = how == "recovered" and not replica.stops
        wrong = ""
        if how in ON_PURPOSE and start > replica.hw:
            wrong = f"beyond its high watermark {replica.hw}"
        elif how not in ON_PURPOSE and start > deleted and not found:
            wrong = f"and nobody had deleted any beyond offset {deleted}"
        if how in ON_PURPOSE or found:
            self._deleted[partition] = max(deleted, start)
        if wrong and self.is_new((partition, replica.node)):
            self._tell(index, event, replica, wrong)

    def _tell(self, index: int, event: LogStart, replica: ReplayedReplica, wrong: str) -> None:
        time, node, partition, start, how = event.time, event.node, event.partition, event.start, event.how
        message = (
            f"Broker {node} deleted records of {partition} up to offset {start} at {seconds(time)} ({how}), {wrong}."
        )
        evidence = {
            "node": node,
            "start": start,
            "how": how,
            "hw": replica.hw,
            "deleted": self._deleted.get(partition, 0),
            "trace_index": index,
        }
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))
