"""Who would stand for election asks first, and writes nothing (Ongaro's dissertation, 9.6)."""

import pytest

from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.families.raft.messages import AppendEntries, PreVoteRequest, PreVoteResponse
from tidemark.nodes.families.voting.messages import StandForElection, VoteRequest, VoteResponse

SESSION = 1_000_000


def later(server, us):
    """Time passes, and the server looks what is due."""
    server.now += us
    return server.tell(TimerFired("tick"))


def heartbeat(generation=3):
    return AppendEntries(2, "t-0", generation, 0, -1, [], 0, 1)


def test_without_a_leader_it_asks_and_its_term_stays(alone):
    server = alone("raft+pre-vote", vote=(3, -1))
    asked = later(server, 2 * SESSION)

    assert [type(message) for message in asked] == [PreVoteRequest, PreVoteRequest]
    assert {message.generation for message in asked} == {4}
    assert server.replica.generation == 3
    assert "WriteVote" not in server.order()


def test_it_stands_when_a_majority_would_vote_for_it(alone):
    server = alone("raft+pre-vote", vote=(3, -1))
    later(server, 2 * SESSION)
    asked = server.tell(PreVoteResponse(2, "t-0", 3, 4, granted=True))

    assert [type(message) for message in asked] == [VoteRequest, VoteRequest]
    assert server.replica.generation == 4


@pytest.mark.parametrize(("asked_for", "granted"), [(4, False), (5, True), (3, True)])
def test_a_no_or_an_answer_to_another_question_is_no_yes(alone, asked_for, granted):
    server = alone("raft+pre-vote", vote=(3, -1))
    later(server, 2 * SESSION)

    assert server.tell(PreVoteResponse(2, "t-0", 3, asked_for, granted)) == []


def would_vote(server, generation, last_generation=9, leo=9):
    (answer,) = server.tell(PreVoteRequest(3, "t-0", generation, last_generation, leo))
    return answer.granted


def test_who_hears_a_leader_says_no_until_it_is_silent(alone):
    server = alone("raft+pre-vote", vote=(3, -1))
    server.tell(heartbeat())
    assert not would_vote(server, 4)

    server.now += SESSION
    assert would_vote(server, 4)
    assert server.replica.generation == 3, "it was a question"


def test_a_log_that_is_behind_and_a_term_that_is_over_are_refused(alone):
    server = alone("raft+pre-vote", vote=(3, -1), log=[(0, 2, (7, 8))])

    assert would_vote(server, 4, 2, 2)
    assert not would_vote(server, 4, 2, 1)
    assert not would_vote(server, 3)


def test_what_an_operator_wants_is_not_asked_about(alone):
    server = alone("raft+pre-vote", vote=(3, -1))
    asked = server.tell(StandForElection("t-0"))

    assert {type(message) for message in asked} == {VoteRequest}


def test_a_leader_that_nobody_answers_resigns_in_its_own_term(alone):
    server = alone("raft+pre-vote")
    server.tell(StandForElection("t-0"))
    server.tell(VoteResponse(2, "t-0", server.replica.generation, granted=True))
    generation = server.replica.generation
    later(server, 2 * SESSION - 100_000)
    assert server.replica.leading

    later(server, 200_000)
    assert (server.replica.leading, server.replica.generation) == (False, generation)
