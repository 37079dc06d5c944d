"""What an operator asks of a Kafka cluster through its protocol: topics and their settings, elections and reassignments.

Requests for the controller go to the broker that is it, or to any that passes them on (KRaft), or straight to a KRaft controller.
An operation that fails or is refused raises ``OperationError`` with a sentence and Kafka's name of the error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from kio.schema.add_raft_voter.v0 import request as add_voter
from kio.schema.alter_partition_reassignments.v0 import request as alter
from kio.schema.alter_replica_log_dirs.v1 import request as log_dirs
from kio.schema.api_versions import v3, v4
from kio.schema.create_topics.v4 import request as create
from kio.schema.delete_topics.v3 import request as delete
from kio.schema.elect_leaders.v1.request import ElectLeadersRequest, TopicPartitions
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v0 import request as configs
from kio.schema.list_partition_reassignments.v0 import request as ongoing
from kio.schema.metadata.v7.request import MetadataRequest
from kio.schema.remove_raft_voter.v0.request import RemoveRaftVoterRequest
from kio.schema.types import BrokerId, TopicName
from kio.schema.update_features.v1 import request as features
from kio.static.primitive import i8, i16, i32, i32Timedelta, u16

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.formats.wire.codec import API_VERSIONS
from tidemark.nodes.formats.wire.names import topic_and_index
from tidemark.nodes.sidecar.request_connection import (
    ADD_VOTER,
    ALTER_CONFIGS,
    ALTER_LOG_DIRS,
    ALTER_REASSIGNMENTS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_QUORUM,
    ELECT_LEADERS,
    LIST_REASSIGNMENTS,
    METADATA,
    REMOVE_VOTER,
    UPDATE_FEATURES,
    OperationError,
    RequestConnection,
    check,
)

TIMEOUT_S = 20.0
AGAIN_S = 0.05
ELECTION_SHARE = 0.2
"""Share of an operation's time after which a broker that is waiting for an election says what it knows."""
_OF_TOPIC, _OF_BROKER, _SET, _DELETE = i8(2), i8(4), i8(0), i8(1)
"""A resource's types, and what is done with a setting (IncrementalAlterConfigs)."""
MIN_ISR, UNCLEAN_ELECTION = "min.insync.replicas", "unclean.leader.election.enable"
MOVE_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
ELR_FEATURE = "eligible.leader.replicas.version"
METADATA_FEATURE = "metadata.version"
_WITH_FEATURES, _WITH_ALL_FEATURES = 3, 4
"""Versions of ApiVersions that tell of features (KIP-584): the first, and that which tells also of those that may be off."""
_UPGRADE, _SAFE_DOWNGRADE = i8(1), i8(2)
_NOT_CONTROLLER = frozenset({"NOT_CONTROLLER", "COORDINATOR_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER"})


