"""The simulated network: what the faults on a link do to a message."""

from random import Random

import pytest

from tidemark.harness.simulator.network import CLIENTS_FROM, NetworkFaults
from tidemark.nodes.core.messages import (
    AlterPartition,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
)

WORD = LeaderAndIsr(0, "t-0", 1, 0, (1,), 0, (1, 2), 1)
OTHER = Heartbeat(1, 1)
LOST = -1


@pytest.fixture
def faults():
    return NetworkFaults(Random("links"))


def judged(faults, source, to, message=OTHER, times=300):
    """The distinct fates of that many messages."""
    return {faults.judge(source, to, message) for _ in range(times)}


def test_without_faults_nothing_happens(faults):
    assert judged(faults, 1, 2) == {0}


def test_a_cut_link_loses_everything_in_its_direction(faults):
    faults.add(1, ((1, 2),), "cut", 0)

    assert judged(faults, 1, 2) == {LOST}
    assert judged(faults, 2, 1) == {0}
    assert judged(faults, 1, 3) == {0}


def test_a_slow_link_takes_up_to_so_much_longer(faults):
    faults.add(1, ((1, 2),), "slow", 1_000)
    delays = judged(faults, 1, 2)

    assert min(delays) < 50
    assert 950 < max(delays) < 1_000


@pytest.mark.parametrize(("amount", "fewest", "most"), [(0, 0, 0), (200, 120, 280), (1000, 1000, 1000)])
def test_a_lossy_link_loses_so_many_per_mille(faults, amount, fewest, most):
    faults.add(1, ((1, 2),), "lossy", amount)
    lost = sum(faults.judge(1, 2, OTHER) == LOST for _ in range(1000))

    assert fewest <= lost <= most


def test_leadership_messages_can_be_lost_alone(faults):
    faults.add(1, ((0, 2),), "lost-leadership", 0)

    assert judged(faults, 0, 2, WORD) == {LOST}
    assert judged(faults, 0, 2) == {0}
    assert judged(faults, 0, 3, WORD) == {0}


def test_leadership_messages_can_be_late_alone_and_out_of_order(faults):
    faults.add(1, ((0, 2),), "late-leadership", 1_000)
    delays = [faults.judge(0, 2, WORD) for _ in range(100)]

    assert delays != sorted(delays)
    assert all(0 <= delay < 1_000 for delay in delays)
    assert judged(faults, 0, 2) == {0}


OF_CONTROLLER = {
    "isr-changes": (AlterPartition(1, "t-0", 0, 0, ((1, 1),), 1, 1), AlterPartitionResponse(0, "t-0", 1, 0, (1,), 1)),
    "heartbeats": (Heartbeat(1, 1), HeartbeatReply(0, may_stop=False)),
    "registrations": (Register(1, 1, -1), Registered(0, 1, 1)),
}


@pytest.mark.parametrize("what", OF_CONTROLLER)
@pytest.mark.parametrize("how", ["late", "lost"])
def test_each_talk_with_the_controller_can_be_disturbed_alone_and_one_way(faults, what, how):
    def fates():
        return [
            judged(faults, source, to, message) - {0}
            for requests in OF_CONTROLLER.values()
            for (source, to), message in zip([(1, 0), (0, 1)], requests, strict=True)
        ]

    place = 2 * list(OF_CONTROLLER).index(what)
    for links, hit in ((((1, 0), (0, 1)), {place, place + 1}), (((1, 0),), {place}), (((0, 1),), {place + 1})):
        faults.add(1, links, f"{how}-{what}", 1_000)
        told = fates()
        assert {i for i, found in enumerate(told) if found} == hit
        assert all((found == {LOST}) == (how == "lost") and max(found) < 1_000 for found in told if found)


def test_a_link_with_several_faults_suffers_all_of_them(faults):
    faults.add(1, ((1, 2),), "slow", 1_000)
    faults.add(2, ((1, 2),), "slow", 1_000)
    assert max(judged(faults, 1, 2)) > 1_100

    faults.add(3, ((1, 2),), "cut", 0)
    assert judged(faults, 1, 2) == {LOST}


def test_taking_one_fault_off_leaves_the_others(faults):
    faults.add(1, ((1, 2),), "cut", 0)
    faults.add(2, ((1, 2),), "cut", 0)
    faults.remove(1)
    assert judged(faults, 1, 2) == {LOST}

    faults.remove(2)
    assert judged(faults, 1, 2) == {0}


def test_taking_off_what_is_not_there_is_no_error(faults):
    faults.remove(9)

    assert faults.rules == {}


def test_all_clients_are_one_end_of_a_link(faults):
    faults.add(1, ((1, -1), (-1, 1)), "cut", 0)

    one, other, third = (client * CLIENTS_FROM + 1 for client in (1, 2, 3))
    assert judged(faults, one, 1) == judged(faults, other, 1) == judged(faults, 1, third) == {LOST}
    assert judged(faults, one, 2) == {0}
