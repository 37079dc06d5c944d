"""What every pass works on: the best plan so far, and the one way to a better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tidemark.checkers import Anomaly
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.judge import Judge
from tidemark.harness.search.shrink.size import size_of
from tidemark.nemesis import Fault, Plan


class _Patience:
    def __init__(self, judge: Judge, times: int) -> None:
        self._judge = judge
        self._times = times

    def __enter__(self) -> None:
        self._before = self._judge.patience
        self._judge.patience *= self._times

    def __exit__(self, *_: object) -> None:
        self._judge.patience = self._before


class Search:
    """The best plan so far.

    A pass proposes, `accepts` decides: a candidate takes the best one's place if it is smaller and shows the anomaly. So `best`
    can be taken at any moment, and nothing that a pass does can make it worse.

    Attributes:
        best: shows the anomaly.
        anomaly, run: as it does.
    """

    def __init__(self, judge: Judge, plan: Plan, watch: Callable[[Plan], None] = lambda _: None) -> None:
        """``plan`` has just shown the anomaly to ``judge``; ``watch`` is told of every better one."""
        if judge.shown is None:
            raise ValueError("the plan to begin with has not shown the anomaly")
        self.best = plan
        self._judge = judge
        self._watch = watch
        self.anomaly: Anomaly
        self.run: JudgedRun
        self.anomaly, self.run = judge.shown

    def accepts(self, candidate: Plan) -> bool:
        """Whether the candidate is the best plan now.

        Raises:
            BudgetSpentError: that would have taken another replay.
        """
        if size_of(candidate) >= size_of(self.best):
            return False
        found = self._judge.shows(candidate)
        if found is None or self._judge.shown is None:
            return False
        self.best = found
        self.anomaly, self.run = self._judge.shown
        self._watch(found)
        return True

    def patiently(self, times: int) -> _Patience:
        """While this lasts, candidates are tried under so many times as many noises: for steps on which much depends."""
        return _Patience(self._judge, times)

    def changed(self, **changes: Any) -> bool:  # noqa: ANN401 - what a plan is made of
        """Whether the best plan could be changed so; what makes no plan is no candidate."""
        try:
            candidate = replace(self.best, **changes)
        except ValueError:
            return False
        return self.accepts(candidate)

    def fault_changed(self, place: int, **changes: Any) -> bool:  # noqa: ANN401 - what a fault is made of
        """The same of one fault."""
        return self.faults_changed(lambda fault: replace(fault, **changes), [place])

    def faults_changed(self, change: Callable[[Fault], Fault], places: list[int] | None = None) -> bool:
        """The same of several faults at once, of all by default."""
        faults = self.best.faults
        chosen = range(len(faults)) if places is None else places
        try:
            changed = tuple(change(fault) if i in chosen else fault for i, fault in enumerate(faults))
        except ValueError:
            return False
        return self.changed(faults=changed)
