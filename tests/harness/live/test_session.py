"""Which runs of a session find the nodes of the run before. Machines and runs are played."""

from types import SimpleNamespace

import pytest

from tidemark.harness.live import contained_run, session
from tidemark.harness.live.going_on import MOST_RUNS
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

PLAN = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), (), 0)


class Judging(TidemarkSystem):
    """Says of each run what it is told to say."""

    verdict = "valid"

    def judge(self, history):
        return SimpleNamespace(valid=self.verdict)


@pytest.fixture
def play(monkeypatch, tmp_path):
    """Plays a run; gives how many its nodes had carried out. ``leaves``: it leaves its nodes. ``fails``: it cannot be played."""
    found = []

    def run_plan(plan, variant, contract=None, *, left, **_):
        found.append(0 if left is None or left.started_for is None else left.runs)
        if play.fails:
            raise NodeError("a machine is on fire")
        if left is not None and play.leaves:
            left.by(object())
        elif left is not None:
            left.none()
        return contained_run.ContainedRun(SimpleNamespace(meta={}), [], 0, 0)

    monkeypatch.setattr(contained_run, "run_plan", run_plan)
    monkeypatch.setattr(session, "digest", lambda _: "")
    monkeypatch.setattr(session, "store_plan", lambda *_: None)

    def play(of):
        of._cluster = SimpleNamespace(down=lambda: None)
        of.execute(PLAN, parse_variant("kafka-4.0"), folder=tmp_path)
        return found[-1]

    play.leaves, play.fails, play.found = True, False, found
    return play


def going_on(**options):
    return ContainerSession(3, tell=pytest.fail, system=Judging(), go_on=True, **options)


def test_nodes_go_on_from_a_valid_run_into_the_next(play):
    of = going_on()
    assert [play(of) for _ in range(3)] == [0, 1, 2]


def test_not_for_ever(play):
    of = going_on()
    assert [play(of) for _ in range(MOST_RUNS + 2)] == [*range(MOST_RUNS), 0, 1]


@pytest.mark.parametrize("verdict", ["invalid", "unknown"])
def test_after_a_run_that_was_not_valid_all_begins_anew(play, verdict):
    of = going_on()
    play(of)
    of.system.verdict = verdict
    assert play(of) == 1
    assert play(of) == 0


def test_nor_do_nodes_go_on_that_a_run_did_not_leave(play):
    of = going_on()
    play.leaves = False
    assert [play(of) for _ in range(2)] == [0, 0]


def test_nor_from_a_run_that_failed(play):
    of = going_on()
    play(of)
    play.fails = True
    with pytest.raises(NodeError):
        play(of)
    play.fails = False
    assert play(of) == 0


def test_unless_it_is_asked_for_every_run_has_nodes_of_its_own(play):
    of = ContainerSession(3, tell=pytest.fail, system=Judging())
    assert [play(of) for _ in range(2)] == [0, 0]
