"""What the runs of one system under one kind of trouble come to together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.kept_run import INVALID, MISSING, REFUSED, UNKNOWN, VALID, KeptRun, kept_run
from tidemark.harness.soak.planned import PlannedRun
from tidemark.harness.survey.counted import COUNTS, SETS, Counted

Interval = Callable[[int, int], tuple[float, float]]
"""Hits and runs → the limits of the share."""


LOSSES: Final = frozenset({"lost-committed-write", "lost-write", SETS})
"""Kinds of anomalies that say that acknowledged records are gone."""


class Run(NamedTuple):
    """A planned run, with what is kept of it; `counted` is None where nothing is."""

    planned: PlannedRun
    kept: KeptRun
    counted: Counted | None

    @property
    def counts(self) -> bool:
        """Whether it says something: it was judged, or, whatever else is unknown, records are gone."""
        if self.counted is None:
            return False
        return self.kept.valid in (VALID, INVALID) or (self.kept.valid == UNKNOWN and self.counted.lost > 0)


@dataclass(frozen=True, slots=True)
class Cell:
    """One system under one kind of trouble.

    Attributes:
        runs: that count. lossy: of these, in which acknowledged records were lost. low, high: the interval of that share.
        broken: of the lossy, in which the promise that the system is judged by forbids the loss.
        others: what else the promise forbids, a kind of anomaly → in how many runs.
        acked, lost, unknown_records: records in all of these runs.
        asked, answered: writes before the faults ended, and those acknowledged.
        silent_us: of each run the longest time without an acknowledgement, in order.
        stale, looked: runs with reads that were out of date, and runs in which somebody looked.
        unknown: runs that prove nothing. missing: still to come. refused: cannot be run; why.
        told: the run whose story is told; the one that lost most. None if nothing was run.
    """

    system: str
    trouble: str
    runs: int
    lossy: int
    low: float
    high: float
    broken: int
    others: dict[str, int]
    acked: int
    lost: int
    unknown_records: int
    asked: int
    answered: int
    silent_us: tuple[int, ...]
    stale: int
    looked: int
    unknown: int
    missing: int
    refused: str
    told: Run | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; the story is named by its run's folder."""
        data = {name: getattr(self, name) for name in self.__slots__}
        return {**data, "silent_us": list(self.silent_us), "told": self.told and self.told.planned.name}


def stored(planned: Iterable[PlannedRun], results: KeptResults) -> list[Run]:
    """All runs, with what is kept of each."""
    return [
        Run(one, kept_run(one, results), Counted.from_json(results.read(f"{one.name}/{COUNTS}"))) for one in planned
    ]


def cells(runs: Sequence[Run], interval: Interval) -> list[Cell]:
    """A cell for each system and kind of trouble, in the order in which they come first.

    Args:
        runs: all of the survey.
        interval: of a share (`tidemark.pipeline.compare.statistics.wilson`).
    """
    places = dict.fromkeys((run.planned.system, run.planned.profile) for run in runs)
    return [
        _cell(place, [run for run in runs if (run.planned.system, run.planned.profile) == place], interval)
        for place in places
    ]


def _cell(place: tuple[str, str], all_runs: Sequence[Run], interval: Interval) -> Cell:
    runs = [run for run in all_runs if run.counts]
    counted = [run.counted for run in runs if run.counted is not None]
    lossy = [run for run in runs if run.counted is not None and run.counted.lost]
    low, high = interval(len(lossy), len(runs))
    return Cell(
        *place,
        runs=len(runs),
        lossy=len(lossy),
        low=low,
        high=high,
        broken=sum(not LOSSES.isdisjoint(run.kept.violations) for run in lossy),
        others=dict(sorted(Counter(kind for run in runs for kind in {*run.kept.violations} - LOSSES).items())),
        acked=sum(one.acked for one in counted),
        lost=sum(one.lost for one in counted),
        unknown_records=sum(one.unknown for one in counted),
        asked=sum(one.asked for one in counted),
        answered=sum(one.answered for one in counted),
        silent_us=tuple(sorted(one.silent_us for one in counted)),
        stale=sum(one.stale > 0 for one in counted),
        looked=sum(one.stale >= 0 for one in counted),
        unknown=sum(run.kept.valid == UNKNOWN and not run.counts for run in all_runs),
        missing=sum(run.kept.valid == MISSING for run in all_runs),
        refused=next((run.kept.why for run in all_runs if run.kept.valid == REFUSED), ""),
        told=max(runs, key=lambda run: run.counted.lost if run.counted else 0, default=None),
    )
