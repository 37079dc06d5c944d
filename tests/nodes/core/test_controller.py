"""The controller: sessions, elections, ISR, ELR, and telling the brokers (docs/protocol.md, "Controller")."""

import pytest

from nodes.core.controller import make_controller
from nodes.core.messages import (
    AlterPartition,
    AlterPartitionResponse,
    Elect,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
)
from nodes.core.settings import Settings
from nodes.core.variant import parse_variant

T = "t-0"
MS = 1_000


def elected(c):
    """(leader, leader epoch, ISR, ELR, how, clean, partition epoch) of the last step's elections."""
    return c.traced("elect")


def stands(c):
    return c.state.leader, c.state.leader_epoch, c.state.isr, c.state.partition_epoch


def altered(c, now, isr, *, source=1, leader_epoch=0, partition_epoch=None, broker_epoch=None, epochs=None):
    """A leader's proposal arrives; brokers have the broker epochs 1, 2, 3 … unless given."""
    partition_epoch = c.state.partition_epoch if partition_epoch is None else partition_epoch
    members = tuple((b, (epochs or {}).get(b, b)) for b in isr)
    broker_epoch = source if broker_epoch is None else broker_epoch
    c.step(now, AlterPartition(source, T, leader_epoch, partition_epoch, members, broker_epoch, 9))
    (response,) = c.sent(AlterPartitionResponse, to=source)
    return response


# The first election


def test_nobody_leads_before_every_broker_has_registered(controller):
    c = controller(opened=False)
    c.register(0, 1, 1)
    c.register(0, 2, 1)
    assert stands(c) == (-1, -1, (1, 2, 3), -1)

    c.register(0, 3, 1)
    assert elected(c) == [(1, 0, (1, 2, 3), (), "initial", True, 0)]


def test_the_preferred_replica_leads_first(controller):
    c = controller(replicas=(2, 3, 1))

    assert stands(c) == (2, 0, (2, 3, 1), 0)


def test_the_first_leader_epoch_may_be_another():
    c = make_controller((1,), {T: (1,)}, parse_variant("kafka-2.7"), Settings(), first_leader_epoch=7)
    actions = list(c.step(0, Register(1, 1, -1)))

    assert [a[4:6] for a in actions if isinstance(a, tuple) and a[2] == "elect"] == [(1, 7)]


def test_everybody_is_told(controller):
    c = controller()

    assert [(m.leader, m.leader_epoch, m.isr, m.partition_epoch, m.replicas) for m in c.sent(LeaderAndIsr)] == [
        (1, 0, (1, 2, 3), 0, (1, 2, 3))
    ] * 3
    assert [c.sent(LeaderAndIsr, to=b)[0].broker_epoch for b in (1, 2, 3)] == [1, 2, 3]


# Sessions


def test_a_registration_gets_a_new_broker_epoch(controller):
    c = controller()
    c.register(1, 2, 2)

    assert c.sent(Registered, to=2) == [Registered(0, 2, 4)]
    assert c.traced("register") == [(2, 4, False)]


def test_the_same_incarnation_keeps_its_broker_epoch(controller):
    c = controller()
    c.register(1, 2, 1)

    assert c.sent(Registered, to=2) == [Registered(0, 1, 2)]
    assert c.traced("register") == []


def test_a_late_registration_of_an_older_incarnation_changes_nothing(controller):
    c = controller()
    c.register(1, 2, 3)
    c.register(2, 2, 1)

    assert c.did == []


def test_a_clean_shutdown_is_proven_by_the_former_broker_epoch(controller):
    c = controller()
    c.register(1, 2, 2, proof=2)
    assert c.traced("register") == [(2, 4, True)]

    c.register(2, 2, 3, proof=2)
    assert c.traced("register") == [(2, 5, False)]


def test_a_heartbeat_is_answered(controller):
    c = controller()
    c.beat(1, 2)

    assert c.sent(HeartbeatReply, to=2) == [HeartbeatReply(0, may_stop=False)]


def test_a_heartbeat_of_an_older_incarnation_is_refused_and_keeps_nothing_alive(controller):
    c = controller()
    c.register(1, 2, 2)
    c.step(900 * MS, Heartbeat(2, 2, {}))
    assert c.sent() == [HeartbeatReply(0, may_stop=False, error="STALE_BROKER_EPOCH")]

    c.beat(1_000 * MS, 1, 3)
    c.tick(1_002 * MS)
    assert c.traced("fence") == [(2,)]


