"""Numbers about a run, for its verdict and for comparing runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.client_view import Counts
from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.truncation_rounds import rounds_needed
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly


class TraceCounts(NamedTuple):
    """How much happened among the replicas. `recoveries` counts those after a stop, not the first start;
    `unclean_elections` those on purpose, not KIP-966's election of the last known leader. `epoch_round_trips` counts all questions
    about epochs, `one_round`, `two_rounds` and `more_rounds` how often a follower needed so many answers
    (:mod:`tidemark.checkers.replicas.truncation_rounds`).

    `whole_us` is when the last partition was restored (or, where that was not noted, had converged), `None` unless all
    converged in the end.
    """

    elections: int = 0
    unclean_elections: int = 0
    truncations: int = 0
    records_truncated: int = 0
    recoveries: int = 0
    epoch_round_trips: int = 0
    one_round: int = 0
    two_rounds: int = 0
    more_rounds: int = 0
    whole_us: int | None = None

    @classmethod
    def of(cls, points: Sequence[TurningPoint]) -> TraceCounts:
        """Count. Without the controller's `elect` events the leaders' `lead` events stand for them."""
        events: defaultdict[str, list[TraceEvent]] = defaultdict(list)
        for _, event in points:
            events[event[KIND]].append(event)
        elects, leads = [*map(trace_events.Elect, events[trace_events.Elect.kind])], events[trace_events.Lead.kind]
        chosen = [elect for elect in elects if elect.leader != -1 and elect.how != "initial"]
        truncated = [*map(trace_events.Truncate, events[trace_events.Truncate.kind])]
        converged = [*map(trace_events.Converged, events[trace_events.Converged.kind])]
        rest = {event[PARTITION]: event[TIME] for event in [*converged, *events[trace_events.Restored.kind]]}
        began = {event[PARTITION] for event in leads}
        stopped = {event[NODE]: event[TIME] for event in reversed(events[trace_events.Stop.kind])}
        recovered = events[trace_events.Recovered.kind]
        rounds = rounds_needed(points)
        return cls(
            elections=len(chosen) if elects else len(leads) - len(began),
            unclean_elections=sum(not elect.clean and elect.how != "last-known" for elect in chosen),
            truncations=len(truncated),
            records_truncated=sum(cut.old_leo - cut.to for cut in truncated)
            + sum(hole.leo - hole.begin for hole in map(trace_events.Hole, events[trace_events.Hole.kind])),
            recoveries=sum(stopped.get(event[NODE], event[TIME] + 1) <= event[TIME] for event in recovered),
            epoch_round_trips=len(events[trace_events.Ask.kind]),
            one_round=rounds[1],
            two_rounds=rounds[2],
            more_rounds=rounds.total() - rounds[1] - rounds[2],
            whole_us=max(rest.values(), default=None) if all(one.ok for one in converged) else None,
        )


def statistics(
    history: History,
    clients: Counts,
    counts: TraceCounts,
    of_acked: Mapping[str, Any],
    anomalies: Sequence[Anomaly],
) -> dict[str, Any]:
    """The numbers of a verdict: `acked` counts records, `sends` and `polls` operations, times are in µs;
    `of_acked` says what became of the acknowledged records (`tidemark.checkers.acknowledged`).

    `hw_checkpoints` is how often brokers wrote their high watermarks to disk, `None` where nobody counted.
    `availability` is the acknowledged part of the sends invoked before the faults ended; `recovery_us` is the
    time from then until the last partition was whole again, `None` unless all came to rest.
    """
    healed = history.meta.get("faults_end_us")
    told = counts._asdict()
    whole_us = told.pop("whole_us")
    violations = [anomaly.time for anomaly in anomalies if anomaly.verdict == VIOLATION]
    return {
        "acked": clients.acked,
        "sends": max(clients.invoked.get("send", 0), clients.succeeded.get("send", 0)),
        "polls": max(clients.invoked.get("poll", 0), clients.succeeded.get("poll", 0)),
        **told,
        "hw_checkpoints": history.meta.get("hw_checkpoints"),
        **of_acked,
        "first_violation_us": min(violations, default=None),
        "availability": clients.availability,
        "recovery_us": None if healed is None or whole_us is None else whole_us - healed,
    }
