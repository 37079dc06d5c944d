"""A broker as a process: registration, heartbeats, checkpoints, shutdown, and whom it tells that it is no leader."""

import pytest

from tidemark.nodes.core.actions import Halt, MarkCleanShutdown, Send, SetTimer, Sync, WriteHighWatermarks
from tidemark.nodes.core.broker import PUBLISH, Broker
from tidemark.nodes.core.events import ShutdownRequested, Started, TimerFired
from tidemark.nodes.core.messages import (
    AlterPartitionResponse,
    ConsumeRequest,
    ConsumeResponse,
    EpochRequest,
    EpochResponse,
    FetchRequest,
    FetchResponse,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    Register,
    Registered,
    StateTaken,
)
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition
from tidemark.nodes.core.roles import Role
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import PRESETS, parse_variant

T = "t-0"
MS = 1_000
NO_LEADER = "NOT_LEADER_OR_FOLLOWER"


def fresh(proof=-1, incarnation=1):
    """A broker that nothing has happened to."""
    return Broker(1, incarnation, PRESETS["kafka-2.7"], Settings(), Recovered({}, proof))


# Registration and heartbeats


def test_a_started_broker_registers_and_sets_its_tick():
    assert fresh().step(0, Started()) == [Send(0, Register(1, 1, -1)), SetTimer(100 * MS, TimerFired("tick"))]


def test_it_shows_the_proof_of_a_clean_shutdown():
    assert fresh(proof=7, incarnation=3).step(0, Started())[0] == Send(0, Register(1, 3, 7))


def test_it_registers_again_until_it_is_answered():
    one = fresh()
    one.step(0, Started())
    assert one.step(100 * MS, TimerFired("tick")) == [SetTimer(100 * MS, TimerFired("tick"))]
    assert one.step(200 * MS, TimerFired("tick"))[0] == Send(0, Register(1, 1, -1))


def test_a_registered_broker_sends_heartbeats():
    one = fresh()
    one.step(0, Started())

    assert one.step(5 * MS, Registered(0, 1, 7)) == [Send(0, Heartbeat(1, 7, {}))]
    assert one.step(204 * MS, TimerFired("tick"))[:-1] == []
    assert one.step(205 * MS, TimerFired("tick"))[0] == Send(0, Heartbeat(1, 7, {}))


@pytest.mark.parametrize(
    "late",
    [pytest.param(Registered(0, 1, 9), id="a second one"), pytest.param(Registered(0, 2, 9), id="another process's")],
)
def test_a_late_registration_is_ignored(late):
    one = fresh()
    one.step(0, Started())
    one.step(5 * MS, Registered(0, 1, 7))

    assert one.step(6 * MS, late) == []
    assert one.broker_epoch == 7


def test_a_heartbeat_tells_which_partition_epochs_are_known(broker):
    one = broker()
    one.told(1, 2, 5, version=4)
    one.tick(200 * MS)

    assert [m.known for m in one.sent(Heartbeat)] == [{T: 4}]


def test_a_committed_proposal_makes_its_partition_epoch_known(broker):
    one = broker(min_isr=1)
    one.lead(1, 5, (1,), version=4)
    one.fetched_by(2, 2, 0, epoch=5)
    one.step(3, AlterPartitionResponse(0, T, 1, 5, (1, 2), 5))
    one.tick(200 * MS)

    assert [m.known for m in one.sent(Heartbeat)] == [{T: 5}]


def test_a_broker_whose_session_is_over_registers_anew(broker):
    one = broker()
    one.told(1, 2, 5)
    one.step(2, HeartbeatReply(0, may_stop=False, error="STALE_BROKER_EPOCH"))
    one.tick(200 * MS)
    assert one.sent(Register) == [Register(1, 1, -1)]

    one.step(201 * MS, Registered(0, 1, 42))
    assert one.sent(Heartbeat) == [Heartbeat(1, 42, {})]


# The controller's word


