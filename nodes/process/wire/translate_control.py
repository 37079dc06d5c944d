"""What brokers and the controller say to each other: registration, heartbeats, ISR changes, and the state of partitions.

Registration, heartbeats and ISR changes are Kafka's with KRaft; the state comes as LeaderAndIsr, as it did with ZooKeeper,
because it must be able to arrive late or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from kio.schema.alter_partition.v3 import request as _alter_request
from kio.schema.alter_partition.v3 import response as _alter_response
from kio.schema.broker_heartbeat.v0 import request as _beat_request
from kio.schema.broker_heartbeat.v0 import response as _beat_response
from kio.schema.broker_registration.v3 import request as _register_request
from kio.schema.broker_registration.v3 import response as _register_response
from kio.schema.errors import ErrorCode

from tidemark.nodes.core.messages import (
    CONTROLLER,
    AlterPartition,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
)
from tidemark.nodes.formats.wire import leader_and_isr as _state
from tidemark.nodes.formats.wire.names import (
    MeaninglessError,
    error_code,
    error_name,
    only_partition,
    partition_name,
    topic_and_index,
    topic_id,
)

REGISTRATION_VERSION, HEARTBEAT_VERSION, ALTER_VERSION, STATE_VERSION = 3, 0, 3, _state.VERSION
CLUSTER_ID = "tidemark"

_ALTER: Any = _alter_request
_ALTERED: Any = _alter_response
_BEAT: Any = _beat_request
_BEATEN: Any = _beat_response
_REGISTER: Any = _register_request
_REGISTERED: Any = _register_response
_NO_TIME = timedelta(0)


def register_request(m: Register) -> object:
    """BrokerRegistration; the incarnation id is the incarnation's number."""
    return _REGISTER.BrokerRegistrationRequest(
        broker_id=m.source,
        cluster_id=CLUSTER_ID,
        incarnation_id=UUID(int=m.incarnation),
        listeners=(),
        features=(),
        rack=None,
        previous_broker_epoch=m.previous_broker_epoch,
    )


def register_message(entity: Any) -> Register:  # noqa: ANN401 (kio's entity)
    """What a broker's registration says.

    Raises:
        MeaninglessError: its incarnation id is no number of an incarnation.
    """
    incarnation = entity.incarnation_id.int if entity.incarnation_id is not None else 0
    if not 0 < incarnation < 1 << 31:
        raise MeaninglessError(f"no incarnation has the id {entity.incarnation_id}")
    return Register(entity.broker_id, incarnation, entity.previous_broker_epoch)


def register_response(m: Registered) -> object:
    """The broker epoch that the controller gave."""
    return _REGISTERED.BrokerRegistrationResponse(
        throttle_time=_NO_TIME, error_code=ErrorCode.none, broker_epoch=m.broker_epoch
    )


def register_refused() -> object:
    """A later incarnation of the broker is registered already."""
    return _REGISTERED.BrokerRegistrationResponse(
        throttle_time=_NO_TIME, error_code=ErrorCode.duplicate_broker_registration
    )


def register_answer(entity: Any, asked: Register) -> Registered | None:  # noqa: ANN401 (kio's entity)
    """What the controller's response says; None if it refused."""
    if entity.error_code is not ErrorCode.none:
        return None
    return Registered(CONTROLLER, asked.incarnation, entity.broker_epoch)


def heartbeat_request(m: Heartbeat) -> object:
    """BrokerHeartbeat. What the broker knows is not in it: the controller learns that from acknowledged states.

    The end of a ZooKeeper session is a heartbeat that wants to be fenced and to stop.
    """
    return _BEAT.BrokerHeartbeatRequest(
        broker_id=m.source,
        broker_epoch=m.broker_epoch,
        current_metadata_offset=-1,
        want_fence=m.closing,
        want_shut_down=m.shutting_down,
    )


def heartbeat_message(entity: Any, known: dict[str, int]) -> Heartbeat:  # noqa: ANN401 (kio's entity)
    """What a broker's heartbeat says, with the partition epochs that it acknowledged."""
    return Heartbeat(entity.broker_id, entity.broker_epoch, known, entity.want_shut_down, entity.want_fence)


def heartbeat_response(m: HeartbeatReply) -> object:
    """Accepted or not, and whether the broker may stop."""
    return _BEATEN.BrokerHeartbeatResponse(
        throttle_time=_NO_TIME,
        error_code=error_code(m.error),
        is_caught_up=True,
        is_fenced=False,
        should_shut_down=m.may_stop,
    )


def heartbeat_answer(entity: Any) -> HeartbeatReply:  # noqa: ANN401 (kio's entity)
    """What the controller's response says."""
    return HeartbeatReply(CONTROLLER, entity.should_shut_down, error_name(entity.error_code))


