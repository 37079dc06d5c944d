"""Whether a candidate still shows the anomaly: by search, not by one replay.

A plan is one thing, the noise beside it (latencies, think times) another: take a fault away, and all later draws fall on other
messages. A candidate that does not show the anomaly under the noise of the plan before may show it under another, so it counts if
any of ``k`` noises shows it (Scott et al., "Minimizing Faulty Executions of Distributed Systems", NSDI 2016: DEMi explores
schedules of each candidate, rather than to replay one). Where delays are fixed there is no noise, and other delays are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tidemark.checkers import Anomaly
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.budget import Budget
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.nemesis import Plan

DELAYS_US = (1_000, 500, 2_000, 1_500, 5_000, 800, 1_200, 3_000)
"""What fixed delays are tried, in this order."""


class Judge:
    """Knows the anomaly that is looked for, and replays candidates until one shows it.

    Attributes:
        target: the anomaly's name, verdict and cause.
        candidates: how many different plans were judged.
        patience: how many times as many noises a candidate is tried under.
        shown: the anomaly as the last candidate showed it that did, and its run.
    """

    def __init__(self, run: Callable[[Plan], JudgedRun], target: Cause, budget: Budget, noises: int = 4) -> None:
        """``run`` replays a plan; ``noises`` is ``k``, of which the candidate's own noise is one."""
        self._run = run
        self._noises = noises
        self._found: dict[str, Plan] = {}
        self._tried: dict[str, int] = {}
        self.budget = budget
        self.target = target
        self.candidates = 0
        self.patience = 1
        self.shown: tuple[Anomaly, JudgedRun] | None = None

    def shows(self, candidate: Plan) -> Plan | None:
        """The candidate with the noise under which it shows the anomaly; None if none of those tried does.

        Raises:
            BudgetSpentError: before that was known.
        """
        text = candidate.to_text()
        if text in self._found:
            return self._found[text]
        tried, upto = self._tried.get(text, 0), self._noises * self.patience
        self.candidates += text not in self._tried
        found = next((plan for plan in list(noises_of(candidate, upto))[tried:] if self.replay(plan)), None)
        if found is not None:
            self._found[text] = self._found[found.to_text()] = found
        self._tried[text] = max(tried, upto)
        return found

    def replay(self, plan: Plan) -> bool:
        """Whether this plan shows the anomaly under its own noise; costs a replay."""
        self.budget.spend()
        run = self._run(plan)
        for anomaly in run.verdict.anomalies:
            if anomaly.name == self.target.name and self.target in causes_of(anomaly, run.verdict, run.history):
                self.shown = anomaly, run
                return True
        return False


def noises_of(plan: Plan, count: int) -> Iterator[Plan]:
    """The plan under its own noise and ``count - 1`` others, named by small numbers, so that what is kept reads well."""
    yield plan
    others = [replace(plan, noise_seed=seed) for seed in range(count + 1) if seed != plan.noise_seed]
    if plan.fixed_delay_us is not None:
        delays = [replace(plan, fixed_delay_us=delay) for delay in DELAYS_US if delay != plan.fixed_delay_us]
        by_chance = any(fault.row.by_chance for fault in plan.faults)
        others = [other for pair in zip(delays, others, strict=False) for other in pair] if by_chance else delays
    yield from others[: count - 1]