def test_from_kip_380_on_a_state_for_another_incarnation_is_ignored(broker):
    one = broker("kafka-2.7")
    one.step(1, LeaderAndIsr(0, T, 1, 5, (1,), 0, (1, 2), 10))

    assert one.did == []
    assert one.broker.replicas == {}


def request(one, now, broker_epoch, correlation=7, version=0):
    """ZooKeeper's controller tells broker 1 that it leads."""
    return one.step(now, LeaderAndIsr(0, T, 1, 5, (1,), version, (1, 2), broker_epoch, (1, 2), correlation))


@pytest.mark.parametrize("broker_epoch", [11, 10], ids=["its own", "another incarnation's"])
def test_a_request_is_answered_whatever_becomes_of_it(broker, broker_epoch):
    one = broker("kafka-2.7")
    request(one, 1, broker_epoch)

    assert one.sent(StateTaken) == [StateTaken(1, 7)]


def test_so_is_its_repetition(broker):
    one = broker("kafka-2.7")
    request(one, 1, 11)
    request(one, 2, 11)

    assert one.did == [Send(0, StateTaken(1, 7))]


def test_what_a_metadata_log_says_is_not(broker):
    one = broker("kafka-3.7")
    one.told(1, 1, 5)

    assert one.sent(StateTaken) == []


def test_a_request_counts_though_a_newer_partition_epoch_is_known(broker):
    """A leader knows the partition epochs of its own changes; ZooKeeper's brokers look at the leader epoch alone."""
    one = broker("kafka-2.1")
    one.told(1, 2, 5, version=8)
    one.told(2, 1, 6, version=7)

    assert one.replica.leader_epoch == 6


def unregistered(variant):
    """A process that has asked to be registered, and has no answer yet."""
    one = Broker(1, 1, parse_variant(variant), Settings(), Recovered({}))
    one.step(0, Started())
    return one


def test_a_state_that_overtakes_the_answer_to_its_registration_waits_for_it():
    one = unregistered("kafka-3.7")
    assert request(one, 1, 42, correlation=0) == []

    one.step(2, Registered(0, 1, 42))
    one.step(7, PUBLISH.event)
    assert one.replicas[T].leader_epoch == 5


def test_one_for_an_older_incarnation_does_not_survive_the_registration():
    one = unregistered("kafka-3.7")
    request(one, 1, 41, correlation=0)
    one.step(2, Registered(0, 1, 42))
    one.step(7, PUBLISH.event)

    assert one.replicas == {}


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7"])
def test_with_zookeeper_a_process_hears_nobody_before_it_is_registered(variant):
    """It does not answer either, so that the controller says it again."""
    one = unregistered(variant)
    assert request(one, 1, 42) == []

    one.step(2, Registered(0, 1, 42))
    assert one.replicas == {}
    request(one, 3, 42)
    assert one.replicas[T].leader_epoch == 5


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7+no-bounce-detection"])
def test_before_it_is_not(broker, variant):
    one = broker(variant)
    one.step(1, LeaderAndIsr(0, T, 1, 5, (1,), 0, (1, 2), 10))

    assert one.replica.leader_epoch == 5


def test_a_partition_it_holds_no_replica_of_is_only_noted(broker):
    one = broker()
    one.step(1, LeaderAndIsr(0, T, 2, 5, (2, 3), 0, (2, 3), 11))

    assert one.broker.replicas == {}
    assert one.broker.leaders == {T: 2}


def test_it_tells_clients_who_leads(broker):
    one = broker()
    one.told(1, 2, 5)
    one.step(2, MetadataRequest(101, 9))

    assert one.sent(to=101) == [MetadataResponse(1, 9, {T: 2})]


def test_an_older_state_does_not_change_what_it_tells_them(broker):
    one = broker()
    one.told(1, 2, 5, version=5)
    one.told(2, 3, 4, version=4)
    one.step(3, MetadataRequest(101, 9))

    assert one.sent() == [MetadataResponse(1, 9, {T: 2})]