def alter_request(m: AlterPartition) -> object:
    """AlterPartition."""
    topic, index = topic_and_index(m.partition)
    part = _ALTER.PartitionData(
        partition_index=index,
        leader_epoch=m.leader_epoch,
        new_isr_with_epochs=tuple(_ALTER.BrokerState(broker_id=b, broker_epoch=e) for b, e in m.isr),
        partition_epoch=m.partition_epoch,
    )
    topics = (_ALTER.TopicData(topic_id=topic_id(topic), partitions=(part,)),)
    return _ALTER.AlterPartitionRequest(broker_id=m.source, broker_epoch=m.broker_epoch, topics=topics)


def alter_message(
    entity: Any,  # noqa: ANN401 (kio's entity)
    topics: Mapping[UUID, str],
    correlation: int,
) -> AlterPartition:
    """What a leader's proposal says.

    Raises:
        MeaninglessError: it is not about exactly one partition of a known topic.
    """
    topic, part = only_partition(entity.topics)
    if topic.topic_id not in topics:
        raise MeaninglessError(f"nobody knows a topic with the id {topic.topic_id}")
    return AlterPartition(
        entity.broker_id,
        partition_name(topics[topic.topic_id], part.partition_index),
        part.leader_epoch,
        part.partition_epoch,
        tuple((b.broker_id, b.broker_epoch) for b in part.new_isr_with_epochs),
        entity.broker_epoch,
        correlation,
    )


def alter_response(m: AlterPartitionResponse, leader: int) -> object:
    """The committed state, or an error beside the state there is."""
    topic, index = topic_and_index(m.partition)
    part = _ALTERED.PartitionData(
        partition_index=index,
        error_code=error_code(m.error),
        leader_id=leader,
        leader_epoch=m.leader_epoch,
        isr=m.isr,
        partition_epoch=m.partition_epoch,
    )
    topics = (_ALTERED.TopicData(topic_id=topic_id(topic), partitions=(part,)),)
    return _ALTERED.AlterPartitionResponse(throttle_time=_NO_TIME, error_code=ErrorCode.none, topics=topics)


def alter_answer(entity: Any, asked: AlterPartition) -> AlterPartitionResponse:  # noqa: ANN401 (kio's entity)
    """What the controller's response to ``asked`` says.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    _, part = only_partition(entity.topics)
    return AlterPartitionResponse(
        CONTROLLER,
        asked.partition,
        asked.correlation,
        part.leader_epoch,
        part.isr,
        part.partition_epoch,
        error_name(part.error_code),
    )


def state_request(m: LeaderAndIsr) -> object:
    """LeaderAndIsr."""
    topic, index = topic_and_index(m.partition)
    part = _state.LeaderAndIsrPartitionState(
        partition_index=index,
        controller_epoch=m.controller_epoch,
        leader=m.leader,
        leader_epoch=m.leader_epoch,
        isr=m.isr,
        partition_epoch=m.partition_epoch,
        replicas=m.replicas,
        eligible=m.eligible,
        delete=m.delete,
        min_isr=m.min_isr,
        settings=m.settings,
        unclean=m.unclean,
    )
    topics = (_state.TopicState(topic_name=topic, partition_states=(part,)),)
    return _state.LeaderAndIsrRequest(
        controller_id=m.source,
        controller_epoch=m.controller_epoch,
        broker_epoch=m.broker_epoch,
        topic_states=topics,
        live_leaders=(),
    )


def state_message(entity: Any) -> LeaderAndIsr:  # noqa: ANN401 (an entity)
    """What the controller says.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topic_states)
    return LeaderAndIsr(
        entity.controller_id,
        partition_name(topic.topic_name, part.partition_index),
        part.leader,
        part.leader_epoch,
        part.isr,
        part.partition_epoch,
        part.replicas,
        entity.broker_epoch,
        part.eligible,
        delete=part.delete,
        controller_epoch=entity.controller_epoch,
        min_isr=part.min_isr,
        settings=part.settings,
        unclean=part.unclean,
    )


def state_response(m: LeaderAndIsr, error: str | None) -> object:
    """Whether the broker took the state."""
    topic, index = topic_and_index(m.partition)
    part = _state.PartitionError(topic_name=topic, partition_index=index, error_code=error_code(error))
    return _state.LeaderAndIsrResponse(error_code=error_code(error), partition_errors=(part,))


def state_taken(entity: Any) -> bool:  # noqa: ANN401 (an entity)
    """Whether the broker took the state."""
    return bool(entity.error_code is ErrorCode.none)
