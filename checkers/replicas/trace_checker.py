"""What a checker can be told while a trace is replayed."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.checkers.replicas.replayed_replica import Removal, ReplayedReplica, ReplayedReplicas


class TraceChecker:
    """What a checker can be told during the pass. Override what is needed; the rest costs nothing.

    It is called after the replica has been brought up to date. `index` is always the event's place in the trace; it orders events
    that share a time. Appends and moves of high watermarks, nine of ten events, come as the plain tuples that they are.

    Attributes:
        wanted: the moments that a class overrides.
    """

    wanted: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Note what is overridden, once for all passes."""
        names = TraceChecker.moments()
        cls.wanted = tuple(name for name in names if getattr(cls, name) is not getattr(TraceChecker, name))

    @staticmethod
    @cache
    def moments() -> tuple[str, ...]:
        """The names of all."""
        return tuple(name for name in vars(TraceChecker) if name.startswith("on_"))

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """The trace begins; `replicas` will always be up to date."""

    def on_append(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A batch was written."""

    def on_unlike(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """One of a pair wrote a batch, and it was not seen at once that the follower's log is a beginning of the leader's."""

    def on_misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A batch is about to be written that does not continue the log: wrong offset, or an older epoch."""

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """The log was cut: truncation, recovery, an append below its end, or the replica was removed."""

    def on_hole(self, index: int, event: trace_events.Hole, replica: ReplayedReplica) -> None:
        """A cut fell inside a batch, and the log goes on behind the hole where it was."""

    def on_log_start(self, index: int, event: trace_events.LogStart, replica: ReplayedReplica, previous: int) -> None:
        """A replica's log start moved; it was `previous` before."""

    def on_hw_beyond(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica's high watermark moved beyond the end of its log."""

    def on_differing(self, index: int, event: TraceEvent) -> None:
        """A log grew, a high watermark moved or a pair began while there are pairs whose logs differ."""

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A leader's high watermark moved; it was `previous` before."""

    def on_any_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A replica's high watermark moved, leader or not."""

    def on_lead(self, index: int, event: trace_events.Lead, replica: ReplayedReplica) -> None:
        """A replica became leader of an epoch."""

    def on_fetched(
        self, index: int, event: trace_events.Fetched, replica: ReplayedReplica, leader: ReplayedReplica
    ) -> None:
        """A follower's first good fetch in an epoch: from here it is paired with `leader`."""

    def on_elect(self, index: int, event: trace_events.Elect) -> None:
        """The controller chose a leader."""

    def on_stop(self, index: int, event: trace_events.Stop) -> None:
        """A node is gone."""

    def on_membership(self, index: int, event: trace_events.Event) -> None:
        """Who may be in an ISR, or is: the controller chose a leader or an ISR, a process started, stopped or was registered."""

    def on_own_isr(self, index: int, event: trace_events.Isr, replica: ReplayedReplica) -> None:
        """The ISR changed that a leader goes by."""

    def on_fatal(self, index: int, event: trace_events.Fatal) -> None:
        """A node says why it gives up."""

    def on_converged(self, index: int, event: trace_events.Converged) -> None:
        """Whether a partition came to rest at the end."""

    def on_epochs(self, index: int, event: trace_events.Epochs, replica: ReplayedReplica) -> None:
        """What a replica's epoch cache says after a recovery, where that is not what the log says."""

    def on_final(self, index: int, event: trace_events.Final, replica: ReplayedReplica) -> None:
        """A replica's state at the end; its log has been replaced by the one given."""

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """The trace is over; `index` is its length."""
