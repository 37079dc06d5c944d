"""What a follower does with a batch that does not fit: alone from KIP-461 on (2.3), with its whole fetcher thread before."""

import pytest

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.events import Started, TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import EpochRequest, FetchRequest, FetchResponse, LeaderAndIsr, Registered
from tidemark.nodes.core.recovery import Recovered
from tidemark.nodes.core.roles import Role
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant

ONE, OTHER = "t-0", "t-1"


class TwoPartitions:
    """Broker 1 with two partitions and no logs."""

    def __init__(self, variant):
        self.broker = Broker(1, 1, parse_variant(variant), Settings(), Recovered({}))
        self.epochs = {ONE: -1, OTHER: -1}
        self.step(0, Started())
        self.step(0, Registered(0, 1, 11))

    def step(self, now, event):
        self.did = list(self.broker.step(now, event))
        return self.did

    def asked(self):
        """(partition, leader) of every request to a leader in the last step."""
        return [
            (a.message.partition, a.to)
            for a in self.did
            if isinstance(a, Send) and isinstance(a.message, FetchRequest | EpochRequest)
        ]

    def follow(self, partition, leader):
        self.epochs[partition] += 1
        epoch = self.epochs[partition]
        self.step(10, LeaderAndIsr(0, partition, leader, epoch, (1, 2, 3), epoch, (1, 2, 3), 11, (1, 2, 3)))
        return self.asked()

    def misfit(self, partition):
        """The leader's answer begins before the end of the log."""
        following = self.broker.replicas[partition].following
        batches = [Batch(0, self.epochs[partition], (1, 2)), Batch(1, self.epochs[partition], (3,))]
        self.step(20, FetchResponse(following.leader, partition, following.in_flight, batches, 0, 8))

    def roles(self):
        return {name: replica.role for name, replica in self.broker.replicas.items()}


def test_a_batch_that_does_not_fit_is_not_asked_for_again():
    b = TwoPartitions("kafka-2.7")
    b.follow(ONE, 2)
    b.misfit(ONE)
    assert [a[2] for a in b.did if isinstance(a, tuple)] == ["fetched", "out-of-order"]

    b.step(10_000_000, TimerFired("tick"))
    assert b.asked() == []
    assert b.follow(ONE, 2) == [(ONE, 2)]


def test_other_partitions_go_on_since_kip_461():
    b = TwoPartitions("kafka-2.1+partition-failure")
    b.follow(ONE, 2)
    b.follow(OTHER, 2)
    b.misfit(ONE)

    assert b.roles() == {ONE: Role.FAILED, OTHER: Role.FETCHING}


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_before_all_partitions_of_the_leader_stop(variant):
    b = TwoPartitions(variant)
    b.follow(ONE, 2)
    b.follow(OTHER, 2)
    b.misfit(ONE)
    assert b.roles() == {ONE: Role.FAILED, OTHER: Role.FAILED}

    b.step(10_000_000, TimerFired("tick"))
    assert b.asked() == []


def test_partitions_of_another_leader_go_on():
    b = TwoPartitions("kafka-2.1")
    b.follow(ONE, 2)
    b.follow(OTHER, 3)
    b.misfit(ONE)

    assert b.roles() == {ONE: Role.FAILED, OTHER: Role.FETCHING}


def test_a_dead_thread_is_not_begun_anew_by_a_newer_epoch_of_its_leader():
    b = TwoPartitions("kafka-2.1")
    b.follow(ONE, 2)
    b.misfit(ONE)

    assert b.follow(ONE, 2) == []
    assert b.roles() == {ONE: Role.FAILED}


def test_a_dead_thread_without_partitions_is_removed():
    b = TwoPartitions("kafka-2.1")
    b.follow(ONE, 2)
    b.follow(OTHER, 2)
    b.misfit(ONE)
    assert b.follow(ONE, 3) == [(ONE, 3)]
    assert b.follow(ONE, 2) == []
    assert b.follow(ONE, 3) == [(ONE, 3)]

    assert b.follow(OTHER, 3) == [(OTHER, 3)]
    assert b.follow(ONE, 2) == [(ONE, 2)]
