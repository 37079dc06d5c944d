"""What the controllers of both eras do: who may lead, and who does (docs/protocol.md, "Controller")."""

import pytest

from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import Elect, Heartbeat, HeartbeatReply, LeaderAndIsr, Registered

T = "t-0"
MS = 1_000


# The first election


def test_nobody_leads_before_every_broker_has_come(either):
    c = either(opened=False)
    c.come(0, 1, 2)
    assert c.stands == (-1, -1, (1, 2, 3), -1)

    c.come(0, 3)
    assert c.elected == [(1, 0, (1, 2, 3), (), "initial", True, 0)]


def test_they_must_be_there_together(either):
    c = either(opened=False)
    c.come(0, 1, 2)
    c.tick(1_001 * MS)
    c.come(1_100 * MS, 3)
    assert c.elected == []

    c.back(1_200 * MS, 1, 2)
    assert c.elected == [(1, 0, (1, 2, 3), (), "initial", True, 0)]


def test_the_preferred_replica_leads_first(either):
    c = either(replicas=(2, 3, 1))

    assert c.stands == (2, 0, (2, 3, 1), 0)


def test_the_first_leader_epoch_may_be_another(either):
    c = either(replicas=(1,), first_leader_epoch=7)

    assert c.elected[0][:2] == (1, 7)


def test_everybody_is_told(either):
    c = either()

    assert [(m.leader, m.leader_epoch, m.isr, m.partition_epoch, m.replicas) for m in c.sent(LeaderAndIsr)] == [
        (1, 0, (1, 2, 3), 0, (1, 2, 3))
    ] * 3
    assert [c.sent(LeaderAndIsr, to=b)[0].broker_epoch for b in (1, 2, 3)] == [1, 2, 3]


# Processes and their sessions


def test_the_first_process_of_a_broker_has_nothing_to_prove(either):
    c = either(opened=False)
    c.register(0, 1, 1)

    assert c.traced("register") == [(1, 1, False)]


