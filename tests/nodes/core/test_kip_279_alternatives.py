"""KIP-279's rejected alternatives, with the numbers of its own examples, and its claims about rounds and sizes."""

from typing import NamedTuple

import pytest

from tidemark.nodes.core.epoch_cache import EpochCache, EpochEnd
from tidemark.nodes.core.truncation import RULES, Question
from tidemark.nodes.core.truncation.lineage import NONE_KNOWN


class Replica(NamedTuple):
    """A log as a rule sees it: (epoch, start offset) pairs, log end and high watermark."""

    epochs: tuple
    leo: int
    hw: int
    answers: int = 0

    @property
    def latest_epoch(self):
        return self.epochs[-1][0] if self.epochs else -1

    def end_offset_for(self, epoch):
        return EpochCache(self.epochs).end_offset_for(epoch, self.leo)


N = 15
A = Replica(((1, 0), (3, 21)), leo=31, hw=21)
"""Scenario 1, step 3: offsets 0 to 20 are of epoch 1, 21 to 30 of epoch 3."""
B = Replica(((1, 0), (2, 11)), leo=N + 1, hw=11)
"""0 to 10 are of epoch 1, 11 to n of epoch 2."""
UNCLEAN_A = Replica(((0, 0), (2, 1)), leo=2, hw=2)
"""The unclean example: a0 of epoch 0, a1 of epoch 2; min ISR is 1, so both are committed."""
UNCLEAN_B = Replica(((1, 0), (3, 1)), leo=2, hw=2)


def rounds(rule, follower, leader):
    """What a follower asks and is told until it fetches, and where it has cut to."""
    log, told = follower, []
    step = RULES[rule].on_new_leader(log)
    while True:
        if step.cut is not None and step.cut < log.leo:
            log = log._replace(
                leo=step.cut, hw=min(log.hw, step.cut), epochs=tuple(e for e in log.epochs if e[1] < step.cut)
            )
        if not step.ask:
            return told, log.leo
        question = RULES[rule].question(log)
        answer = RULES[rule].leaders_answer(leader, question)
        told.append((question, answer))
        log = log._replace(answers=log.answers + 1)
        step = RULES[rule].on_answer(log, answer)


# Clean elections: scenario 1


def test_alternative_2_sends_both_epochs_and_is_told_11():
    """ "(leader epoch 1, offset 11), (leader epoch 2, offset n+1)"; "min(its own end offset … = 21, followers … = 11) = 11"."""
    (told,), cut = rounds("lineage", B, A)

    assert told == (Question(2, (EpochEnd(1, 11), EpochEnd(2, N + 1))), EpochEnd(1, 11))
    assert cut == 11


def test_alternative_1_needs_a_second_round_where_the_proposal_needs_one():
    assert [(question.epoch, answer) for question, answer in rounds("unknown-epoch", B, A)[0]] == [
        (2, (1, 21)),
        (1, (1, 21)),
    ]
    assert [(question.epoch, answer) for question, answer in rounds("kip279", B, A)[0]] == [(2, (1, 21))]


@pytest.mark.parametrize("rule", ["kip279", "unknown-epoch", "lineage", "hw-epoch"])
def test_all_of_them_cut_to_11(rule):
    assert rounds(rule, B, A)[1] == 11


def test_kip_101_does_not():
    assert rounds("kip101", B, A)[1] == N + 1


def test_the_alternative_for_clean_elections_asks_about_the_epoch_of_the_high_watermark():
    ((question, answer),), _ = rounds("hw-epoch", B, A)

    assert (question, answer) == (Question(1), EpochEnd(1, 21))


# Unclean elections: three fast leader changes


def test_alternative_2_needs_as_many_rounds_as_the_proposal():
    """ "this alternative requires 2 roundtrips, which is the same for the proposed solution"."""
    assert len(rounds("lineage", UNCLEAN_A, UNCLEAN_B)[0]) == len(rounds("kip279", UNCLEAN_A, UNCLEAN_B)[0]) == 2


def test_its_first_round_is_about_what_lies_above_the_high_watermark_its_second_about_everything():
    questions = [question.lineage for question, _ in rounds("lineage", UNCLEAN_A, UNCLEAN_B)[0]]

    assert questions == [(EpochEnd(2, 2),), (EpochEnd(0, 1), EpochEnd(2, 2))]


def test_exhausted_it_cuts_to_the_high_watermark_which_is_not_0_by_the_pages_own_steps():
    """ "Broker A will truncate to its HW which is offset 0", though in step 3 "HW=2"."""
    told, cut = rounds("lineage", UNCLEAN_A, UNCLEAN_B)

    assert [answer for _, answer in told] == [NONE_KNOWN, NONE_KNOWN]
    assert cut == 2
    assert rounds("kip279", UNCLEAN_A, UNCLEAN_B)[1] == 0


@pytest.mark.parametrize(("rule", "most"), [("lineage", 2), ("kip279", 3), ("unknown-epoch", 4)])
def test_with_one_step_more_alternative_2_needs_fewer_rounds(rule, most):
    """ "To get the advantage of less roundtrips, the scenario above shoud add one more" step: here the logs part after epoch 0."""
    follower = Replica(((0, 0), (1, 1), (3, 2), (5, 3)), leo=4, hw=4)
    leader = Replica(((0, 0), (2, 1), (4, 2), (6, 3)), leo=4, hw=4)
    told, cut = rounds(rule, follower, leader)

    assert (len(told), cut) == (most, 1)


# Sizes


def bits(question):
    """What alternative 2 adds; the page: "minimum 64bits …, and maximum … 160bits".

    An epoch is an INT32, an offset an INT64; the epoch that is asked for anyway is not counted.
    """
    return 32 * (len(question.lineage) - 1) + 64 * len(question.lineage)


def test_alternative_2_adds_64_to_160_bits_to_a_request():
    no_change = Replica(((1, 0),), leo=21, hw=11)

    assert bits(RULES["lineage"].question(no_change)) == 64
    assert bits(RULES["lineage"].question(B)) == 160


# What a leader cannot answer


@pytest.mark.parametrize("rule", ["unknown-epoch", "lineage", "hw-epoch"])
def test_a_leader_without_epochs_sends_the_follower_to_its_high_watermark(rule):
    assert rounds(rule, B, Replica((), leo=31, hw=21))[1] == B.hw


@pytest.mark.parametrize("rule", ["lineage", "hw-epoch"])
def test_a_follower_without_epochs_cuts_to_its_high_watermark_and_asks_nothing(rule):
    assert rounds(rule, Replica((), leo=16, hw=11), A) == ([], 11)


def test_a_high_watermark_below_all_records_is_cut_to():
    assert rounds("hw-epoch", B._replace(hw=0), A) == ([], 0)


def test_a_client_that_asks_for_an_epoch_is_answered_as_ever():
    assert RULES["lineage"].leaders_answer(A, Question(2)) == EpochEnd(1, 21)
