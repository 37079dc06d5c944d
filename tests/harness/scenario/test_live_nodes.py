"""What is done to which node, and what is done again to a process that starts anew."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tidemark.harness.live import link_faults
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.machines import node_control
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

AHEAD_US = 7_000_000_000


class FakeControl:
    """A process that is there after `start`, and remembers the rules it was given."""

    answers_while_paused = False

    def __init__(self, machine, places=None, on_lost=None):
        self.name = machine.name
        self.alive = False
        self.configured = []
        self.last_words = None
        self.rules = {}
        self.admin = SimpleNamespace(ask=self._ask, open=lambda: None, close=lambda: None)

    def _ask(self, do, **fields):
        if not self.alive:
            raise NodeError(f"{self.name} hung up")
        if do == "transport":
            self.rules[fields["key"]] = fields["rules"]
        else:
            del self.rules[fields["key"]]

    def start(self, config, *, clock_faults):
        self.rules = {}
        self.configured.append(config)
        if self.last_words is not None:
            raise NodeError(f"{self.name}: the node process ended at once")
        self.alive = True

    def running(self):
        return self.alive

    def own_end(self):
        return self.last_words or ""

    def log_tail(self):
        return "one\nlast words"

    def terminate(self):
        self.alive, self.last_words = False, "clean"

    def kill(self):
        self.alive = False

    def pause(self):
        pass

    resume = pause

    def state(self):
        return "running" if self.alive else "gone"

    def status(self):
        if not self.alive:
            raise NodeError(f"{self.name} hung up")
        return {"mono_us": monotonic_us() + (AHEAD_US if self.name == "far" else 0)}


class Configured(Nodes):
    def config(self, node, incarnation):
        return (node, incarnation)


class FakeFirewall:
    def __init__(self):
        self.chains = {}

    def drop_rules(self, fault, node, addresses):
        return [(source, to) for source, to in fault.links if to == node]

    def install(self, control, key, rules):
        self.chains[control.name, key] = rules

    def remove(self, control, key):
        del self.chains[control.name, key]


@pytest.fixture
def firewall(monkeypatch):
    fake = FakeFirewall()
    monkeypatch.setattr(link_faults, "firewall", fake)
    monkeypatch.setattr(link_faults, "drop_rules", fake.drop_rules)
    return fake


@pytest.fixture
def nodes(monkeypatch, firewall):
    monkeypatch.setattr(node_control, "NodeControl", FakeControl)
    machines = {
        node: SimpleNamespace(name=name, inner_ip=f"10.0.0.{node}") for node, name in enumerate(["c", "near", "far"])
    }
    cluster = ClusterSpec(brokers=2, replication_factor=2)
    nodes = Configured(Deployment(machines, cluster, parse_variant("kafka-2.7")), TidemarkSystem())
    nodes.all_at_once(nodes.start, nodes.ids)
    return nodes


RULE = [{"kind": "acks", "to": None, "effect": "drop", "amount": 0}]


def test_every_start_is_another_incarnation(nodes):
    nodes.kill(1)
    nodes.start(1)

    assert nodes.controls[1].configured == [(1, 1), (1, 2)]


@pytest.mark.parametrize(("last_words", "refused"), [("fatal", False), ("", True)])
def test_a_process_may_stop_itself_before_anybody_asks_it(nodes, last_words, refused):
    """One that gave no account of its end never was one."""
    nodes.kill(1)
    nodes.controls[1].last_words = last_words
    with pytest.raises(NodeError) if refused else nullcontext():
        nodes.start(1)

    assert nodes.status(1) is None
    assert nodes.controls[1].configured == [(1, 1), (1, 2)]
    assert [(death["incarnation"], death["how"]) for death in nodes.died] == ([] if refused else [(2, "fatal")])


def test_a_process_that_starts_anew_gets_the_rules_in_force(nodes):
    nodes.put_rules("a", {1: RULE, 2: RULE})
    nodes.kill(1)
    nodes.kill(2)
    nodes.put_rules("b", {1: RULE})
    assert nodes.drop_rules("a")
    nodes.start(1)
    nodes.start(2)

    assert [nodes.controls[node].rules for node in (1, 2)] == [{"b": RULE}, {}]


def test_a_paused_process_has_the_rules_of_then_when_it_goes_on(nodes):
    nodes.put_rules("a", {1: RULE})
    nodes.pause(1)
    nodes.put_rules("b", {1: RULE})
    nodes.drop_rules("a")

    assert nodes.controls[1].rules == {"a": RULE}
    nodes.resume(1)
    assert nodes.controls[1].rules == {"b": RULE}


def test_rules_are_taken_off_once(nodes):
    nodes.put_rules("a", {1: RULE})

    assert [nodes.drop_rules("a"), nodes.drop_rules("a")] == [True, False]
    assert nodes.controls[1].rules == {}


def test_a_cut_is_made_by_the_receiver(nodes, firewall):
    nodes.cut("a", 1, 2)
    nodes.cut("b", 2, 0)

    assert firewall.chains == {("far", 1): [(1, 2)], ("c", 2): [(2, 0)]}
    assert [nodes.join("a"), nodes.join("a")] == [True, False]
    assert firewall.chains == {("c", 2): [(2, 0)]}


def test_healing_takes_everything_off_also_from_nodes_that_are_gone(nodes, firewall):
    nodes.put_rules("a", {1: RULE, 2: RULE})
    nodes.cut("b", 1, 2)
    nodes.pause(0)
    nodes.controls[1].alive = False
    nodes.heal()

    assert nodes.down == {1}
    assert nodes.controls[2].rules == {}
    assert firewall.chains == {}
    assert nodes.paused == set()


def test_a_process_that_ended_itself_has_no_status(nodes):
    assert nodes.status(1) is not None
    nodes.controls[1].alive = False

    assert nodes.status(1) is None
    assert nodes.gone(1)


@pytest.mark.parametrize(
    ("account", "is_halt", "how"),
    [("fatal", True, "fatal"), ("fatal", False, "broken-off"), ("", True, "broken-off"), ("clean", False, "clean")],
)
def test_a_process_that_ended_itself_is_remembered_once_with_its_words(nodes, account, is_halt, how):
    nodes.system = SimpleNamespace(is_halt=lambda words: is_halt)
    nodes.controls[1].alive, nodes.controls[1].last_words = False, account
    assert nodes.gone(1)
    assert nodes.gone(1)

    (death,) = nodes.died
    assert (death["node"], death["incarnation"], death["how"], death["log"]) == (1, 1, how, "one\nlast words")
    assert nodes.silent == ([] if account else [(death["time"], 1)])


def test_a_process_that_was_asked_to_end_did_not_die(nodes):
    nodes.terminate(1)
    assert nodes.gone(1)
    nodes.kill(2)
    assert nodes.gone(2)

    assert nodes.died == []


def test_a_process_that_is_asked_to_end_and_gives_up_did_die(nodes):
    nodes.terminate(1)
    nodes.controls[1].last_words = "fatal"
    assert nodes.gone(1)

    assert [(death["node"], death["how"]) for death in nodes.died] == [(1, "fatal")]


def test_who_was_asked_to_end_in_an_earlier_life_was_not_asked_in_this_one(nodes):
    nodes.terminate(1)
    assert nodes.gone(1)
    nodes.controls[1].last_words = None
    nodes.start(1)
    nodes.controls[1].alive, nodes.controls[1].last_words = False, "clean"
    assert nodes.gone(1)

    assert [(death["incarnation"], death["how"]) for death in nodes.died] == [(2, "clean")]


def test_a_process_that_runs_and_does_not_answer_is_an_error(nodes):
    def silent():
        raise NodeError("near did not answer")

    nodes.controls[1].status = silent

    with pytest.raises(NodeError, match="near did not answer"):
        nodes.status(1)


def test_the_clock_of_another_machine_is_compared_with_ours(nodes):
    assert nodes.clocks_us[1] == 0
    assert abs(nodes.clocks_us[2] - AHEAD_US) < 1_000_000
