"""A live cluster whose nodes are played: what is done to them is written down; their lanes and the run_loop are real."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tidemark.harness.live import cluster_nodes
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

T = "t-0"


class PlayedNode:
    """A node whose process is a few attributes; it writes down what is done to it."""

    def __init__(self, node, machine, faults, on_lost, on_trace, control):
        self.node = node
        self.name = machine.name
        self.faults = faults
        self.lost = on_lost
        self.traced = on_trace
        self.control = self
        self.admin = SimpleNamespace(ask=self._ask)
        self.answer = {"refused": ""}
        self.places = SimpleNamespace(data="/data", volatile="/volatile", trace="/trace")
        self.hindrances = {}
        self.state = {}
        self.done = []
        self.rules_then = []
        self.process = "gone"
        self.end_told = ""
        self.fails = None
        self.blocked = ""
        self.go = threading.Event()

    def _do(self, what):
        assert what != self.blocked or self.go.wait(5)
        self.done.append(what)
        if self.fails == what:
            raise NodeError(f"{self.name} is on fire")

    def _ask(self, command, **entries):
        self._do(f"{command} {entries}")
        return self.answer

    def clean(self):
        self._do("clean")

    def start(self, config, *, clock_faults):
        self._do("start")
        self.end_told = ""
        self.process = "running"
        self.config = config

    def kill(self):
        self._do("kill")
        self.process = "gone"
        return monotonic_now_us(), self.end_told

    def terminate(self):
        self._do("terminate")

    def pause(self):
        self._do("pause")
        return self.process == "running"

    def resume(self):
        self._do("resume")

    def damage(self, files, damage, noise_seed):
        self._do(f"{damage.how} {files} {noise_seed}")
        return [{"file": "t-0/0.log", "bytes": 9, "cut": 3}]

    def end_itself(self, how):
        """As a process does that halts, or dies without a word."""
        self.process = "gone"
        self.end_told = how
        self.lost()

    def took_leave(self):
        return None if self.process == "running" else (self.end_told, "last words")

    def own_end(self):
        return self.end_told

    def lose_power(self, seed):
        self._do("lose power")
        self.seed = seed

    def fail_log_dir(self, fail):
        return fail(self)

    def fail_writes(self):
        self._do("fail writes")

    def mend_log_dir(self, mend):
        return mend(self)

    def lose_disk(self, partitions):
        self._do(f"lose disk {partitions}")

    def restart_machine(self, killed):
        self._do("restart machine")
        self.process = "gone"
        killed()

    def apply_links(self):
        self._do("links")

    def apply_rules(self):
        self.rules_then.append(dict(self.faults.transport_of(self.node)))
        self._do("rules")

    def apply_hindrances(self):
        self._do(f"hindrances {sorted(self.hindrances.values())}")

    def check_clock(self):
        self._do("clock")

    def unplug(self, wanted):
        self._do("unplug" if wanted() else "no need to unplug")

    def plug_in(self):
        self._do("plug in")

    def watch(self, events):
        self._do(f"watch {events}")

    def disk_is_full(self):
        return any(kind == "disk-full" for kind, _ in self.hindrances.values())

    def elect(self, partition, how, target):
        self._do(f"elect {partition} {how} {target}")

    def status(self, timeout_s=5.0):
        state = {"leader": 1, "isr": [1, 2], "replicas": [1, 2], **self.state}
        return {"partitions": {T: state}, "mono_us": monotonic_now_us()}

    def take_over(self):
        self._do("take over")
        self.process = "running"

    def end(self, *, goes_on=False):
        self._do("go on" if goes_on else "end")


def monotonic_now_us():
    from tidemark.harness.live.run_loop import monotonic_us

    return monotonic_us()


def played_machine(node):
    return SimpleNamespace(
        name=f"b{node}",
        inner_ip=f"10.0.0.{node}",
        internal=f"10.0.0.{node}:9092",
        advertised="x:1",
        admin_port=9990,
    )


CLOCK = (Fault("clock-jump", 0, amount=1),)


def played_cluster(system=None, faults=CLOCK, before=None):
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(brokers=2, replication_factor=2), WorkloadSpec(), faults, 0)
    machines = {node: played_machine(node) for node in range(3)}
    variant = parse_variant("kafka-2.7")
    return LiveCluster(machines, plan, variant, Recorder({}), delay="transport", system=system, before=before)


@contextmanager
def quiet_cluster(system=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
        made = played_cluster(system)
        made.boot()
        for node in made.nodes.values():
            node.done.clear()
        yield made
        made.close()


def told(cluster):
    return [event[1:] for event in cluster._recorder.trace]


def settle(cluster):
    cluster.settle()
    cluster.run_until(cluster.now_us())
    cluster.settle()


class PlayedSystem(TidemarkSystem):
    """Writes down what it is asked, beside what had been done to the nodes until then."""

    def __init__(self):
        self.asked = []
        self.blocked = False
        self.go = threading.Event()
        self.nodes = {}

    def note(self, *what):
        self.asked.append((*what, {node: one.done.count("start") for node, one in self.nodes.items()}))

    def before_start(self, node, controls, deployment):
        assert not self.blocked or self.go.wait(5)
        self.note("before_start", node)

    def setup(self, controls, deployment):
        assert list(controls) == [0, 1, 2]
        assert controls[1].name == "b1"
        assert deployment.cluster.brokers == 2
        self.note("setup")

    def is_halt(self, words):
        return "log truncation" in words

    def came_too_early(self, words):
        return words == "my id is taken"


def booted(system):
    system.cluster.boot()
    system.asked.clear()
    return system.cluster
