"""What Kafka's brokers can and cannot do that our own nodes can, as the world above has to know it."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.live.link_faults import LinkFault, LinkFaults
from tidemark.harness.machines.errors import NodeError, NodeSilent
from tidemark.harness.systems.capabilities import LaysOutLogs
from tidemark.harness.systems.kafka import system as module
from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.admin.message_rules import MessageRule
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import NOT_ENOUGH_REPLICAS, NOT_LEADER
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import parse_variant


def kafka(text="kafka:2.8.2", **broker_config):
    return KafkaSystem.parse(text, {key.replace("_", "."): value for key, value in broker_config.items()})


class PlayedControl:
    """A sidecar that gives these answers to these commands, and an error to all others."""

    def __init__(self, **answers):
        self.asked = []
        self.answers = answers
        self.admin = self

    def ask(self, do, *, timeout_s=5.0, **fields):
        self.asked.append((do, fields))
        answer = self.answers.get(do.replace("-", "_"))
        if answer is None:
            raise NodeError(f"the sidecar cannot do {do}")
        return answer

    def post(self, do):
        return do

    def wait(self, posted, what, timeout_s):
        return self.ask(posted, timeout_s=timeout_s)

    def status(self):
        sessions = next(self.answers["sessions"])
        if sessions is None:
            raise NodeError("the controller is down")
        return {"sessions": sessions}


# Variants


def test_a_variant_is_the_binarys_model_under_the_presets_name():
    found = kafka().variant("kafka-0.10")

    assert found.name == "kafka-0.10"
    assert found.bounce_detection


@pytest.mark.parametrize(
    ("text", "default"),
    [("kafka:2.8.2", "kafka-2.7"), ("kafka:2.8.2@1.1", "kafka-0.11"), ("kafka:4.1.1", "kafka-4.0")],
)
def test_a_binary_is_by_itself_what_its_protocol_makes_it(text, default):
    assert kafka(text).default_variant == default
    assert kafka(text).variant(default).name == default


def test_a_build_is_told_and_described_by_what_it_is(tmp_path):
    (tmp_path / "Kafka.class").write_bytes(b"patched")
    found = kafka(f"kafka:4.3.1+{tmp_path}")
    digest = found.kafka.build.digest

    assert found.about == f"{tmp_path} in front of Kafka 4.3.1 (digest {digest}): its logs are read as those of 4.3.1"
    assert found.describe(found.variant("kafka-4.0")) == {
        "system": f"kafka:4.3.1+{digest}@4.3",
        "build": {"version": "4.3.1", "digest": digest, "in_front": True, "read_as": "4.3.1"},
    }
    assert found.plays_unasked("kafka-4.0")
    assert not found.plays_unasked("kafka-4.0+forget-log-ends")


def test_a_release_says_all_by_its_name():
    assert kafka().about == ""
    assert kafka().describe(kafka().variant("kafka-2.7")) == {"system": "kafka:2.8.2@2.8"}


def test_what_a_binary_cannot_be_is_refused():
    with pytest.raises(SystemRefusalError, match=r"^Kafka 4\.1\.1 cannot be held to the protocol of kafka-0\.11"):
        kafka("kafka:4.1.1").variant("kafka-0.11")


# Plans


def plan(**settings):
    return Plan(0, 0, 1, "by hand", ClusterSpec(settings=Settings(**settings)), WorkloadSpec(), (), 0)


def checked(system, *faults, **work):
    plan = Plan(0, 0, 0, "by hand", ClusterSpec(), WorkloadSpec(**work), faults, 1_000_000)
    system.check(plan, system.variant(system.default_variant))


@pytest.mark.parametrize(
    ("kind", "pick"),
    [("late-isr-changes", 0), ("lost-isr-changes", 2), ("lost-heartbeats", 2), ("late-registrations", 1)],
)
def test_with_zookeeper_some_messages_cannot_be_told_apart(kind, pick):
    fault = Fault(kind, 5, 10, pick=pick)
    with pytest.raises(SystemRefusalError, match=f"so it cannot do {kind}"):
        checked(kafka("kafka:2.8.2"), fault)

    checked(kafka("kafka:4.0.0"), fault)


@pytest.mark.parametrize("kind", ["lost-isr-changes", "late-heartbeats", "slow-controller", "lossy-controller"])
def test_others_can(kind):
    checked(kafka("kafka:2.8.2"), Fault(kind, 5, 10, pick=1))


def test_no_client_is_more_patient_than_brokers_that_it_tells():
    with pytest.raises(SystemRefusalError, match=r"leave out workload\.patience_us"):
        checked(kafka(), patience_us=3_000_000)


def test_times_that_no_broker_starts_with_are_refused_before_anything_is_started():
    kafka().check(plan(), kafka().variant("kafka-2.7"))
    system = kafka(replica_fetch_wait_max_ms="2000")

    with pytest.raises(SystemRefusalError, match=r"^replica\.fetch\.wait\.max\.ms=2000 must not be above"):
        system.check(plan(), system.variant("kafka-2.7"))


def test_so_are_settings_that_a_person_added():
    system = kafka(replica_lag_time_max_ms="10")

    with pytest.raises(SystemRefusalError, match=r"replica\.lag\.time\.max\.ms=10: a follower whose fetch waits"):
        system.check(plan(), system.variant("kafka-2.7"))


# Starting


@pytest.fixture
def looks(monkeypatch):
    """Time that passes by looks: a second each."""
    clock = count()
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)


def sessions(*of_broker_2):
    return iter([{} if one is None else {"2": {"live": one}} for one in of_broker_2])


@pytest.mark.parametrize("end", [None, False])
def test_a_broker_waits_until_zookeeper_has_forgotten_its_last_life(looks, deployment, end):
    controller = PlayedControl(sessions=sessions(True, True, end))
    kafka().before_start(2, {0: controller}, deployment())

    assert list(controller.answers["sessions"]) == []


def test_it_does_not_wait_for_ever(looks, deployment):
    told = sessions(*[True] * 1000)
    kafka().before_start(2, {0: PlayedControl(sessions=told)}, deployment(session_us=3_000_000))

    assert 1000 - len(list(told)) == pytest.approx(2 * 3 + 5, abs=2)


def test_nor_for_a_controller_that_is_down(looks, deployment):
    kafka().before_start(2, {0: PlayedControl(sessions=iter([None]))}, deployment())


@pytest.mark.parametrize(("text", "node"), [("kafka:4.1.1", 2), ("kafka:2.8.2", 0)])
def test_who_has_no_such_session_starts_at_once(deployment, text, node):
    system = kafka(text)
    system.before_start(node, {0: None}, deployment(system.default_variant))


@pytest.mark.parametrize(
    "why",
    [
        "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists",
        "kafka.zookeeper.ZooKeeperClientExpiredException: Session expired either before or while waiting for connection",
        "org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode = Session expired for /brokers/ids",
    ],
)
def test_a_broker_whose_session_was_not_ready_came_too_early(why):
    """The words are those of 2.8.2 (tests/nodes/sidecar/lines/recordings; a run of the soak)."""
    words = (
        "10:00:00,000 sidecar: gave up: the JVM ended by itself with exit code 1: [KafkaServer id=0] Fatal error during "
        f"KafkaServer startup. Prepare to shutdown: {why}"
    )

    assert kafka().came_too_early(words)
    assert not kafka().came_too_early(words.replace(why, "KeeperErrorCode = ConnectionLoss"))
    assert not kafka().came_too_early(why)


def test_the_topic_is_made_with_the_runs_replicas_and_settings(deployment):
    controller = PlayedControl(create_topics={})
    kafka().setup({0: controller}, deployment(unclean_election=True, min_isr=1))

    assert controller.asked == [
        (
            "create-topics",
            {
                "partitions": {"t-0": [1, 2], "t-1": [2, 3]},
                "config": {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"},
            },
        )
    ]


def test_nodes_go_on_where_they_would_be_started_the_same_way(deployment):
    before, kraft = deployment("kafka-4.0"), kafka("kafka:4.3.1")

    assert kraft.can_go_on(before, deployment("kafka-4.0"))
    assert kraft.can_go_on(before, deployment("kafka-4.0", unclean_election=True)), "topics say this themselves"
    assert not kraft.can_go_on(before, deployment("kafka-4.0", session_us=9_000_000))
    assert not kraft.can_go_on(before, replace(before, two_log_directories=True))
    assert not kraft.can_go_on(before, replace(before, workload="transactions"))
    assert not kraft.can_go_on(before, replace(before, cluster=ClusterSpec(partitions=1)))
    assert not kafka("kafka:3.9.2..4.3.1").can_go_on(before, before)
    assert not kafka("kafka:4.3.1@3-controllers").can_go_on(before, before)
    assert not kafka().can_go_on(deployment(), deployment())


def test_before_the_next_run_the_topics_of_the_last_are_gone(deployment):
    controls = {0: PlayedControl(delete_topics={}, next_run={})}
    controls |= {node: PlayedControl(next_run={}, forgotten={}) for node in (1, 2, 3)}
    kraft = kafka("kafka:4.3.1")
    kraft.clear(controls, deployment("kafka-4.0"))

    assert controls[0].asked == [("delete-topics", {"topics": ["t"]}), ("next-run", {})]
    assert [control.asked for node, control in controls.items() if node] == [[("next-run", {})]] * 3

    kraft.forget(controls, deployment("kafka-4.0"))
    assert [control.asked[-1] for control in controls.values()] == [("next-run", {}), *[("forgotten", {})] * 3]


def test_a_node_that_keeps_something_of_the_last_run_is_told(deployment):
    controls = {0: PlayedControl(delete_topics={}, next_run={}), 1: PlayedControl()}
    with pytest.raises(NodeError, match="cannot do next-run"):
        kafka("kafka:4.3.1").clear(controls, deployment("kafka-4.0"))


def test_for_transactions_their_topic_is_made_where_clients_reach_its_leaders(deployment):
    controller = PlayedControl(create_topics={})
    kafka().setup({0: controller}, replace(deployment(min_isr=1), workload="transactions"))

    (_, _), (_, asked) = controller.asked
    assert asked["partitions"] == {
        "__transaction_state-0": [1, 2],
        "__transaction_state-1": [2, 3],
        "__transaction_state-2": [3, 1],
    }
    assert asked["config"]["min.insync.replicas"] == "1"
    assert asked["config"]["unclean.leader.election.enable"] == "false"


@pytest.mark.parametrize(("version", "switched"), [("4.1.0", {"share.version": 1}), ("4.3.1", {})])
def test_for_a_share_group_three_brokers_lead_and_the_group_has_begun(deployment, monkeypatch, version, switched):
    begun = []
    monkeypatch.setattr("tidemark.harness.clients.share_group.open_group", lambda *asked: begun.append(asked))
    controller, run = PlayedControl(create_topics={}), replace(deployment("kafka-4.0"), workload="share-group")
    kafka(f"kafka:{version}").setup({0: controller}, run)

    (_, _), (_, members), (_, states) = controller.asked
    assert (members["partitions"], members["config"]["cleanup.policy"]) == ({"__consumer_offsets-0": [3, 1]}, "compact")
    assert (states["partitions"], states["config"]["cleanup.policy"]) == ({"__share_group_state-0": [2, 3]}, "delete")
    assert begun == [([("127.0.0.1", 40_000 + node) for node in (1, 2, 3)], run.cluster, switched)]


def test_a_share_group_that_does_not_begin_is_told(deployment, monkeypatch):
    def never(*_):
        raise ClientsError("the share group did not begin within 60 s")

    monkeypatch.setattr("tidemark.harness.clients.share_group.open_group", never)
    run = replace(deployment("kafka-4.0"), workload="share-group")
    with pytest.raises(NodeError, match="did not begin"):
        kafka("kafka:4.3.1").setup({0: PlayedControl(create_topics={})}, run)


def test_only_for_a_share_group_brokers_are_told_of_its_times(deployment):
    run, system = deployment("kafka-4.0", request_timeout_us=1_500_000, session_us=3_000_000), kafka("kafka:4.3.1")
    told = system.configure(1, 1, replace(run, workload="share-group"))["properties"]

    assert told["group.share.record.lock.duration.ms"] == "3000"
    assert told["group.share.session.timeout.ms"] == "9000"
    assert told["share.coordinator.state.topic.num.partitions"] == "1"
    assert not any("share" in name for name in system.configure(1, 1, run)["properties"])


# While it runs


def test_an_election_is_asked_of_the_controllers_keeper():
    controller = PlayedControl(elect={})

    assert kafka().elect({0: controller}, "t-0", "preferred", 1) == ""
    assert controller.asked == [("elect", {"partition": "t-0", "how": "preferred", "target": 1})]


def test_an_election_that_kafka_refuses_is_told_and_no_failure():
    assert kafka().elect({0: PlayedControl()}, "t-0", "unclean", 1) == "the sidecar cannot do elect"


def test_a_reassignment_is_asked_of_the_controllers_keeper_and_not_waited_for():
    controller = PlayedControl(reassign={})

    assert kafka().reassign({0: controller}, "t-0", (2, 3)) == ""
    assert controller.asked == [("reassign", {"partition": "t-0", "replicas": [2, 3], "wait": False})]
    assert kafka().reassign({0: PlayedControl()}, "t-0", (2, 3)) == "the sidecar cannot do reassign"


def test_whether_a_reassignment_was_taken_that_nobody_answered_is_left_open(monkeypatch):
    def silent(*_, **__):
        raise NodeSilent("c hung up before it answered")

    controller = PlayedControl()
    monkeypatch.setattr(controller, "ask", silent)
    with pytest.raises(NodeSilent):
        kafka().reassign({0: controller}, "t-0", (2, 3))


def test_min_isr_is_set_by_the_controllers_keeper():
    controller = PlayedControl(min_isr={})

    assert kafka().set_min_isr({0: controller}, {"u", "t"}, 1) == ""
    assert controller.asked == [("min-isr", {"topics": ["t", "u"], "min_isr": 1})]
    assert kafka().set_min_isr({0: PlayedControl()}, {"t"}, 1) == "the sidecar cannot do min-isr"


def test_unclean_elections_are_allowed_by_the_controllers_keeper():
    controller = PlayedControl(unclean={})

    assert kafka().allow_unclean({0: controller}, {"u", "t"}, on=True) == ""
    assert controller.asked == [("unclean", {"topics": ["t", "u"], "on": True})]
    assert kafka().allow_unclean({0: PlayedControl()}, {"t"}, on=False) == "the sidecar cannot do unclean"


def test_elr_is_switched_by_the_controllers_keeper():
    controller = PlayedControl(elr={})

    assert kafka().switch_elr({0: controller}, on=False) == ""
    assert controller.asked == [("elr", {"on": False})]
    assert kafka().switch_elr({0: PlayedControl()}, on=True) == "the sidecar cannot do elr"


def test_a_log_is_moved_by_its_brokers_keeper():
    broker = PlayedControl(move_log={})

    assert kafka().move_log({0: PlayedControl(), 2: broker}, 2, "t-0") == ""
    assert broker.asked == [("move-log", {"partition": "t-0"})]
    assert kafka().move_log({2: PlayedControl()}, 2, "t-0") == "the sidecar cannot do move-log"


@pytest.mark.parametrize(("text", "asked"), [("kafka:2.8.2", 2), ("kafka:4.3.1", 0)])
def test_of_moves_a_broker_is_asked_to_throttle_its_own_and_krafts_controller_those_of_all(text, asked):
    controls = {asked: PlayedControl(throttle_moves={})}

    assert kafka(text).throttle_moves(controls, 2, 1000) == ""
    assert controls[asked].asked == [("throttle-moves", {"broker": 2, "rate": 1000})]


def test_kraft_before_3_7_has_one_log_directory_and_says_so():
    older = KafkaSystem.parse("kafka:3.6.2", {})
    plan = Plan(0, 1, 1, "", ClusterSpec(), WorkloadSpec(), (Fault("move-log-dir", 5),), 10)

    assert "several since 3.7" in older.move_log({}, 2, "t-0")
    with pytest.raises(SystemRefusalError, match="has one log directory for each broker"):
        older.check(plan, parse_variant("kafka-3.7"))
    for text in ("kafka:2.8.2", "kafka:3.9.2", "kafka:4.3.1"):
        newer = KafkaSystem.parse(text, {})
        newer.check(plan, newer.variant(newer.default_variant))


def test_rules_go_to_every_keeper_with_their_sender():
    rules = {
        2: [{"kind": "fetch requests", "to": 1, "effect": "delay", "amount": 7}],
        0: [{"kind": None, "to": None, "effect": "drop", "amount": 0}],
        3: [],
    }
    everywhere = kafka().spread(rules, (0, 1, 2, 3))

    assert list(everywhere) == [0, 1, 2, 3]
    for of_node in everywhere.values():
        assert of_node == [
            {"kind": None, "from": 0, "to": None, "effect": "drop", "amount": 0},
            {"kind": "fetch requests", "from": 2, "to": 1, "effect": "delay", "amount": 7},
        ]
        assert [MessageRule.from_json(rule).source for rule in of_node] == [0, 2]  # the sidecars understand them


def test_without_rules_nobody_is_told_anything():
    assert kafka().spread({1: [], 2: []}, (0, 1, 2)) == {}


@pytest.mark.parametrize(
    ("effect", "sender", "kind", "told"),
    [
        ("lost-leadership", 0, "leadership", None),  # another broker may be Kafka's controller by now
        ("slow", 0, None, 0),
        ("slow", 1, None, 1),
    ],
)
def test_a_link_fault_reaches_all_keepers(effect, sender, kind, told):
    faults = LinkFaults({node: f"10.0.0.{node}" for node in range(3)}, "transport", kafka().spread)
    faults.add(4, LinkFault(((sender, 2),), effect, 7))
    does = {"lost-leadership": "drop", "slow": "delay"}[effect]

    assert [faults.transport_of(node) for node in range(3)] == [
        {"4": [{"kind": kind, "from": told, "to": 2, "effect": does, "amount": 7}]}
    ] * 3


@pytest.mark.parametrize(
    ("words", "halt"),
    [
        ("Halting because log truncation is not allowed for partition t-0, current leader 2's latest", True),
        ("Shutdown broker because all log dirs in /var/lib/tidemark/data have failed", False),
        ("Terminating due to java.lang.OutOfMemoryError: Java heap space", False),
        ("", False),
    ],
)
def test_only_a_log_that_may_not_be_cut_is_the_protocols_reason_to_give_up(words, halt):
    assert kafka().is_halt(words) == halt


def test_a_deposed_leader_says_not_leader_of_what_it_has_written():
    assert kafka().refusals("all") == {NOT_ENOUGH_REPLICAS}
    assert kafka().refusals("1") == {NOT_ENOUGH_REPLICAS, NOT_LEADER}


def test_no_broker_begins_with_given_logs():
    assert not isinstance(kafka(), LaysOutLogs)


def test_its_disk_can_be_filled_and_outlives_its_container():
    """So the kill of a container loses nothing that was written, flushed or not."""
    assert kafka().needs.data_size is not None
    assert kafka().container_kill == "crash"


# What a history says of it


@pytest.mark.parametrize(
    ("text", "preset", "told"),
    [
        ("kafka:2.8.2", "kafka-0.10", "kafka:2.8.2@0.10.2"),
        ("kafka:2.8.2@1.1", "kafka-0.11", "kafka:2.8.2@1.1"),
        ("kafka:4.1.1", "kafka-4.0", "kafka:4.1.1@4.1"),
    ],
)
def test_a_history_names_binary_and_protocol(text, preset, told):
    system = kafka(text)

    assert system.describe(system.variant(preset)) == {"system": told}


def test_and_the_settings_that_somebody_added():
    system = kafka(log_flush_interval_messages="1")

    assert system.describe(system.variant("kafka-2.7"))["broker_config"] == {"log.flush.interval.messages": "1"}


def test_its_nodes_are_controlled_through_a_keeper():
    control = kafka().control(SimpleNamespace(name="b1"))

    assert control.places.volatile == control.places.data
    assert control.answers_while_paused


def test_brokers_with_settings_of_their_own_keep_no_times_that_are_known():
    assert kafka().keeps_times
    assert not KafkaSystem.parse("kafka:3.9.2", {"replica.lag.time.max.ms": "1000"}).keeps_times


# A quorum of controllers


class PlayedVoter(PlayedControl):
    """One of several controllers: says whether it is active, and refuses orders while it is not."""

    is_open = True

    def __init__(self, epoch, *, leads, active):
        super().__init__(elect={})
        self.answers["status"] = {"controller": {"epoch": epoch, "leads": leads}}
        self.active = active

    def ask(self, do, *, timeout_s=5.0, **fields):
        if do != "status" and not self.active:
            self.asked.append((do, fields))
            self.answers["status"]["controller"]["leads"] = False
            raise NodeError("node 0 is not the active controller (NOT_CONTROLLER)")
        return super().ask(do, timeout_s=timeout_s, **fields)

    @property
    def orders(self):
        return [do for do, _ in self.asked if do != "status"]


def test_an_order_goes_to_the_controller_of_the_latest_epoch():
    voters = [PlayedVoter(3, leads=True, active=False), PlayedVoter(4, leads=True, active=True)]
    voters.append(PlayedVoter(4, leads=False, active=False))

    assert kafka("kafka:4.3.1@3-controllers").elect(dict(enumerate(voters)), "t-0", "preferred", 1) == ""
    assert [voter.orders for voter in voters] == [[], ["elect"], []]


def test_an_order_goes_to_another_controller_if_the_one_that_was_asked_is_none_any_more(monkeypatch):
    voters = [PlayedVoter(5, leads=True, active=False), PlayedVoter(4, leads=True, active=True)]
    voters.append(PlayedVoter(4, leads=False, active=False))
    monkeypatch.setattr(module, "LOOK_S", 0.001)

    assert kafka("kafka:4.3.1@3-controllers").elect(dict(enumerate(voters)), "t-0", "preferred", 1) == ""
    assert [voter.orders for voter in voters] == [["elect"], ["elect"], []]


def test_an_order_that_no_controller_takes_is_refused(monkeypatch):
    monkeypatch.setattr(module, "LOOK_S", 0.001)
    monkeypatch.setattr(module, "NOBODY_S", 0.01)
    voters = {node: PlayedVoter(4, leads=False, active=False) for node in range(3)}

    assert (
        kafka("kafka:4.3.1@3-controllers").elect(voters, "t-0", "preferred", 1) == "no controller was active for 0.01 s"
    )


def test_messages_to_and_from_the_controller_are_those_of_whichever_is_active():
    links = LinkFaults(
        {node: f"10.0.0.{node}" for node in range(4)}, "transport", kafka("kafka:4.3.1@3-controllers").spread
    )
    links.add(1, LinkFault(((3, 0), (0, 3)), "lost-heartbeats", 0))

    for node in range(4):
        assert {(rule["kind"], rule["from"], rule["to"]) for rule in links.transport_of(node)["1"]} == {
            ("heartbeats", 3, None),
            ("heartbeat answers", None, 3),
        }


def test_a_quorum_needs_brokers_that_are_controllers():
    cluster = ClusterSpec(brokers=1, replication_factor=1, settings=Settings(min_isr=1))
    plan = Plan(0, 0, 0, "by hand", cluster, WorkloadSpec(), (), 0)
    with pytest.raises(SystemRefusalError) as refusal:
        kafka("kafka:4.3.1@3-controllers").check(plan, parse_variant("kafka-4.0"))

    assert str(refusal.value) == (
        "2 of the controllers of kafka:4.3.1@3-controllers are brokers: use --brokers 2 or more"
    )


def test_a_quorum_is_part_of_what_a_history_says_of_the_system():
    quorum = kafka("kafka:4.3.1@3-controllers")

    assert quorum.controllers == (0, 1, 2)
    assert quorum.describe(quorum.variant("kafka-4.0"))["system"] == "kafka:4.3.1@4.3@3-controllers"
    assert KafkaSystem.parse("kafka:4.3.1@4.3@3-controllers", {}).controllers == (0, 1, 2)
    assert kafka("kafka:4.3.1").controllers == (0,)


def test_a_broker_that_no_controller_took_in_for_a_minute_is_started_again():
    words = "[BrokerLifecycleManager id=3] Shutting down because we were unable to register with the controller quorum."

    assert kafka("kafka:4.3.1@3-controllers").came_too_early(words)
    assert not kafka("kafka:4.3.1@3-controllers").came_too_early("[BrokerLifecycleManager id=3] Shutting down.")
    assert not kafka("kafka:4.3.1").came_too_early(words)


@pytest.mark.parametrize("name", ["kafka:4.3.1", "kafka:3.8.1@3-controllers", "kafka:2.8.2"])
def test_voters_change_in_a_quorum_of_three_since_39(name):
    plan = Plan(0, 1, 1, "", ClusterSpec(), WorkloadSpec(), (Fault("remove-voter", 5),), 10)
    system = KafkaSystem.parse(name, {})

    with pytest.raises(SystemRefusalError, match=r"3\.9 \(KIP-853\): use kafka:4\.3\.1@3-controllers"):
        system.check(plan, system.variant(system.default_variant))
    assert "KIP-853" in system.change_voter({}, None, 1, there=False)
    quorum = KafkaSystem.parse("kafka:4.3.1@3-controllers", {})
    quorum.check(plan, quorum.variant(quorum.default_variant))