def test_a_session_lapses_after_its_time_and_not_before(controller):
    c = controller()
    c.beat(500 * MS, 1, 3)
    c.tick(1_000 * MS)
    assert c.traced("fence") == []

    c.tick(1_000 * MS + 1)
    assert c.traced("fence") == [(2,)]
    assert c.traced("isr-change") == [((1, 3), (), 1)]


def test_a_lapse_is_seen_once(controller):
    c = controller()
    c.lapse(1_001 * MS, 2)
    c.lapse(1_101 * MS, 2)

    assert c.did == [action for action in c.did if not isinstance(action, tuple)]


def test_a_fenced_broker_that_is_heard_again_is_live_again_but_not_in_the_isr(controller):
    c = controller()
    c.lapse(1_001 * MS, 2)
    c.beat(1_200 * MS, 2)

    assert c.controller.sessions[2].live
    assert c.state.isr == (1, 3)


# Elections


def test_online_the_first_live_isr_member_in_assignment_order_leads(controller):
    c = controller(replicas=(3, 1, 2))
    c.lapse(1_001 * MS, 3)

    assert elected(c) == [(1, 1, (1, 2), (), "online", True, 1)]


def test_a_member_that_is_not_live_is_passed_over(controller):
    c = controller("kafka-2.1", replicas=(1, 2, 3))
    altered(c, 1, (1, 2, 3))
    c.lapse(1_001 * MS, 1, 2)

    assert stands(c)[0] == 3
    assert c.state.isr == (3,)


def test_a_follower_that_goes_changes_the_isr_and_no_leader(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)

    assert elected(c) == []
    assert stands(c) == (1, 0, (1, 2), 1)


def test_without_a_candidate_there_is_no_leader_and_the_last_isr_member_stays(controller):
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    c.lapse(2_100 * MS, 1)

    assert elected(c) == [(-1, 1, (1,), (), "offline", True, 3)]


def test_the_last_isr_member_leads_when_it_returns(controller):
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    c.lapse(2_100 * MS, 1)
    c.beat(2_200 * MS, 2, 3)
    assert stands(c)[0] == -1

    c.beat(2_300 * MS, 1)
    assert stands(c)[:3] == (1, 2, (1,))


def test_where_unclean_election_is_enabled_the_first_live_replica_leads_alone(controller):
    c = controller(unclean_election=True)
    c.lapse(1_001 * MS, 2, 3)
    c.beat(1_200 * MS, 3)
    c.beat(2_100 * MS, 3)
    c.tick(2_100 * MS)

    assert elected(c) == [(3, 1, (3,), (), "unclean", False, 3)]


def test_where_it_is_enabled_a_replica_that_returns_first_leads(controller):
    c = controller(unclean_election=True)
    c.lapse(1_001 * MS, 2, 3)
    c.lapse(2_100 * MS, 1)
    c.beat(2_200 * MS, 2)

    assert elected(c)[0][0:6] == (2, 2, (2,), (), "unclean", False)


def test_preferred_moves_the_leader_home(controller):
    c = controller()
    c.step(1, Elect(0, T, "forced", 2))
    c.step(2, Elect(0, T, "preferred", 3))

    assert elected(c) == [(1, 2, (1, 2, 3), (), "preferred", True, 2)]


def test_preferred_does_nothing_where_the_leader_is_home(controller):
    c = controller()

    assert c.step(1, Elect(0, T, "preferred", 2)) == []


def test_preferred_does_nothing_while_the_preferred_replica_is_out_of_sync(controller):
    c = controller()
    c.lapse(1_001 * MS, 1)
    c.beat(1_100 * MS, 1)

    assert c.step(1_200 * MS, Elect(0, T, "preferred", 1)) == []


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_an_isr_member_can_be_made_leader(controller, how):
    c = controller()
    c.step(1, Elect(0, T, how, 3))

    assert elected(c) == [(3, 1, (1, 2, 3), (), "forced", True, 1)]


