"""An operator switches ELR off and on (UpdateFeatures): what the controller forgets, and what it takes for the last leader."""

import pytest

from tidemark.nodes.core.messages import SwitchElr

MS = 1_000
KAFKAS, SAFE = "kafka-4.0", "kafka-4.0+safe-elr-switch"


@pytest.fixture
def switched(controller):
    """A controller of a variant, and how its ELR is switched: ``switch(500, on=False)``."""

    def start(variant):
        c = controller(variant, min_isr=2)

        def switch(now, *, on):
            c.step(now * MS, SwitchElr(0, on))

        return c, switch

    return start


def test_it_is_told_and_nothing_changes_at_once(switched):
    c, switch = switched(KAFKAS)
    switch(500, on=False)

    assert c.traced("elr-switch") == [(False,)]
    assert c.traced("isr-change") == c.elected == []


def test_to_switch_it_to_what_it_is_changes_nothing(switched):
    c, switch = switched(KAFKAS)
    switch(500, on=True)

    assert c.did == []


def test_who_has_no_elr_has_nothing_to_switch(switched):
    c, switch = switched("kafka-3.7")
    switch(500, on=False)
    switch(600, on=True)

    assert c.did == []
    c.lapse_in_turn()
    assert c.state.isr == (1,)


def test_while_it_is_off_the_last_member_stays_in_the_isr(switched):
    c, switch = switched(KAFKAS)
    switch(500, on=False)
    c.lapse_in_turn()

    assert (c.state.leader, c.state.isr, c.state.elr) == (-1, (1,), ())


@pytest.mark.parametrize(("variant", "elr", "leader"), [(KAFKAS, (), -1), (SAFE, (1, 2), 1)])
def test_when_it_is_off_somebody_else_s_return_takes_the_elr_away(switched, variant, elr, leader):
    c, switch = switched(variant)
    c.lapse_in_turn()
    assert (c.state.isr, c.state.elr) == ((), (1, 2))

    switch(3_300, on=False)
    c.back(3_400 * MS, 3)
    assert (c.state.leader, c.state.elr) == (-1, elr)
    c.back(3_500 * MS, 1)
    c.back(3_600 * MS, 2)
    assert c.state.leader == leader


def test_who_is_eligible_and_back_first_leads_also_when_it_is_off(switched):
    c, switch = switched(KAFKAS)
    c.lapse_in_turn()
    switch(3_300, on=False)
    c.back(3_400 * MS, 2)

    assert (c.state.leader, c.state.isr, c.state.elr) == (2, (2,), ())


@pytest.mark.parametrize(("variant", "leader"), [(KAFKAS, -1), (SAFE, 1)])
def test_when_it_is_on_again_nobody_knows_who_led_last(switched, variant, leader):
    c, switch = switched(variant)
    switch(500, on=False)
    c.lapse_in_turn()
    switch(3_300, on=True)
    assert c.state.isr == (1,)

    c.register(3_400 * MS, 1, 2)
    assert (c.state.isr, c.state.elr) == ((), ())
    c.beat(3_450 * MS, 1)
    assert c.state.leader == leader


def test_who_has_shut_down_cleanly_is_eligible_then(switched):
    c, switch = switched(KAFKAS)
    switch(500, on=False)
    c.lapse_in_turn()
    switch(3_300, on=True)

    c.register(3_400 * MS, 1, 2, c.controller.sessions[1].broker_epoch)
    assert (c.state.isr, c.state.elr) == ((), (1,))
    c.beat(3_450 * MS, 1)
    assert c.state.leader == 1


@pytest.mark.parametrize(("variant", "leader"), [(KAFKAS, 1), (SAFE, 2)])
def test_a_leader_of_long_ago_is_taken_for_the_last(switched, variant, leader):
    c, switch = switched(variant)
    c.lapse_in_turn()
    switch(3_300, on=False)
    c.back(3_400 * MS, 2)
    c.back(3_500 * MS, 3)
    c.alter(3_600 * MS, (2, 3), source=2)
    switch(3_700, on=True)
    c.lapse(4_600 * MS, 3)
    c.lapse(5_700 * MS, 2)
    assert (c.state.leader, c.state.isr, c.state.elr) == (-1, (), (2, 3))

    for now, broker in ((5_800, 1), (5_900, 2), (6_000, 3)):
        c.come(now * MS, broker)
    assert (c.state.leader, c.state.elr) == (leader, ())
