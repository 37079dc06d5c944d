"""An operator changes min ISR (IncrementalAlterConfigs): what the controller makes of it, and when a leader goes by it."""

import pytest

from tidemark.nodes.core.messages import AlterPartitionResponse, Elect, LeaderAndIsr, ProduceResponse, SetMinIsr

T = "t-0"
MS = 1_000


def without_isr(controller, variant):
    c = controller(variant, min_isr=2)
    c.lapse_in_turn()
    return c


def set_min_isr(c, now, min_isr):
    c.step(now * MS, SetMinIsr(0, min_isr))


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7", "kafka-4.0"])
def test_everybody_who_is_there_is_told(controller, variant):
    c = controller(variant, min_isr=2)
    set_min_isr(c, 500, 1)

    assert c.traced("min-isr") == [(1,)]
    told = [sent for sent in c.sent(LeaderAndIsr) if (sent.min_isr, sent.settings) == (1, 1)]
    assert len(told) == 3


def test_to_set_it_to_what_it_is_changes_nothing(controller):
    c = without_isr(controller, "kafka-4.0")
    set_min_isr(c, 3_300, 2)

    assert c.did == []
    assert c.state.elr == (1, 2)


def test_with_elr_the_controller_forgets_who_is_eligible(controller):
    c = controller("kafka-4.0", min_isr=2)
    c.lapse(1_001 * MS, 3)
    c.lapse(2_100 * MS, 2)
    assert (c.state.isr, c.state.elr) == ((1,), (2,))

    set_min_isr(c, 2_200, 3)
    assert (c.state.isr, c.state.elr) == ((1,), ())
    assert c.traced("isr-change") == [((1,), (), 3)]


def test_and_so_nobody_is_left_where_the_isr_is_empty(controller):
    c = without_isr(controller, "kafka-4.0")
    set_min_isr(c, 3_300, 1)
    assert (c.state.isr, c.state.elr, c.state.last_leader) == ((), (), -1)

    for now, broker in ((3_400, 1), (3_500, 2), (3_600, 3)):
        c.back(now * MS, broker)
        assert c.elected == []
    c.step(3_700 * MS, Elect(0, T, "unclean", 1))
    assert [(leader, clean) for leader, _, _, _, _, clean, _ in c.elected] == [(1, False)]


def test_repaired_it_keeps_who_is_eligible(controller):
    c = without_isr(controller, "kafka-4.0+min-isr-keeps-elr")
    set_min_isr(c, 3_300, 1)
    assert (c.state.isr, c.state.elr) == ((), (1, 2))

    c.back(3_400 * MS, 2)
    assert c.elected == [(2, 2, (2,), (), "online", True, 4)]


def test_without_elr_nothing_is_forgotten(controller):
    c = without_isr(controller, "kafka-3.7")
    set_min_isr(c, 3_300, 1)
    c.back(3_400 * MS, 1)

    assert [leader for leader, *_ in c.elected] == [1]


@pytest.mark.parametrize(("variant", "told"), [("kafka-4.0", (0, 0)), ("kafka-4.0+answers-tell-min-isr", (1, 1))])
def test_an_answer_to_an_isr_change_tells_of_it_where_the_variant_has_that(controller, variant, told):
    c = controller(variant, min_isr=2)
    set_min_isr(c, 500, 1)
    response = c.alter(600 * MS, (1, 2), source=1)

    assert isinstance(response, AlterPartitionResponse)
    assert (response.min_isr, response.settings) == told


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.7", "NOT_ENOUGH_REPLICAS"), ("kafka-3.7", None)])
def test_as_many_as_there_are_replicas_are_enough_since_kafka_15583(leader, variant, error):
    one = leader(variant, (1,), replicas=(1,), min_isr=2)
    one.produced(100 * MS, 7)

    assert [answer.error for answer in one.sent(ProduceResponse)] == [error]


def test_a_leader_goes_by_it_when_it_has_heard_of_it(leader):
    one = leader("kafka-4.0", (1, 2), min_isr=1)
    one.fetched_by(100 * MS, 2, 2, 5, 4)
    one.isr_answered(200 * MS, (1,), 1) if one.replica.leading.pending else one.told(200 * MS, 1, 5, (1,))
    assert one.replica.hw == 2

    state = LeaderAndIsr(0, T, 1, 5, (1,), 9, (1, 2, 3), 11, (1,), min_isr=2, settings=1)
    one.step(300 * MS, state)
    one.produced(400 * MS, 8)
    assert [answer.error for answer in one.sent(ProduceResponse)] == ["NOT_ENOUGH_REPLICAS"]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-4.0"])
def test_the_trace_tells_who_has_heard_of_how_many_changes(controller, leader, variant):
    c = controller(variant, min_isr=2)
    for number, (now, min_isr) in enumerate([(500, 1), (600, 2)], 1):
        set_min_isr(c, now, min_isr)
        assert c.traced("settings") == [(number,)]

    one = leader(variant, (1, 2), min_isr=2)
    heard = []
    for number in (2, 1, 2):
        one.step(700 * MS, LeaderAndIsr(0, T, 1, 5, (1, 2), 9, (1, 2, 3), 11, (1, 2), min_isr=2, settings=number))
        heard += one.traced("settings")
    assert heard == [(2,)]