def test_metadata_is_a_copy(broker):
    one = broker()
    one.told(1, 2, 5)
    one.step(2, MetadataRequest(101, 9))
    (response,) = one.sent()
    one.told(3, 3, 6)

    assert response.leaders == {T: 2}


def test_two_processes_of_a_broker_number_their_requests_differently(batch):
    """Else the second would take an answer to the first for its own: no connection is modelled that could have been closed."""
    numbers = []
    for incarnation in (1, 2):
        found = Recovered({T: RecoveredPartition([batch(0, 0, 70)], ((0, 0),), 0)})
        two = Broker(2, incarnation, PRESETS["kafka-2.7"], Settings(), found)
        two.step(0, Started())
        two.step(1, Registered(0, incarnation, 7))
        did = two.step(2, LeaderAndIsr(0, T, 1, 0, (1, 2), 0, (1, 2), 7))
        numbers += [a.message.correlation for a in did if isinstance(a, Send) and isinstance(a.message, FetchRequest)]

    assert len(numbers) == len(set(numbers)) == 2


# Who is no leader says so

REQUESTS = [
    pytest.param(FetchRequest(2, T, 0, 5, -1, 12, 9), FetchResponse(1, T, 9, [], 0, 0, NO_LEADER), id="fetch"),
    pytest.param(EpochRequest(2, T, 4, 5, 9), EpochResponse(1, T, 9, (-1, -1), NO_LEADER), id="epoch"),
    pytest.param(ProduceRequest(2, T, (7,), "all", 9), ProduceResponse(1, T, 9, -1, NO_LEADER), id="produce"),
    pytest.param(ConsumeRequest(2, T, 0, 9), ConsumeResponse(1, T, 9, [], 0, NO_LEADER), id="consume"),
]


@pytest.mark.parametrize(("request_", "response"), REQUESTS)
def test_a_broker_without_the_partition_says_that_it_does_not_lead(broker, request_, response):
    one = broker()
    one.step(1, request_)

    assert one.did == [Send(2, response)]


@pytest.mark.parametrize(("request_", "response"), REQUESTS)
def test_so_does_a_follower(broker, request_, response):
    one = broker()
    one.told(1, 3, 5)
    one.step(2, request_)

    assert one.did == [Send(2, response)]


# Checkpoints


def test_the_high_watermarks_are_checkpointed_periodically(broker, batch):
    one = broker(batches=[batch(0, 4, 70)], hw=1)
    one.tick(999 * MS)
    assert one.done(WriteHighWatermarks) == []

    one.tick(1_000 * MS)
    assert one.done(WriteHighWatermarks) == [WriteHighWatermarks({T: 1})]
    one.tick(1_999 * MS)
    assert one.done(WriteHighWatermarks) == []
    one.tick(2_000 * MS)
    assert one.done(WriteHighWatermarks) == [WriteHighWatermarks({T: 1})]


def test_every_tick_sets_the_next(broker):
    one = broker()

    assert one.tick(100 * MS)[-1] == SetTimer(100 * MS, TimerFired("tick"))


# Controlled shutdown


def test_a_broker_asks_before_it_stops(broker):
    one = broker()
    one.step(5 * MS, ShutdownRequested())

    assert one.sent(Heartbeat) == [Heartbeat(1, 11, {}, shutting_down=True)]
    assert one.done(Halt) == []


def test_asking_twice_is_asking_once(broker):
    one = broker()
    one.step(5 * MS, ShutdownRequested())
    one.step(6 * MS, ShutdownRequested())

    assert one.did == []


def test_it_stops_when_it_may(broker, batch):
    one = broker("kafka-3.7", batches=[batch(0, 4, 70)], hw=1)
    one.step(5 * MS, ShutdownRequested())
    one.step(6 * MS, HeartbeatReply(0, may_stop=True))

    assert one.did == [Sync(T), WriteHighWatermarks({T: 1}), MarkCleanShutdown(11), Halt("clean")]