def test_a_replica_out_of_sync_cannot(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.beat(1_100 * MS, 3)

    assert c.step(1_200 * MS, Elect(0, T, "forced", 3)) == []


def test_but_for_an_operators_unclean_election(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    c.beat(1_100 * MS, 3)
    c.step(1_200 * MS, Elect(0, T, "unclean", 3))

    assert elected(c) == [(3, 1, (3,), (), "unclean", False, 2)]


@pytest.mark.parametrize("how", ["forced", "unclean"])
def test_who_is_not_live_is_never_elected(controller, how):
    c = controller()
    c.lapse(1_001 * MS, 3)

    assert c.step(1_200 * MS, Elect(0, T, how, 3)) == []


def test_nothing_is_elected_before_the_first_election(controller):
    c = controller(opened=False)
    c.register(0, 1, 1)

    assert c.step(1, Elect(0, T, "unclean", 1)) == []


def test_every_election_raises_both_epochs(controller):
    c = controller()
    for number, target in enumerate((2, 3, 1), 1):
        c.step(number, Elect(0, T, "forced", target))
        assert (c.state.leader_epoch, c.state.partition_epoch) == (number, number)


# Fast bounce


def test_up_to_2_1_a_follower_that_restarts_within_its_session_stays_in_the_isr(controller):
    """KAFKA-1120."""
    c = controller("kafka-2.1")
    c.register(100 * MS, 2, 2)

    assert stands(c) == (1, 0, (1, 2, 3), 0)
    assert len(c.sent(LeaderAndIsr, to=2)) == 1


def test_up_to_2_1_a_leader_that_restarts_within_its_session_goes_on_in_a_new_epoch(controller):
    c = controller("kafka-2.1")
    c.register(100 * MS, 1, 2)

    assert elected(c) == [(1, 1, (1, 2, 3), (), "resumed", True, 1)]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-2.1+bounce-detection"])
def test_from_kip_380_a_follower_that_restarts_is_out_of_the_isr_first(controller, variant):
    c = controller(variant)
    c.register(100 * MS, 2, 2)

    assert c.traced("isr-change") == [((1, 3), (), 1)]
    assert c.controller.sessions[2].live


def test_from_kip_380_a_leader_that_restarts_loses_the_leadership(controller):
    c = controller("kafka-2.7")
    c.register(100 * MS, 1, 2)

    assert elected(c) == [(2, 1, (2, 3), (), "online", True, 1)]


def test_from_kip_380_the_last_isr_member_is_failed_and_elected_again(controller):
    c = controller("kafka-2.7")
    c.lapse(1_001 * MS, 2, 3)
    c.register(1_100 * MS, 1, 2)

    assert [(e[0], e[4]) for e in elected(c)] == [(-1, "offline"), (1, "online")]
    assert c.state.isr == (1,)


# Eligible leader replicas, KIP-966


def test_the_elr_is_empty_while_the_isr_is_large_enough(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)

    assert (c.state.isr, c.state.elr) == ((1, 2), ())


def test_who_leaves_an_isr_that_is_then_below_min_isr_stays_eligible(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    c.lapse(3_200 * MS, 1)
    assert (c.state.isr, c.state.elr) == ((), (1, 2))
    assert elected(c) == [(-1, 1, (), (1, 2), "offline", True, 3)]


@pytest.mark.parametrize("variant", ["kafka-3.7", "kafka-4.0+no-elr"])
def test_without_elr_the_last_member_stays_in_the_isr(controller, variant):
    c = controller(variant, min_isr=2)
    for now, broker in ((1_001, 3), (2_100, 2), (3_200, 1)):
        c.lapse(now * MS, broker)

    assert (c.state.isr, c.state.elr) == ((1,), ())


@pytest.fixture(scope="session")
def without_isr(controller):
    """ISR (), ELR (1, 2), no leader; the last one was 1."""

    def start():
        c = controller("kafka-4.0", min_isr=2)
        for now, broker in ((1_001, 3), (2_100, 2), (3_200, 1)):
            c.lapse(now * MS, broker)
        return c

    return start


def test_an_eligible_replica_that_returns_leads_alone(without_isr):
    c = without_isr()
    c.beat(3_300 * MS, 2)

    assert elected(c) == [(2, 2, (2,), (1,), "online", True, 4)]


def test_one_that_is_not_eligible_does_not(without_isr):
    c = without_isr()
    c.beat(3_300 * MS, 3)

    assert elected(c) == []


def test_a_clean_restart_keeps_a_replica_eligible(without_isr):
    c = without_isr()
    c.register(3_300 * MS, 2, 2, proof=2)

    assert elected(c) == [(2, 2, (2,), (1,), "online", True, 4)]


def test_an_unclean_restart_does_not(without_isr):
    c = without_isr()
    c.register(3_300 * MS, 2, 2)

    assert c.traced("isr-change") == [((), (1,), 4)]
    assert elected(c) == []


def test_without_isr_and_elr_the_last_known_leader_is_waited_for(without_isr):
    """Seen on 4.1.1."""
    c = without_isr()
    c.register(3_300 * MS, 2, 2)
    c.register(3_400 * MS, 1, 2)

    assert elected(c) == [(1, 2, (1,), (), "last-known", False, 6)]


def test_while_the_last_known_leader_is_away_nobody_leads(without_isr):
    c = without_isr()
    c.register(3_300 * MS, 1, 2)
    c.lapse(4_400 * MS, 1)
    c.beat(4_500 * MS, 3)
    c.register(4_600 * MS, 2, 2)

    assert (c.state.isr, c.state.elr) == ((), ())
    assert c.state.leader == -1


def test_while_there_is_an_isr_an_eligible_replica_cannot_be_made_leader(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    c.beat(2_200 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    assert c.step(2_300 * MS, Elect(0, T, "forced", 2)) == []


def test_the_elr_is_emptied_when_the_isr_has_grown_again(without_isr):
    c = without_isr()
    c.beat(3_300 * MS, 2)
    c.beat(3_400 * MS, 3)
    response = altered(c, 3_500 * MS, (2, 3), source=2, leader_epoch=2)

    assert response.error is None
    assert (c.state.isr, c.state.elr) == ((2, 3), ())


def test_a_member_of_the_isr_is_never_in_the_elr(without_isr):
    c = without_isr()
    c.beat(3_300 * MS, 2)
    c.beat(3_400 * MS, 1)
    c.lapse(4_500 * MS, 1)

    assert (c.state.isr, c.state.elr) == ((2,), (1,))


def test_a_fenced_isr_member_that_restarts_uncleanly_under_4_0_is_out_of_both(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.register(1_100 * MS, 2, 2)

    assert (c.state.isr, c.state.elr) == ((1,), ())


def test_an_operators_unclean_election_empties_the_elr(without_isr):
    c = without_isr()
    c.beat(3_300 * MS, 3)
    c.step(3_400 * MS, Elect(0, T, "unclean", 3))

    assert elected(c) == [(3, 2, (3,), (), "unclean", False, 4)]


# AlterPartition


def test_a_leaders_proposal_is_committed_and_told(controller):
    c = controller()
    response = altered(c, 1, (1, 2))

    assert response == AlterPartitionResponse(0, T, 9, 0, (1, 2), 1)
    assert c.traced("isr-change") == [((1, 2), (), 1)]
    assert [(m.isr, m.partition_epoch) for m in c.sent(LeaderAndIsr)] == [((1, 2), 1)] * 2
    assert c.sent(LeaderAndIsr, to=1) == []


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        pytest.param({"source": 2}, "FENCED_LEADER_EPOCH", id="by another than the leader"),
        pytest.param({"leader_epoch": -1}, "FENCED_LEADER_EPOCH", id="of an older leader epoch"),
        pytest.param({"leader_epoch": 1}, "FENCED_LEADER_EPOCH", id="of a newer leader epoch"),
        pytest.param({"partition_epoch": -1}, "INVALID_UPDATE_VERSION", id="of an older partition epoch"),
        pytest.param({"partition_epoch": 1}, "INVALID_UPDATE_VERSION", id="of a newer partition epoch"),
    ],
)
def test_a_stale_proposal_is_refused_with_the_committed_state(controller, kwargs, error):
    c = controller()
    response = altered(c, 1, (1, 2), **kwargs)

    assert (response.error, response.isr, response.partition_epoch) == (error, (1, 2, 3), 0)
    assert stands(c) == (1, 0, (1, 2, 3), 0)
    assert c.sent(LeaderAndIsr) == []


def test_the_same_proposal_is_committed_once(controller):
    """Compare and set: the repetition of a proposal whose answer was lost is refused, with the ISR it made."""
    c = controller()
    altered(c, 1, (1, 2))
    response = altered(c, 2, (1, 2), partition_epoch=0)

    assert (response.error, response.isr, response.partition_epoch) == ("INVALID_UPDATE_VERSION", (1, 2), 1)


@pytest.fixture(scope="session")
def third_fenced(controller):
    def start(variant):
        c = controller(variant)
        c.lapse(1_001 * MS, 3)
        return c

    return start


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "INELIGIBLE_REPLICA")])
def test_from_3_7_a_fenced_replica_does_not_join(third_fenced, variant, error):
    """KAFKA-13916, KIP-841."""
    c = third_fenced(variant)

    assert altered(c, 1_100 * MS, (1, 2, 3)).error == error


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "INELIGIBLE_REPLICA")])
def test_from_3_7_an_older_incarnation_does_not_join(third_fenced, variant, error):
    """KAFKA-14139, KIP-903: broker 3 came back with broker epoch 4; the fetch that the proposal rests on was of epoch 3."""
    c = third_fenced(variant)
    c.register(1_100 * MS, 3, 2)

    assert altered(c, 1_200 * MS, (1, 2, 3), epochs={3: 3}).error == error


