"""KRaft's controller: it fences brokers until they have caught up, and lets them stop when the others know (docs/protocol.md)."""

import pytest

from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import Elect, HeartbeatReply, LeaderAndIsr, Registered

T = "t-0"
MS = 1_000


@pytest.fixture(scope="session")
def kraft(controller):
    def start(variant="kafka-3.7", **settings):
        return controller(variant, **settings)

    return start


# Fenced until it has caught up


def restarted(c, now=1_100 * MS, broker=3):
    """A broker's session lapsed, and another process of it registers: it is fenced."""
    c.lapse(now - 99 * MS, broker)
    c.register(now, broker, 2)
    return c


def test_a_process_that_registers_is_fenced_and_told_everything(kraft):
    c = restarted(kraft())

    assert c.sent(Registered) == [Registered(0, 2, 4)]
    assert [(m.leader, m.isr, m.partition_epoch, m.broker_epoch) for m in c.sent(LeaderAndIsr, to=3)] == [
        (1, (1, 2), 1, 4)
    ]
    assert not c.live(3)


def test_it_is_live_when_it_knows_what_held_when_it_registered(kraft):
    c = restarted(kraft())
    c.beat(1_200 * MS, 3, known=0)
    assert not c.live(3)
    assert c.sent(HeartbeatReply) == [HeartbeatReply(0, may_stop=False)]

    c.beat(1_300 * MS, 3, known=1)
    assert c.live(3)


def test_it_need_not_know_what_was_decided_since(kraft):
    c = restarted(kraft())
    c.step(1_150 * MS, Elect(0, T, "forced", 2))
    c.beat(1_200 * MS, 3, known=1)

    assert c.live(3)


def test_what_the_process_before_knew_does_not_count(kraft):
    c = kraft()
    c.beat(900 * MS, 3)
    c.lapse(2_000 * MS, 3)
    c.register(2_001 * MS, 3, 2)
    c.beat(2_002 * MS, 1, 2)

    assert c.controller.sessions[3].known == {}
    assert not c.live(3)


def test_it_does_not_lead_before(kraft):
    c = kraft(unclean_election=True)
    c.lapse(1_001 * MS, 2, 3)
    c.register(1_100 * MS, 3, 2)
    c.lapse(2_100 * MS, 1)
    assert c.state.leader == -1

    c.beat(2_200 * MS, 3)
    assert c.state.leader == 3


def test_a_fenced_broker_that_is_heard_again_has_caught_up_already(kraft):
    """It is the same process; ``registerBrokerRecordOffset`` is long behind it."""
    c = kraft()
    c.lapse(1_001 * MS, 3)
    c.step(1_100 * MS, Elect(0, T, "forced", 2))
    c.beat(1_200 * MS, 3, known=0)

    assert c.live(3)


def test_who_registers_when_its_session_is_over_and_nobody_noticed_is_fenced_first(kraft):
    c = kraft()
    c.beat(1_000 * MS, 1, 2)
    c.register(1_001 * MS, 3, 2)

    assert c.traced("fence") == [(3,)]
    assert c.state.isr == (1, 2)
    assert c.sent(Registered) == [Registered(0, 2, 4)]


def test_whose_process_is_fenced_may_begin_another_at_once(kraft):
    """``BrokerHeartbeatManager.hasValidSession`` is false of a fenced broker, however lately it was heard."""
    c = restarted(kraft())
    c.register(1_101 * MS, 3, 3)

    assert c.sent(Registered) == [Registered(0, 3, 5)]


def test_before_the_first_election_there_is_nothing_to_catch_up_with(kraft):
    c = kraft(opened=False)
    c.register(0, 1, 1)
    c.beat(1, 1, known=-1)

    assert c.live(1)
    assert c.sent(LeaderAndIsr) == []


# The metadata log


def test_a_fenced_broker_is_told_too(kraft):
    """Every broker reads the log."""
    c = kraft()
    c.lapse(1_001 * MS, 3)
    assert len(c.sent(LeaderAndIsr, to=3)) == 1

    c.step(1_100 * MS, Elect(0, T, "forced", 2))
    assert [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr, to=3)] == [(2, 1)]


def test_one_that_never_registered_is_not(kraft):
    c = kraft(opened=False)
    c.come(0, 1, 2)
    c.come(0, 3)
    assert len(c.sent(LeaderAndIsr)) == 3

    c = kraft(opened=False)
    c.come(0, 1, 2)
    assert c.sent(LeaderAndIsr) == []


