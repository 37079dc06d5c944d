"""ZooKeeper's controller: it sees brokers come and go at its looks, and moves epochs as Kafka's did (docs/protocol.md)."""

import pytest

from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import (
    AlterPartition,
    AlterPartitionResponse,
    Elect,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Registered,
)

T = "t-0"
MS = 1_000


# A broker is there as long as its node is


def test_a_broker_that_came_is_live_from_the_next_look_on(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.register(1_010 * MS, 3, 2)
    assert c.sent(Registered, to=3) == [Registered(0, 2, 4)]
    assert not c.live(3)
    assert c.sent(LeaderAndIsr) == []

    c.tick(1_100 * MS)
    assert c.live(3)
    assert [(m.leader, m.isr, m.broker_epoch) for m in c.sent(LeaderAndIsr)] == [(1, (1, 2), 4)]


def test_a_session_that_is_closed_ends_at_once_and_is_seen_at_the_next_look(controller):
    c = controller()
    c.step(10 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    assert c.did == []
    assert c.live(3)

    c.tick(100 * MS)
    assert c.traced("fence") == [(3,)]
    assert c.state.isr == (1, 2)


def test_a_process_whose_node_is_gone_is_told_so(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.beat(1_002 * MS, 3)

    assert c.sent() == [HeartbeatReply(0, may_stop=False, error="STALE_BROKER_EPOCH")]
    assert not c.live(3)


def test_it_makes_another_one_with_a_new_epoch(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.register(1_002 * MS, 3, 1)

    assert c.sent() == [Registered(0, 1, 4)]


def test_another_process_of_the_broker_may_take_the_place_before_anybody_looked(controller):
    c = controller()
    c.step(10 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    c.register(11 * MS, 3, 2)

    assert c.sent() == [Registered(0, 2, 4)]


def test_sessions_lapse_while_there_is_no_controller_and_begin(controller):
    """ZooKeeper goes on."""
    c = controller()
    c.step(1, ControllerFailed())
    c.beat(1_000 * MS, 1, 2)
    assert [m.may_stop for m in c.sent(HeartbeatReply)] == [False, False]

    c.tick(1_001 * MS)
    assert c.register(1_002 * MS, 3, 2) != []
    assert c.traced("register") == [(3, 4, False)]


# A bounce between two looks


def bounced(c, now, broker):
    """A process is killed, its session lapses, and another is there before the controller looks."""
    c.step(now, Heartbeat(broker, broker, {}, shutting_down=True, closing=True))
    c.register(now, broker, 2)
    return c.tick(now)


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7+no-bounce-detection"])
@pytest.mark.parametrize("broker", [1, 2], ids=["leader", "follower"])
def test_up_to_2_1_it_is_not_noticed_and_the_broker_told_nothing(controller, variant, broker):
    """KAFKA-1120."""
    c = controller(variant)
    bounced(c, 100 * MS, broker)

    assert c.stands == (1, 0, (1, 2, 3), 0)
    assert c.sent(LeaderAndIsr) == []


def test_nor_is_it_noticed_later(controller):
    c = controller("kafka-2.1")
    bounced(c, 100 * MS, 2)
    c.beat(200 * MS, 1, 2, 3)
    c.tick(200 * MS)

    assert c.sent(LeaderAndIsr) == []


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-2.1+bounce-detection"])
def test_from_kip_380_on_a_follower_is_out_of_the_isr_and_new(controller, variant):
    c = controller(variant)
    bounced(c, 100 * MS, 2)

    assert c.traced("fence") == [(2,)]
    assert c.state.isr == (1, 3)
    assert c.live(2)
    assert [(m.leader, m.isr, m.broker_epoch) for m in c.sent(LeaderAndIsr, to=2)] == [(1, (1, 3), 4)]


def test_a_leader_loses_the_leadership(controller):
    c = controller()
    bounced(c, 100 * MS, 1)

    assert c.elected == [(2, 1, (2, 3), (), "online", True, 1)]


def test_the_last_isr_member_is_failed_and_elected_again(controller):
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    bounced(c, 1_100 * MS, 1)

    assert [(leader, isr, how) for leader, _, isr, _, how, _, _ in c.elected] == [
        (-1, (1,), "offline"),
        (1, (1,), "online"),
    ]


def test_a_bounce_is_seen_once(controller):
    c = controller()
    bounced(c, 100 * MS, 2)
    c.beat(200 * MS, 1, 2, 3)
    c.tick(200 * MS)

    assert c.sent(LeaderAndIsr) == []


# Epochs


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7"])
def test_where_the_controller_shrinks_an_isr_the_leader_gets_a_new_epoch(controller, variant):
    """``KafkaController.removeReplicasFromIsr``, ``LeaderAndIsr.newLeaderAndIsr``."""
    c = controller(variant)
    c.lapse(1_001 * MS, 3)

    assert c.elected == [(1, 1, (1, 2), (), "shrunk", True, 1)]
    assert [(m.leader_epoch, m.isr) for m in c.sent(LeaderAndIsr, to=1)] == [(1, (1, 2))]


def test_where_the_switch_is_off_it_does_not(controller):
    c = controller("kafka-2.7+no-shrink-raises-epoch")
    c.lapse(1_001 * MS, 3)

    assert c.elected == []
    assert c.stands == (1, 0, (1, 2), 1)


def test_who_was_in_no_isr_costs_no_epoch(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.back(1_100 * MS, 3)
    c.lapse(2_200 * MS, 3)

    assert c.elected == []
    assert c.stands == (1, 1, (1, 2), 1)


def test_where_nobody_leads_no_isr_that_shrinks_raises_the_epoch(controller):
    """With eligible leader replicas the last member leaves, too."""
    c = controller("kafka-2.7+elr", min_isr=2)
    c.lapse(1_001 * MS, 1, 2, 3)

    assert [(leader, how) for leader, *_, how, _, _ in c.elected] == [(-1, "offline")]
    assert (c.state.isr, c.state.leader_epoch) == ((), 1)


def test_brokers_that_go_together_are_all_gone_before_anybody_is_elected(controller):
    """``controllerContext.removeLiveBrokers`` comes first: 3 must not follow 2, which is gone, before it leads."""
    c = controller()
    c.lapse(1_001 * MS, 1, 2)

    assert {m.leader for m in c.sent(LeaderAndIsr)} == {3}


# ISR changes


def test_nobody_is_told_of_an_isr_that_the_leader_proposed(controller):
    c = controller()
    c.alter(1, (1, 2))

    assert c.sent(LeaderAndIsr) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.0", "kafka-2.1"])
@pytest.mark.parametrize(
    "kwargs", [{"source": 2}, {"leader_epoch": 7}], ids=["another than the leader", "another epoch"]
)
def test_up_to_2_1_a_leader_writes_the_isr_itself_and_only_the_version_counts(controller, variant, kwargs):
    """``ReplicationUtils.updateLeaderAndIsr``: a conditional write to ZooKeeper."""
    c = controller(variant)

    assert c.alter(1, (1, 2), partition_epoch=0, **kwargs).error is None
    assert c.alter(2, (1,), partition_epoch=0, **kwargs).error == "INVALID_UPDATE_VERSION"
    assert c.stands == (1, 0, (1, 2), 1)


@pytest.mark.parametrize(("variant", "written"), [("kafka-2.1", True), ("kafka-2.7", False)])
def test_it_can_while_there_is_no_controller(controller, variant, written):
    c = controller(variant)
    c.step(1, ControllerFailed())
    c.step(2, AlterPartition(1, T, 0, 0, ((1, 1), (2, 2)), 1, 9))

    assert [m.error for m in c.sent(AlterPartitionResponse)] == ([None] if written else [])
    assert c.state.isr == ((1, 2) if written else (1, 2, 3))


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7"])
def test_what_was_committed_and_not_heard_is_answered_again(controller, variant):
    """``ReplicationUtils.checkLeaderAndIsrZkData``; ``KafkaController.processAlterIsr`` since 2.7."""
    c = controller(variant)
    c.alter(1, (1, 2))
    response = c.alter(2, (1, 2), partition_epoch=0)

    assert response == AlterPartitionResponse(0, T, 9, 0, (1, 2), 1)
    assert c.traced("isr-change") == []


@pytest.mark.parametrize(
    "kwargs",
    [
        pytest.param({"isr": (1, 3)}, id="another ISR"),
        pytest.param({"isr": (1, 2), "leader_epoch": -1}, id="another leader epoch"),
        pytest.param({"isr": (1, 2), "source": 2}, id="another broker"),
    ],
)
def test_but_not_what_only_looks_like_it(controller, kwargs):
    c = controller("kafka-2.1")
    c.alter(1, (1, 2))

    assert c.alter(2, partition_epoch=0, **kwargs).error == "INVALID_UPDATE_VERSION"


# Controlled shutdown


def test_a_leader_that_wants_to_stop_is_relieved_and_may(controller):
    c = controller()
    c.beat(1, 1, shutting_down=True)

    assert c.elected == [(2, 1, (2, 3), (), "online", True, 1)]
    assert c.sent(HeartbeatReply, to=1) == [HeartbeatReply(0, may_stop=True)]


def test_a_follower_that_wants_to_stop_leaves_the_isr_and_may(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)

    assert c.stands == (1, 1, (1, 2), 1)
    assert c.sent(HeartbeatReply, to=3) == [HeartbeatReply(0, may_stop=True)]


def test_asking_again_changes_nothing(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)
    c.beat(2, 3, shutting_down=True)

    assert c.sent() == [HeartbeatReply(0, may_stop=True)]
    assert c.stands == (1, 1, (1, 2), 1)


def test_what_nobody_else_can_lead_stays_and_keeps_the_broker(controller):
    """``ControlledShutdownPartitionLeaderElectionStrategy``, which knows no unclean election."""
    c = controller(unclean_election=True)
    c.lapse(1_001 * MS, 2, 3)
    c.back(1_100 * MS, 3)
    _, epoch, _, _ = c.stands
    c.beat(1_200 * MS, 1, shutting_down=True)

    assert c.elected == []
    assert c.stands[:3] == (1, epoch, (1,))
    assert c.sent(HeartbeatReply, to=1) == [HeartbeatReply(0, may_stop=False)]


def test_as_soon_as_somebody_can_it_is_relieved(controller):
    """``KafkaController.doControlledShutdown`` begins anew with each request."""
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    c.back(1_100 * MS, 3)
    c.beat(1_200 * MS, 1, shutting_down=True)
    assert c.alter(1_300 * MS, (1, 3)).error is None
    c.beat(1_400 * MS, 1, shutting_down=True)

    assert c.state.leader == 3
    assert c.state.isr == (3,)
    assert c.sent(HeartbeatReply, to=1) == [HeartbeatReply(0, may_stop=True)]


def test_who_is_taken_in_again_by_its_leader_leaves_again(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.beat(1_100 * MS, 2, shutting_down=True)
    assert c.alter(1_101 * MS, (1, 2)).error is None
    c.beat(1_102 * MS, 1, shutting_down=True)
    assert c.stands[0] == 1, "2 is about to stop, and cannot lead"

    c.beat(1_300 * MS, 2, shutting_down=True)
    assert c.state.isr == (1,)


def test_when_it_goes_all_the_same_nobody_leads(controller):
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    c.back(1_100 * MS, 3)
    c.beat(1_200 * MS, 1, shutting_down=True)
    c.step(1_300 * MS, Heartbeat(1, 1, {}, shutting_down=True, closing=True))
    c.tick(1_300 * MS)

    assert (c.state.leader, c.state.isr) == (-1, (1,))


def test_an_end_that_was_announced_is_no_failure(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)
    c.step(2, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    c.tick(100 * MS)

    assert c.traced("fence") == []
    assert not c.live(3)


def test_a_broker_that_stopped_and_is_back_may_lead_again(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)
    c.step(2, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    c.tick(100 * MS)
    c.come(200 * MS, 3)
    assert c.alter(300 * MS, (1, 2, 3)).error is None

    c.step(400 * MS, Elect(0, T, "forced", 3))
    assert c.state.leader == 3


def test_nobody_lets_a_broker_stop_while_there_is_no_controller(controller):
    c = controller()
    c.step(1, ControllerFailed())

    assert c.beat(2 * MS, 1, shutting_down=True) == []
    c.beat(2 * MS, 2, 3)
    c.tick(1_001 * MS)
    c.step(1_002 * MS, ControllerElected())
    assert c.live(1), "asking kept its session"
