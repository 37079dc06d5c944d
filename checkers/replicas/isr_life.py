"""Who is in the controller's ISR, and who of them is alive, as the trace goes.

Alive is a broker whose process runs and that the controller has accepted in this incarnation: membership in the ISR belongs to the
incarnation (KIP-841, KIP-903). Where a trace has no `register` events, a running process counts as accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint

_OF_ELECT, _OF_CHANGE = (
    (kind.place("isr"), kind.place("elr")) for kind in (trace_events.Elect, trace_events.IsrChange)
)
_BROKER = trace_events.Register.place("broker")


class IsrLife:
    """The state before the first event; :meth:`step` takes it on."""

    def __init__(self, trace: Sequence[TraceEvent]) -> None:
        self.isrs: dict[str, tuple[int, ...]] = {}
        self.elrs: dict[str, tuple[int, ...]] = {}
        self._replicas: dict[str, tuple[int, ...]] = {}
        """As the last reassignment has them; nothing of a partition that has had none."""
        self._registers = any(event[KIND] == "register" for event in trace)
        self.accepted: Counter[int] = Counter()
        """How many incarnations of each broker the controller has accepted."""
        self._stopped: set[int] = set()
        self._unregistered: set[int] = set()

    def step(self, event: TraceEvent) -> bool:
        """Take an event in; says whether it is of the kind that may change anything."""
        node, partition = event[NODE], event[PARTITION]
        match event[KIND]:
            case "elect" | "isr-change" as kind:
                isr, elr = _OF_ELECT if kind == "elect" else _OF_CHANGE
                self.isrs[partition], self.elrs[partition] = event[isr], event[elr]
            case "reassign":
                self._replicas[partition] = trace_events.Reassign(event).replicas
            case "stop":
                self._stopped.add(node)
            case "start":
                self._stopped.discard(node)
                if self._registers:
                    self._unregistered.add(node)
                else:
                    self.accepted[node] += 1
            case "register":
                broker = event[_BROKER]
                self._unregistered.discard(broker)
                self.accepted[broker] += 1
            case _:
                return False
        return True

    def alive(self, node: int) -> bool:
        """Whether a broker is."""
        return node not in self._stopped and node not in self._unregistered

    def is_replica(self, partition: str, node: int) -> bool:
        """Whether a member of the ISR is a replica, too: a reassignment that ends may leave one behind that is none."""
        return node in self._replicas.get(partition, (node,))

    def dead(self, partition: str) -> bool:
        """Whether nobody in a partition's ISR is alive."""
        return not any(self.alive(node) for node in self.isrs[partition])


def isr_dead_intervals(trace: Sequence[TraceEvent], points: Iterable[TurningPoint]) -> dict[str, list[tuple[int, int]]]:
    """Per partition, the intervals ``[begin, end)`` of trace indices in which no member of the committed ISR
    was alive.

    What begins and ends at the same time is no moment, and is left out.
    """
    life = IsrLife(trace)
    begun: dict[str, int] = {}
    intervals: dict[str, list[tuple[int, int]]] = {}
    for index, event in points:
        if not life.step(event):
            continue
        for partition in life.isrs:
            if life.dead(partition):
                begun.setdefault(partition, index)
            elif partition in begun:
                begin = begun.pop(partition)
                if trace[begin][TIME] < event[TIME]:
                    intervals.setdefault(partition, []).append((begin, index))
    for partition, begin in begun.items():
        if trace[begin][TIME] < trace[-1][TIME]:
            intervals.setdefault(partition, []).append((begin, len(trace)))
    return intervals
