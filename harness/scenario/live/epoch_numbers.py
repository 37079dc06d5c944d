"""Leader epochs in the numbers of a script, where a system spends epochs that no script counts.

Real Kafka raises the leader epoch for a follower's controlled shutdown, for each change of the order of replicas, and its first
leader's epoch cannot be chosen. A script counts reigns: an epoch in which another broker leads than before, or nobody.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from threading import Lock
from typing import Any

from tidemark.checkers.history.trace_events import KIND, Elect
from tidemark.harness.scenario.snapshots import ReplicaSnapshot

UNKNOWN = -1


class EpochNumbers:
    """Counts the reigns of one partition as the controller decides them.

    Args:
        first: what the script calls the first leader's epoch.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._begins: list[int] = []
        self._leaders: list[int] = []
        self._latest = -1
        self._lock = Lock()
        self._sent: dict[str, tuple[int, int]] = {}

    def heard(self, event: list[Any]) -> None:
        """Take a trace event of the controller's; may be called by another thread."""
        if event[KIND] != Elect.kind:
            return
        elect = Elect(event)
        with self._lock:
            if self._begins and elect.leader_epoch <= self._latest:
                return  # another of several controllers has told it before
            self._latest = elect.leader_epoch
            if not self._leaders or elect.leader != self._leaders[-1]:
                self._leaders.append(elect.leader)
                self._begins.append(elect.leader_epoch)

    def number(self, epoch: int) -> int:
        """The script's number of an epoch; one that nobody was told of yet belongs to the latest reign."""
        if epoch < 0:
            return UNKNOWN
        with self._lock:
            return self._first + max(bisect_right(self._begins, epoch) - 1, 0)

    def cache(self, entries: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """An epoch cache in the script's numbers; neighbours that are one reign are one entry."""
        found: list[tuple[int, int]] = []
        for epoch, start in entries:
            number = self.number(epoch)
            if not found or found[-1][0] != number:
                found.append((number, start))
        return tuple(found)

    def sent(self, names: Iterable[str], broker: int, epoch: int) -> None:
        """Records were sent to a broker of this epoch, for a system that keeps no epoch with its records."""
        self._sent.update(dict.fromkeys(names, (broker, epoch)))

    def of_replica(self, state: ReplicaSnapshot) -> ReplicaSnapshot:
        """A replica in the script's numbers."""
        log = tuple((self.number(epoch) if epoch >= 0 else self._written_in(name), name) for epoch, name in state.log)
        return state._replace(epoch=self.number(state.epoch), log=log, cache=self.cache(state.cache))

    def _written_in(self, name: str) -> int:
        """The script's number of the reign in which a record was written: the broker it was sent to may not have known yet that it
        leads, and takes it as soon as it does.
        """
        if name not in self._sent:
            return UNKNOWN
        broker, epoch = self._sent[name]
        with self._lock:
            known = max(bisect_right(self._begins, epoch) - 1, 0)
            led = (reign for reign in range(known, len(self._leaders)) if self._leaders[reign] == broker)
            return self._first + next(led, known)