@pytest.mark.parametrize("epoch", [4, -1])
def test_the_current_incarnation_does_and_so_does_one_that_is_not_named(third_fenced, epoch):
    c = third_fenced("kafka-3.7")
    c.register(1_100 * MS, 3, 2)

    assert altered(c, 1_200 * MS, (1, 2, 3), epochs={3: epoch}).error is None


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "STALE_BROKER_EPOCH")])
def test_from_3_7_a_proposal_of_an_older_incarnation_of_the_leader_is_refused(controller, variant, error):
    c = controller(variant)

    assert altered(c, 1, (1, 2), broker_epoch=7).error == error


# Controlled shutdown


def test_a_leader_that_wants_to_stop_is_relieved_and_may(controller):
    c = controller()
    c.beat(1, 1, shutting_down=True)

    assert elected(c) == [(2, 1, (2, 3), (), "online", True, 1)]
    assert c.sent(HeartbeatReply, to=1) == [HeartbeatReply(0, may_stop=True)]


def test_a_follower_that_wants_to_stop_leaves_the_isr(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)

    assert stands(c) == (1, 0, (1, 2), 1)
    assert c.sent(HeartbeatReply, to=3) == [HeartbeatReply(0, may_stop=True)]


def test_asking_again_changes_nothing(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)
    c.beat(2, 3, shutting_down=True)

    assert c.did == [type(c.did[0])(3, HeartbeatReply(0, may_stop=True))]


