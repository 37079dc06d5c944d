"""Raft's AppendEntries and commitment, message by message (Raft, 5.3, 5.4.2 and 8)."""

from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import ProduceRequest, ProduceResponse
from tidemark.nodes.families.raft.messages import AppendEntries, AppendResponse
from tidemark.nodes.families.voting.messages import StandForElection, VoteResponse


def entries(base, before, *batches, generation=3, hw=0, correlation=1):
    return AppendEntries(2, "t-0", generation, base, before, [Batch(*batch) for batch in batches], hw, correlation)


def leader(alone, variant="raft", **given):
    server = alone(variant, **given)
    server.tell(StandForElection("t-0"))
    server.tell(VoteResponse(2, "t-0", server.replica.generation, granted=True))
    assert server.replica.leading
    return server


def answers(server, source, *, end, success=True):
    """What the leader does when a follower answers its last request."""
    asked = server.replica._followers[source].asked
    return server.tell(AppendResponse(source, "t-0", server.replica.generation, success, end, asked))


def test_a_follower_syncs_before_it_answers(alone):
    server = alone("raft")
    (answer,) = server.tell(entries(0, -1, (0, 3, (7, 8))))

    assert (answer.success, answer.end) == (True, 2)
    assert server.order()[-3:] == ["Append", "Sync", "Send"]


def test_a_gap_is_refused_with_where_the_log_ends(alone):
    (answer,) = alone("raft", log=[(0, 1, (7,))]).tell(entries(5, 1, (5, 3, (9,))))

    assert (answer.success, answer.end) == (False, 1)


def test_another_term_before_the_entries_is_refused_and_that_term_skipped(alone):
    server = alone("raft", log=[(0, 1, (5,)), (1, 2, (6,)), (2, 2, (7,))])
    (answer,) = server.tell(entries(3, 1, (3, 3, (9,))))

    assert (answer.success, answer.end) == (False, 1)
    assert server.log() == [(0, 1, (5,)), (1, 2, (6,)), (2, 2, (7,))]


def test_a_conflicting_entry_goes_with_all_that_follow_it(alone):
    server = alone("raft", log=[(0, 1, (5,)), (1, 2, (6,)), (2, 2, (7,))])
    server.tell(entries(1, 1, (1, 3, (9,))))

    assert server.log() == [(0, 1, (5,)), (1, 3, (9,))]


def test_entries_that_are_there_already_change_nothing_and_cut_nothing(alone):
    server = alone("raft", log=[(0, 1, (5,)), (1, 1, (6,))])
    (answer,) = server.tell(entries(0, -1, (0, 1, (5,))))

    assert (answer.success, answer.end) == (True, 1)
    assert server.log() == [(0, 1, (5,)), (1, 1, (6,))]


def test_a_follower_commits_no_further_than_it_was_compared(alone):
    server = alone("raft", log=[(0, 1, (5,)), (1, 1, (6,))])
    server.tell(entries(0, -1, (0, 1, (5,)), hw=2))

    assert server.replica.hw == 1


def test_entries_of_an_older_term_are_refused(alone):
    (answer,) = alone("raft", vote=(7, -1)).tell(entries(0, -1, (0, 3, (9,))))

    assert (answer.success, answer.generation) == (False, 7)


def test_a_leader_begins_with_a_no_op_of_its_own(alone):
    server = leader(alone, log=[(0, 1, (5,))])

    assert server.log() == [(0, 1, (5,)), (1, 2, (-3,))]


def test_what_is_older_is_committed_with_the_first_entry_of_the_own_term(alone):
    server = leader(alone, log=[(0, 1, (5,))])
    answers(server, 2, end=1)
    assert server.replica.hw == 0, "a majority has offset 0, but its term is not the leader's"

    answers(server, 2, end=2)
    assert server.replica.hw == 2


def test_the_mutant_counts_entries_of_any_term(alone):
    server = leader(alone, "raft+commit-any-term", log=[(0, 1, (5,))])
    assert server.log() == [(0, 1, (5,))], "and needs no entry of its own"

    answers(server, 2, end=1)
    assert server.replica.hw == 1


def test_of_four_servers_three_must_have_an_entry(alone):
    server = alone("raft", size=4)
    server.tell(StandForElection("t-0"))
    for voter in (2, 3):
        server.tell(VoteResponse(voter, "t-0", server.replica.generation, granted=True))
    answers(server, 2, end=1)
    assert server.replica.hw == 0

    answers(server, 3, end=1)
    assert server.replica.hw == 1


def test_a_producer_is_answered_when_a_majority_has_its_batch(alone):
    server = leader(alone)
    answers(server, 2, end=1)
    server.tell(ProduceRequest(101, "t-0", (7, 8), "all", 1))
    assert not server.sent(ProduceResponse)

    answers(server, 2, end=3)
    (answer,) = server.sent(ProduceResponse)
    assert (answer.base_offset, answer.error) == (1, None)


def test_a_deposed_leader_says_that_nobody_knows(alone):
    server = leader(alone)
    server.tell(ProduceRequest(101, "t-0", (7,), "all", 1))
    server.tell(VoteResponse(3, "t-0", 99, granted=False))

    (answer,) = server.sent(ProduceResponse)
    assert answer.error == "REQUEST_TIMED_OUT"


def test_a_refusal_makes_the_leader_try_from_where_the_follower_says(alone):
    server = leader(alone, log=[(0, 1, (5,)), (1, 1, (6,))])
    (again,) = answers(server, 2, end=1, success=False)

    assert (again.base, again.before) == (1, 1)
    assert [batch.base for batch in again.batches] == [1, 2]