def test_a_new_process_gets_a_new_broker_epoch(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    c.come(1_100 * MS, 2)

    assert c.sent(Registered, to=2) == [Registered(0, 2, 4)]
    assert c.traced("register") == [(2, 4, False)]


def test_one_that_asks_again_keeps_its_own(either):
    c = either()
    c.register(1, 2, 1)

    assert c.sent(Registered, to=2) == [Registered(0, 1, 2)]
    assert c.traced("register") == []


def test_asking_again_keeps_its_session(either):
    c = either()
    c.register(900 * MS, 2, 1)
    c.beat(900 * MS, 1, 3)
    c.tick(1_900 * MS)

    assert c.traced("fence") == []


def test_a_second_process_is_refused_while_the_first_has_a_session(either):
    """NODEEXISTS, DUPLICATE_BROKER_REGISTRATION: no answer."""
    c = either()
    c.beat(1_000 * MS, 1, 3)

    assert c.register(1_000 * MS, 2, 2) == []
    assert c.controller.sessions[2].incarnation == 1
    assert c.stands == (1, 0, (1, 2, 3), 0)


def test_asking_in_vain_does_not_keep_the_session_of_the_first(either):
    c = either()
    c.beat(1_000 * MS, 1, 3)
    c.register(1_000 * MS, 2, 2)
    c.tick(1_001 * MS)
    assert c.traced("fence") == [(2,)]

    c.register(1_002 * MS, 2, 2)
    assert c.sent(Registered, to=2) == [Registered(0, 2, 4)]


def test_a_late_word_of_an_older_process_changes_nothing(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    c.register(1_100 * MS, 2, 3)

    assert c.register(1_101 * MS, 2, 2) == []
    c.lapse(2_200 * MS, 2)
    assert c.register(2_201 * MS, 2, 2) == []


def test_a_clean_shutdown_is_proven_by_the_former_broker_epoch(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    c.come(1_100 * MS, 2, proof=2)
    assert c.traced("register") == [(2, 4, True)]

    c.lapse(2_200 * MS, 2)
    c.come(2_300 * MS, 2, proof=2)
    assert c.traced("register") == [(2, 5, False)]


def test_a_heartbeat_is_answered(either):
    c = either()
    c.beat(1, 2)

    assert c.sent(HeartbeatReply, to=2) == [HeartbeatReply(0, may_stop=False)]


def test_a_heartbeat_of_an_older_process_is_refused_and_keeps_nothing_alive(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    c.come(1_100 * MS, 2)
    c.step(2_000 * MS, Heartbeat(2, 2, {}))
    assert c.sent() == [HeartbeatReply(0, may_stop=False, error="STALE_BROKER_EPOCH")]

    c.lapse(2_101 * MS, 2)
    assert c.traced("fence") == [(2,)]


def test_a_session_lapses_after_its_time_and_not_before(either):
    c = either()
    c.beat(500 * MS, 1, 3)
    c.tick(1_000 * MS)
    assert c.traced("fence") == []

    c.tick(1_000 * MS + 1)
    assert c.traced("fence") == [(2,)]
    assert c.stands[0] == 1
    assert c.state.isr == (1, 3)


def test_a_lapse_is_seen_once(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    c.lapse(1_101 * MS, 2)

    assert [action for action in c.did if isinstance(action, tuple)] == []


def test_who_is_heard_again_is_live_again_but_not_in_the_isr(either):
    c = either()
    c.lapse(1_001 * MS, 2)
    assert not c.live(2)

    c.back(1_200 * MS, 2)
    assert c.live(2)
    assert c.state.isr == (1, 3)


# Elections


def test_the_first_live_isr_member_in_assignment_order_leads(either):
    c = either(replicas=(3, 1, 2))
    c.lapse(1_001 * MS, 3)

    assert c.elected == [(1, 1, (1, 2), (), "online", True, 1)]


def test_a_member_that_is_not_live_is_passed_over(either):
    c = either(replicas=(1, 2, 3))
    c.lapse(1_001 * MS, 1, 2)

    assert c.stands[0] == 3
    assert c.state.isr == (3,)


def test_a_follower_that_goes_changes_the_isr_and_no_leader(either):
    c = either()
    c.lapse(1_001 * MS, 3)

    assert c.state.leader == 1
    assert c.state.isr == (1, 2)
    assert [(m.leader, m.isr) for m in c.sent(LeaderAndIsr, to=1)] == [(1, (1, 2))]


def alone(either, **settings):
    """Broker 1 is the ISR, and gone; 2 and 3 are gone, too."""
    c = either(**settings)
    c.lapse(1_001 * MS, 2, 3)
    c.lapse(2_100 * MS, 1)
    return c


def test_without_a_candidate_there_is_no_leader_and_the_last_isr_member_stays(either):
    c = alone(either)

    assert [(leader, isr, how) for leader, _, isr, _, how, _, _ in c.elected] == [(-1, (1,), "offline")]


def test_the_last_isr_member_leads_when_it_returns(either):
    c = alone(either)
    c.back(2_200 * MS, 2, 3)
    assert c.state.leader == -1

    epoch = c.state.leader_epoch
    c.back(2_300 * MS, 1)
    assert c.stands[:3] == (1, epoch + 1, (1,))


def test_where_unclean_election_is_enabled_the_first_live_replica_leads_alone(either):
    c = either(unclean_election=True)
    c.lapse(1_001 * MS, 2, 3)
    c.back(1_200 * MS, 3)
    c.lapse(2_100 * MS, 1)

    assert [(leader, isr, how, clean) for leader, _, isr, _, how, clean, _ in c.elected] == [
        (3, (3,), "unclean", False)
    ]


def test_where_it_is_enabled_a_replica_that_returns_first_leads(either):
    c = alone(either, unclean_election=True)
    c.back(2_200 * MS, 2)

    assert [(leader, isr, how, clean) for leader, _, isr, _, how, clean, _ in c.elected] == [
        (2, (2,), "unclean", False)
    ]


def test_preferred_moves_the_leader_home(either):
    c = either()
    c.step(1, Elect(0, T, "forced", 2))
    c.step(2, Elect(0, T, "preferred", 3))

    assert c.elected == [(1, 2, (1, 2, 3), (), "preferred", True, 2)]


@pytest.mark.parametrize("preset", ["kafka-2.7", "kafka-3.7"])
def test_the_leader_that_has_to_go_may_have_to_leave_the_isr(controller, preset):
    """KIP-279's second alternative for clean elections; a failure takes the leader out in any case."""
    c = controller(preset + "+old-leader-leaves-isr")
    c.step(1, Elect(0, T, "forced", 2))
    assert c.elected[-1][2] == (2, 3)

    c.step(2, Elect(0, T, "preferred", 3))
    assert len(c.elected) == 0


def test_preferred_does_nothing_where_the_leader_is_home(either):
    c = either()

    assert c.step(1, Elect(0, T, "preferred", 2)) == []


def test_preferred_does_nothing_while_the_preferred_replica_is_out_of_sync(either):
    c = either()
    c.lapse(1_001 * MS, 1)
    c.back(1_100 * MS, 1)

    assert c.step(1_200 * MS, Elect(0, T, "preferred", 1)) == []


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_an_isr_member_can_be_made_leader(either, how):
    c = either()
    c.step(1, Elect(0, T, how, 3))

    assert c.elected == [(3, 1, (1, 2, 3), (), "forced", True, 1)]


def without_third(either):
    """Broker 3 is live and not in the ISR."""
    c = either()
    c.lapse(1_001 * MS, 3)
    c.back(1_100 * MS, 3)
    return c


def test_a_replica_out_of_sync_cannot(either):
    assert without_third(either).step(1_200 * MS, Elect(0, T, "forced", 3)) == []


def test_but_for_an_operators_unclean_election(either):
    c = without_third(either)
    _, leader_epoch, _, partition_epoch = c.stands
    c.step(1_200 * MS, Elect(0, T, "unclean", 3))

    assert c.elected == [(3, leader_epoch + 1, (3,), (), "unclean", False, partition_epoch + 1)]


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_who_is_not_live_is_never_elected(either, how):
    c = either()
    c.lapse(1_001 * MS, 3)

    assert c.step(1_200 * MS, Elect(0, T, how, 3)) == []


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_who_is_no_replica_is_never_elected(either, how):
    c = either(replicas=(1, 2), brokers=(1, 2, 3))

    assert c.step(1_200 * MS, Elect(0, T, how, 3)) == []


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_nor_is_who_is_about_to_stop(either, how):
    c = either()
    c.beat(1, 1, shutting_down=True)
    assert c.state.leader == 2

    assert c.step(2, Elect(0, T, how, 1)) == []


def test_nothing_is_elected_before_the_first_election(either):
    c = either(opened=False)
    c.come(0, 1)

    assert c.step(1, Elect(0, T, "unclean", 1)) == []


def test_every_election_raises_both_epochs(either):
    c = either()
    for number, target in enumerate((2, 3, 1), 1):
        c.step(number, Elect(0, T, "forced", target))
        assert (c.state.leader_epoch, c.state.partition_epoch) == (number, number)


def test_the_brokers_are_told_which_replicas_are_eligible(either):
    """KIP-841: neither fenced nor shutting down."""
    c = either()
    c.beat(1, 1, shutting_down=True)

    assert {m.eligible for m in c.sent(LeaderAndIsr)} == {(2, 3)}


# A controller that fails


def test_while_there_is_no_controller_nothing_is_decided(either):
    c = either()
    c.step(1, ControllerFailed())
    assert c.did == [(1, 0, "stop", "", "crash")]

    assert c.step(2, Elect(0, T, "forced", 2)) == []
    c.lapse(1_500 * MS, 1)
    assert c.traced("elect") == c.traced("fence") == []
    assert c.stands == (1, 0, (1, 2, 3), 0)


def test_one_that_failed_cannot_fail(either):
    c = either()
    c.step(1, ControllerFailed())

    assert c.step(2, ControllerFailed()) == []


def test_another_one_goes_on_with_what_is_written(either):
    c = either()
    c.step(1, Elect(0, T, "forced", 2))
    c.step(2, ControllerFailed())
    c.step(3, ControllerElected())
    assert c.traced("start") == [(2,)]

    c.step(4, Elect(0, T, "forced", 3))
    assert c.elected == [(3, 2, (1, 2, 3), (), "forced", True, 2)]


def test_where_there_is_one_no_other_is_elected(either):
    c = either()

    assert c.step(1, ControllerElected()) == []


def test_the_clock_of_the_next_goes_on(either):
    """Its looks would end with the first tick that nobody sets."""
    c = either()
    c.step(1, ControllerFailed())
    c.tick(100 * MS)
    assert [type(action).__name__ for action in c.did] == ["SetTimer"]

    c.step(101 * MS, ControllerElected())
    assert [action for action in c.did if type(action).__name__ == "SetTimer"] == []


def test_one_that_fails_before_the_first_election_leaves_that_to_the_next(either):
    c = either(opened=False)
    c.come(0, 1, 2)
    c.step(1, ControllerFailed())
    c.step(2, ControllerElected())
    assert c.elected == []

    c.come(3, 3)
    assert c.elected == [(1, 0, (1, 2, 3), (), "initial", True, 0)]