def test_who_stopped_is_not_told_of_changes_any_more(controller):
    c = controller()
    c.beat(1, 3, shutting_down=True)
    c.step(2, Elect(0, T, "forced", 2))

    assert c.sent(LeaderAndIsr, to=3) == []


# Telling


def knows(c, now, broker, partition_epoch):
    epoch = c.controller.sessions[broker].broker_epoch
    return c.step(now, Heartbeat(broker, epoch, {T: partition_epoch}))


def test_a_broker_that_missed_a_state_is_told_again_on_its_heartbeat(controller):
    c = controller()
    c.step(1, Elect(0, T, "forced", 2))
    knows(c, 300 * MS, 3, 0)

    assert [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr, to=3)] == [(2, 1)]


def test_but_not_while_it_may_still_be_under_way(controller):
    c = controller()
    c.step(1, Elect(0, T, "forced", 2))
    knows(c, 250 * MS, 3, 0)

    assert c.sent(LeaderAndIsr) == []


def test_who_knows_is_not_told(controller):
    c = controller()
    c.step(1, Elect(0, T, "forced", 2))
    knows(c, 900 * MS, 3, 1)

    assert c.sent(LeaderAndIsr) == []


def test_a_new_incarnation_is_told_everything(controller):
    c = controller("kafka-2.1")
    c.register(1, 3, 2)

    (state,) = c.sent(LeaderAndIsr, to=3)
    assert (state.leader, state.leader_epoch, state.broker_epoch) == (1, 0, 4)


def test_the_brokers_are_told_which_replicas_are_eligible(controller):
    """KIP-841: neither fenced nor shutting down."""
    c = controller()
    c.beat(1, 2, shutting_down=True)

    assert [m.eligible for m in c.sent(LeaderAndIsr)] == [(1, 3), (1, 3)]


def test_a_fenced_broker_is_told_nothing_until_it_is_heard(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)

    assert c.sent(LeaderAndIsr, to=3) == []
    assert len(c.sent(LeaderAndIsr, to=2)) == 1