def test_all_but_the_leader_are_told_of_an_isr_that_it_proposed(kraft):
    c = kraft()
    c.alter(1, (1, 2))

    assert [m.isr for m in c.sent(LeaderAndIsr)] == [(1, 2), (1, 2)]
    assert c.sent(LeaderAndIsr, to=1) == []


def test_a_broker_that_missed_a_state_is_told_again_on_its_heartbeat(kraft):
    c = kraft()
    c.step(1, Elect(0, T, "forced", 2))
    c.beat(300 * MS, 3, known=0)

    assert [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr)] == [(2, 1)]
    assert len(c.sent(LeaderAndIsr, to=3)) == 1


def test_it_is_told_what_holds_by_then(kraft):
    c = kraft()
    c.step(1, Elect(0, T, "forced", 2))
    c.step(2, Elect(0, T, "forced", 3))
    c.beat(300 * MS, 1, known=0)

    assert [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr)] == [(3, 2)]


def test_but_not_while_it_may_still_be_under_way(kraft):
    c = kraft()
    c.step(1, Elect(0, T, "forced", 2))
    c.beat(250 * MS, 3, known=0)
    assert c.sent(LeaderAndIsr) == []

    c.beat(251 * MS, 3, known=0)
    assert len(c.sent(LeaderAndIsr)) == 1
    c.beat(500 * MS, 3, known=0)
    assert c.sent(LeaderAndIsr) == []


def test_who_knows_is_not_told(kraft):
    c = kraft()
    c.step(1, Elect(0, T, "forced", 2))
    c.beat(900 * MS, 3, known=1)

    assert c.sent(LeaderAndIsr) == []


# Epochs


def test_an_isr_that_shrinks_costs_no_leader_epoch(kraft):
    """KAFKA-15021."""
    c = kraft()
    c.lapse(1_001 * MS, 3)
    assert c.traced("isr-change") == [((1, 2), (), 1)]
    assert c.elected == []

    c.alter(1_100 * MS, (1,))
    assert c.stands == (1, 0, (1,), 2)


def test_before_kafka_15021_it_does(kraft):
    """``PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded``, 3.3."""
    c = kraft("kafka-3.7+shrink-raises-epoch")
    c.lapse(1_001 * MS, 3)

    assert c.elected == [(1, 1, (1, 2), (), "shrunk", True, 1)]
    assert c.traced("isr-change") == []


def test_and_so_does_one_that_the_leader_shrinks(kraft):
    c = kraft("kafka-3.7+shrink-raises-epoch")
    response = c.alter(1, (1, 2))

    assert (response.error, response.leader_epoch) == (None, 1)
    assert c.elected == [(1, 1, (1, 2), (), "shrunk", True, 1)]
    assert [(m.leader_epoch, m.isr) for m in c.sent(LeaderAndIsr, to=1)] == [(1, (1, 2))], "the leader, too"


def test_one_that_grows_does_not(kraft):
    c = kraft("kafka-3.7+shrink-raises-epoch")
    c.alter(1, (1, 2))
    c.alter(2, (1, 2, 3))

    assert c.stands == (1, 1, (1, 2, 3), 2)
    assert c.traced("isr-change") == [((1, 2, 3), (), 2)]


def test_the_same_proposal_is_committed_once(kraft):
    """Compare and set: the repetition of a proposal whose answer was lost is refused, with the ISR it made."""
    c = kraft()
    c.alter(1, (1, 2))
    response = c.alter(2, (1, 2), partition_epoch=0)

    assert (response.error, response.isr, response.partition_epoch) == ("INVALID_UPDATE_VERSION", (1, 2), 1)


# Controlled shutdown


def may_stop(c):
    (reply,) = c.sent(HeartbeatReply)
    return reply.may_stop


def test_a_broker_that_leads_nothing_may_stop_at_once(kraft):
    c = kraft()
    c.beat(1, 3, shutting_down=True)

    assert may_stop(c)
    assert c.stands == (1, 0, (1, 2), 1)
    assert not c.live(3)
    assert c.traced("fence") == []


