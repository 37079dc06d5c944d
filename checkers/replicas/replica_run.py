"""The replica checkers of a run: one pass over its trace for those that listen, then what is asked of where it led."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.client_view import ClientView
from tidemark.checkers.history.history import History
from tidemark.checkers.history.min_isr import Enough, MinIsr, fewest_replicas
from tidemark.checkers.history.trace_events import KIND, TIME, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint, turning_points
from tidemark.checkers.replicas.baselines import Loss
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.contract import ACK_QUORUM, PROMISES, WITH_LEDGERS, WITHOUT_ISR, Contract
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.heard_min_isr import HeardMinIsr
from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.missing_evidence import EndOfTrace
from tidemark.checkers.replicas.replay import replay
from tidemark.checkers.replicas.replayed_replica import ReplayedReplicas
from tidemark.checkers.replicas.stuck_because import explained
from tidemark.checkers.replicas.unasked_election import unclean_elections
from tidemark.checkers.replicas.unsettled_reads import Read, unsettled_reads
from tidemark.checkers.verdict.verdict import Anomaly

LIVE_PATIENCE_US = 2_000_000
"""So long may a member seem to lack a record in a trace that several machines wrote, in µs."""


class ReplicaRun:
    """What a replica checker may go by.

    Args:
        history: the run.
        points: the trace's turning points.
        own: the promise it is judged by.
        alone: whether no other promise counts.
        view: what the clients saw, where that is to be held against the trace.
        trace: the history's, or what of it is believed.
        silent: the nodes that are not believed.

    Attributes:
        committed: the committed baseline, which listens before all others.
        end: what is missing at the end of the trace.
        replicas: as the trace has left them.
        losses: how what was lost is to be taken.
        certain: of a loss, whether it counts.
    """

    replicas: ReplayedReplicas
    losses: LostWrites

    def __init__(
        self,
        history: History,
        points: Sequence[TurningPoint],
        own: str,
        *,
        alone: bool = False,
        view: ClientView | None = None,
        trace: list[TraceEvent] | None = None,
        silent: Collection[int] = (),
    ) -> None:
        meta = self.meta = history.meta
        self.history, self.points, self.view = history, points, view
        self.trace = history.trace if trace is None else trace
        self.keys = {} if view is None else view.keys
        least, self.most_min_isr = MinIsr.of(history)
        self.min_isr_of = Enough(least, fewest_replicas(points))
        self.assignment: Mapping[str, Sequence[int]] = meta.get("replicas") or {}
        self.has_isr: bool = meta.get("isr", True)
        self.votes: bool = meta.get("votes", True)
        self.patience_us = 0 if meta.get("world", "sim") == "sim" else LIVE_PATIENCE_US
        self.unclean = unclean_elections(history, points, self.patience_us)
        self.committed = Committed(self.trace, self.keys)
        self.end = EndOfTrace(self.assignment)
        self.certain: Callable[[Loss], bool] | None = None
        self._own, self._alone, self.silent = own, alone, silent

    @cached_property
    def unsettled(self) -> list[Read]:
        """What was read, and may not have been committed."""
        return [] if self.view is None else unsettled_reads(self.view.answered, self.committed)

    @cached_property
    def heard_min_isr(self) -> HeardMinIsr | None:
        """Which min ISR leaders had to go by; `None` where it is the same all the time."""
        enough = self.min_isr_of
        ordered = enough.min_isr != self.most_min_isr
        if not ordered and not any(event[KIND] == trace_events.MinIsr.kind for _, event in self.points):
            return None
        return HeardMinIsr(int(self.meta.get("min_isr", 1)), self.points, enough.fewest)

    @property
    def gave_up(self) -> bool:
        """Whether there are sends that did not succeed."""
        view = self.view
        return view is None or view.succeeded.get("send", 0) < view.invoked.get("send", 0)

    @property
    def end_us(self) -> int:
        """When the run ended."""
        ended: int = max(self.meta.get("end_us", 0), *(event[TIME] for event in self.history.trace[-1:]), 0)
        return ended

    def replay(self, listeners: Iterable[Finder]) -> None:
        """Go through the trace."""
        self.replicas = replay(self.trace, (self.committed, *listeners, self.end))
        if self.certain is not None:
            self.committed.losses = [*filter(self.certain, self.committed.losses)]
        points = turning_points(self.trace) if self.silent else self.points
        without_isr = WITHOUT_ISR if self._own != ACK_QUORUM else WITH_LEDGERS
        contract = partial(
            Contract,
            self.trace,
            points,
            self.replicas,
            self.min_isr_of,
            self._own,
            self.unclean,
            alone=self._alone,
            silent=self.silent,
        )
        self.losses = LostWrites(self.trace, points, self.replicas, self.keys, self.assignment, contract)
        self.losses.promises = PROMISES if self.has_isr or self.silent else without_isr


@dataclass(frozen=True, slots=True)
class ReplicaChecker:
    """A line of the registry: what finds some anomalies in a run's trace, either by listening to the pass or afterwards.

    Attributes:
        meanings: their names, each with a sentence.
        listen: makes the listener.
        find: finds them once the trace is over.
        where: the runs in which they can be.
        believed: they are as certain when nothing is known of some nodes.
        near_miss: nothing is broken yet.
        rests_on_memory: where there is no ISR, they follow from what a server forgets with its disk.
    """

    meanings: Mapping[str, str]
    listen: Callable[[ReplicaRun], Finder] | None = None
    find: Callable[[ReplicaRun], Iterable[Anomaly]] | None = None
    where: Callable[[ReplicaRun], bool] | None = None
    believed: bool = False
    near_miss: bool = False
    rests_on_memory: bool = False


def check_replicas(run: ReplicaRun, checkers: Iterable[ReplicaChecker]) -> list[Anomaly]:
    """What the checkers find, in their order. `run` knows afterwards what else the trace has told.

    Raises:
        TooSparseError: a log cannot be kept.
    """
    asked = [
        (checker, checker.listen and checker.listen(run))
        for checker in checkers
        if checker.where is None or checker.where(run)
    ]
    run.replay(listener for _, listener in asked if listener is not None)
    anomalies: list[Anomaly] = []
    for checker, listener in asked:
        if listener is not None:
            anomalies += listener.judged(run.losses)
        if checker.find is not None:
            anomalies += checker.find(run)
    anomalies = explained(anomalies, run.trace, run.replicas)
    run.replicas.take_apart()
    return anomalies
