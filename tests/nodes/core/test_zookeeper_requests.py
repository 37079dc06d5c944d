"""What ZooKeeper's controller tells the brokers: in order, one at a time, until it is answered, or until it is over.

``ControllerChannelManager.RequestSendThread``, ``KafkaController.onControllerFailover``; docs/protocol.md, "Controller".
"""

import pytest

from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import Elect, Heartbeat, LeaderAndIsr, StateTaken

T = "t-0"
MS = 1_000


def told(c, broker):
    """(leader, leader epoch) of what a broker was sent in the last step."""
    return [(m.leader, m.leader_epoch) for m in c.sent(LeaderAndIsr, to=broker)]


@pytest.fixture(scope="session")
def deaf_third(controller):
    """Broker 3 answers nothing, and has just been sent that 2 leads epoch 1."""

    def start(variant="kafka-2.7", **settings):
        c = controller(variant, **settings)
        c.deaf.add(3)
        c.step(10 * MS, Elect(0, T, "forced", 2))
        return c

    return start


def answered(c, now):
    """Broker 3's answer to the request that it was sent last arrives."""
    (request,) = c.sent(LeaderAndIsr, to=3)
    return c.step(now, StateTaken(3, request.correlation))


def test_a_request_waits_until_the_one_before_is_answered(deaf_third):
    c = deaf_third()
    assert told(c, 3) == [(2, 1)]
    first = c.sent(LeaderAndIsr, to=3)[0]

    c.step(11 * MS, Elect(0, T, "forced", 1))
    c.step(12 * MS, Elect(0, T, "forced", 2))
    assert told(c, 3) == []
    assert told(c, 1) == [(2, 3)], "others are told at once"

    c.step(13 * MS, StateTaken(3, first.correlation))
    assert told(c, 3) == [(1, 2)]
    answered(c, 14 * MS)
    assert told(c, 3) == [(2, 3)]
    answered(c, 15 * MS)
    assert c.did == []


def test_it_is_sent_again_until_it_is_answered(deaf_third):
    """At a tick, half a request time-out later; the same request, whatever has been decided since."""
    c = deaf_third()
    (request,) = c.sent(LeaderAndIsr, to=3)
    c.step(20 * MS, Elect(0, T, "forced", 1))
    c.tick(200 * MS)
    assert c.sent(LeaderAndIsr) == []

    for now in (260, 510, 760):
        c.beat(now * MS, 1, 2, 3)
        c.tick(now * MS)
        assert c.sent(LeaderAndIsr) == [request]
    answered(c, 761 * MS)
    assert told(c, 3) == [(1, 2)]


def test_a_late_answer_to_a_repetition_answers_nothing(deaf_third):
    c = deaf_third()
    (request,) = c.sent(LeaderAndIsr, to=3)
    c.step(20 * MS, Elect(0, T, "forced", 1))
    c.step(21 * MS, StateTaken(3, request.correlation))
    (second,) = c.sent(LeaderAndIsr, to=3)
    c.step(22 * MS, Elect(0, T, "forced", 2))

    assert c.step(23 * MS, StateTaken(3, request.correlation)) == []
    c.step(24 * MS, StateTaken(3, second.correlation))
    assert told(c, 3) == [(2, 3)]


def test_what_waits_says_what_held_when_it_was_decided(deaf_third):
    c = deaf_third()
    (first,) = c.sent(LeaderAndIsr, to=3)
    c.step(20 * MS, Elect(0, T, "forced", 1))
    c.alter(21 * MS, (1, 2))
    c.step(22 * MS, StateTaken(3, first.correlation))

    assert [(m.isr, m.partition_epoch) for m in c.sent(LeaderAndIsr, to=3)] == [((1, 2, 3), 2)]


def test_the_end_of_a_session_is_the_end_of_what_waits(deaf_third):
    c = deaf_third()
    c.step(20 * MS, Elect(0, T, "forced", 1))
    c.lapse(1_100 * MS, 3)
    assert c.sent(LeaderAndIsr, to=3) == []

    c.lapse(1_400 * MS)
    assert c.sent(LeaderAndIsr, to=3) == []
    c.come(1_500 * MS, 3)
    assert told(c, 3) == [(1, 3)], "a new process begins with what holds"


