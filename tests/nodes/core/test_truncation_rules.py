"""What each rule says to a follower, step by step (docs/protocol.md), and the seed's cases A to G with both sides' caches."""

from typing import NamedTuple

import pytest

from tidemark.nodes.core.epoch_cache import EpochCache, EpochEnd
from tidemark.nodes.core.truncation import RULES, Question

UNDEFINED = EpochEnd(-1, -1)


class View(NamedTuple):
    """A follower's log as a rule sees it."""

    entries: tuple = ((0, 0), (2, 4), (4, 6))
    leo: int = 8
    hw: int = 3
    answers: int = 1

    @property
    def epochs(self):
        return self.entries

    @property
    def latest_epoch(self):
        return EpochCache(self.entries).latest

    def end_offset_for(self, epoch):
        return EpochCache(self.entries).end_offset_for(epoch, self.leo)


def said(rule, *answer, view=View()):  # noqa: B008 - immutable
    """What the rule makes of an answer: where to cut, and whether to ask again."""
    step = RULES[rule].on_answer(view, EpochEnd(*answer))
    return step.cut, step.ask


# At the election


def test_hw_cuts_to_the_own_high_watermark():
    step = RULES["hw"].on_new_leader(View())

    assert (step.cut, step.ask, step.why) == (3, False, "to high watermark")


@pytest.mark.parametrize("rule", ["kip101", "kip279"])
def test_the_epoch_rules_ask(rule):
    step = RULES[rule].on_new_leader(View())

    assert (step.cut, step.ask) == (None, True)


@pytest.mark.parametrize("rule", ["kip101", "kip279", "fetch"])
def test_without_epochs_all_cut_to_the_own_high_watermark(rule):
    step = RULES[rule].on_new_leader(View(entries=()))

    assert (step.cut, step.ask) == (3, False)


def test_truncation_on_fetch_does_nothing_before_the_first_fetch():
    step = RULES["fetch"].on_new_leader(View())

    assert (step.cut, step.ask) == (None, False)


def test_only_truncation_on_fetch_names_the_epoch_in_fetches():
    assert {name for name, rule in RULES.items() if rule.epoch_in_fetch} == {"fetch"}


@pytest.mark.parametrize("rule", ["hw", "fetch"])
@pytest.mark.parametrize("entries", [(), View().entries])
def test_a_rule_that_never_asks_does_not_ask_at_the_election(rule, entries):
    assert RULES[rule].asks is False
    assert RULES[rule].on_new_leader(View(entries)).ask is False


# What else depends on the rule


def test_only_those_that_cut_to_the_high_watermark_keep_no_epochs():
    caches = {name: rule.epoch_cache(((1, 0), (3, 5)), epoch_on_lead=True).entries() for name, rule in RULES.items()}

    assert [name for name, rule in RULES.items() if not rule.keeps_epochs] == ["hw", "log-end"]
    noted = ((1, 0), (3, 5))
    assert caches == {name: () if name in {"hw", "log-end"} else noted for name in RULES}


@pytest.mark.parametrize("rule", ["kip101", "kip279", "fetch"])
@pytest.mark.parametrize(("epoch_on_lead", "below_the_first"), [(False, (-1, -1)), (True, (0, 0))])
def test_before_kafka_7415_every_rule_has_the_first_epoch_cache(rule, epoch_on_lead, below_the_first):
    """KIP-279's rule was released with it, in 2.0.0."""
    cache = RULES[rule].epoch_cache(((1, 0), (3, 5)), epoch_on_lead=epoch_on_lead)

    assert cache.end_offset_for(0, 9) == below_the_first


@pytest.mark.parametrize(
    ("rule", "answer"), [("hw", (2, 5)), ("kip101", (-1, 5)), ("kip279", (2, 5)), ("fetch", (2, 5))]
)
def test_only_a_leader_of_kip101_tells_an_offset_without_its_epoch(rule, answer):
    assert RULES[rule].leaders_answer(View(entries=((0, 0), (2, 3), (4, 5))), Question(3)) == answer


# KIP-101: one round, offsets only


@pytest.mark.parametrize(
    ("offset", "cut"),
    [
        pytest.param(-1, 3, id="undefined: to the high watermark"),
        pytest.param(9, 8, id="above the log's end: keep everything"),
        pytest.param(8, 8, id="at the log's end: keep everything"),
        pytest.param(7, 7, id="inside the log: cut there"),
        pytest.param(0, 0, id="at the start: cut everything"),
        pytest.param(2, 2, id="even below the high watermark"),
    ],
)
def test_kip101_compares_an_offset_with_the_log_end(offset, cut):
    assert said("kip101", -1, offset) == (cut, False)


# KIP-279: the steps in their order


def test_step_1_an_undefined_offset_cuts_to_the_high_watermark():
    assert said("kip279", -1, -1) == (3, False)


def test_step_1_comes_before_step_2_and_3():
    assert said("kip279", 2, -1) == (3, False)


@pytest.mark.parametrize(("offset", "cut"), [(5, 5), (9, 8)])
def test_step_2_an_answer_without_epoch_is_taken_as_kip101_takes_it(offset, cut):
    assert said("kip279", -1, offset) == (cut, False)


