"""A broker whose replica a reassignment takes away, and a leader whose followers come and go (docs/protocol.md)."""

import pytest

from tidemark.nodes.core.actions import Delete, WriteHighWatermarks
from tidemark.nodes.core.broker import PUBLISH
from tidemark.nodes.core.messages import FetchResponse, LeaderAndIsr, ProduceResponse, StateTaken

T = "t-0"
MS = 1_000


@pytest.fixture
def two(broker, batch):
    """Broker 2 has two records, and follows broker 1 in epoch 5."""

    def start(variant, **kwargs):
        found = broker(variant, node=2, batches=[batch(0, 4, 70), batch(1, 4, 71)], hw=1, **kwargs)
        found.told(1, 1, 5)
        return found

    return start


def answers(one, to):
    """(error, values) of the fetch responses to a broker."""
    return [(m.error, [v for b in m.batches for v in b.values]) for m in one.sent(FetchResponse, to=to)]


# Removed


def test_with_a_metadata_log_a_broker_that_is_no_replica_any_more_deletes_its_log(two):
    b = two("kafka-3.7")
    b.told(2, 1, 6, (1, 3), replicas=(1, 3, 4))

    assert T not in b.broker.replicas
    assert b.done(Delete) == [Delete(T)]
    assert b.done(WriteHighWatermarks) == [WriteHighWatermarks({})]
    assert b.traced("removed") == [(2, 5)]


@pytest.mark.parametrize("epoch", [5, 7])
def test_an_answer_to_the_replica_that_was_deleted_is_none_to_the_next_one(two, batch, epoch):
    """Found by a hunt of half an hour on the repaired preset: it took records from offset 2 on into its empty log."""
    b = two("kafka-3.7")
    asked = b.replica.following.in_flight
    b.told(2, 1, 6, (1, 3), replicas=(1, 3, 4))
    b.told(3, 3, epoch + 2, (1, 3), replicas=(1, 2, 3))
    b.step(4, FetchResponse(1, T, asked, [batch(2, 5, 72)], 2, 3))

    assert b.replica.following.in_flight > asked
    assert b.replica.log.leo == 0


def test_it_acts_on_the_last_state_only_and_keeps_the_log_if_it_is_a_replica_again_by_then(two):
    b = two("kafka-3.7")
    for version, replicas in ((7, (1, 3, 4)), (8, (1, 2, 3))):
        b.step(2, LeaderAndIsr(0, T, 1, version, (1, 3), version, replicas, 12, replicas))
    b.step(3, PUBLISH.event)

    assert b.traced("removed") == []
    assert b.replica.log.leo == 2
    assert b.replica.leader_epoch == 8


def test_with_zookeeper_it_waits_until_it_is_asked_to(two):
    b = two("kafka-2.7")
    b.told(2, 3, 6, (3, 4), replicas=(1, 3, 4))
    assert (b.replica.leader, b.replica.leader_epoch) == (1, 5)
    assert b.broker.leaders[T] == 3

    b.told(3, 3, 6, (3, 4), replicas=(1, 3, 4), delete=True)
    assert T not in b.broker.replicas
    assert b.done(Delete) == [Delete(T)]


def test_with_zookeeper_it_ignores_such_a_request_of_the_epoch_it_knows(two):
    """KIP-570: so a replica to come stays when a reassignment is taken back."""
    b = two("kafka-2.7")
    b.told(2, 1, 5, (1, 3), replicas=(1, 3), delete=True)

    assert b.replica.log.leo == 2
    assert b.done(Delete) == []


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7"])
def test_a_leader_that_is_removed_answers_all_who_wait(leader, variant):
    one = leader(variant, hw=2)
    one.fetched_by(1, 2, 2, 5, last=5, correlation=3)
    one.fetched_by(1, 3, 2, 5, last=5, correlation=4)
    one.produced(2, 72, correlation=9)
    one.fetched_by(3, 2, 3, 5, last=5, correlation=5)
    one.told(4, 2, 6, (2, 3, 4), replicas=(2, 3, 4), delete=True)

    assert T not in one.broker.replicas
    assert answers(one, 2) == [("NOT_LEADER_OR_FOLLOWER", [])]
    assert [(m.correlation, m.error) for m in one.sent(ProduceResponse)] == [(9, "REQUEST_TIMED_OUT")]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7"])
