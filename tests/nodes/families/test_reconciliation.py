"""The page "Replication Reconciliation": FETCH LATEST, its two answers, and the rounds."""

import pytest

from tidemark.nodes.core.log import Batch
from tidemark.nodes.families.reconciliation.messages import NONE_OF_IT, LatestRequest, LatestResponse, Leading
from tidemark.nodes.families.voting.messages import StandForElection, VoteResponse


def leader(alone, variant="reconciliation", log=()):
    server = alone(variant, log=log)
    server.tell(StandForElection("t-0"))
    server.tell(VoteResponse(2, "t-0", server.replica.generation, granted=True))
    assert server.replica.leading
    return server


def request(server, offset, latest, *, reconciled=False):
    return server.tell(LatestRequest(2, "t-0", server.replica.generation, offset, latest, reconciled, 9))


def follower(alone, log, variant="reconciliation"):
    server = alone(variant, log=log)
    (asked,) = server.tell(Leading(2, "t-0", 9))
    return server, asked


S2 = [(0, 1, (1,)), (1, 1, (2,)), (2, 2, (30,))]
"""The page's new leader, exclusive: generation 1 ends at 2."""


def test_a_follower_tells_its_latest_offset_and_generation(alone):
    _, asked = follower(alone, [(0, 1, (1, 2, 3))])

    assert (asked.offset, asked.latest) == (3, 1)


@pytest.mark.parametrize(
    ("offset", "latest", "diverging"),
    [(3, 1, 2), (2, 1, None), (0, -1, None), (3, 2, None), (4, 2, 3), (5, 7, NONE_OF_IT)],
    ids=[
        "the page's old leader",
        "no more than the leader",
        "empty",
        "the same",
        "longer",
        "a generation the leader never had",
    ],
)
def test_where_the_leader_says_that_the_log_differs(alone, offset, latest, diverging):
    (answer, *_) = request(leader(alone, log=S2), offset, latest)

    assert answer.diverging == diverging
    assert not (answer.batches and diverging is not None)


def test_the_follower_deletes_that_generation_after_the_offset_and_asks_again(alone):
    server, asked = follower(alone, [(0, 1, (1,)), (1, 1, (2,)), (2, 1, (3,))])
    (again,) = server.tell(LatestResponse(2, "t-0", 9, [], 0, 2, asked.correlation))

    assert server.log() == [(0, 1, (1,)), (1, 1, (2,))]
    assert (again.offset, again.latest, again.reconciled) == (2, 1, True)


def test_a_generation_that_the_leader_never_had_goes_whole_and_no_more(alone):
    server, asked = follower(alone, [(0, 1, (1,)), (1, 3, (2,)), (2, 5, (3, 4))])
    (again,) = server.tell(LatestResponse(2, "t-0", 9, [], 0, NONE_OF_IT, asked.correlation))

    assert (again.offset, again.latest) == (2, 3)


def test_the_next_request_is_compared_as_well_unless_there_is_one_round_only(alone):
    (compared,) = request(leader(alone, log=S2), 2, 5, reconciled=True)
    (trusted,) = request(leader(alone, "reconciliation+one-round", log=S2), 2, 5, reconciled=True)

    assert compared.diverging == NONE_OF_IT
    assert (trusted.diverging, [batch.base for batch in trusted.batches]) == (None, [2])


def test_what_was_fetched_is_synced_before_the_next_request_vouches_for_it(alone):
    server, asked = follower(alone, [])
    (again,) = server.tell(LatestResponse(2, "t-0", 9, [Batch(0, 1, (1, 2))], 1, None, asked.correlation))

    assert server.order() == ["Append", "Sync", "Send"]
    assert (again.offset, server.replica.hw) == (2, 1)


def test_an_answer_to_an_older_request_is_ignored(alone):
    server, asked = follower(alone, [(0, 1, (1,))])

    assert server.tell(LatestResponse(2, "t-0", 9, [], 0, 0, asked.correlation - 1)) == []
    assert server.log() == [(0, 1, (1,))]


def test_a_log_that_differs_is_not_counted(alone):
    server = leader(alone, log=S2)
    request(server, 3, 1)
    assert server.replica.hw == 0

    request(server, 3, 2)
    assert server.replica.hw == 3
