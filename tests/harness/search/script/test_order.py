"""What may be told in another order, and what may not."""

from tidemark.harness.search.script.moment import Moment
from tidemark.harness.search.script.order import coalesced, eased

ELECT_B = Moment(10, ("elect B",), elects=True, epoch=1)
ELECT_A = Moment(11, ("elect A",), elects=True, epoch=2)
B_LEADS = Moment(12, shows="B leads epoch 1", node=2, hears=2, epoch=1)
C_FOLLOWS_B = Moment(13, shows="C follows B in epoch 1", node=3, hears=3, epoch=1)
A_LEADS = Moment(14, shows="A leads epoch 2", node=1, hears=1, epoch=2)
SEND = Moment(9, ("send m1 to A",))
A_HAS_IT = Moment(9, shows="A has LEO 1", node=1)
A_FOLLOWS_B = Moment(12, shows="A follows B in epoch 1", node=1, hears=1, epoch=1)
C_FETCHES = Moment(13, shows="C has LEO 1", node=3, fetches=True, pairs=frozenset({(3, 1)}))


def fetched(leo, node=3):
    return Moment(20, shows=f"C has LEO {leo}", node=node, fetches=True, pairs=frozenset({(3, 1)}))


def test_an_election_waits_until_somebody_hears_of_it():
    assert eased([ELECT_B, ELECT_A, B_LEADS, C_FOLLOWS_B, A_LEADS]) == [ELECT_B, B_LEADS, C_FOLLOWS_B, ELECT_A, A_LEADS]


def test_an_election_stays_where_the_next_is_decided_or_nobody_hears_of_it():
    assert eased([ELECT_B, ELECT_A, A_LEADS]) == [ELECT_B, ELECT_A, A_LEADS]
    assert eased([ELECT_B, SEND, A_HAS_IT]) == [ELECT_B, SEND, A_HAS_IT]


def test_a_fetch_that_was_under_way_arrives_before_its_leader_is_deposed():
    assert eased([SEND, A_HAS_IT, A_FOLLOWS_B, C_FETCHES]) == [SEND, A_HAS_IT, C_FETCHES, A_FOLLOWS_B]


def test_a_fetch_stays_behind_what_its_own_broker_did_and_behind_a_reign_that_it_belongs_to():
    cut = Moment(12, shows="C has LEO 0", node=3)
    assert eased([SEND, A_FOLLOWS_B, cut, C_FETCHES]) == [SEND, A_FOLLOWS_B, cut, C_FETCHES]
    in_epoch_2 = Moment(12, shows="C follows A in epoch 2", node=3, hears=3, epoch=2)
    assert eased([in_epoch_2, A_LEADS, C_FETCHES]) == [in_epoch_2, A_LEADS, C_FETCHES]


SEND_2 = Moment(15, ("send m2 to A",))
A_HAS_BOTH = Moment(15, shows="A has LEO 2", node=1)
B_FETCHES = Moment(10, shows="B has LEO 1", node=2, fetches=True, pairs=frozenset({(2, 1)}))
A_COMMITS = Moment(16, shows="A has HW 1", node=1, pairs=frozenset({(2, 1), (3, 1)}))


def test_what_a_record_has_no_part_in_comes_before_it_is_sent():
    told = [SEND, A_HAS_IT, B_FETCHES, SEND_2, A_HAS_BOTH, C_FETCHES, A_COMMITS]
    assert eased(told) == [SEND, A_HAS_IT, B_FETCHES, C_FETCHES, A_COMMITS, SEND_2, A_HAS_BOTH]


def test_an_answer_that_was_under_way_comes_before_its_leader_sleeps():
    pause = Moment(12, ("pause A",))
    assert eased([SEND, A_HAS_IT, pause, C_FETCHES]) == [SEND, A_HAS_IT, C_FETCHES, pause]


def test_what_a_record_is_needed_for_comes_after_it():
    both = Moment(16, shows="A has HW 2", node=1, pairs=frozenset({(2, 1), (3, 1)}))
    cut = Moment(15, shows="C has LEO 0", node=3)
    for told in (
        [SEND, A_HAS_IT, SEND_2, A_HAS_BOTH, fetched(2), both],
        [SEND, A_HAS_IT, SEND_2, cut, C_FETCHES],
        [SEND, A_HAS_IT, SEND_2, Moment(15, ("crash A",)), C_FETCHES],
    ):
        assert eased(told) == told


def test_log_ends_that_are_only_passed_are_left_out():
    assert coalesced([fetched(1), fetched(2)]) == [fetched(2)]


def test_log_ends_stay_before_a_cut_and_before_a_deed():
    cut = Moment(21, shows="C has LEO 0", node=3, pairs=frozenset({(3, 1)}))
    assert coalesced([fetched(1), cut]) == [fetched(1), cut]
    assert coalesced([fetched(1), SEND, fetched(2)]) == [fetched(1), SEND, fetched(2)]