def test_who_is_asked_about_it_afterwards_is_no_leader(two, variant):
    b = two(variant)
    b.told(2, 3, 6, (3, 4), replicas=(1, 3, 4), delete=True)
    b.fetched_by(3, 3, 0, 6)

    assert answers(b, 3) == [("NOT_LEADER_OR_FOLLOWER", [])]


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_one_that_is_a_replica_again_begins_with_nothing(two, variant):
    b = two(variant)
    b.told(2, 1, 6, (1, 3), replicas=(1, 3, 4), delete=True)
    b.told(3, 1, 7, (1, 3), replicas=(1, 2, 3))

    assert (b.replica.log.leo, b.replica.hw, b.replica.cache.entries()) == (0, 0, ())
    assert b.traced("follow") == [(7, 1, 0, 0)]


def test_other_partitions_are_fetched_on(two):
    """The fetcher thread of a leader goes when the last partition does (KIP-461's threads)."""
    b = two("kafka-2.1")
    b.broker.dead_fetchers.add(1)
    b.told(2, 1, 6, (1, 3), replicas=(1, 3, 4), delete=True)

    assert b.broker.dead_fetchers == set()


# Removed while it was away


def test_with_a_metadata_log_a_log_that_is_found_at_the_start_and_not_wanted_is_deleted(broker, batch):
    b = broker("kafka-3.7", node=2, batches=[batch(0, 4, 70)], hw=1)
    b.told(1, 1, 6, (1, 3), replicas=(1, 3, 4))

    assert b.done(Delete) == [Delete(T)]
    assert b.traced("removed") == [(1, -1)]


def test_with_zookeeper_it_stays_and_loses_its_high_watermark(broker, batch):
    b = broker("kafka-2.7", node=2, batches=[batch(0, 4, 70)], hw=1)
    b.told(1, 1, 6, (1, 3), replicas=(1, 3, 4))
    assert b.did == []
    assert b.replica.log.leo == 1

    b.tick(1_000 * MS)
    assert b.done(WriteHighWatermarks) == [WriteHighWatermarks({T: 0})]


def test_and_is_what_the_replica_begins_with_when_it_is_one_again(broker, batch):
    b = broker("kafka-2.7", node=2, batches=[batch(0, 4, 70)], hw=1)
    b.told(1, 1, 6, (1, 3), replicas=(1, 3, 4))
    b.told(2, 1, 7, (1, 3), replicas=(1, 2, 3))

    assert b.traced("follow") == [(7, 1, 1, 0)]
    assert b.records() == [(4, 70)]


# A leader and its followers


@pytest.mark.parametrize(
    ("variant", "error"),
    [
        ("kafka-0.10", "NOT_LEADER_OR_FOLLOWER"),
        ("kafka-0.11", "NOT_LEADER_OR_FOLLOWER"),
        ("kafka-3.7", "UNKNOWN_LEADER_EPOCH"),
        ("kafka-4.0", "UNKNOWN_LEADER_EPOCH"),
    ],
)
def test_a_fetch_by_someone_who_is_no_replica_is_refused(leader, variant, error):
    one = leader(variant)
    one.fetched_by(1, 7, 0, epoch=5)

    assert answers(one, 7) == [(error, [])]


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.1", "kafka-2.7"])
def test_from_1_0_to_3_2_it_waits_and_is_answered_then(leader, variant):
    """KAFKA-13837."""
    one = leader(variant, isr=(1,), min_isr=1)
    one.fetched_by(1, 7, 0, epoch=5)
    one.produced(2, 72)
    assert answers(one, 7) == []
    one.tick(200 * MS)
    assert answers(one, 7) == []

    one.tick(300 * MS)
    assert answers(one, 7) == [(None, [70, 71, 72])]


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.7"])
def test_and_does_not_count(leader, variant):
    one = leader(variant, isr=(1, 2))
    one.fetched_by(1, 7, 2, epoch=5)

    assert one.proposed() == []
    assert 7 not in one.replica.leading.remotes
    assert one.replica.hw == 0


def test_a_fetch_of_another_epoch_is_fenced_whoever_it_is_from(leader):
    one = leader("kafka-2.7")
    one.fetched_by(1, 7, 0, epoch=6)

    assert answers(one, 7) == [("UNKNOWN_LEADER_EPOCH", [])]


def test_one_that_waits_when_the_leader_resigns_is_told_so(leader):
    one = leader("kafka-2.7")
    one.fetched_by(1, 7, 0, epoch=5)
    one.told(2, 2, 6)

    assert answers(one, 7) == [("NOT_LEADER_OR_FOLLOWER", [])]


