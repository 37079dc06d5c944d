"""What the controller makes of an ISR that a leader proposes (KIP-497, KIP-841, KIP-903; docs/protocol.md, "Controller")."""

import pytest

from tidemark.nodes.core.events import ControllerFailed
from tidemark.nodes.core.messages import AlterPartition, AlterPartitionResponse, LeaderAndIsr

T = "t-0"
MS = 1_000


def test_a_leaders_proposal_is_committed(either):
    c = either()
    response = c.alter(1, (1, 2))

    assert response.error is None
    assert (response.isr, response.partition_epoch) == ((1, 2), 1)
    assert c.traced("isr-change") == [((1, 2), (), 1)]
    assert c.stands == (1, 0, (1, 2), 1)


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
def test_a_stale_proposal_is_refused_with_the_committed_state(either, kwargs, error):
    c = either()
    response = c.alter(1, (1, 2), **kwargs)

    assert (response.error, response.isr, response.partition_epoch) == (error, (1, 2, 3), 0)
    assert c.stands == (1, 0, (1, 2, 3), 0)
    assert c.sent(LeaderAndIsr) == []


def test_an_answer_repeats_the_number_of_its_proposal(either):
    assert either().alter(1, (1, 2)) == AlterPartitionResponse(0, T, 9, 0, (1, 2), 1)


def third_fenced(controller, variant):
    c = controller(variant)
    c.lapse(1_001 * MS, 3)
    return c


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "INELIGIBLE_REPLICA")])
def test_from_3_7_a_fenced_replica_does_not_join(controller, variant, error):
    """KAFKA-13916, KIP-841."""
    c = third_fenced(controller, variant)

    assert c.alter(1_100 * MS, (1, 2, 3)).error == error


def test_nor_does_one_that_is_about_to_stop(controller):
    c = controller("kafka-3.7")
    c.beat(1, 1, shutting_down=True)

    assert c.alter(2, (2, 3, 1), source=2).error == "INELIGIBLE_REPLICA"


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "INELIGIBLE_REPLICA")])
def test_from_3_7_an_older_incarnation_does_not_join(controller, variant, error):
    """KAFKA-14139, KIP-903: broker 3 came back with broker epoch 4; the fetch that the proposal rests on was of epoch 3."""
    c = third_fenced(controller, variant)
    c.come(1_100 * MS, 3)

    assert c.alter(1_200 * MS, (1, 2, 3), epochs={3: 3}).error == error


@pytest.mark.parametrize("epoch", [4, -1])
def test_the_current_incarnation_does_and_so_does_one_that_is_not_named(controller, epoch):
    c = third_fenced(controller, "kafka-3.7")
    c.come(1_100 * MS, 3)

    assert c.alter(1_200 * MS, (1, 2, 3), epochs={3: epoch}).error is None


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", None), ("kafka-3.7", "STALE_BROKER_EPOCH")])
def test_from_3_7_a_proposal_of_an_older_incarnation_of_the_leader_is_refused(controller, variant, error):
    assert controller(variant).alter(1, (1, 2), broker_epoch=7).error == error


def test_while_there_is_no_controller_nobody_answers(either):
    c = either()
    c.step(1, ControllerFailed())

    assert c.step(2, AlterPartition(1, T, 0, 0, ((1, 1), (2, 2)), 1, 9)) == []
    assert c.stands == (1, 0, (1, 2, 3), 0)