class Operations:
    """Operations through one listener of a node.

    Args:
        kafka: the listener; a broker's, or a KRaft controller's.
        node: whose it is.
        peers: node → address of its internal listener, to reach a controller that is another broker.
        timeout_s: for each operation as a whole, waiting for its effect included.
        sole: whether only this one, or whom it names, can be the controller; else it is not asked again if it is not.
    """

    def __init__(
        self,
        kafka: Address,
        node: int,
        peers: Mapping[int, Address],
        timeout_s: float = TIMEOUT_S,
        *,
        sole: bool = True,
    ) -> None:
        self._kafka = kafka
        self._node = node
        self._peers = dict(peers)
        self._timeout_s = timeout_s
        self._sole = sole

    # Topics

    async def create_topics(self, assignment: Mapping[str, Sequence[int]], configs: Mapping[str, str]) -> None:
        """Create the topics of these partitions. One that is there already is left as it is.

        Args:
            assignment: partition (``t-0``) → its replicas, the preferred leader first; a topic's partitions are numbered from 0.
            configs: settings of every topic.
        """
        topics: dict[str, list[create.CreatableReplicaAssignment]] = {}
        for partition, replicas in assignment.items():
            topic, index = topic_and_index(partition)
            topics.setdefault(topic, []).append(
                create.CreatableReplicaAssignment(partition_index=i32(index), broker_ids=_brokers(replicas))
            )
        settings = tuple(create.CreatableTopicConfig(name=name, value=value) for name, value in configs.items())
        request = create.CreateTopicsRequest(
            topics=tuple(
                create.CreatableTopic(
                    name=TopicName(topic),
                    num_partitions=i32(-1),
                    replication_factor=i16(-1),
                    assignments=tuple(partitions),
                    configs=settings,
                )
                for topic, partitions in topics.items()
            ),
            timeout=self._wait(),
        )
        answer = await self._ask_controller(CREATE_TOPICS, request, lambda found: [t.error_code for t in found.topics])
        for result in answer.topics:
            if result.error_code is not ErrorCode.topic_already_exists:
                check(result.error_code, f"topic {result.name} cannot be created", result.error_message)

    async def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics. One that is not there is no error."""
        request = delete.DeleteTopicsRequest(topic_names=tuple(map(TopicName, topics)), timeout=self._wait())
        answer = await self._ask_controller(
            DELETE_TOPICS, request, lambda found: [t.error_code for t in found.responses]
        )
        for result in answer.responses:
            if result.error_code is not ErrorCode.unknown_topic_or_partition:
                check(result.error_code, f"topic {result.name} cannot be deleted")

    # Elections

    async def elect_preferred(self, partition: str) -> None:
        """Make the first replica leader, if it may lead. That it leads already is refused as ``ELECTION_NOT_NEEDED``."""
        await self._elect(partition, 0, "preferred")

    async def elect_unclean(self, partition: str) -> None:
        """Make some live replica leader, in sync or not. While there is a leader it is refused as ``ELECTION_NOT_NEEDED``."""
        await self._elect(partition, 1, "unclean")

    async def _elect(self, partition: str, kind: int, word: str) -> None:
        """Hold an election, and ask again while Kafka does not know in time whether its leader leads.

        A broker with ZooKeeper may overlook that it leads: metadata completes a waiting ElectLeaders only if one is in the timer of
        its purgatory (``hasDelayedElectionOperations``), where it comes after the last look. So it is given a part of the time.
        """
        topic, index = topic_and_index(partition)
        request = ElectLeadersRequest(
            election_type=i8(kind),
            topic_partitions=(TopicPartitions(topic=TopicName(topic), partitions=(i32(index),)),),
            timeout=_milliseconds(int(self._timeout_s * ELECTION_SHARE * 1000)),
        )
        what = f"there is no {word} election for {partition}"
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        asked_before = False
        while True:
            answer = await self._ask_controller(ELECT_LEADERS, request, lambda found: [found.error_code])
            check(answer.error_code, what)
            errors = [result for found in answer.replica_election_results for result in found.partition_result]
            codes = {result.error_code for result in errors}
            if asked_before and codes == {ErrorCode.election_not_needed}:
                return
            if ErrorCode.request_timed_out not in codes or asyncio.get_running_loop().time() > deadline:
                break
            asked_before = True
            await asyncio.sleep(AGAIN_S)
        for result in errors:
            check(result.error_code, what, result.error_message)

    # Settings

    async def set_min_isr(self, topics: Collection[str], min_isr: int) -> None:
        """Set these topics' ``min.insync.replicas``."""
        await self._set(topics, MIN_ISR, str(min_isr))

    async def allow_unclean(self, topics: Collection[str], *, on: bool) -> None:
        """Set these topics' ``unclean.leader.election.enable``."""
        await self._set(topics, UNCLEAN_ELECTION, str(on).lower())

    async def _set(self, topics: Collection[str], setting: str, value: str) -> None:
        request = _setting(_OF_TOPIC, topics, setting, value)
        answer = await self._ask_controller(
            ALTER_CONFIGS, request, lambda found: [one.error_code for one in found.responses]
        )
        for one in answer.responses:
            check(one.error_code, f"{setting} of {one.resource_name} cannot be set", one.error_message)

    async def switch_elr(self, *, on: bool) -> None:
        """Set the feature ``eligible.leader.replicas.version`` to 1 or 0."""
        await self._update_feature(ELR_FEATURE, int(on), _UPGRADE if on else _SAFE_DOWNGRADE)

    async def raise_features(self) -> None:
        """Raise ``metadata.version`` to the newest that the controller's release has, and switch ELR on, as the last step of an
        upgrade does (``kafka-features.sh upgrade --release-version``). Refused while a broker of an older release is registered.
        """
        async with self._connected(self._kafka) as connection:
            tells_all = connection.versions[API_VERSIONS][1] >= _WITH_ALL_FEATURES
            version, request = (_WITH_ALL_FEATURES, v4) if tells_all else (_WITH_FEATURES, v3)
            asked = request.ApiVersionsRequest(client_software_name="tidemark", client_software_version="0")
            answer = await connection.ask(API_VERSIONS, asked, self._timeout_s, version)
        newest = {str(one.name): int(one.max_version) for one in answer.supported_features}
        for name, level in (
            (METADATA_FEATURE, newest.get(METADATA_FEATURE, 0)),
            (ELR_FEATURE, int(ELR_FEATURE in newest)),
        ):
            if level:
                await self._update_feature(name, level, _UPGRADE)

    async def _update_feature(self, name: str, level: int, way: i8) -> None:
        wanted = features.FeatureUpdateKey(feature=name, max_version_level=i16(level), upgrade_type=way)
        request = features.UpdateFeaturesRequest(timeout=self._wait(), feature_updates=(wanted,), validate_only=False)
        answer = await self._ask_controller(UPDATE_FEATURES, request, lambda found: [found.error_code])
        check(answer.error_code, f"{name} cannot be changed", answer.error_message)
        for one in answer.results:
            check(one.error_code, f"{name} cannot be changed", one.error_message)

    # Reassignments

    async def reassign(self, partition: str, replicas: Sequence[int], *, wait: bool = True) -> None:
        """Give a partition other replicas, or another order of them.

        Args:
            partition: such as ``t-0``.
            replicas: the preferred leader first; none to call off what is under way.
            wait: until it is done; if that takes too long, it is called off.
        """
        await self._alter(partition, _brokers(replicas) or None)
        if not wait:
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                while await self.is_reassigned(partition):  # noqa: ASYNC110 (Kafka does not tell when it ends)
                    await asyncio.sleep(AGAIN_S)
        except TimeoutError:
            await self.call_off(partition)
            brokers = ", ".join(map(str, replicas))
            raise OperationError(
                f"{partition} could not be moved to brokers {brokers} within {self._timeout_s:g} s: not all of "
                "them came in sync",
                "REASSIGNMENT_IN_PROGRESS",
            ) from None

    async def call_off(self, partition: str) -> None:
        """End a reassignment that is under way; none is fine."""
        try:
            await self._alter(partition, None)
        except OperationError as e:
            if e.kafka != "NO_REASSIGNMENT_IN_PROGRESS":
                raise

    async def is_reassigned(self, partition: str) -> bool:
        """Whether a reassignment of it is under way."""
        topic, index = topic_and_index(partition)
        asked = ongoing.ListPartitionReassignmentsTopics(name=TopicName(topic), partition_indexes=(i32(index),))
        request = ongoing.ListPartitionReassignmentsRequest(timeout=self._wait(), topics=(asked,))
        answer = await self._ask_controller(LIST_REASSIGNMENTS, request, lambda found: [found.error_code])
        check(answer.error_code, f"the reassignments of {partition} cannot be listed", answer.error_message)
        return any(found.partitions for found in answer.topics)

    async def _alter(self, partition: str, replicas: tuple[BrokerId, ...] | None) -> None:
        topic, index = topic_and_index(partition)
        wanted = alter.ReassignablePartition(partition_index=i32(index), replicas=replicas)
        request = alter.AlterPartitionReassignmentsRequest(
            timeout=self._wait(), topics=(alter.ReassignableTopic(name=TopicName(topic), partitions=(wanted,)),)
        )
        answer = await self._ask_controller(ALTER_REASSIGNMENTS, request, lambda found: [found.error_code])
        what = f"{partition} cannot be reassigned"
        check(answer.error_code, what, answer.error_message)
        for found in answer.responses:
            for result in found.partitions:
                check(result.error_code, what, result.error_message)

    # Voters

    async def add_voter(self, node: int, directory: UUID, listener: tuple[str, str, int]) -> None:
        """Put a controller into the voters of the quorum (KIP-853); ends when that is committed.

        Args:
            node: the controller.
            directory: of its metadata log.
            listener: where the others find it: name, host and port.
        """
        name, host, port = listener
        request = add_voter.AddRaftVoterRequest(
            cluster_id=None,
            timeout=self._wait(),
            voter_id=i32(node),
            voter_directory_id=directory,
            listeners=(add_voter.Listener(name=name, host=host, port=u16(port)),),
        )
        answer = await self._ask_controller(ADD_VOTER, request, lambda found: [found.error_code])
        check(answer.error_code, f"node {node} cannot be added to the voters", answer.error_message)

    async def remove_voter(self, node: int, directory: UUID) -> None:
        """Take a controller out of the voters, likewise."""
        request = RemoveRaftVoterRequest(cluster_id=None, voter_id=i32(node), voter_directory_id=directory)
        answer = await self._ask_controller(REMOVE_VOTER, request, lambda found: [found.error_code])
        check(answer.error_code, f"node {node} cannot be removed from the voters", answer.error_message)

    # Log directories

    async def throttle_moves(self, broker: int, rate: int) -> None:
        """Let a broker copy at most so many bytes a second from one of its log directories to another (KIP-113); 0: as many as it
        can. With ZooKeeper this is asked of that broker, and of no other; with KRaft of the controller.
        """
        request = _setting(_OF_BROKER, (str(broker),), MOVE_RATE, str(rate) if rate else None)
        async with self._connected(self._kafka) as connection:
            answer = await connection.ask(ALTER_CONFIGS, request, self._timeout_s)
        for one in answer.responses:
            check(one.error_code, f"{MOVE_RATE} of broker {broker} cannot be set", one.error_message)

    async def move_log(self, partition: str, directory: str) -> None:
        """Move this broker's replica to another of its log directories (KIP-113); ends when the broker has begun to copy it."""
        topic, index = topic_and_index(partition)
        wanted = log_dirs.AlterReplicaLogDirTopic(name=TopicName(topic), partitions=(i32(index),))
        request = log_dirs.AlterReplicaLogDirsRequest(
            dirs=(log_dirs.AlterReplicaLogDir(path=directory, topics=(wanted,)),)
        )
        async with self._connected(self._kafka) as connection:
            answer = await connection.ask(ALTER_LOG_DIRS, request, self._timeout_s)
        for found in answer.results:
            for result in found.partitions:
                check(result.error_code, f"{partition} cannot be moved to {directory}")

    # Whom to ask

    async def _ask_controller(self, key: int, request: object, errors: Any) -> Any:  # noqa: ANN401 (kio's entities)
        """Ask the controller, again while the one that is asked is none, or not any more."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout_s
        while True:
            answer = None
            async with self._connected(self._kafka) as connection:
                address = await self._controller(connection)
                if address == self._kafka:
                    answer = await connection.ask(key, request, self._timeout_s)
            if answer is None and address is not None:
                async with self._connected(address) as connection:
                    answer = await connection.ask(key, request, self._timeout_s)
            if answer is not None and not any(code.name.upper() in _NOT_CONTROLLER for code in errors(answer)):
                return answer
            if not self._sole:
                raise OperationError(
                    f"node {self._node} is not the active controller (NOT_CONTROLLER)", "NOT_CONTROLLER"
                )
            if loop.time() > deadline:
                raise OperationError(f"the cluster had no controller for {self._timeout_s:g} s", "NOT_CONTROLLER")
            await asyncio.sleep(AGAIN_S)

    async def _controller(self, connection: RequestConnection) -> Address | None:
        """Where requests for the controller go; None while nobody is it."""
        if METADATA not in connection.versions or DESCRIBE_QUORUM in connection.versions:
            return self._kafka  # a KRaft controller, or a broker that passes requests on
        request = MetadataRequest(topics=(), allow_auto_topic_creation=False)
        controller = int((await connection.ask(METADATA, request, self._timeout_s)).controller_id)
        if controller == self._node:
            return self._kafka
        if controller < 0:
            return None
        if controller not in self._peers:
            raise OperationError(f"the controller is broker {controller}, and nobody said where that is")
        return self._peers[controller]

    @asynccontextmanager
    async def _connected(self, address: Address) -> AsyncIterator[RequestConnection]:
        connection = await RequestConnection.open(address, self._timeout_s)
        try:
            yield connection
        finally:
            await connection.close()

    def _wait(self) -> i32Timedelta:
        """How long the controller may wait for an operation's effect."""
        return _milliseconds(int(self._timeout_s * 1000))


def _setting(
    kind: i8, names: Collection[str], setting: str, value: str | None
) -> configs.IncrementalAlterConfigsRequest:
    """To set it for resources of one type; without a value, to what it was before anybody set it."""
    wanted = (configs.AlterableConfig(name=setting, config_operation=_DELETE if value is None else _SET, value=value),)
    resources = tuple(
        configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=wanted) for name in names
    )
    return configs.IncrementalAlterConfigsRequest(resources=resources, validate_only=False)


def _brokers(replicas: Sequence[int]) -> tuple[BrokerId, ...]:
    return tuple(BrokerId(replica) for replica in replicas)


def _milliseconds(number: int) -> i32Timedelta:
    return i32Timedelta.parse(timedelta(milliseconds=number))
