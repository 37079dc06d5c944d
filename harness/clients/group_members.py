"""Members of a consumer group that come and go (KIP-848), so that a coordinator works on assignments while others commit.

Each one that joins has its coordinator compute an assignment, in the thread that carries out all that concerns the partition of
``__consumer_offsets``. That thread is busy for as long as the assignor takes; what comes meanwhile waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from random import Random
from threading import Event
from uuid import uuid4

from kio.schema.consumer_group_heartbeat.v0.request import ConsumerGroupHeartbeatRequest
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32, i32Timedelta

from tidemark.harness.clients.group_offsets import GroupConnection
from tidemark.harness.clients.wire_client import Address, NoAnswerError, RefusedError, check

CONSUMER_GROUP_HEARTBEAT = 68
GROUP = "members"
JOINS, LEAVES = 0, -1
PATIENCE_S = 10.0
"""For each answer: a member that has none gives up, and another one comes."""
PAUSE_S = 0.5
_REBALANCE = i32Timedelta.parse(timedelta(minutes=1))


class MemberConnection(GroupConnection):
    """A connection to the group's coordinator."""

    versions: Mapping[int, int] = {**GroupConnection.versions, CONSUMER_GROUP_HEARTBEAT: 0}

    def heartbeat(self, group: str, member: str, epoch: int, topic: str) -> None:
        """Join with epoch `JOINS`, or leave with `LEAVES`.

        Raises:
            NoAnswerError: see there. RefusedError: the coordinator's error.
        """
        joins = epoch == JOINS
        asked = ConsumerGroupHeartbeatRequest(
            group_id=GroupId(group),
            member_id=member,
            member_epoch=i32(epoch),
            rebalance_timeout=_REBALANCE,
            subscribed_topic_names=(TopicName(topic),) if joins else None,
            topic_partitions=() if joins else None,
        )
        self._send(CONSUMER_GROUP_HEARTBEAT, asked)
        check(self._receive(CONSUMER_GROUP_HEARTBEAT).error_code)


def come_and_go(addresses: Sequence[Address], topic: str, noise: Random, stopping: Event) -> None:
    """One member after another joins the group `GROUP`, whose assignor is the brokers' first, and leaves.

    Args:
        addresses: of all brokers.
        topic: what they subscribe to.
        noise: draws pauses, and whom they ask for the coordinator.
        stopping: set when they are to end.
    """
    while not stopping.wait(PAUSE_S * (0.5 + noise.random())):
        try:
            with MemberConnection(noise.choice(addresses), PATIENCE_S) as first:
                coordinator = first.coordinator_of(GROUP)
            with MemberConnection(coordinator, PATIENCE_S) as connection:
                member = uuid4().hex
                connection.heartbeat(GROUP, member, JOINS, topic)
                connection.heartbeat(GROUP, member, LEAVES, topic)
        except (NoAnswerError, RefusedError):
            continue
