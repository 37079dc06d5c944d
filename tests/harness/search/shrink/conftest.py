"""Plans by hand, and a judge that goes by what a plan says rather than by what a run shows."""

from types import SimpleNamespace

import pytest

from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Fault, Plan, Send, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

SECOND = 1_000_000


def sends(*times, **changes):
    return tuple(Send(time, **changes) for time in times)


@pytest.fixture
def plan():
    """A plan of these faults; everything else by name."""

    def plan(*faults, end=4 * SECOND, work=None, cluster=None, **others):
        work = work or WorkloadSpec(producers=1, consumers=0, sends=sends(SECOND))
        return Plan(0, 0, 7, "by hand", cluster or ClusterSpec(), work, faults, end, **others)

    return plan


@pytest.fixture
def fault():
    def fault(kind="crash", at_us=SECOND, **others):
        return Fault(kind, at_us, **others)

    return fault


class JudgeByHand:
    """Takes a plan to show the anomaly if a predicate says so."""

    def __init__(self, predicate, history, time):
        self._predicate = predicate
        self.shown = SimpleNamespace(time=time), SimpleNamespace(history=history)
        self.asked = []
        self.patience = 1

    def shows(self, plan):
        self.asked.append(plan)
        return plan if self._predicate(plan) else None


@pytest.fixture
def search_by_hand():
    """A search from a plan, in which a plan shows the anomaly if the predicate holds of it."""

    def search_by_hand(plan, predicate, ops=(), strikes=None, time=10 * SECOND):
        if strikes is None:
            strikes = [(fault.at_us, "strike", i, fault.kind, {}) for i, fault in enumerate(plan.faults)]
        judge = JudgeByHand(predicate, SimpleNamespace(ops=list(ops), nemesis=strikes), time)
        search = Search(judge, plan)
        search.judge = judge
        return search

    return search_by_hand
