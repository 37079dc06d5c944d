"""Which ISR a leader proposes, and what it makes of the answer (KIP-497; docs/protocol.md, "High watermark, ISR, acks")."""

import pytest

from tidemark.nodes.core.messages import AlterPartition

T = "t-0"
MS = 1_000


# Expansion


def test_a_caught_up_follower_is_proposed(leader):
    one = leader(isr=(1, 3), hw=1)
    one.fetched_by(1, 2, 2, epoch=5)

    (proposal,) = one.sent(AlterPartition, to=0)
    assert (proposal.source, proposal.leader_epoch, proposal.partition_epoch, proposal.broker_epoch) == (1, 5, 0, 11)
    assert [b for b, _ in proposal.isr] == [1, 3, 2]
    assert one.traced("isr") == [((1, 3), (1, 3, 2), 0)]


def test_from_3_7_the_proposal_names_the_incarnation_that_fetched(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=5, broker_epoch=77)

    assert [m.isr[-1] for m in one.sent(AlterPartition)] == [(2, 77)]


def test_a_follower_below_the_high_watermark_is_not(leader):
    """Above the epoch's start, but broker 3 has committed one record more."""
    one = leader(isr=(1, 3))
    one.produced(1, 72)
    one.fetched_by(2, 3, 3, epoch=5)
    assert one.replica.hw == 3

    one.fetched_by(3, 2, 2, epoch=5)
    assert one.sent(AlterPartition) == []
    one.fetched_by(4, 2, 3, epoch=5)
    assert len(one.sent(AlterPartition)) == 1


@pytest.mark.parametrize(("variant", "joins"), [("kafka-2.7", False), ("kafka-2.7+KAFKA-7128", True)])
def test_nor_is_one_below_the_leaders_epoch_start(leader, variant, joins):
    """KAFKA-7128: at the high watermark 1, but epoch 5 begins at 2."""
    one = leader(variant, isr=(1, 3), hw=1)
    one.fetched_by(1, 2, 1, epoch=5)

    assert bool(one.sent(AlterPartition)) == joins


def test_one_change_is_in_flight_at_a_time(leader):
    one = leader(isr=(1,), min_isr=1)
    one.fetched_by(1, 2, 2, epoch=5)
    one.fetched_by(2, 3, 2, epoch=5)
    assert one.sent(AlterPartition) == []

    one.isr_answered(3, (1, 2), 1)
    one.fetched_by(4, 3, 2, epoch=5)
    assert one.proposed() == [(1, 2, 3)]


# Shrink


def test_a_follower_that_lags_too_long_is_put_out(leader):
    """Looked at every half lag time: 3 has had nothing since 0, which is not too long at 1.5 s, but is at 2.25 s."""
    one = leader()
    one.fetched_by(1_000 * MS, 2, 2, epoch=5)
    one.tick(1_500 * MS)
    assert one.sent(AlterPartition) == []
    one.tick(2_249 * MS)
    assert one.sent(AlterPartition) == []

    one.tick(2_250 * MS)
    assert one.proposed() == [(1, 2)]
    assert one.traced("isr") == [((1, 2, 3), (1, 2, 3), 0)]


def test_a_follower_at_the_log_end_stays_however_long_it_is_silent(leader):
    one = leader(isr=(1, 2))
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(9_000 * MS)

    assert one.sent(AlterPartition) == []


def test_a_follower_that_is_always_one_fetch_behind_counts_as_caught_up(leader):
    """It reached at each fetch what the log held at the one before; that fetch's time counts."""
    one = leader(isr=(1, 2))
    for n, now in enumerate(range(0, 8_000 * MS, 500 * MS)):
        one.produced(now, 72, acks="1")
        one.fetched_by(now + 1, 2, 2 + n, epoch=5)
        one.tick(now + 2)
        assert one.sent(AlterPartition) == []


def test_a_follower_that_fetches_without_ever_catching_up_is_put_out(leader):
    one = leader(isr=(1, 2))
    proposed = []
    for i, now in enumerate(range(0, 2_500 * MS, 500 * MS)):
        one.fetched_by(now, 2, 0 if i < 1 else 1, epoch=5)
        one.produced(now + 1, 72, acks="1")
        one.tick(now + 2)
        proposed += one.sent(AlterPartition)

    assert [[b for b, _ in m.isr] for m in proposed][:1] == [[1]]