def test_or_fenced_when_it_leads_on_in_another_epoch(leader):
    one = leader("kafka-2.7")
    one.fetched_by(1, 7, 0, epoch=5)
    one.lead(2, 6)

    assert answers(one, 7) == [("FENCED_LEADER_EPOCH", [])]


def test_with_kraft_a_leader_knows_a_new_replica_from_a_newer_state_of_its_epoch(leader):
    one = leader("kafka-3.7")
    one.fetched_by(1, 2, 2, 5, last=4)
    one.told(2, 1, 5, replicas=(1, 2, 3, 4))
    one.fetched_by(3, 4, 0, epoch=5)

    assert answers(one, 4) == [(None, [70, 71])]
    assert one.replica.leading.remotes[2].leo == 2


def test_a_new_replica_that_has_everything_is_proposed(leader):
    one = leader("kafka-3.7")
    one.told(1, 1, 5, replicas=(1, 2, 3, 4))
    one.fetched_by(2, 4, 2, 5, last=4)

    assert one.proposed() == [(1, 2, 3, 4)]


def test_a_high_watermark_waits_for_no_replica_that_is_gone(leader):
    """With ZooKeeper the ISR may name one for a moment: the new replicas are told before the new ISR."""
    one = leader("kafka-2.7")
    one.fetched_by(1, 3, 2, 5, last=4)
    one.told(2, 1, 6, (1, 2, 3), replicas=(1, 3, 4))

    assert one.replica.hw == 2


def test_a_member_of_the_isr_that_is_no_replica_is_out_of_sync(leader):
    one = leader("kafka-2.7")
    one.fetched_by(1, 3, 2, 5, last=4)
    one.told(2, 1, 6, (1, 2, 3), replicas=(1, 3, 4))
    one.fetched_by(700 * MS, 3, 2, 6, last=4)
    one.tick(800 * MS)

    assert one.proposed() == [(1, 3)]


def test_with_kafka_9672_nobody_is(leader):
    one = leader("kafka-2.7+KAFKA-9672")
    one.told(2, 1, 6, (1, 2, 3), replicas=(1, 3, 4))
    one.tick(2_000 * MS)
    one.tick(4_000 * MS)

    assert one.proposed() == []


def test_and_without_it_the_others_are_looked_at_too(leader):
    one = leader("kafka-2.7")
    one.told(2, 1, 6, (1, 2, 3), replicas=(1, 3, 4))
    one.tick(2_000 * MS)

    assert one.proposed() == [(1,)]


# Word of a time at which it was one (ZooKeeper; docs/findings/late-leadership-after-removal.md)


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7"])
def test_a_late_copy_of_an_old_request_makes_a_removed_replica_lead_again_with_an_empty_log(two, variant):
    """Whoever deletes a partition forgets its leader epoch (``HostedPartition.None``): nothing is older than nothing."""
    b = two(variant)
    old = LeaderAndIsr(0, T, 2, 6, (2,), 6, (2,), 12, (2,), correlation=7)
    b.step(2, old)
    b.told(3, 3, 8, (3,), replicas=(3,), delete=True)
    b.step(4, old)

    assert b.replica.leading
    assert (b.replica.leader_epoch, b.replica.leo) == (6, 0)


def test_one_that_still_knows_its_leader_epoch_ignores_it(two):
    b = two("kafka-2.7")
    old = LeaderAndIsr(0, T, 2, 6, (2,), 6, (2,), 12, (2,), correlation=7)
    b.step(2, old)
    b.told(3, 3, 8, (3,), replicas=(2, 3))
    b.step(4, old)

    assert (b.replica.leader, b.replica.leader_epoch) == (3, 8)


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7"])
def test_what_an_earlier_controller_decided_is_refused_once_a_later_one_was_heard(two, variant):
    b = two(variant)
    old = LeaderAndIsr(0, T, 2, 6, (2,), 6, (2,), 12, (2,), correlation=7, controller_epoch=1)
    b.step(2, LeaderAndIsr(0, T, 3, 8, (3,), 8, (3,), 12, (3,), correlation=8, delete=True, controller_epoch=2))
    b.step(3, old)

    assert T not in b.broker.replicas
    assert b.sent(StateTaken) == [StateTaken(2, 7)], "it is answered all the same"
