"""A Raft server's members come and go by entries of its log, one at a time (Ongaro's dissertation, 4.1 and 4.2)."""

import pytest

from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import Reassign
from tidemark.nodes.families import family_of, parse_variant
from tidemark.nodes.families.raft.configurations import members_of, written
from tidemark.nodes.families.raft.messages import AppendEntries, AppendResponse
from tidemark.nodes.families.voting.messages import VoteRequest, VoteResponse

T = "t-0"
CHANGING = "raft+membership-change"


def leader(alone, variant=CHANGING, size=3):
    """Server 1 leads term 1, and nobody has its first entry yet."""
    server = alone(variant, vote=(0, -1), size=size)
    server.now += 2_000_000
    server.tell(TimerFired("tick"))
    for voter in range(2, size + 1):
        server.tell(VoteResponse(voter, T, 1, granted=True))
    assert server.replica.leading
    return server


def answers(server, *followers):
    """These have all of its log."""
    for source in followers:
        asked = server.replica._followers[source].asked
        server.tell(AppendResponse(source, T, server.replica.generation, True, server.replica.log.leo, asked))


def wants(server, *members):
    return server.tell(Reassign(0, T, members))


def appended(members, generation=1, base=1, hw=0):
    return AppendEntries(2, T, generation, base, 0, [Batch(base, generation, (written(members, generation),))], hw, 9)


def test_nothing_begins_before_an_entry_of_the_own_term_is_committed(alone):
    server = leader(alone)
    assert wants(server, 1, 2) == []

    answers(server, 2, 3)
    wants(server, 1, 2)
    assert server.replica.members == (1, 2)


def test_the_mutant_begins_at_once(alone):
    server = leader(alone, CHANGING + "+change-at-once")
    wants(server, 1, 2)

    assert server.replica.members == (1, 2)


def test_a_new_server_has_what_is_committed_before_it_is_a_member(alone):
    server = leader(alone)
    answers(server, 2, 3)
    (sent,) = wants(server, 1, 2, 4)
    assert isinstance(sent, AppendEntries)
    assert server.replica.members == (1, 2, 3)

    answers(server, 4)
    assert server.replica.members == (1, 2, 3, 4)
    assert server.replica.settled == (1, 2, 3)


def test_one_change_at_a_time_and_four_need_three(alone):
    server = leader(alone)
    answers(server, 2, 3)
    wants(server, 1, 2, 4)
    answers(server, 4)
    answers(server, 4)
    assert server.replica.settled == (1, 2, 3)

    answers(server, 2)
    assert server.replica.settled == (1, 2, 3, 4)
    wants(server, 1, 2, 4)
    assert server.replica.members == (1, 2, 4)


def test_a_leader_that_takes_itself_away_counts_others_and_resigns(alone):
    server = leader(alone)
    answers(server, 2, 3)
    wants(server, 2, 3)
    answers(server, 2)
    assert server.replica.settled == (1, 2, 3)

    answers(server, 3)
    assert server.replica.settled == (2, 3)
    server.tell(TimerFired("tick"))
    assert not server.replica.leading


def test_a_configuration_counts_from_when_it_is_in_the_log_and_no_longer(alone):
    server = alone(CHANGING, log=[(0, 0, (7,))])
    server.tell(appended((1, 2, 3, 4)))
    assert (server.replica.members, server.replica.majority) == ((1, 2, 3, 4), 3)

    server.tell(AppendEntries(3, T, 2, 1, 0, [Batch(1, 2, (-3,))], 0, 9))
    assert (server.replica.members, server.replica.majority) == ((1, 2, 3), 2)


def test_what_recovery_found_counts(alone):
    assert alone(CHANGING, log=[(0, 1, (written((1, 3), 1),))]).replica.members == (1, 3)


def test_who_is_left_out_by_an_entry_that_is_not_committed_stands_and_needs_the_others_votes(alone):
    """A hunt of half an hour found a group that had no leader any more: who had the longest log did not stand."""
    server = alone(CHANGING, log=[(0, 1, (written((2, 3, 4), 1),))], vote=(1, -1))
    server.now += 9_000_000
    asked = server.tell(TimerFired("tick"))
    assert {one.source for one in asked if isinstance(one, VoteRequest)} == {1}
    assert server.replica.standing

    server.tell(VoteResponse(2, T, server.replica.generation, granted=True))
    assert not server.replica.leading
    server.tell(VoteResponse(3, T, server.replica.generation, granted=True))
    assert server.replica.leading


def test_who_is_left_out_does_not_stand_once_it_knows_that_to_be_committed(alone):
    server = alone(CHANGING, log=[(0, 0, (7,))])
    server.tell(appended((2, 3), hw=2))
    server.now += 9_000_000
    server.tell(TimerFired("tick"))

    assert server.replica.hw == 2
    assert not server.replica.standing


def test_who_is_no_member_does_not_stand_and_an_empty_one_gives_no_vote(alone):
    server = alone(CHANGING, node_id=4)
    server.now += 9_000_000

    assert server.tell(TimerFired("tick")) == []
    (answer,) = server.tell(VoteRequest(2, T, 5, 4, 9))
    assert not answer.granted
    assert server.replica.generation == 0


@pytest.mark.parametrize(("silent_us", "generation"), [(0, 1), (1_000_000, 7)])
def test_a_server_that_has_left_does_not_disturb_those_that_hear_a_leader(alone, silent_us, generation):
    server = alone(CHANGING, log=[(0, 0, (7,))])
    server.tell(appended((1, 2)))
    server.now += silent_us
    server.tell(VoteRequest(3, T, 7, 6, 99))

    assert server.replica.generation == generation


def test_the_term_of_one_that_has_left_ends_no_reign(alone):
    server = leader(alone)
    answers(server, 2, 3)
    wants(server, 1, 2)
    server.tell(AppendResponse(3, T, 9, False, 0, 1))

    assert server.replica.leading


def test_without_the_modifier_there_is_no_member_where_there_is_no_replica():
    variant = parse_variant("raft")

    assert not family_of(variant).changes_members
    assert "reassignment" in family_of(variant).not_suffered
    assert "reassignment" in family_of(parse_variant(CHANGING)).counterparts


def test_an_entry_names_its_servers():
    assert members_of(written((4, 1), 3)) == (1, 4)
    assert members_of(-1 - 3) == ()
