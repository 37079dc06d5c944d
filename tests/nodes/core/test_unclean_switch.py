"""An operator allows unclean elections and forbids them (IncrementalAlterConfigs): when somebody is elected, and who hears."""

import pytest

from tidemark.nodes.core.controller.kraft import UNCLEAN_INTERVAL_US
from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import AllowUnclean, LeaderAndIsr, Reassign

T = "t-0"
MS = 1_000
AT_ONCE = ("kafka-2.1", "kafka-2.7", "kafka-3.7+elect-when-allowed")
LATER = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-3.7", "kafka-4.0")


def allow(c, now, *, on=True):
    return c.step(now * MS, AllowUnclean(0, on))


@pytest.fixture
def headless(controller):
    """Broker 1 was alone in the ISR and is gone; 2 is there."""

    def start(variant):
        c = controller(variant, min_isr=1)
        c.lapse_in_turn()
        c.back(3_300 * MS, 2)
        assert c.state.leader == -1
        return c

    return start


def leaders(c):
    return [(leader, how, clean) for leader, _, _, _, how, clean, _ in c.elected]


@pytest.mark.parametrize("variant", AT_ONCE)
def test_where_nobody_leads_it_elects_at_once(headless, variant):
    c = headless(variant)
    allow(c, 3_400)

    assert c.traced("unclean-switch") == [(True,)]
    assert leaders(c) == [(2, "unclean", False)]


@pytest.mark.parametrize("variant", LATER)
def test_or_when_another_broker_comes(headless, variant):
    c = headless(variant)
    allow(c, 3_400)
    assert c.elected == []

    c.back(3_500 * MS, 3)
    assert leaders(c) == [(2, "unclean", False)]


@pytest.mark.parametrize("variant", ["kafka-3.7", "kafka-4.0"])
def test_kraft_looks_every_five_minutes(headless, variant):
    c = headless(variant)
    c.beat(UNCLEAN_INTERVAL_US - 200 * MS, 2)
    c.step(UNCLEAN_INTERVAL_US - 150 * MS, AllowUnclean(0, on=True))
    c.tick(UNCLEAN_INTERVAL_US - 100 * MS)
    assert c.elected == []

    c.tick(UNCLEAN_INTERVAL_US)
    assert leaders(c) == [(2, "unclean", False)]


def test_counted_from_when_a_controller_took_over(headless):
    c = headless("kafka-4.0")
    allow(c, 3_400)
    c.step(4_000 * MS, ControllerFailed())
    c.step(5_000 * MS, ControllerElected())
    c.beat(UNCLEAN_INTERVAL_US, 2)
    c.tick(UNCLEAN_INTERVAL_US)
    assert c.elected == []

    c.beat(UNCLEAN_INTERVAL_US + 4_900 * MS, 2)
    c.tick(UNCLEAN_INTERVAL_US + 5_000 * MS)
    assert leaders(c) == [(2, "unclean", False)]


@pytest.mark.parametrize("variant", [*AT_ONCE, *LATER])
def test_once_forbidden_nobody_is_elected_any_more(headless, variant):
    c = headless(variant)
    c.lapse(4_500 * MS, 2)
    allow(c, 4_600)
    allow(c, 4_700, on=False)
    assert c.traced("unclean-switch") == [(False,)]

    c.back(4_800 * MS, 3)
    c.back(4_900 * MS, 2)
    assert c.elected == []
    c.back(5_000 * MS, 1)
    assert [(leader, clean) for leader, _, clean in leaders(c)] == [(1, True)]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-4.0"])
def test_to_set_it_to_what_it_is_changes_nothing(headless, variant):
    c = headless(variant)

    assert allow(c, 3_400, on=False) == []


def test_kraft_before_3_9_does_not_heed_it(headless):
    c = headless("kafka-3.7+no-heed-unclean")
    allow(c, 3_400)
    c.back(3_500 * MS, 3)

    assert c.elected == []


def test_a_controller_with_zookeeper_that_comes_later_goes_by_it(headless):
    c = headless("kafka-2.7")
    c.step(3_350 * MS, ControllerFailed())
    allow(c, 3_400)
    assert c.traced("unclean-switch") == [(True,)]
    assert c.elected == []

    c.step(3_500 * MS, ControllerElected())
    assert leaders(c) == [(2, "unclean", False)]


def test_with_kraft_nobody_takes_the_order_meanwhile(headless):
    c = headless("kafka-4.0")
    c.step(3_350 * MS, ControllerFailed())

    assert allow(c, 3_400) == []


def test_a_reassignment_may_be_taken_back_uncleanly_only_while_it_is_allowed(controller):
    c = controller("kafka-4.0", brokers=(1, 2, 3, 4), min_isr=1)
    c.reassign(100 * MS, 2, 3, 4)
    c.alter(200 * MS, (1, 2, 4))
    for now, broker in ((1_300, 1), (2_500, 2)):
        c.lapse(now * MS, broker)
    assert c.state.isr == (4,)
    order = Reassign(0, T, ())

    assert "unclean election" in c.controller.refuses(order)
    allow(c, 2_600)
    assert c.controller.refuses(order) == ""


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11"])
def test_with_zookeeper_brokers_hear_of_it(headless, broker, variant):
    c = headless(variant)
    allow(c, 3_400)
    told = c.sent(LeaderAndIsr, to=2)
    assert [(sent.settings, sent.unclean) for sent in told] == [(1, True)]

    two = broker(variant, node=2)
    assert not two.broker.unclean
    two.step(0, told[0])
    assert two.broker.unclean
