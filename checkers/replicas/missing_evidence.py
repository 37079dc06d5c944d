"""What a history lacks, so that a run without a finding in it proves nothing.

Who listens to the trace asks of every partition of which it tells: did somebody look whether it came to rest, and does every
replica that runs say what it ended with? And of the clients: did they get to read everything back?

>>> from tidemark.checkers import History, check, sent, polled
>>> verdict = check(History.of(read_back=False, ops=[sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7))]))
>>> print(verdict.valid, verdict.unknown_because, sep=": ")
unknown: the final reads did not come to an end
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Converged, Stop
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas
from tidemark.checkers.replicas.trace_checker import TraceChecker

MOST = 5
"""So many partitions or replicas are named in a sentence."""


class EndOfTrace(TraceChecker):
    """Listens for how partitions and replicas ended. A system that traces nothing of its logs owes no account of their end.

    Args:
        named: the run's replicas as its meta line has them, at the beginning: partition → nodes.

    Attributes:
        missing: what nobody has told, as sentences.
    """

    def __init__(self, named: Mapping[str, Iterable[int]]) -> None:
        self.missing: list[str] = []
        self._named = named
        self._looked_at: set[str] = set()
        self._stopped: set[int] = set()

    def on_converged(self, index: int, event: Converged) -> None:
        """Somebody looked."""
        self._looked_at.add(event.partition)

    def on_stop(self, index: int, event: Stop) -> None:
        """A node that stopped and told nothing else."""
        self._stopped.add(event.node)

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """Put together what is missing. A replica that does not run, or is none any more, owes nothing."""
        told = {partition for partition, found in replicas.by_partition.items() if any(map(_has_told, found))}
        if not told:
            return
        unseen = sorted((told | set(self._named)) - self._looked_at)
        if unseen:
            self.missing.append(f"nobody looked whether {_some(unseen)} came to rest")
        silent = {(r.partition, r.node) for p in told for r in replicas.by_partition[p] if _owes_its_log(r)}
        silent |= {
            (partition, node)
            for partition, nodes in self._named.items()
            for node in nodes
            if (node, partition) not in replicas.by_place and node not in self._stopped
        }
        if silent:
            names = [f"broker {node} for {partition}" for partition, node in sorted(silent)]
            self.missing.append(f"there is no final log of {_some(names)}")


def _has_told(replica: ReplayedReplica) -> bool:
    return replica.epoch >= 0 or bool(replica.records or replica.removals or replica.final)


def _owes_its_log(replica: ReplayedReplica) -> bool:
    return replica.assigned and replica.up and replica.final is None and _has_told(replica)


def _some(names: list[str]) -> str:
    more = len(names) - MOST
    return ", ".join(names[:MOST]) + (f" and {more} more" if more > 0 else "")


def missing_of_clients(history: History) -> list[str]:
    """What of a run is missing whatever its replicas told, as sentences."""
    missing = [history.cut_off] if history.cut_off else []
    if history.meta.get("read_back") is False:
        missing.append("the final reads did not come to an end")
    if history.meta.get("share_group", {}).get("drained") is False:
        missing.append("the share group did not come to its end, so nobody knows what it would have been given")
    if history.meta.get("replicas") and not history.trace:
        missing.append("the history names replicas, and has no trace of them: it is judged by its clients alone")
    return missing