def test_a_leader_is_relieved_and_stops_when_the_others_know(kraft):
    c = kraft()
    c.beat(1 * MS, 1, shutting_down=True)
    assert c.elected == [(2, 1, (2, 3), (), "online", True, 1)]
    assert not may_stop(c)
    assert c.live(1)

    c.beat(2 * MS, 2)
    c.beat(3 * MS, 1, shutting_down=True)
    assert not may_stop(c), "3 does not know"

    c.beat(4 * MS, 3)
    c.beat(5 * MS, 1, shutting_down=True)
    assert may_stop(c)
    assert not c.live(1)


def test_it_need_not_wait_for_what_was_decided_later(kraft):
    c = kraft()
    c.beat(1 * MS, 1, shutting_down=True)
    c.step(2 * MS, Elect(0, T, "forced", 3))
    c.beat(3 * MS, 2, 3, known=1)
    c.beat(4 * MS, 1, shutting_down=True)

    assert may_stop(c)


def test_nor_for_one_that_is_fenced_or_stops_itself(kraft):
    c = kraft(replicas=(1, 2, 3, 4))
    c.lapse(1_001 * MS, 4)
    c.beat(1_002 * MS, 1, shutting_down=True)
    c.beat(1_003 * MS, 2, known=0, shutting_down=True)
    assert c.state.leader == 3
    c.beat(1_004 * MS, 3)
    c.beat(1_005 * MS, 1, shutting_down=True)

    assert may_stop(c)


def test_one_that_is_silent_keeps_it_until_it_is_fenced(kraft):
    c = kraft()
    c.beat(100 * MS, 1, shutting_down=True)
    c.beat(100 * MS, 2)
    c.beat(900 * MS, 2)
    c.beat(900 * MS, 1, shutting_down=True)
    assert not may_stop(c)

    c.tick(1_001 * MS)
    c.beat(1_002 * MS, 1, shutting_down=True)
    assert may_stop(c)


def test_what_nobody_else_can_lead_is_without_leader(kraft):
    c = kraft()
    c.lapse(1_001 * MS, 2, 3)
    c.beat(1_100 * MS, 1, shutting_down=True)
    assert (c.state.leader, c.state.isr) == (-1, (1,))

    c.beat(1_200 * MS, 1, shutting_down=True)
    assert may_stop(c)


def test_a_fenced_broker_may_stop(kraft):
    c = kraft()
    c.lapse(1_001 * MS, 1)
    c.beat(1_002 * MS, 1, shutting_down=True)

    assert may_stop(c)
    assert not c.live(1)


def test_who_stopped_and_came_back_may_lead(kraft):
    c = kraft()
    c.beat(1, 1, shutting_down=True)
    c.beat(2, 2, 3)
    c.beat(3, 1, shutting_down=True)
    c.come(4, 1, proof=1)
    assert c.live(1)
    assert c.alter(5, (2, 3, 1), source=2, epochs={1: 4}).error is None

    c.step(6, Elect(0, T, "forced", 1))
    assert c.state.leader == 1


# Another controller takes over


def test_everybody_gets_a_new_session(kraft):
    c = kraft()
    c.step(1, ControllerFailed())
    c.tick(1_500 * MS)
    c.step(1_600 * MS, ControllerElected())
    c.tick(2_600 * MS)
    assert c.traced("fence") == []

    c.tick(2_601 * MS)
    assert c.traced("fence") == [(1,), (2,), (3,)]


def test_while_there_is_none_nobody_registers_and_nobody_is_answered(kraft):
    c = kraft()
    c.lapse(1_001 * MS, 3)
    c.step(1_002 * MS, ControllerFailed())

    assert c.register(1_003 * MS, 3, 2) == []
    assert c.beat(1_004 * MS, 1, 2) == []


def test_the_next_one_tells_who_does_not_know_at_once(kraft):
    """It has no record of what was sent when."""
    c = kraft()
    c.step(100 * MS, Elect(0, T, "forced", 2))
    c.step(101 * MS, ControllerFailed())
    c.step(102 * MS, ControllerElected())
    assert c.sent(LeaderAndIsr) == []

    c.beat(103 * MS, 1)
    assert c.sent(LeaderAndIsr) == []
    c.beat(104 * MS, 3, known=0)
    assert [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr)] == [(2, 1)]


def test_who_was_fenced_stays_so_until_it_is_heard(kraft):
    c = kraft()
    c.lapse(1_001 * MS, 3)
    c.step(1_002 * MS, ControllerFailed())
    c.step(1_003 * MS, ControllerElected())
    assert not c.live(3)

    c.beat(1_004 * MS, 3)
    assert c.live(3)
