"""The phases of a run: when a partition counts as come to rest, and when as stuck."""

from types import SimpleNamespace

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.final_states import all_answer
from tidemark.harness.runs import phases
from tidemark.harness.runs.at_rest import PartitionView, ReplicaView

T = "t-0"
BOUND_US = 10_000_000
BOUNDS = phases.Bounds(0, BOUND_US, 0, most=3)


def view(follower=None, leo=7):
    """Two brokers, of which the first leads; without a follower's log end the second does not answer."""
    leads = ReplicaView("leader", 1, leo, leo, (1, 2))
    follows = follower if follower is None else ReplicaView("follower", 1, follower, follower)
    return PartitionView(1, 1, (1, 2), (), (1, 2), {1: leads, 2: follows})


class PlayedCluster:
    """Time passes by itself; `views` says how things stand at a time."""

    def __init__(self, look, running=True):
        self.look = look
        self.time = 0
        self.trace = []
        self.nodes = {1: SimpleNamespace(name="b1"), 2: SimpleNamespace(name="b2")}
        self.processes = SimpleNamespace(running=lambda _: running)
        self.observation = self
        self.world = self

    def partitions(self):
        return (T,)

    def all_answer(self):
        all_answer(self)

    def brokers(self):
        return (1, 2)

    def now_us(self):
        return self.time

    def run_until(self, until_us):
        self.time = until_us

    def views(self, partitions, *, with_reasons=True):
        return {name: self.look(self.time) for name in partitions}

    def statuses(self, nodes, patience_s):
        return {node: self.look(self.time).brokers[node] for node in nodes}

    def trace_event(self, node, event, partition, *fields):
        self.trace.append((event, partition, *fields))


def test_it_is_over_as_soon_as_all_is_at_rest():
    cluster = PlayedCluster(lambda time: view(7 if time > 900_000 else 5))
    phases.come_to_rest(cluster, BOUNDS)
    assert cluster.trace == [("converged", T, True, "")]
    assert cluster.time == 1_000_000


def test_what_does_not_move_for_the_bound_is_stuck():
    cluster = PlayedCluster(lambda time: view(5 if time > 4_000_000 else 4))
    phases.come_to_rest(cluster, BOUNDS)
    assert cluster.trace == [("converged", T, False, "broker 2 has log end 5, the leader 7")]
    assert cluster.time == pytest.approx(4_200_000 + BOUND_US, abs=200_000)


def test_what_moves_for_ever_is_stuck_in_the_end():
    cluster = PlayedCluster(lambda time: view(time % 3))
    phases.come_to_rest(cluster, BOUNDS)
    assert cluster.trace[0][2] is False
    assert cluster.time == 3 * BOUND_US


def test_a_broker_that_runs_and_does_not_answer_is_no_finding():
    with pytest.raises(RunError, match=r"^b2 did not say how it stands within 20 s, so nobody knows"):
        phases.come_to_rest(PlayedCluster(lambda _: view()), BOUNDS)


def test_a_broker_that_does_not_run_is_one():
    cluster = PlayedCluster(lambda _: view(), running=False)
    phases.come_to_rest(cluster, BOUNDS)
    assert cluster.trace == [("converged", T, False, "broker 2 is not running")]


def test_who_stays_behind_on_damaged_files_is_not_stuck_and_who_has_whole_ones_is():
    for damaged, ok in (((2,), True), ((), False)):
        cluster = PlayedCluster(lambda _, damaged=damaged: view(5)._replace(damaged=damaged))
        phases.come_to_rest(cluster, BOUNDS)
        assert cluster.trace[0][2] is ok