def test_with_zookeeper_it_closes_its_session_last(broker, batch):
    one = broker("kafka-2.7", batches=[batch(0, 4, 70)], hw=1)
    one.step(5 * MS, ShutdownRequested())
    one.step(6 * MS, HeartbeatReply(0, may_stop=True))

    assert one.did == [
        Sync(T),
        WriteHighWatermarks({T: 1}),
        MarkCleanShutdown(11, synced=False),
        Send(0, Heartbeat(1, 11, {}, shutting_down=True, closing=True)),
        Halt("clean"),
    ]


def test_it_does_not_stop_unasked(broker):
    one = broker()
    one.step(6 * MS, HeartbeatReply(0, may_stop=True))

    assert one.did == []


@pytest.mark.parametrize(("variant", "ms"), [("kafka-2.7", 1_000), ("kafka-3.7", 33_000)])
def test_it_stops_anyway_if_it_gets_no_permission(broker, variant, ms):
    """With KRaft it waits for five minutes (``BrokerServer.shutdown``), a session being 9 s."""
    one = broker(variant)
    one.step(0, ShutdownRequested())
    one.tick((ms - 1) * MS)
    assert one.done(Halt) == []

    one.tick(ms * MS)
    assert one.done(Halt) == [Halt("clean")]
    assert one.done(SetTimer) == []


@pytest.mark.parametrize(("variant", "stops"), [("kafka-2.7", []), ("kafka-3.7", [Halt("clean")])])
def test_with_kraft_it_stops_at_once_if_it_has_not_registered(broker, variant, stops):
    one = broker(variant)
    one.step(2, HeartbeatReply(0, may_stop=False, error="STALE_BROKER_EPOCH"))
    one.step(5 * MS, ShutdownRequested())

    assert one.done(Halt) == stops


def test_a_leader_that_is_about_to_stop_takes_records(broker):
    """A broker goes on serving until it has handed over (``KafkaServer.shutdown``: controlledShutdown comes first)."""
    one = broker(min_isr=1)
    one.lead(1, 5, (1,))
    one.step(2, ShutdownRequested())
    one.produced(3, 7)

    assert one.sent() == [ProduceResponse(1, T, 1, 0)]


def test_with_zookeeper_a_broker_that_is_about_to_stop_follows_nobody(broker):
    """StopReplica: it must not be taken into the ISR again. It still tells clients who leads."""
    one = broker("kafka-2.7")
    one.lead(1, 5)
    one.step(2, ShutdownRequested())
    one.told(3, 2, 6)
    assert one.sent(FetchRequest) == []
    assert (one.replica.role, one.replica.leader_epoch) == (Role.NO_LEADER, 6)

    one.step(4, MetadataRequest(101, 9))
    assert one.sent() == [MetadataResponse(1, 9, {T: 2})]


def test_it_leads_on_where_nobody_else_can(broker):
    one = broker("kafka-2.7")
    one.lead(1, 5)
    one.step(2, ShutdownRequested())
    one.lead(3, 6, (1,))

    assert (one.replica.role, one.replica.leader_epoch) == (Role.LEADING, 6)


def test_with_kraft_it_follows_until_it_stops(broker):
    one = broker("kafka-3.7")
    one.lead(1, 5)
    one.step(2, ShutdownRequested())
    one.told(3, 2, 6)

    assert len(one.sent(FetchRequest, to=2)) == 1


def test_it_serves_fetches_until_it_stops(broker, batch):
    one = broker(batches=[batch(0, 4, 70)])
    one.lead(1, 5)
    one.step(2, ShutdownRequested())
    one.fetched_by(3, 2, 0, epoch=5)

    assert [len(m.batches) for m in one.sent(FetchResponse)] == [1]


def test_the_list_of_actions_is_used_again():
    """So a driver carries them out before the next step; the docstring of ``step`` says so."""
    one = fresh()

    assert one.step(0, Started()) is one.step(1, TimerFired("tick"))
