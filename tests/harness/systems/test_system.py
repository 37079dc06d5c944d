"""What a system is that says nothing of itself: the least that docs/systems-from-inside.md promises."""

from types import SimpleNamespace

import pytest

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.systems.capabilities import (
    Elects,
    HandsOverController,
    LaysOutLogs,
    ReadsLogs,
    Reassigns,
    Retains,
    SpreadsRules,
    VotesItself,
    Watched,
    refuses_given_logs,
)
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.speaks_kafka import SpeaksKafka
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import NOT_ENOUGH_REPLICAS, NOT_LEADER
from tidemark.nodes.core.variant import VariantError, parse_variant


class Bare(System):
    """Only what must be written."""

    name = "bare"

    def install(self, client, tell):
        return "an image"

    def control(self, machine, on_lost=None):
        return None

    def configure(self, node, incarnation, deployment):
        return {}

    def workload(self, order):
        return None


class Shown(Bare, ReadsLogs, Watched):
    """One that can be seen, too."""

    def read_disk(self, control, partition):
        return None


class Brokers(SpeaksKafka, Bare):
    """One of Kafka's clients."""


@pytest.fixture
def bare():
    return Shown()


@pytest.mark.parametrize("method", ["install", "control", "configure", "workload"])
def test_four_methods_must_be_written(method):
    with pytest.raises(TypeError, match=method):
        type("Half", (Bare,), {method: getattr(System, method)})()


def test_it_is_judged_by_todays_protocol_and_knows_every_variant(bare):
    assert bare.variant(bare.default_variant) == parse_variant("kafka-2.7")
    assert bare.variant("kafka-2.1+KAFKA-7128").name == "kafka-2.1+KAFKA-7128"
    with pytest.raises(VariantError):
        bare.variant("kafka-0.1")


def test_the_controllers_node_is_asked_for_elections():
    asked = []
    controls = {0: SimpleNamespace(elect=lambda *what: asked.append(what)), 1: None}

    assert TidemarkSystem().elect(controls, "t-0", "unclean", 2) == ""
    assert asked == [("t-0", "unclean", 2)]


def test_what_it_has_no_method_for_it_cannot_do(bare):
    able = (Elects, HandsOverController, LaysOutLogs, Reassigns, Retains, SpreadsRules, VotesItself)

    assert [one for one in able if isinstance(bare, one)] == []
    assert [one for one in able if isinstance(TidemarkSystem(), one)] == [
        one for one in able if one is not SpreadsRules
    ]
    assert isinstance(bare, Watched)
    assert isinstance(bare, ReadsLogs)


def test_a_system_that_shows_nothing_is_refused_in_a_sentence():
    plan = Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(), (), 1_000_000)

    assert not isinstance(Bare(), Watched | ReadsLogs)
    with pytest.raises(SystemRefusalError, match=r"^bare has no admin port and no trace file"):
        Bare().check(plan, parse_variant("kafka-2.7"))


WROTE = [(0, 1, "start", "", 1), (1, 1, "recovered", "t-0", 0, 0, -1), (2, 1, "append", "t-0", 0, 0, (7,))]


def test_its_evidence_is_believed_where_trace_and_files_tell_the_same(bare):
    found = ReplicaEvidence({0: [(0, 0, "elect", "t-0", 1)], 1: WROTE}, {0: {}, 1: {"t-0": [(0, 0, (7,))]}})

    assert bare.interpret(found) == found


def test_a_node_whose_files_are_not_what_it_traced_is_not_believed(bare):
    found = ReplicaEvidence({1: WROTE}, {1: {"t-0": [(0, 0, (8,))]}})

    assert bare.interpret(found).doubted == {1: ["Broker 1, t-0: offset 0 holds 8, and its lines tell of 7."]}


def test_a_node_that_is_down_may_have_lost_what_it_traced(bare):
    assert bare.interpret(ReplicaEvidence({1: WROTE}, {1: {}}, down=frozenset({1}))).doubted == {}
    assert bare.interpret(ReplicaEvidence({1: WROTE}, {1: {}}, down=frozenset({2}))).doubted.keys() == {1}


def test_a_system_that_traces_nothing_of_its_logs_is_not_judged_by_them(bare):
    assert bare.interpret(ReplicaEvidence({1: WROTE[:1]}, {1: {"t-0": [(0, 0, (7,))]}})).doubted == {}


def test_its_processes_may_give_up(bare):
    assert bare.is_halt("whatever it said")
    assert bare.describe(parse_variant("kafka-2.7")) == {"system": "bare"}


@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_a_broker_that_does_not_lead_or_has_no_followers_wrote_nothing(acks):
    assert Brokers().refusals(acks) == {NOT_LEADER, NOT_ENOUGH_REPLICAS}


def test_given_logs_are_refused_unless_it_can_lay_them_out(bare):
    assert not isinstance(bare, LaysOutLogs)
    assert refuses_given_logs("bare").startswith("bare cannot begin with given logs: they belong to a topic")


def test_our_own_nodes_are_told_their_part_of_the_cluster():
    machines = {
        node: SimpleNamespace(
            inner_ip=f"10.0.0.{node}", internal=f"10.0.0.{node}:9092", advertised=f"127.0.0.1:{node}", admin_port=9990
        )
        for node in range(4)
    }
    variant = parse_variant("kafka-0.11")
    told = TidemarkSystem().configure(2, 5, Deployment(machines, ClusterSpec(), variant, first_leader_epoch=7))

    assert (told["node"], told["incarnation"], told["variant"], told["first_leader_epoch"]) == (2, 5, "kafka-0.11", 7)
    assert told["peers"] == {str(node): f"10.0.0.{node}:9092" for node in range(4)}


def test_no_real_disk_takes_metadata_back(bare):
    plan = Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(), (Fault("power-metadata", 5, 10),), 1_000_000)

    with pytest.raises(SystemRefusalError, match="the disks of bare are real, so it cannot do power-metadata"):
        bare.check(plan, parse_variant("kafka-4.0"))


def test_all_messages_can_be_told_apart_unless_it_says_otherwise(bare):
    faults = tuple(
        Fault(f"{how}-{what}", 5, 10) for how in ("late", "lost") for what in ("isr-changes", "registrations")
    )

    bare.check(Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(), faults, 1_000_000), parse_variant("kafka-4.0"))


@pytest.mark.parametrize("name", ["kafka-2.1+truncation=lineage", "kafka-2.1+truncation@1=kip101"])
def test_our_own_nodes_run_every_truncation_rule_and_several_at_once(name):
    assert TidemarkSystem().variant(name) == parse_variant(name)
