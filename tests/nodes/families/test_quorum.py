"""The seed's high-water mark, rule by rule, with its flaws and their repairs."""

import pytest

from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import ConsumeRequest
from tidemark.nodes.families.quorum.messages import (
    HighWaterMarkRequest,
    HighWaterMarkResponse,
    ReplicationRequest,
    ReplicationResponse,
)
from tidemark.nodes.families.quorum.rejoin import RULES
from tidemark.nodes.families.voting.member import majority_end
from tidemark.nodes.families.voting.messages import StandForElection, VoteResponse

LOG = [(0, 1, (5,)), (1, 1, (6,)), (2, 1, (7,))]


@pytest.mark.parametrize(
    ("ends", "page", "majority"),
    [([3, 5, 9], 5, 5), ([9, 3, 5, 7, 1], 5, 5), ([3, 5, 7, 9], 7, 5), ([0, 4], 4, 0)],
    ids=["three", "five", "four", "two"],
)
def test_the_pages_index_is_a_majoritys_for_odd_numbers_only(ends, page, majority):
    assert majority_end(ends, lower_middle=False) == page
    assert majority_end(ends) == majority


@pytest.mark.parametrize(("rule", "kept"), [("leader", 1), ("own", 2), ("conflict", 3)])
def test_where_a_server_that_rejoins_cuts(rule, kept):
    """It knows 2 to be committed, its leader 1, and its log ends at 3."""
    assert RULES[rule].keep(2, 1, 3) == kept


def follower(alone, variant):
    """A follower with three entries of generation 1, two of them known to be committed; the leader of 2 makes itself known."""
    server = alone(variant, log=LOG, hw=2)
    (question,) = server.tell(ReplicationRequest(2, "t-0", 2, -1, [], 1, 77))
    assert isinstance(question, HighWaterMarkRequest)
    return server, question


def test_a_server_that_finds_a_leader_asks_for_the_mark_and_cuts_to_it(alone):
    server, question = follower(alone, "quorum-hwm")
    (answer,) = server.tell(HighWaterMarkResponse(2, "t-0", 2, 1, question.correlation))

    assert server.log() == [(0, 1, (5,))]
    assert (answer.replicated, answer.next) == (1, 1)


def test_with_maybe_truncate_it_keeps_its_log_and_wants_what_lies_beyond_its_own_mark(alone):
    server, question = follower(alone, "quorum-hwm+repaired")
    (answer,) = server.tell(HighWaterMarkResponse(2, "t-0", 2, 1, question.correlation))

    assert server.log() == LOG
    assert (answer.replicated, answer.next) == (2, 2)


@pytest.mark.parametrize(("variant", "replicated"), [("quorum-hwm+rejoin=conflict", 3), ("quorum-hwm+repaired", 2)])
def test_the_page_reports_its_last_index_the_repair_what_was_compared(alone, variant, replicated):
    server, question = follower(alone, variant)
    server.tell(HighWaterMarkResponse(2, "t-0", 2, 1, question.correlation))
    (answer,) = server.tell(ReplicationRequest(2, "t-0", 2, 2, [], 1, 78))

    assert answer.replicated == replicated


def test_maybe_truncate_cuts_from_the_first_entry_of_another_generation(alone):
    server, question = follower(alone, "quorum-hwm+repaired")
    server.tell(HighWaterMarkResponse(2, "t-0", 2, 1, question.correlation))
    (answer,) = server.tell(ReplicationRequest(2, "t-0", 2, 2, [Batch(2, 2, (9, 10))], 1, 78))

    assert server.log() == [(0, 1, (5,)), (1, 1, (6,)), (2, 2, (9, 10))]
    assert answer.replicated == 4


def test_the_pages_follower_takes_what_exists_for_the_same(alone):
    server, question = follower(alone, "quorum-hwm")
    server.tell(HighWaterMarkResponse(2, "t-0", 2, 3, question.correlation))
    server.tell(ReplicationRequest(2, "t-0", 2, 2, [Batch(2, 2, (9,))], 3, 78))

    assert server.log() == LOG, "filter(e -> !wal.exists(e))"


def leader(alone, variant, size=3):
    server = alone(variant, size=size, log=[(0, 1, (5,))])
    server.tell(StandForElection("t-0"))
    for voter in range(2, size // 2 + 2):
        server.tell(VoteResponse(voter, "t-0", server.replica.generation, granted=True))
    assert server.replica.leading
    return server


def reports(server, source, end):
    server.tell(HighWaterMarkRequest(source, "t-0", server.replica.generation, -source))
    server.tell(ReplicationResponse(source, "t-0", server.replica.generation, end, end, -source))


def test_an_older_generation_is_counted_unless_repaired(alone):
    page, repaired = leader(alone, "quorum-hwm"), leader(alone, "quorum-hwm+own-generation")
    for server in (page, repaired):
        reports(server, 2, 1)

    assert (page.replica.hw, repaired.replica.hw) == (1, 0)


def test_of_four_servers_two_are_enough_unless_repaired(alone):
    page, repaired = leader(alone, "quorum-hwm", 4), leader(alone, "quorum-hwm+majority-index", 4)
    for server in (page, repaired):
        reports(server, 2, 1)

    assert (page.replica.hw, repaired.replica.hw) == (1, 0)


def test_any_server_shows_what_lies_below_its_mark_and_no_more(alone):
    (answer,) = alone("quorum-hwm", log=LOG, hw=2).tell(ConsumeRequest(101, "t-0", 0, 1))

    assert (answer.records, answer.hw, answer.error) == ([(0, 5), (1, 6)], 2, None)