def test_a_process_that_comes_unnoticed_gets_what_waited_for_the_last_one(deaf_third):
    """KAFKA-1120: to the controller it is the same broker."""
    c = deaf_third("kafka-2.1")
    c.step(20 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    c.register(30 * MS, 3, 2)
    c.tick(260 * MS)

    assert told(c, 3) == [(2, 1)]


def test_from_kip_380_on_it_does_not(deaf_third):
    c = deaf_third("kafka-2.7")
    c.step(20 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
    c.register(30 * MS, 3, 2)
    c.tick(260 * MS)

    assert [(m.leader_epoch, m.broker_epoch) for m in c.sent(LeaderAndIsr, to=3)] == [(2, 4)]


def test_who_is_not_live_is_told_nothing(controller):
    c = controller()
    c.lapse(1_001 * MS, 3)
    assert c.sent(LeaderAndIsr, to=3) == []
    assert len(c.sent(LeaderAndIsr, to=2)) == 1

    c.step(1_002 * MS, Elect(0, T, "forced", 2))
    assert c.sent(LeaderAndIsr, to=3) == []


def test_who_wants_to_stop_is_told_until_it_has_gone(controller):
    """It must hear that it leads no more."""
    c = controller()
    c.beat(1, 1, shutting_down=True)

    assert told(c, 1) == [(2, 1)]


def test_a_broker_that_comes_is_told_what_holds_before_what_is_elected(controller):
    """``onBrokerStartup``: first all partitions, then the elections it makes possible."""
    c = controller()
    c.lapse(1_001 * MS, 2, 3)
    c.lapse(2_100 * MS, 1)
    epoch = c.state.leader_epoch
    c.back(2_200 * MS, 1)

    assert told(c, 1) == [(-1, epoch), (1, epoch + 1)]


# Another controller takes over


@pytest.fixture(scope="session")
def taken_over(controller):
    """The controller fails, something happens, another one takes over."""

    def start(*meanwhile, variant="kafka-2.7", prepare=lambda c: None):
        c = controller(variant)
        prepare(c)
        c.step(100 * MS, ControllerFailed())
        for happens in meanwhile:
            happens(c)
        c.step(1_200 * MS, ControllerElected())
        return c

    return start


def silent(*brokers):
    """The sessions of brokers lapse; those of the others go on."""

    def happens(c):
        c.beat(1_101 * MS, *(b for b in (1, 2, 3) if b not in brokers))
        c.tick(1_102 * MS)

    return happens


def test_everybody_is_told_everything(taken_over):
    c = taken_over(silent())

    assert [told(c, broker) for broker in (1, 2, 3)] == [[(1, 0)]] * 3
    assert c.elected == []


def test_what_the_last_one_had_not_sent_is_never_sent(taken_over):
    """What it had decided is written, and told; of what was between nobody hears."""

    def busy(c):
        c.deaf.add(3)
        for target in (2, 3, 1):
            c.step(50 * MS, Elect(0, T, "forced", target))

    c = taken_over(silent(), prepare=busy)

    assert told(c, 3) == [(1, 3)]
    answered(c, 1_201 * MS)
    assert c.sent(LeaderAndIsr) == []


def test_where_no_live_broker_leads_somebody_is_elected(taken_over):
    c = taken_over(silent(1))

    assert [(leader, epoch, how) for leader, epoch, *_, how, _, _ in c.elected] == [(2, 1, "online")]
    assert c.traced("fence") == [(1,)]


def test_a_follower_that_is_gone_stays_in_the_isr(taken_over):
    """``onControllerFailover`` fails no broker; the leader finds out."""
    c = taken_over(silent(3))

    assert c.stands == (1, 0, (1, 2, 3), 0)
    assert c.sent(LeaderAndIsr, to=3) == []
    c.beat(1_300 * MS, 1, 2)
    c.tick(1_300 * MS)
    assert c.stands == (1, 0, (1, 2, 3), 0)


def test_who_came_meanwhile_is_live_and_told(taken_over):
    def third_gone(c):
        c.step(1 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
        c.tick(90 * MS)
        assert not c.live(3)

    c = taken_over(lambda c: c.register(200 * MS, 3, 2), silent(), prepare=third_gone)

    assert c.live(3)
    assert [m.broker_epoch for m in c.sent(LeaderAndIsr, to=3)] == [4]
    c.tick(1_250 * MS)
    assert c.sent(LeaderAndIsr) == [], "and is no news at the next look"


def test_the_next_one_opens_the_cluster_where_all_have_come_meanwhile(controller):
    c = controller(opened=False)
    c.step(1 * MS, ControllerFailed())
    for broker in (1, 2, 3):
        c.register(2 * MS, broker, 1)
    c.step(3 * MS, ControllerElected())

    assert [(leader, how) for leader, *_, how, _, _ in c.elected] == [(1, "initial")]


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7"])
def test_a_bounce_while_there_was_no_controller_is_no_news(taken_over, variant):
    """The next one never saw the broker epoch before; it tells everybody anyway."""

    def bounce(c):
        c.step(200 * MS, Heartbeat(3, 3, {}, shutting_down=True, closing=True))
        c.register(201 * MS, 3, 2)

    c = taken_over(bounce, silent(), variant=variant)
    assert [m.broker_epoch for m in c.sent(LeaderAndIsr, to=3)] == [4]

    c.beat(1_300 * MS, 1, 2, 3)
    c.tick(1_300 * MS)
    assert c.stands == (1, 0, (1, 2, 3), 0)

    c = taken_over(bounce, silent(), variant=f"{variant}+failover-sees-bounces")
    assert c.stands[2] == (1, 2)


def test_of_a_controlled_shutdown_the_next_knows_nothing(taken_over):
    c = taken_over(silent(), prepare=lambda c: c.beat(1 * MS, 1, shutting_down=True))
    assert c.state.leader == 2

    assert c.alter(1_250 * MS, (2, 3, 1), source=2).error is None
    c.step(1_251 * MS, Elect(0, T, "forced", 1))
    assert c.state.leader == 1
