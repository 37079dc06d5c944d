"""Messages between servers of a voting family: votes in Kafka's own shape (KIP-595), the others in ours."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kio.schema.begin_quorum_epoch.v0 import request as _begin_request
from kio.schema.begin_quorum_epoch.v0 import response as _begin_response
from kio.schema.errors import ErrorCode
from kio.schema.vote.v0 import request as _vote_request
from kio.schema.vote.v0 import response as _vote_response

from tidemark.nodes.core.log import Batch
from tidemark.nodes.families import FAMILIES
from tidemark.nodes.families.raft.messages import PermittedVoteRequest
from tidemark.nodes.families.reconciliation.messages import Leading
from tidemark.nodes.families.voting.messages import VoteRequest, VoteResponse
from tidemark.nodes.formats.record_batch import Records, read_header, split, values_of
from tidemark.nodes.formats.wire.names import MeaninglessError, only_partition, partition_name, topic_and_index
from tidemark.nodes.formats.wire.voting import NOT_THERE, REQUESTS, RESPONSES, declare

CLUSTER_ID = "tidemark"
_ASKED: Any = _vote_request
_VOTED: Any = _vote_response
_BEGUN: Any = _begin_request
_TAKEN: Any = _begin_response

KEYS: dict[type, int] = {
    kind: kind.api_key for family in FAMILIES for kind in family.messages if hasattr(kind, "api_key")
}
"""Messages that have API keys of ours."""
_KINDS = {key: kind for kind, key in KEYS.items()}
_FIELDS = {kind: tuple(one.name for one in fields(kind)) for kind in KEYS}
for _kind, _key in KEYS.items():
    if issubclass(_kind, VoteRequest):
        declare(_kind, _key, {"generation": "int64", "granted": "bool"})
    else:
        declare(_kind, _key)


# In our shape


def request(m: Any) -> object:  # noqa: ANN401 (one that has a key)
    """The request that says what the core says. Reads the batches from the log, as they lie there now."""
    return REQUESTS[KEYS[type(m)]](**{name: _to_wire(getattr(m, name)) for name in _FIELDS[type(m)]})


def _to_wire(value: object) -> object:
    if isinstance(value, list):
        return b"".join(_raw(batch) for batch in value)
    return NOT_THERE if value is None else value


def _raw(batch: Batch) -> bytes:
    values = batch.values
    assert isinstance(values, Records)  # noqa: S101 (what this process keeps in its logs)
    return values.raw()


def message(key: int, entity: Any) -> Any:  # noqa: ANN401 (kio's entity; one that has a key)
    """What a request under one of our keys says.

    Raises:
        MeaninglessError: a number in it cannot be.
        tidemark.nodes.formats.record_batch.BadBatchError: a batch is damaged.
    """
    kind = _KINDS[key]
    read: dict[str, Any] = {name: _from_wire(getattr(entity, name)) for name in _FIELDS[kind]}
    if read["generation"] < 0:
        raise MeaninglessError(f"no generation {read['generation']}")
    return kind(**read)


def _from_wire(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return [_batch(raw) for raw in split(bytes(value), control=True)]
    return None if value == NOT_THERE else value


def _batch(raw: bytes) -> Batch:
    header = read_header(raw)
    if header.control:
        values_of(raw)  # which a server looks at as soon as it has it
    return Batch(header.base_offset, header.leader_epoch, Records(raw))


def heard(key: int) -> object:
    """The response to any of them that no vote answers."""
    return RESPONSES[key](heard=True)


PERMITTED = KEYS[PermittedVoteRequest]


def permitted_vote(m: VoteResponse) -> object:
    """The vote for a candidate that asks with its leader's leave."""
    return RESPONSES[PERMITTED](generation=m.generation, granted=m.granted)


def permitted_answer(entity: Any, voter: int, partition: str) -> VoteResponse:  # noqa: ANN401 (kio's entity)
    """What a voter says to such a candidate."""
    return VoteResponse(voter, partition, entity.generation, entity.granted)


# In Kafka's


def vote_request(m: VoteRequest) -> object:
    """Vote; Kafka's ``ReplicaEpoch`` is the candidate's generation."""
    topic, index = topic_and_index(m.partition)
    part = _ASKED.PartitionData(
        partition_index=index,
        replica_epoch=m.generation,
        replica_id=m.source,
        last_offset_epoch=m.last_generation,
        last_offset=m.leo,
    )
    topics = (_ASKED.TopicData(topic_name=topic, partitions=(part,)),)
    return _ASKED.VoteRequest(cluster_id=CLUSTER_ID, topics=topics)


def vote_message(entity: Any) -> VoteRequest:  # noqa: ANN401 (kio's entity)
    """What a candidate says.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topics)
    name = partition_name(topic.topic_name, part.partition_index)
    return VoteRequest(part.replica_id, name, part.replica_epoch, part.last_offset_epoch, part.last_offset)


def vote_response(m: VoteResponse) -> object:
    """The vote, and the voter's generation. A voter does not say who leads."""
    topic, index = topic_and_index(m.partition)
    part = _VOTED.PartitionData(
        partition_index=index,
        error_code=ErrorCode.none,
        leader_id=-1,
        leader_epoch=m.generation,
        vote_granted=m.granted,
    )
    topics = (_VOTED.TopicData(topic_name=topic, partitions=(part,)),)
    return _VOTED.VoteResponse(error_code=ErrorCode.none, topics=topics)


def vote_answer(entity: Any, voter: int) -> VoteResponse:  # noqa: ANN401 (kio's entity)
    """What a voter says; it names itself by its connection.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topics)
    name = partition_name(topic.topic_name, part.partition_index)
    return VoteResponse(voter, name, part.leader_epoch, part.vote_granted)


def leading_request(m: Leading) -> object:
    """BeginQuorumEpoch."""
    topic, index = topic_and_index(m.partition)
    part = _BEGUN.PartitionData(partition_index=index, leader_id=m.source, leader_epoch=m.generation)
    topics = (_BEGUN.TopicData(topic_name=topic, partitions=(part,)),)
    return _BEGUN.BeginQuorumEpochRequest(cluster_id=CLUSTER_ID, topics=topics)


def leading_message(entity: Any) -> Leading:  # noqa: ANN401 (kio's entity)
    """What a leader says of itself.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topics)
    return Leading(part.leader_id, partition_name(topic.topic_name, part.partition_index), part.leader_epoch)


def leading_response(m: Leading) -> object:
    """It was heard; what the server makes of it shows in what it does."""
    topic, index = topic_and_index(m.partition)
    part = _TAKEN.PartitionData(
        partition_index=index, error_code=ErrorCode.none, leader_id=m.source, leader_epoch=m.generation
    )
    topics = (_TAKEN.TopicData(topic_name=topic, partitions=(part,)),)
    return _TAKEN.BeginQuorumEpochResponse(error_code=ErrorCode.none, topics=topics)
