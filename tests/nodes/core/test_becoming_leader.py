"""What a leader begins with, and what it keeps when it is elected again (docs/protocol.md, "High watermark, ISR, acks")."""

import pytest

from tidemark.nodes.core.actions import WriteEpochs
from tidemark.nodes.core.broker import PUBLISH
from tidemark.nodes.core.messages import FENCED_LEADER_EPOCH, FetchResponse, LeaderAndIsr, ProduceResponse

T = "t-0"


def test_a_new_leader_assigns_its_epoch_at_its_log_end(leader):
    one = leader()

    assert one.replica.cache.entries() == ((4, 0), (5, 2))
    assert WriteEpochs(T, ((4, 0), (5, 2))) in one.did


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.1+KAFKA-7415"])
def test_before_kafka_7415_it_does_so_at_its_first_append(leader, variant):
    one = leader(variant)
    assert one.replica.cache.entries() == ((4, 0),)

    one.produced(1, 72)
    assert one.replica.cache.entries() == ((4, 0), (5, 2))


def test_0_10_keeps_no_epochs(leader):
    one = leader("kafka-0.10")
    one.produced(1, 72)

    assert one.replica.cache.entries() == ()
    assert one.done(WriteEpochs) == []


def test_a_new_leader_keeps_its_high_watermark(leader):
    one = leader(hw=1)

    assert one.traced("lead") == [(5, 2, 1, (1, 2, 3))]
    assert one.traced("hw") == []


def test_a_lone_isr_member_commits_its_log_on_becoming_leader(leader):
    one = leader(isr=(1,), min_isr=1)

    assert one.traced("hw") == [(2, 5, True)]


# Elected while it leads in its own eyes


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7", "kafka-3.7", "kafka-4.0"])
@pytest.mark.parametrize("epoch", [6, 7])
def test_who_is_elected_while_it_leads_goes_on_with_the_log_ends_it_knows(leader, variant, epoch):
    """``Replica.resetReplicaState(isNewLeader = false)``: broker 2 may have cut its log in a reign that this leader missed."""
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, epoch, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=epoch)

    assert one.replica.hw == 2


@pytest.mark.parametrize("variant", ["kafka-2.7+forget-log-ends", "kafka-3.7+forget-log-ends"])
def test_who_forgets_them_waits_until_all_fetch_in_the_new_epoch(leader, variant):
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 7, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=7)
    assert one.replica.hw == 0

    one.fetched_by(4, 2, 2, epoch=7)
    assert one.replica.hw == 2


def test_who_followed_between_knows_no_log_ends(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.told(2, 2, 6)
    one.lead(3, 7, (1, 2, 3))
    one.fetched_by(4, 3, 2, epoch=7)

    assert one.replica.hw == 0


def test_a_producer_waits_on_when_its_leader_leads_on(leader):
    one = leader()
    one.produced(1, 7)
    one.lead(2, 6, (1, 2, 3))
    assert one.sent(ProduceResponse) == []

    one.fetched_by(3, 2, 3, epoch=6)
    one.fetched_by(4, 3, 3, epoch=6)
    assert [answer.error for answer in one.sent(ProduceResponse)] == [None]


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.0", None), ("kafka-2.1", FENCED_LEADER_EPOCH)])
def test_a_fetch_of_the_last_epoch_that_waits_is_fenced_where_there_are_fences(leader, variant, error):
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 6, (1, 2, 3))

    assert [answer.error for answer in one.sent(FetchResponse)] == ([error] if error else [])


def test_a_broker_that_reads_a_metadata_log_acts_on_the_last_state_only(leader):
    one = leader("kafka-3.7")
    for version, (at, led, epoch) in enumerate([(1, 2, 6), (2, 1, 7)], start=20):
        one.step(at, LeaderAndIsr(0, T, led, epoch, (1, 2, 3), version, (1, 2, 3), 11, (1, 2, 3)))
        assert one.did == ([PUBLISH] if at == 1 else [])
    assert one.replica.leader_epoch == 5

    one.step(3, PUBLISH.event)
    assert [(one.replica.leader_epoch, one.replica.leader)] == [(7, 1)]
    assert one.traced("follow") == []
    assert [fields[0] for fields in one.traced("lead")] == [7]


def test_of_two_states_the_newer_counts_in_whatever_order_they_are_found(leader):
    one = leader("kafka-3.7")
    for led, epoch, version in ((3, 7, 21), (2, 6, 20)):
        one.step(1, LeaderAndIsr(0, T, led, epoch, (1, 2, 3), version, (1, 2, 3), 11, (1, 2, 3)))
    one.step(2, PUBLISH.event)

    assert [fields[:2] for fields in one.traced("follow")] == [(7, 3)]


def test_the_same_epoch_again_forgets_nothing(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 5, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=5)

    assert one.replica.hw == 2
