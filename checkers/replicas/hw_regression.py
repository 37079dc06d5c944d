"""`hw-regression`: a high watermark moves back.

Within one leadership no promise permits it. Across leaderships Kafka lets it happen: a new leader knows only the high watermark
it last learned as a follower (KIP-207), or after a restart the one of its checkpoint (`recovered`), so what consumers can see may
shrink for a moment. It may fall as far as that and no further: a leader that begins with less than it knew is a violation. What is
permitted is reported once per partition, with the number of times.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1,)),
...     (20, 1, "append", "t-0", 0, 1, (7, 8)),
...     (30, 1, "hw", "t-0", 2, 1, True),
...     (40, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> [(anomaly.name, anomaly.verdict) for anomaly in verdict.anomalies]
[('hw-regression', 'violation')]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidemark.checkers.history.trace_events import TIME, Hw, Lead, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, seconds

NAME = "hw-regression"
ACROSS_LEADERSHIPS = "across-leaderships"


@dataclass(slots=True)
class _Visible:
    """What consumers of one partition can see: up to `hw`, from `leader` of `epoch`."""

    leader: int = -1
    epoch: int = -1
    hw: int = 0
    times_back: int = 0
    first: dict[str, Any] | None = None


class HwRegression(Finder):
    """Follows the leaders' high watermarks."""

    def __init__(self) -> None:
        super().__init__()
        self._visible: dict[str, _Visible] = {}

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """A new leader may know less than the one before."""
        time, node, epoch, hw = event.time, event.node, event.leader_epoch, event.hw
        visible = self._visible.setdefault(event.partition, _Visible())
        if hw < replica.hw_before:
            words = f"became leader of {event.partition} in epoch {epoch} at {seconds(time)} with the high watermark {hw}, though"
            self._tell(index, event, replica.hw_before, f"Broker {node} {words} it had known {replica.hw_before}.")
        if epoch < visible.epoch:
            return
        if hw < visible.hw:
            visible.times_back += 1
            visible.first = visible.first or {
                "time": time,
                "from": visible.hw,
                "to": hw,
                "old_leader": visible.leader,
                "new_leader": node,
                "leader_epoch": epoch,
                "trace_index": index,
            }
        visible.leader, visible.epoch, visible.hw = node, epoch, hw

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """Within a leadership it only moves forward."""
        visible = self._visible.get(replica.partition)
        hw, epoch = replica.hw, event[5]  # by place, for speed
        if visible is not None and epoch >= visible.epoch:
            visible.hw = hw
        if hw < previous and replica.leading and replica.epoch == epoch:
            words = f"broker {replica.node}, leader of epoch {epoch} of {replica.partition}, moved back from {previous} to {hw}"
            self._tell(index, Hw(event), previous, f"The high watermark of {words} at {seconds(event[TIME])}.")

    def _tell(self, index: int, event: Lead | Hw, before: int, message: str) -> None:
        node, partition, epoch = event.node, event.partition, event.leader_epoch
        if self.is_new((partition, node, epoch)):
            evidence = {"leader": node, "leader_epoch": epoch, "from": before, "to": event.hw, "trace_index": index}
            self.anomalies.append(Anomaly(NAME, VIOLATION, event.time, partition, message, evidence=evidence))

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """Tell the moves across leaderships, once per partition."""
        for partition, visible in sorted(self._visible.items()):
            if visible.first is not None:
                first = visible.first
                times = "once" if visible.times_back == 1 else f"{visible.times_back} times"
                message = (
                    f"What consumers of {partition} can see shrank {times} when the leader changed, first from offset "
                    f"{first['from']} (broker {first['old_leader']}) to {first['to']} (broker "
                    f"{first['new_leader']}, epoch "
                    f"{first['leader_epoch']}) at {seconds(first['time'])}."
                )
                evidence = {**first, "count": visible.times_back}
                self.anomalies.append(
                    Anomaly(NAME, PERMITTED, first["time"], partition, message, ACROSS_LEADERSHIPS, (), evidence)
                )
