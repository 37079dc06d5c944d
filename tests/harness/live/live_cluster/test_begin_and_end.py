"""A run begins with nodes that are started anew, or with those of the run before as they are, and ends them or leaves them be."""

import threading

import pytest
from played_nodes import PlayedNode, T, played_cluster, played_machine, settle

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live import cluster_nodes
from tidemark.harness.live.going_on import may_go_on
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, FaultTarget, Plan, WorkloadSpec
from tidemark.nemesis.damage import Damage
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant


def test_it_is_a_target_the_nemesis_can_use(cluster):
    for verb in (name for name in vars(FaultTarget) if not name.startswith("_")):
        assert callable(getattr(cluster, verb))


def test_boot_cleans_and_starts_every_node_and_knows_the_leaders(cluster):
    assert cluster.brokers() == (1, 2)
    assert cluster.partitions() == (T,)
    assert cluster.leader_of(T) == 1
    assert cluster.isr_of(T) == (1, 2)
    assert cluster.replicas_of(T) == (1, 2)
    assert cluster.clocks_us == {0: 0, 1: 0, 2: 0}
    assert [node.config["incarnation"] for node in cluster.nodes.values()] == [1, 1, 1]


class Lasting(TidemarkSystem):
    """Whose nodes can go on, unless it is told otherwise."""

    def __init__(self, *, same=True):
        self.same, self.done = same, []

    def can_go_on(self, before, after):
        return self.same

    def clear(self, controls, before):
        self.done.append(("clear", sorted(controls), before))

    def setup(self, controls, deployment):
        self.done.append("setup")

    def forget(self, controls, after):
        self.done.append("forget")


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    made = []

    def play(*args, **options):
        made.append(played_cluster(*args, **options))
        return made[-1]

    yield play
    for one in made:
        one.close()


def test_nodes_that_go_on_are_taken_over_as_they_are(played):
    system, before = Lasting(), object()
    cluster = played(system, before=before)
    cluster.boot()

    assert cluster.goes_on
    assert {node.done[0] for node in cluster.nodes.values()} == {"take over"}
    assert system.done == [("clear", [0, 1, 2], before), "setup", "forget"]
    assert all(map(cluster.running, cluster.brokers()))
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)
    assert cluster.nodes[1].config["incarnation"] == 2


@pytest.mark.parametrize("system", [Lasting(same=False), TidemarkSystem()])
def test_nodes_of_another_kind_are_started_anew(played, system):
    cluster = played(system, before=object())
    cluster.boot()

    assert not cluster.goes_on
    assert [node.done[:2] for node in cluster.nodes.values()] == [["clean", "start"]] * 3


def test_nodes_that_are_to_go_on_are_not_ended(played):
    cluster = played(Lasting())
    cluster.boot()

    assert cluster.close(go_on=True)
    assert [node.done[-1] for node in cluster.nodes.values()] == ["go on"] * 3


def test_a_node_that_cannot_be_left_is_told(played):
    cluster = played(Lasting())
    cluster.boot()
    cluster.nodes[2].fails = "go on"

    assert not cluster.close(go_on=True)


def may(cluster, *faults):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), faults, 0)
    return may_go_on(cluster, plan)


def test_nodes_that_suffered_nothing_that_lasts_may_go_on(played):
    cluster = played(faults=())
    cluster.boot()
    assert may(cluster, Fault("crash", 0), Fault("isolate", 0))
    for lasting in ("clock-jump", "min-isr", "move-log-dir", "fail-log-dir"):
        assert not may(cluster, Fault(lasting, 0, amount=1)), lasting

    cluster.stop(1, "crash")
    assert not may(cluster)
    cluster.start(1)
    settle(cluster)
    assert may(cluster)


def test_a_node_that_gave_up_or_was_damaged_does_not_go_on(played):
    cluster = played(faults=())
    cluster.boot()
    cluster.processes.died.append({"node": 1})
    assert not may(cluster)
    cluster.processes.died.clear()
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("cut-tail", 300, 0, 5))
    cluster.start(1)
    settle(cluster)
    assert not may(cluster)


def test_a_broker_that_ends_while_the_cluster_starts_is_named(monkeypatch):
    class Dying(PlayedNode):
        def start(self, config, *, clock_faults):
            super().start(config, clock_faults=clock_faults)
            if self.node == 2:
                self.end_itself("fatal")

    monkeypatch.setattr(cluster_nodes, "ContainedNode", Dying)
    machines = {node: played_machine(node) for node in range(3)}
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=2, replication_factor=2), WorkloadSpec(), (), 0)
    made = LiveCluster(machines, plan, parse_variant("kafka-2.7"), Recorder({}), delay="transport")
    try:
        with pytest.raises(RunError, match=r"^the process of b2 ended while the cluster started: last words$"):
            made.boot()
    finally:
        made.close()


def test_the_end_leaves_nothing_behind(cluster):
    cluster.nodes[1].fails = "end"
    cluster.close()

    assert [node.done for node in cluster.nodes.values()] == [["end"], ["end"], ["end"]]


@pytest.mark.parametrize(("controller_first", "first"), [(True, 0), (False, 1)])
def test_a_system_may_want_its_controller_before_its_brokers(system, monkeypatch, controller_first, first):
    """Its start takes until that of broker 1 is done, or, where that waits for it, a while."""
    broker_runs = threading.Event()
    done = []
    begin = PlayedNode.start

    def start(self, config, *, clock_faults):
        if self.node == 0:
            broker_runs.wait(0.3 if controller_first else 5)
        begin(self, config, clock_faults=clock_faults)
        if self.node != 2:
            done.append(self.node)
            broker_runs.set()

    monkeypatch.setattr(PlayedNode, "start", start)
    system.controller_first = controller_first
    system.cluster.boot()

    assert done[0] == first


def test_the_topic_is_made_once_when_all_run(system):
    system.cluster.boot()

    assert system.asked == [("setup", {0: 1, 1: 1, 2: 1})]
