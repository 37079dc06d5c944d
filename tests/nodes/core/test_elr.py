"""Eligible leader replicas and the last known leader (KIP-966; docs/protocol.md, "Controller")."""

from functools import partial

import pytest

from tidemark.nodes.core.messages import Elect

T = "t-0"
MS = 1_000


def test_the_elr_is_empty_while_the_isr_is_large_enough(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)

    assert (c.state.isr, c.state.elr) == ((1, 2), ())


def without_isr(controller, variant="kafka-4.0", **settings):
    """All have gone, 3 first, 1 last: with ELR the ISR is () and the ELR (1, 2)."""
    c = controller(variant, min_isr=2, **settings)
    for now, broker in ((1_001, 3), (2_100, 2), (3_200, 1)):
        c.lapse(now * MS, broker)
    return c


@pytest.fixture(scope="session")
def no_isr(controller):
    return partial(without_isr, controller)


def test_who_leaves_an_isr_that_is_then_below_min_isr_stays_eligible(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    c.lapse(3_200 * MS, 1)
    assert (c.state.isr, c.state.elr) == ((), (1, 2))
    assert c.elected == [(-1, 1, (), (1, 2), "offline", True, 3)]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7", "kafka-4.0+no-elr"])
def test_without_elr_the_last_member_stays_in_the_isr(no_isr, variant):
    c = no_isr(variant)

    assert (c.state.isr, c.state.elr) == ((1,), ())


def test_an_eligible_replica_that_returns_leads_alone(no_isr):
    c = no_isr()
    c.back(3_300 * MS, 2)

    assert c.elected == [(2, 2, (2,), (1,), "online", True, 4)]


def test_one_that_is_not_eligible_does_not(no_isr):
    c = no_isr()
    c.back(3_300 * MS, 3)

    assert c.elected == []


def test_a_clean_restart_keeps_a_replica_eligible(no_isr):
    c = no_isr()
    c.come(3_300 * MS, 2, proof=2)

    assert c.elected == [(2, 2, (2,), (1,), "online", True, 4)]


def test_an_unclean_restart_does_not(no_isr):
    c = no_isr()
    c.come(3_300 * MS, 2)

    assert c.traced("isr-change") == [((), (1,), 4)]
    assert c.elected == []


def test_while_there_is_an_isr_an_eligible_replica_cannot_be_made_leader(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    c.back(2_200 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    assert c.step(2_300 * MS, Elect(0, T, "forced", 2)) == []


def test_the_elr_is_emptied_when_the_isr_has_grown_again(no_isr):
    c = no_isr()
    c.back(3_300 * MS, 2)
    c.back(3_400 * MS, 3)
    response = c.alter(3_500 * MS, (2, 3), source=2)

    assert response.error is None
    assert (c.state.isr, c.state.elr) == ((2, 3), ())


def test_a_member_of_the_isr_is_never_in_the_elr(no_isr):
    c = no_isr()
    c.back(3_300 * MS, 2)
    c.back(3_400 * MS, 1)
    c.lapse(4_500 * MS, 1)

    assert (c.state.isr, c.state.elr) == ((2,), (1,))


def test_who_was_fenced_out_of_a_large_isr_and_restarts_uncleanly_is_in_neither(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    c.come(2_200 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), ())


def test_an_operators_unclean_election_empties_the_elr(no_isr):
    c = no_isr()
    c.back(3_300 * MS, 3)
    c.step(3_400 * MS, Elect(0, T, "unclean", 3))

    assert c.elected == [(3, 2, (3,), (), "unclean", False, 4)]


# Nobody is eligible: the last known leader


def nobody_eligible(no_isr, variant="kafka-4.0", **settings):
    """ISR and ELR are empty: 2 restarted uncleanly, and so did 1, the last leader, which was fenced again at once."""
    c = no_isr(variant, **settings)
    c.register(3_300 * MS, 2, 2)
    c.register(3_300 * MS, 1, 2)
    assert (c.state.leader, c.state.isr, c.state.elr) == (-1, (), ())
    return c


def test_the_last_known_leader_leads_when_it_returns(no_isr):
    """Seen on 4.1.1."""
    c = nobody_eligible(no_isr)
    c.beat(3_400 * MS, 1)

    assert c.elected == [(1, 2, (1,), (), "last-known", False, 6)]


def test_while_it_is_away_nobody_leads(no_isr):
    c = nobody_eligible(no_isr)
    c.beat(3_400 * MS, 2, 3)

    assert c.elected == []
    assert c.state.leader == -1


def test_it_comes_before_an_unclean_election(no_isr):
    """``PartitionChangeBuilder.electAnyLeader``. ZooKeeper's controller sees all three come back at one look."""
    c = no_isr("kafka-2.7+elr", replicas=(3, 1, 2), unclean_election=True)
    c.come(3_300 * MS, 1, 2, 3)

    assert [(leader, isr, how, clean) for leader, _, isr, _, how, clean, _ in c.elected] == [
        (1, (1,), "last-known", False)
    ]


def test_only_where_it_is_allowed_another_one_leads_while_it_is_away(no_isr):
    c = nobody_eligible(no_isr, unclean_election=True)
    c.beat(3_400 * MS, 2)

    assert [(leader, isr, how, clean) for leader, _, isr, _, how, clean, _ in c.elected] == [
        (2, (2,), "unclean", False)
    ]


def test_with_kafka_19522_it_leads_though_it_is_fenced(no_isr):
    c = no_isr("kafka-4.0+KAFKA-19522")
    c.register(3_300 * MS, 2, 2)
    assert c.elected == []

    c.register(3_300 * MS, 1, 2)
    assert not c.live(1)
    assert [(leader, isr, how, clean) for leader, _, isr, _, how, clean, _ in c.elected] == [
        (1, (1,), "last-known", False)
    ]


def test_but_not_while_somebody_is_eligible(no_isr):
    c = no_isr("kafka-4.0+KAFKA-19522")
    c.back(3_300 * MS, 3)

    assert c.elected == []
