"""Metadata: brokers, topics, and who leads what, as this node knows it. Topics are never created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_entities import METADATA, NO_THROTTLE, response_entity
from tidemark.nodes.process.wire.client_partitions import UNKNOWN_TOPIC_OR_PARTITION, topics_of

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.server import Request

LEADER_NOT_AVAILABLE = "LEADER_NOT_AVAILABLE"
CLUSTER_ID = "tidemark"
NO_CONTROLLER = -1
"""The controller is no broker that a client could turn to."""


class MetadataApi:
    """Answers Metadata requests, also before the node has registered: from what the controller sent so far."""

    def __init__(self, driver: ClientDriver) -> None:
        self._driver = driver
        config = driver.config
        self._topics = topics_of(config.cluster)
        brokers = config.cluster.broker_ids()
        self._addresses = {
            listener: [(broker, *addresses[broker]) for broker in brokers]
            for listener, addresses in (("internal", config.peers), ("host", config.hosts))
        }

    def handle(self, request: Request) -> None:
        """Answer: all topics for a null list, none for an empty one (Metadata since v1)."""
        version = request.api_version
        broker = response_entity(METADATA, version, "MetadataResponseBroker")
        response = response_entity(METADATA, version, "MetadataResponse")
        wanted = request.body.topics
        names = self._topics if wanted is None else dict.fromkeys(topic.name for topic in wanted)
        request.reply(
            response(
                throttle_time=NO_THROTTLE,
                brokers=tuple(
                    broker(node_id=node, host=host, port=port)
                    for node, host, port in self._addresses[request.connection.listener]
                ),
                cluster_id=CLUSTER_ID,
                controller_id=NO_CONTROLLER,
                topics=tuple(self._topic(version, name) for name in names),
            )
        )

    def _topic(self, version: int, name: str) -> Any:  # noqa: ANN401 (kio's, by version)
        topic = response_entity(METADATA, version, "MetadataResponseTopic")
        partitions = self._topics.get(name)
        if partitions is None:
            return topic(error_code=error_code(UNKNOWN_TOPIC_OR_PARTITION), name=name, partitions=())
        return topic(
            error_code=error_code(None),
            name=name,
            partitions=tuple(self._partition(version, name, i, replicas) for i, replicas in partitions.items()),
        )

    def _partition(self, version: int, topic: str, index: int, replicas: tuple[int, ...]) -> Any:  # noqa: ANN401
        state = self._driver.states.get(partition_name(topic, index))
        leader = -1 if state is None else state.leader
        partition = response_entity(METADATA, version, "MetadataResponsePartition")
        return partition(
            error_code=error_code(LEADER_NOT_AVAILABLE if leader < 0 else None),
            partition_index=index,
            leader_id=leader,
            leader_epoch=-1 if state is None else state.leader_epoch,
            replica_nodes=replicas if state is None else state.replicas,
            isr_nodes=() if state is None else state.isr,
        )
