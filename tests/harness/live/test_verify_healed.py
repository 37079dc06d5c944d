"""After healing nothing may be left, and what is left is named."""

from types import SimpleNamespace

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live import verify_healed
from tidemark.harness.live.contained_node import ContainedNode
from tidemark.harness.live.link_faults import LinkFaults
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_places import Places


class Healthy(ContainedNode):
    """A node of which nothing is wrong, unless a test says so."""

    def __init__(self, name):
        machine = SimpleNamespace(name=name, shell=None, admin_port=9990)
        super().__init__(1, machine, LinkFaults({}, "transport"), lambda: None, print)
        self.control = self
        self.places = Places()
        self.parts = ["-P INPUT ACCEPT", "qdisc noqueue 0: dev eth0", "", "+0"]
        self.process = "running"
        self.answers = True
        self.says = {"transport": [], "slow_disk_us": 0, "wall_us": 5_000, "mono_us": 0}
        self.unreachable = False

    def run(self, script, *, to="", timeout_s=30.0, stdin=None):
        if self.unreachable:
            raise NodeError(f"no SSH connection to {self.name}")
        return "=== next\n".join(part + "\n" for part in self.parts)

    def state(self):
        return self.process


class PlayedCluster:
    """Two such nodes."""

    def __init__(self):
        self.nodes = {0: Healthy("controller"), 1: Healthy("b1")}
        self.given_up = set()
        self.processes = SimpleNamespace(gave_up=lambda broker: broker in self.given_up)
        self.observation = self
        self.looks = 0

    def statuses(self, nodes):
        return {node: self.nodes[node].says if self.nodes[node].answers else None for node in nodes}

    def now_us(self):
        return 0

    def run_until(self, until_us):
        self.looks += 1
        if self.looks == 3:
            self.nodes[1].parts[0] = "-P INPUT ACCEPT"


@pytest.fixture
def cluster():
    return PlayedCluster()


def break_chain(node):
    node.parts[0] = "-N TM4\n-A INPUT -j TM4"


def break_qdisc(node):
    node.parts[1] = "qdisc netem 14: dev eth0"


def break_disk(node):
    node.parts[2] = "/var/lib/tidemark/volatile/.ballast"


def break_clock_file(node):
    node.parts[3] = "+12.5"


def break_process(node):
    node.process, node.answers = "stopped", False


def break_transport(node):
    node.says["transport"] = [3, "7"]


def break_speed(node):
    node.says["slow_disk_us"] = 5


def break_clock(node):
    node._clock_base_us = 2_000_000


def break_cable(node):
    node._unplugged = True


def break_machine(node):
    node.unreachable = True


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (break_chain, ["the firewall chain TM4 of b1"]),
        (break_qdisc, ["slow links of b1"]),
        (break_disk, ["the full disk of b1"]),
        (break_clock_file, ["the clock of b1"]),
        (break_process, ["the paused process of b1", "the process of b1 does not answer"]),
        (break_transport, ["rules 3, 7 on the transport of b1"]),
        (break_speed, ["the slow disk of b1"]),
        (break_clock, ["the clock of b1"]),
        (break_cable, ["b1 is off the network"]),
        (break_machine, ["no SSH connection to b1"]),
    ],
)
def test_what_is_left_is_named(cluster, broken, words):
    assert verify_healed.remaining(cluster) == []

    broken(cluster.nodes[1])

    assert verify_healed.remaining(cluster) == words


def test_a_process_that_gave_up_is_no_fault_of_ours(cluster):
    cluster.nodes[1].answers = False

    assert verify_healed.remaining(cluster) == ["the process of b1 does not answer"]

    cluster.given_up.add(1)

    assert verify_healed.remaining(cluster) == []


def test_healing_may_take_a_moment(cluster):
    break_chain(cluster.nodes[1])
    verify_healed.verify(cluster, within_s=5)

    assert cluster.looks == 3


def test_what_does_not_heal_is_an_error(cluster):
    break_disk(cluster.nodes[1])
    with pytest.raises(RunError, match=r"^0\.01 s after healing there remained: the full disk of b1$"):
        verify_healed.verify(cluster, within_s=0.01)