@pytest.mark.parametrize(("offset", "cut"), [(6, 6), (20, 8)])
def test_step_3_an_epoch_above_all_own_ones_cuts_to_the_leaders_offset(offset, cut):
    assert said("kip279", 5, offset) == (cut, False)


@pytest.mark.parametrize(
    ("epoch", "offset", "cut"),
    [
        pytest.param(3, 9, 6, id="epoch 2 is the floor of 3 and ends at 6"),
        pytest.param(3, 5, 6, id="whatever the leader's offset"),
        pytest.param(1, 5, 4, id="epoch 0 is the floor of 1 and ends at 4"),
    ],
)
def test_step_4_an_unknown_epoch_cuts_to_the_end_of_the_one_below_and_asks_again(epoch, offset, cut):
    assert said("kip279", epoch, offset) == (cut, True)


@pytest.mark.parametrize(
    ("epoch", "offset", "cut"),
    [
        pytest.param(2, 5, 5, id="the leader's end of the common epoch is lower"),
        pytest.param(2, 9, 6, id="the own end is lower"),
        pytest.param(4, 7, 7, id="the latest epoch"),
        pytest.param(4, 20, 8, id="the leader has more: nothing to cut"),
        pytest.param(0, 0, 0, id="nothing in common"),
    ],
)
def test_step_5_a_common_epoch_cuts_to_the_lower_end(epoch, offset, cut):
    assert said("kip279", epoch, offset) == (cut, False)


def test_step_5_an_epoch_below_all_own_ones_cuts_everything():
    assert said("kip279", 1, 3, view=View(entries=((2, 0), (4, 6)))) == (0, False)


@pytest.mark.parametrize(
    ("answer", "cut"), [((5, 6), 6), ((3, 9), 6), ((1, 5), 4), ((2, 5), 5), ((2, 9), 6), ((4, 20), 8)]
)
def test_truncation_on_fetch_cuts_alike_but_never_asks(answer, cut):
    assert said("fetch", *answer) == (cut, False)


def test_a_step_says_why():
    assert RULES["kip279"].on_answer(View(), EpochEnd(2, 5)).why == "to the end of common epoch 2"
    assert RULES["kip279"].on_answer(View(), EpochEnd(3, 5)).why == "to the end of local epoch 2"
    assert RULES["kip101"].on_answer(View(), EpochEnd(-1, 5)).why == "to the leader's offset 5"


# The seed's cases (kafka-log-divergence.md, 3.3): leader's cache and LEO, follower's cache and LEO

CASES = [
    pytest.param(((1, 0), (2, 4)), 4, ((1, 0),), 2, (1, 4), 2, id="A: behind in the same epoch"),
    pytest.param(((1, 0), (2, 2), (3, 4)), 4, ((1, 0),), 2, (1, 2), 2, id="B: behind by a whole epoch"),
    pytest.param(((1, 0), (2, 2)), 2, ((1, 0),), 4, (1, 2), 2, id="C: ahead in the same epoch"),
    pytest.param(((1, 0), (3, 2)), 2, ((1, 0), (2, 2)), 4, (1, 2), 2, id="D: ahead by a whole epoch"),
    pytest.param(((1, 0), (3, 2)), 4, ((1, 0), (2, 2)), 4, (1, 2), 2, id="E: forked, each with its own epoch"),
    pytest.param(((1, 0), (3, 2)), 2, ((1, 0), (2, 1)), 3, (1, 2), 1, id="F: forked, the leader's fork is epoch 1"),
    pytest.param(((1, 0), (3, 1)), 1, ((2, 0),), 2, (1, 1), 0, id="G: no epoch in common"),
]


@pytest.mark.parametrize("rule", ["kip279", "fetch"])
@pytest.mark.parametrize(("leader", "leader_leo", "follower", "leo", "answer", "cut"), CASES)
def test_a_case_of_the_seed(rule, leader, leader_leo, follower, leo, answer, cut):
    asked = follower[-1][0]
    assert EpochCache(leader).end_offset_for(asked, leader_leo) == answer

    assert said(rule, *answer, view=View(follower, leo, hw=0)) == (cut, False)


def test_kip_279_scenario_3_ends_with_an_undefined_or_a_zero_offset_either_way():
    """A has epochs 0 and 2, B leads epoch 3 with 1 and 3: two rounds, then nothing is left."""
    a, b = ((0, 0), (2, 1)), ((1, 0), (3, 1))
    first = EpochCache(b).end_offset_for(2, 2)
    assert first == (1, 1)
    assert said("kip279", *first, view=View(a, 2, hw=0)) == (1, True)

    second = EpochCache(b).end_offset_for(0, 2)
    assert second == (0, 0)
    assert said("kip279", *second, view=View(a[:1], 1, hw=0)) == (0, False)
    assert said("kip279", -1, -1, view=View(a[:1], 1, hw=0)) == (0, False)


def test_kip_279_scenario_1_where_kip101_keeps_what_diverged():
    """A: epoch 1 up to 21, epoch 3 up to 31. B: epoch 1 up to 11, epoch 2 up to 16."""
    answer = EpochCache(((1, 0), (3, 21))).end_offset_for(2, 31)
    b = View(((1, 0), (2, 11)), 16, hw=11)

    assert answer == (1, 21)
    assert said("kip101", -1, 21, view=b) == (16, False)
    assert said("kip279", *answer, view=b) == (11, False)
