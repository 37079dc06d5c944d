"""Changes of role: whose word counts, what starts anew, and what does not (docs/protocol.md; KAFKA-7164)."""

import pytest

from tidemark.nodes.core.actions import Truncate
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, EpochResponse, FetchRequest, FetchResponse

T = "t-0"


@pytest.fixture(scope="session")
def replica(broker, batch):
    """Broker 2 with one record of epoch 1; nobody has told it who leads."""

    def start(variant="kafka-2.7", **kwargs):
        return broker(variant, node=2, batches=[batch(0, 1, 70)], **kwargs)

    return start


def role(two):
    return two.replica.leading is not None, two.replica.following is not None


def test_it_begins_with_neither_role(replica):
    two = replica()

    assert role(two) == (False, False)
    assert two.replica.leader_epoch == -1


def test_it_leads_when_it_is_named(replica):
    two = replica()
    two.told(1, 2, 3)

    assert role(two) == (True, False)
    assert two.traced("lead") == [(3, 1, 0, (1, 2, 3))]


def test_it_follows_when_another_is_named(replica):
    two = replica()
    two.told(1, 1, 3)

    assert role(two) == (False, True)
    assert two.traced("follow") == [(3, 1, 1, 0)]
    assert len(two.sent(FetchRequest, to=1)) == 1


def test_without_a_leader_it_does_neither(replica):
    two = replica()
    two.told(1, 1, 3)
    two.told(2, -1, 4)

    assert role(two) == (False, False)
    assert two.traced("follow") == [(4, -1, 1, 0)]
    assert two.sent() == []
    two.tick(900_000)
    assert two.sent(FetchRequest) == []


def test_a_leader_becomes_a_follower_and_back(replica):
    two = replica()
    two.told(1, 2, 3)
    two.told(2, 1, 4)
    assert role(two) == (False, True)

    two.told(3, 2, 5)
    assert role(two) == (True, False)
    assert two.replica.cache.latest == 5


@pytest.mark.parametrize("now_leading", [True, False])
def test_an_older_leader_epoch_is_ignored(replica, now_leading):
    two = replica()
    two.told(1, 2 if now_leading else 1, 5, version=5)
    two.told(2, 1 if now_leading else 2, 4, version=6)

    assert two.did == []
    assert role(two) == (now_leading, not now_leading)


def test_the_same_leader_epoch_does_not_change_a_role(replica):
    two = replica()
    two.told(1, 2, 5)
    two.told(2, 1, 5)

    assert role(two) == (True, False)


def test_a_leader_takes_a_newer_isr_of_its_own_epoch(replica):
    two = replica("kafka-3.7")
    two.told(1, 2, 5, (2, 3), version=5)
    two.told(2, 2, 5, (2,), version=6)

    assert two.traced("isr") == [((2,), (2,), 6)]
    assert two.replica.leading.isr == (2,)


@pytest.mark.parametrize("version", [4, 5])
def test_but_no_older_one(replica, version):
    two = replica("kafka-3.7")
    two.told(1, 2, 5, (2, 3), version=5)
    two.told(2, 2, 5, (2,), version=version)

    assert two.did == []
    assert two.replica.leading.isr == (2, 3)


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7"])
def test_with_zookeeper_nothing_of_its_own_epoch_is_new(replica, variant):
    """``ReplicaManager.becomeLeaderOrFollower``, to 2.8: "Ignoring LeaderAndIsr request"."""
    two = replica(variant)
    two.told(1, 2, 5, (2, 3), version=5)
    two.told(2, 2, 5, (2,), version=6)

    assert two.did == []
    assert (two.replica.leading.isr, two.replica.partition_epoch) == ((2, 3), 5)


@pytest.mark.parametrize("variant", ["kafka-2.7+no-shrink-raises-epoch", "kafka-2.7+elr"])
def test_unless_its_controller_changes_an_isr_without_a_new_epoch(replica, variant):
    """Else its version would be stale for ever, and it could never change the ISR again."""
    two = replica(variant)
    two.told(1, 2, 5, (2, 3), version=5)
    two.told(2, 2, 5, (2,), version=6)

    assert (two.replica.leading.isr, two.replica.partition_epoch) == ((2,), 6)


def test_a_follower_takes_the_partition_epoch_without_starting_anew(replica):
    two = replica("kafka-3.7")
    two.told(1, 1, 5, version=5)
    two.told(2, 1, 5, version=6)

    assert two.did == []
    assert two.replica.partition_epoch == 6


# KAFKA-7164: the same leader, elected again


def answered(two, now):
    """Broker 1 answers the epoch request that is out: nothing to cut."""
    return two.step(now, EpochResponse(1, T, two.replica.following.in_flight, EpochEnd(1, 1)))


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_a_reelected_leader_is_asked_again(replica, variant):
    two = replica(variant)
    two.told(1, 1, 3)
    assert len(two.sent(EpochRequest)) == 1
    answered(two, 2)
    assert len(two.sent(FetchRequest)) == 1

    two.told(3, 1, 4)
    assert [(m.epoch, m.current_epoch) for m in two.sent(EpochRequest)] == [(1, 4)]
    assert two.sent(FetchRequest) == []


def test_with_kafka_7164_it_is_not(replica):
    two = replica("kafka-2.1+KAFKA-7164")
    two.told(1, 1, 3)
    answered(two, 2)
    two.told(3, 1, 4)

    assert two.sent(EpochRequest) == []
    assert len(two.sent(FetchRequest)) == 1


def test_with_kafka_7164_an_unfinished_truncation_goes_on(replica):
    two = replica("kafka-2.1+KAFKA-7164")
    two.told(1, 1, 3)
    two.told(2, 1, 4)

    assert [(m.epoch, m.current_epoch) for m in two.sent(EpochRequest)] == [(1, 4)]


def test_with_kafka_7164_truncation_is_skipped_even_if_another_leader_was_missed_in_between(replica):
    """1 led epoch 3, 3 led 4, which this replica did not hear of, 1 leads 5: its id did not change."""
    two = replica("kafka-2.1+KAFKA-7164")
    two.told(1, 1, 3)
    answered(two, 2)
    two.told(3, 1, 5)

    assert two.sent(EpochRequest) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1+KAFKA-7164"])
def test_a_replica_that_led_in_between_truncates(replica, variant):
    two = replica(variant)
    two.told(1, 1, 3)
    two.told(2, 2, 4)
    two.produced(3, 71, acks="1")
    two.told(4, 1, 5)

    assert two.done(Truncate) or two.sent(EpochRequest)


def test_a_restarted_process_truncates_whoever_leads(broker, batch):
    """0.10 remembers no leader over a restart: "on initialisation of a follower, the follower will truncate"."""
    two = broker("kafka-0.10", node=2, batches=[batch(0, 1, 70), batch(1, 1, 71)], hw=1)
    two.told(1, 1, 3)

    assert two.done(Truncate) == [Truncate(T, 1)]


# High watermark over role changes


def test_a_new_leader_takes_over_the_high_watermark_it_knew_as_a_follower(replica):
    two = replica()
    two.told(1, 1, 3)
    two.step(2, FetchResponse(1, T, two.replica.following.in_flight, [], 1, 1))
    assert two.replica.hw == 1

    two.told(3, 2, 4)
    assert two.replica.hw == 1
