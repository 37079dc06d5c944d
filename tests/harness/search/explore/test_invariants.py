import pytest

from tidemark.harness.search.explore.invariants import DEFAULT, INVARIANTS


def broken(name, common, *places):
    return INVARIANTS[name].broken(common, places)


def test_weak_isr_is_about_the_leaders_own_isr(hand):
    lacks = hand.follower(3, (), 0)

    assert broken("WeakIsr", hand.common(), hand.leader(1, (0,), 1, (1, 2)), hand.follower(2, (0,), 0), lacks) == ""
    why = broken("WeakIsr", hand.common(), hand.leader(1, (0,), 1, (1, 2, 3)), hand.follower(2, (0,), 0), lacks)
    assert why == (
        "broker 3 of its own ISR has nothing at offset 0, where the other has a record of epoch 0: "
        "below the high watermark 1 of broker 1, which leads"
    )


def test_strong_isr_is_about_the_controllers_isr(hand):
    places = (hand.leader(1, (0,), 1, (1, 2)), hand.follower(2, (0,), 0), hand.follower(3, (), 0))

    assert broken("StrongIsr", hand.common(isr=(1, 2)), *places) == ""
    assert "broker 3 of the controller's ISR has nothing at offset 0" in broken("StrongIsr", hand.common(), *places)


def test_strong_isr_looks_at_everybody_who_thinks_that_it_leads(hand):
    zombie = hand.leader(1, (0,), 1, (1,))

    why = broken("StrongIsr", hand.common(leads=2, epoch=1, isr=(2,)), zombie, hand.leader(2, (1,), 0, (2,), epoch=1))

    assert "broker 2 of the controller's ISR has a record of epoch 1 at offset 0" in why


def test_what_lies_above_the_high_watermark_may_be_missing(hand):
    places = (hand.leader(1, (0, 0), 1, (1, 2)), hand.follower(2, (0,), 0), hand.follower(3, (0,), 0))

    assert broken("StrongIsr", hand.common(), *places) == ""


def test_logs_match_below_both_high_watermarks(hand):
    one, other = hand.leader(1, (0, 2), 2, (1, 2), epoch=2), hand.follower(2, (1, 2), 0, epoch=2)

    assert broken("LogMatchingHw", hand.common(), one, other) == ""
    assert "has a record of epoch 1 at offset 0" in broken(
        "LogMatchingHw", hand.common(), one, other._replace(replica=other.replica._replace(hw=1))
    )


def test_a_follower_that_has_fetched_is_the_beginning_of_its_leader(hand):
    leads = hand.leader(1, (0, 2), 0, (1, 2), epoch=2)

    assert broken("FollowerPrefix", hand.common(), leads, hand.follower(2, (0,), 0, epoch=2, established=True)) == ""
    assert broken("FollowerPrefix", hand.common(), leads, hand.follower(2, (1,), 0, epoch=2)) == ""
    assert broken("FollowerPrefix", hand.common(), leads, hand.follower(2, (1,), 0, epoch=1, established=True)) == ""
    assert "and has a record of epoch 0 at offset 0" in broken(
        "FollowerPrefix", hand.common(), leads, hand.follower(2, (1,), 0, epoch=2, established=True)
    )


def test_the_controllers_leader_is_in_its_isr_or_there_is_none():
    from tidemark.harness.search.explore.frozen import Common, ControllerState

    def state(leader):
        return Common(ControllerState(leader, 1, (2,), (), -1, (1, 2), (1, 1)), 0, 0, 0)

    assert broken("LeaderInIsrOrNone", state(2)) == ""
    assert broken("LeaderInIsrOrNone", state(-1)) == ""
    assert broken("LeaderInIsrOrNone", state(1)) == "the controller's leader 1 is not in its ISR"


def test_one_epoch_has_one_leader(hand):
    assert broken("OneLeader", hand.common(), hand.leader(1, (), 0, (1,)), hand.leader(2, (), 0, (2,), epoch=1)) == ""
    assert "both lead epoch 0" in broken(
        "OneLeader", hand.common(), hand.leader(1, (), 0, (1,)), hand.leader(2, (), 0, (2,))
    )


def test_a_high_watermark_lies_in_its_log(hand):
    assert broken("HwInLog", hand.common(), hand.leader(1, (0,), 1, (1,))) == ""
    assert "is beyond its log's end 0" in broken("HwInLog", hand.common(), hand.leader(1, (), 1, (1,)))


def test_who_leads_the_newest_epoch_has_what_was_committed(hand):
    old, new = hand.leader(1, (0,), 1, (1,)), hand.leader(2, (1,), 0, (2,), epoch=1)

    assert broken("LeaderCompleteness", hand.common(epoch=0, committed=(0,)), old, new) == ""
    assert "broker 2 leads epoch 1 without" in broken(
        "LeaderCompleteness", hand.common(epoch=1, committed=(0,)), old, new
    )


@pytest.mark.parametrize("name", DEFAULT)
def test_what_is_looked_at_without_a_word_needs_nothing_kept(name):
    assert INVARIANTS[name].needs == ""
