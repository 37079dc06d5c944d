"""What servers of the voting families say arrives as it was said, in Kafka's framing."""

from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema
from kio.schema.vote.v0.request import VoteRequest as KafkasVote

from tidemark.nodes.core.log import Batch, Log
from tidemark.nodes.families.quorum.messages import HighWaterMarkRequest, ReplicationRequest
from tidemark.nodes.families.raft.configurations import Configurations, written
from tidemark.nodes.families.raft.messages import AppendEntries
from tidemark.nodes.families.reconciliation.messages import LatestResponse, Leading
from tidemark.nodes.families.voting.messages import VoteRequest, VoteResponse
from tidemark.nodes.formats import control_records
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Records, build, leader_change, place, voters
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.formats.wire.voting import REQUESTS, declare
from tidemark.nodes.process.wire import translate_voting as translate

NUMBER = st.integers(-1, 1 << 40)
BATCH = st.builds(
    lambda base, epoch, values: Batch(base, epoch, Records(build(values, base, epoch))),
    st.integers(0, 99),
    st.integers(0, 9),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
)
OF = {
    "source": st.integers(1, 9),
    "partition": st.just("t-1"),
    "generation": st.integers(0, 1 << 40),
    "batches": st.lists(BATCH, max_size=3),
    "success": st.booleans(),
    "reconciled": st.booleans(),
    "granted": st.booleans(),
    "diverging": st.none() | NUMBER,
}
MESSAGES = st.sampled_from(list(translate.KEYS)).flatmap(
    lambda kind: st.builds(kind, **{one.name: OF.get(one.name, NUMBER) for one in fields(kind)})
)


def test_no_two_messages_travel_under_one_key():
    with pytest.raises(ValueError, match="API key 1010 of LatestResponse is taken by ReplicationRequest"):
        declare(LatestResponse, 1010)


@given(MESSAGES)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])  # it only encodes
def test_a_message_arrives_as_it_was_said(body_bytes, message):
    key = translate.KEYS[type(message)]
    body = body_bytes(key, 0, translate.request(message))
    assert translate.message(key, codec(key, 0).read_request(body, 0)) == message
    if key != translate.PERMITTED:
        assert codec(key, 0).read_response(body_bytes(key, 0, translate.heard(key), "response"), 0).heard


def test_every_message_has_a_key_of_its_own_that_is_none_of_kafkas_and_all_of_its_fields():
    assert len(set(translate.KEYS.values())) == len(translate.KEYS) == len(REQUESTS)
    for kind, key in translate.KEYS.items():
        assert [one.name for one in fields(REQUESTS[key])] == [one.name for one in fields(kind)]
        with pytest.raises(Exception, match=str(key)):
            load_request_schema(key, 0)


def test_a_leaders_own_entry_travels_as_a_control_batch():
    entry = Batch(4, 7, Records(leader_change(2, 7)))
    asked = translate.request(AppendEntries(2, "t-0", 7, 4, 6, [entry], 4, 9))
    (arrived,) = translate.message(1000, asked).batches
    assert list(arrived.values) == [-8]


def test_votes_are_kafkas(body_bytes):
    asked = VoteRequest(3, "t-1", 5, 4, 17)
    body = body_bytes(52, 0, translate.vote_request(asked))
    entity = codec(52, 0).read_request(body, 0)
    assert isinstance(entity, KafkasVote)
    assert translate.vote_message(entity) == asked
    given = VoteResponse(1, "t-1", 5, granted=True)
    answer = codec(52, 0).read_response(body_bytes(52, 0, translate.vote_response(given), "response"), 0)
    assert translate.vote_answer(answer, 1) == given
    leading = Leading(3, "t-1", 5)
    body = body_bytes(53, 0, translate.leading_request(leading))
    assert translate.leading_message(codec(53, 0).read_request(body, 0)) == leading


def test_a_candidate_with_its_leaders_leave_is_answered_with_the_vote(body_bytes):
    given = VoteResponse(1, "t-1", 5, granted=True)
    answer = body_bytes(translate.PERMITTED, 0, translate.permitted_vote(given), "response")
    entity = codec(translate.PERMITTED, 0).read_response(answer, 0)
    assert translate.permitted_answer(entity, 1, "t-1") == given


def test_the_members_of_a_group_travel_as_kafkas_voters_and_mean_what_the_core_wrote():
    entry = Batch(4, 7, Records(place(voters((4, 1), 7), 4, 7)))
    asked = translate.request(AppendEntries(2, "t-0", 7, 4, 6, [entry], 4, 9))
    (arrived,) = translate.message(1000, asked).batches
    assert arrived.values.control
    assert list(arrived.values) == [written((4, 1), 7)]


def test_voters_that_cannot_be_are_refused_before_a_server_sees_them():
    broken = Batch(4, 7, Records(voters((1, 2, 300), 7)))
    asked = translate.request(AppendEntries(2, "t-0", 7, 4, 6, [broken], 4, 9))
    with pytest.raises(BadBatchError, match="server that cannot be"):
        translate.message(1000, asked)
    with pytest.raises(BadBatchError, match="malformed"):
        control_records.voters_of(control_records.voters((1, 2))[:-1])


def test_a_clients_number_is_no_configuration():
    log = Log([Batch(0, 7, Records(build([written((4, 1), 7)])))])
    assert Configurations((1, 2, 3), log).newest.members == (1, 2, 3)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(MeaninglessError, match="no generation -1"):
        translate.message(1012, translate.request(HighWaterMarkRequest(1, "t-0", -1, 2)))
    whole = translate.request(ReplicationRequest(1, "t-0", 1, 0, [Batch(0, 1, Records(build([1])))], 0, 1))
    broken = type(whole)(
        **{one.name: getattr(whole, one.name) for one in fields(whole)} | {"batches": whole.batches[:-1]}
    )
    with pytest.raises(BadBatchError):
        translate.message(1010, broken)
    nothing = translate.request(LatestResponse(1, "t-0", 1, [], 0, None, 1))
    assert translate.message(1021, nothing).diverging is None
