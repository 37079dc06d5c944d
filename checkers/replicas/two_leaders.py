"""`two-leaders`: two brokers led one epoch. Everything else rests on an epoch having one leader, so no promise permits it.

Once per epoch. A broker that has restarted may go on in an epoch: a controller that failed over meanwhile, and finds it alive,
tells it what it had told it before (seen on 2.8.2 with ZooKeeper).

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "lead", "t-0", 3, 0, 0, (1, 2)),
...     (20, 2, "lead", "t-0", 3, 0, 0, (1, 2)),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 2 led t-0 in epoch 3 at 0.000020 s, which broker 1 had led since 0.000010 s.
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import Lead
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "two-leaders"


class TwoLeaders(Finder):
    """Remembers who led each epoch first."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[tuple[str, int], tuple[int, int]] = {}

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """Somebody begins to lead an epoch."""
        time, node, partition, epoch = event.time, event.node, event.partition, event.leader_epoch
        first, since = self._first.setdefault((partition, epoch), (node, time))
        if first == node or not self.is_new((partition, epoch)):
            return
        message = (
            f"Broker {node} led {partition} in epoch {epoch} at {seconds(time)}, which broker {first} had led since "
            f"{seconds(since)}."
        )
        evidence = {"leader": node, "before": first, "leader_epoch": epoch, "since": since, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))