def test_the_leader_never_puts_itself_out(leader):
    one = leader(isr=(1,), min_isr=1)
    one.tick(9_000 * MS)

    assert one.sent(AlterPartition) == []


# The answer


def test_a_proposal_is_repeated_until_it_is_answered(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    (proposal,) = one.sent(AlterPartition)
    one.tick(499 * MS)
    assert one.sent(AlterPartition) == []

    one.tick(500 * MS)
    assert one.sent(AlterPartition) == [proposal]


def test_a_committed_proposal_is_taken(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.isr_answered(1, (1, 3, 2), 1)

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.partition_epoch == 1
    one.tick(500 * MS)
    assert one.sent(AlterPartition) == []


@pytest.mark.parametrize("error", ["INELIGIBLE_REPLICA", "STALE_BROKER_EPOCH"])
def test_one_with_a_member_or_a_leader_that_is_not_eligible_is_given_up(leader, error):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.isr_answered(1, (1, 3), 0, error)

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3)
    assert one.replica.leading.pending is None


@pytest.mark.parametrize("error", ["INVALID_UPDATE_VERSION", "FENCED_LEADER_EPOCH"])
@pytest.mark.parametrize(("variant", "epoch"), [("kafka-2.7", 6), ("kafka-3.7", 5)])
def test_after_a_stale_proposal_the_high_watermark_waits_for_everybody_until_newer_state_comes(
    leader, variant, epoch, error
):
    """KAFKA-15353: what the controller holds is unknown, so nothing may be concluded from it."""
    one = leader(variant, isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.produced(1, 72)
    one.isr_answered(2, (1, 3), 7, error)
    one.fetched_by(3, 3, 3, epoch=5)
    assert one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.hw == 2

    one.lead(4, epoch, (1, 3), version=7)
    assert one.replica.leading.maximal == (1, 3)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            {"isr": (1, 3), "version": 0, "error": "INELIGIBLE_REPLICA", "correlation": 7}, id="another proposal"
        ),
        pytest.param({"isr": (1,), "version": 9, "epoch": 4}, id="another leader epoch"),
        pytest.param({"isr": (1,), "version": 0}, id="older than what is known"),
    ],
)
def test_an_answer_to_something_else_is_ignored(leader, answer):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.isr_answered(1, **answer)

    assert one.did == []
    assert one.replica.leading.isr == (1, 3)


def test_a_commit_is_adopted_though_another_copy_of_the_proposal_was_refused_first(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    number = one.replica.leading.pending.correlation
    one.isr_answered(1, (1, 3), 0, "INELIGIBLE_REPLICA")
    one.isr_answered(2, (1, 3, 2), 4, correlation=number)

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.partition_epoch == 4


@pytest.mark.parametrize("variant", ["kafka-2.1", "kafka-2.7", "kafka-3.7"])
def test_no_two_proposals_of_a_process_have_one_number(leader, variant):
    """An answer may come after its leader has been deposed, elected again, and has proposed something else."""
    one = leader(variant, isr=(1,), min_isr=1, hw=2)
    numbers = []
    for broker, isr in ((2, (1, 2)), (3, (1, 2, 3))):
        one.fetched_by(0, broker, 2, epoch=5)
        numbers += [m.correlation for m in one.sent(AlterPartition)]
        one.isr_answered(0, isr, one.replica.partition_epoch + 1)
    one.told(1, 2, 6, version=5)
    one.lead(2, 7, (1, 3), version=6)
    one.fetched_by(3, 2, 2, epoch=7)
    numbers += [m.correlation for m in one.sent(AlterPartition)]

    assert len(set(numbers)) == len(numbers) == 3


def test_a_newer_state_of_the_same_epoch_ends_the_proposal(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.lead(1, 5, (1,), version=1)

    assert one.traced("isr") == [((1,), (1,), 1)]
    assert one.replica.leading.pending is None


def test_the_next_proposal_builds_on_the_newer_state(leader):
    one = leader("kafka-3.7", isr=(1, 3), min_isr=1)
    one.lead(1, 5, (1,), version=4)
    one.fetched_by(2, 2, 2, epoch=5)

    assert [(m.partition_epoch, [b for b, _ in m.isr]) for m in one.sent(AlterPartition)] == [(4, [1, 2])]
