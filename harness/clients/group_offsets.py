"""The offsets that a consumer group has committed, as a register: commits write it, and whoever asks what is committed reads it.

Groups here have no members: whoever commits does so by the group's name alone, as tools and consumers without a subscription do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kio.schema.find_coordinator.v2.request import FindCoordinatorRequest
from kio.schema.offset_commit.v5.request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kio.schema.offset_fetch.v5.request import OffsetFetchRequest, OffsetFetchRequestTopic
from kio.schema.types import GroupId
from kio.static.primitive import i32, i64

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.wire_client import Address, BrokerConnection, RefusedError, check, split_name

OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
BEFORE_THE_APPEND = frozenset({"COORDINATOR_LOAD_IN_PROGRESS", "INVALID_GROUP_ID", "OFFSET_METADATA_TOO_LARGE"})
"""A coordinator says so before it writes anything."""
NEVER = -1


class GroupConnection(BrokerConnection):
    """A connection to a broker that may be a coordinator."""

    versions: Mapping[int, int] = {**BrokerConnection.versions, OFFSET_COMMIT: 5, OFFSET_FETCH: 5, FIND_COORDINATOR: 2}

    def coordinator_of(self, group: str) -> Address:
        """Where the group's coordinator is, as far as this broker knows.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        self._send(FIND_COORDINATOR, FindCoordinatorRequest(key=group))
        answer = self._receive(FIND_COORDINATOR)
        check(answer.error_code)
        return answer.host, int(answer.port)

    def commit(self, group: str, partition: str, offset: int) -> None:
        """Commit an offset.

        Raises:
            NoAnswerError: see there. RefusedError: the coordinator's error.
        """
        topic, index = split_name(partition)
        wanted = OffsetCommitRequestPartition(
            partition_index=i32(index), committed_offset=i64(offset), committed_metadata=""
        )
        topics = (OffsetCommitRequestTopic(name=topic, partitions=(wanted,)),)
        self._send(OFFSET_COMMIT, OffsetCommitRequest(group_id=GroupId(group), member_id="", topics=topics))
        (answer,) = self._only(self._receive(OFFSET_COMMIT).topics).partitions
        check(answer.error_code)

    def committed(self, group: str, partition: str) -> int:
        """What is committed, `NEVER` if nothing is.

        Raises:
            NoAnswerError: see there. RefusedError: the coordinator's error.
        """
        topic, index = split_name(partition)
        topics = (OffsetFetchRequestTopic(name=topic, partition_indexes=(i32(index),)),)
        self._send(OFFSET_FETCH, OffsetFetchRequest(group_id=GroupId(group), topics=topics))
        found = self._receive(OFFSET_FETCH)
        check(found.error_code)
        (answer,) = self._only(found.topics).partitions
        check(answer.error_code)
        return int(answer.committed_offset)


class GroupOffsets:
    """Reads and writes what groups have committed of one partition. Implements `tidemark.harness.clients.client.Client`.

    For each operation it asks anew who the coordinator is, as a tool does that an operator starts.

    Args:
        partition: such as ``t-0``.
        patience_s: for a connection, and for each answer.
    """

    def __init__(self, partition: str, patience_s: float) -> None:
        self._partition, self._patience_s = partition, patience_s
        self._first: GroupConnection | None = None
        self._connections: dict[Address, GroupConnection] = {}

    def open(self, address: Address) -> None:
        """Connect to a broker, which is asked for coordinators."""
        self._first = GroupConnection(address, self._patience_s)

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - as `Client` has it
        """``write`` of (group, offset); ``read`` of a group: its offset, None if it has none."""
        group = value if f == "read" else value[0]
        try:
            coordinator = self._coordinator_of(group)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing was asked
            return Outcome("fail", error=f"no coordinator: {type(error).__name__}: {error}")
        if f == "read":
            found = coordinator.committed(group, self._partition)
            return Outcome("ok", None if found == NEVER else found)
        try:
            coordinator.commit(group, self._partition, value[1])
        except RefusedError as error:
            return Outcome("fail" if error.name in BEFORE_THE_APPEND else "info", error=error.name)
        return Outcome("ok")

    def _coordinator_of(self, group: str) -> GroupConnection:
        assert self._first is not None  # noqa: S101 - it was opened
        address = self._first.coordinator_of(group)
        if address not in self._connections:
            self._connections[address] = GroupConnection(address, self._patience_s)
        return self._connections[address]

    def close(self) -> None:
        """Disconnect."""
        for connection in (self._first, *self._connections.values()):
            if connection is not None:
                connection.close()
