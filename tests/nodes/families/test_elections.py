"""Votes: one in a generation, for a log that is up to date, and on disk before it is given (Raft, 5.2 and 5.4.1)."""

import pytest

from tidemark.nodes.families.voting.messages import StandForElection, VoteRequest, VoteResponse

FAMILIES = ("raft", "quorum-hwm", "reconciliation")


def granted(server, *, source, generation, last_generation=0, leo=0):
    (answer,) = server.tell(VoteRequest(source, "t-0", generation, last_generation, leo))
    return answer.granted


@pytest.mark.parametrize("variant", FAMILIES)
def test_a_server_votes_once_in_a_generation(alone, variant):
    server = alone(variant)

    assert granted(server, source=2, generation=5)
    assert granted(server, source=2, generation=5), "the same candidate may ask again"
    assert not granted(server, source=3, generation=5)
    assert granted(server, source=3, generation=6)


@pytest.mark.parametrize("variant", FAMILIES)
def test_a_vote_is_on_disk_before_it_is_given(alone, variant):
    server = alone(variant)
    granted(server, source=2, generation=5)

    assert server.order()[-2:] == ["WriteVote", "Send"]


@pytest.mark.parametrize("variant", FAMILIES)
def test_a_server_that_was_restarted_remembers_its_vote(alone, variant):
    assert not granted(alone(variant, vote=(5, 3)), source=2, generation=5)
    assert granted(alone(variant, vote=(5, -1)), source=2, generation=5), (
        "what the mutant forget-votes finds on its disk"
    )


@pytest.mark.parametrize(
    ("last_generation", "leo", "wanted"),
    [(3, 1, True), (2, 3, True), (2, 2, True), (2, 1, False), (1, 9, False)],
    ids=["newer", "longer", "the same", "shorter", "older, though longer"],
)
def test_only_a_log_that_is_up_to_date_gets_the_vote(alone, last_generation, leo, wanted):
    log = [(0, 1, (7,)), (1, 2, (8,))]

    assert granted(alone("raft", log=log), source=2, generation=5, last_generation=last_generation, leo=leo) is wanted
    assert granted(alone("raft+vote-for-anyone", log=log), source=2, generation=5, last_generation=0, leo=0)


@pytest.mark.parametrize(("size", "votes"), [(3, 1), (4, 2), (5, 2)])
def test_a_majority_leads_and_not_one_vote_less(alone, size, votes):
    server = alone("raft", size=size)
    server.tell(StandForElection("t-0"))
    generation = server.replica.generation
    for source in range(2, 1 + votes):
        server.tell(VoteResponse(source, "t-0", generation, granted=True))

    assert not server.replica.leading
    server.tell(VoteResponse(1 + votes, "t-0", generation, granted=True))
    assert server.replica.leading


def test_a_newer_generation_ends_a_reign(alone):
    server = alone("raft", size=1)
    server.tell(StandForElection("t-0"))
    assert server.replica.leading

    server.tell(VoteResponse(2, "t-0", 99, granted=False))

    assert not server.replica.leading
    assert server.replica.generation == 99
