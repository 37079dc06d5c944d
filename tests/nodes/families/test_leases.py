"""A leader serves reads while nobody else can lead (Ongaro's dissertation, 6.4.1)."""

import pytest

from tidemark.nodes.core.messages import ConsumeRequest
from tidemark.nodes.families.raft.messages import (
    AppendEntries,
    AppendResponse,
    HandOver,
    PermittedVoteRequest,
    StandNow,
)
from tidemark.nodes.families.voting.messages import StandForElection, VoteRequest, VoteResponse

SESSION = 1_000_000


def reads(server):
    (answer,) = server.tell(ConsumeRequest(101, "t-0", 0, 1))
    return answer.error is None


def elected(alone, variant="raft+lease-reads"):
    server = alone(variant, incarnation=1)
    server.tell(StandForElection("t-0"))
    server.tell(VoteResponse(2, "t-0", server.replica.generation, granted=True))
    assert server.replica.leading
    return server


def answer(server, source=2):
    asked = server.replica._followers[source].asked
    server.tell(AppendResponse(source, "t-0", server.replica.generation, True, server.replica.log.leo, asked))


def test_a_new_leader_waits_until_an_entry_of_its_own_is_committed(alone):
    server = elected(alone)
    assert not reads(server)

    answer(server)
    assert reads(server)


def test_a_lease_begins_when_what_was_answered_was_sent_and_ends_a_session_later(alone):
    server = elected(alone)
    sent = server.replica._followers[2].sent_us
    server.now += SESSION // 2
    answer(server)
    server.now = sent + SESSION - 2_000
    assert reads(server)
    assert not reads(server), "a millisecond later the time is over"


def test_a_lease_is_shorter_by_as_much_as_clocks_may_differ(alone):
    server = elected(alone)
    server.machine.clock_drift_ppm = 5_000
    sent = server.replica._followers[2].sent_us
    answer(server)
    server.now = sent + SESSION - 7_000
    assert reads(server)
    assert not reads(server)


def test_the_mutant_never_gives_it_up(alone):
    server = elected(alone, "raft+lease-reads+lease-never-ends")
    answer(server)
    server.now += 100 * SESSION

    assert reads(server)


@pytest.mark.parametrize(("kind", "granted"), [(VoteRequest, False), (PermittedVoteRequest, True)])
def test_who_hears_a_leader_votes_for_nobody_without_its_leave(alone, kind, granted):
    server = alone("raft+lease-reads", vote=(3, -1))
    server.now += 2 * SESSION
    server.tell(AppendEntries(2, "t-0", 3, 0, -1, [], 0, 1))
    (response,) = server.tell(kind(3, "t-0", 4, 9, 9))

    assert response.granted is granted
    assert server.replica.generation == (4 if granted else 3)


def test_who_has_restarted_does_not_know_whom_it_answered(alone):
    server = alone("raft+lease-reads", vote=(3, -1), incarnation=2)
    (response,) = server.tell(VoteRequest(3, "t-0", 4, 9, 9))
    assert not response.granted

    server.now += SESSION
    (response,) = server.tell(VoteRequest(3, "t-0", 4, 9, 9))
    assert response.granted


def test_a_leader_that_gives_leave_serves_no_reads_any_more(alone):
    server = elected(alone)
    answer(server)
    (leave,) = server.tell(HandOver(3, "t-0", server.replica.generation))

    assert isinstance(leave, StandNow)
    assert not reads(server)


def test_an_operators_election_asks_the_leader(alone):
    server = alone("raft+lease-reads", vote=(3, -1))
    server.tell(AppendEntries(2, "t-0", 3, 0, -1, [], 0, 1))
    (question,) = server.tell(StandForElection("t-0"))
    assert isinstance(question, HandOver)

    asked = server.tell(StandNow(2, "t-0", 3))
    assert {type(message) for message in asked} == {PermittedVoteRequest}


def test_who_has_restarted_does_not_stand_at_once_either(alone):
    server = alone("raft+lease-reads", vote=(3, -1), incarnation=2)
    assert server.tell(StandForElection("t-0")) == []

    server.now += SESSION
    assert {type(message) for message in server.tell(StandForElection("t-0"))} == {VoteRequest}
