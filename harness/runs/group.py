"""How a group stands whose members change: what its servers show of themselves, put together with what an operator wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.partition_state import PartitionState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ServerView:
    """What one server shows.

    Attributes:
        leading: whether it leads. leader: whom it follows, itself while it leads, −1 for nobody.
        members: the group by its log. settled: as far as it knows it to be committed.
        configuration: generation and offset of the newest entry that says who belongs to the group.
        wanted: the members that it has not brought about yet, while it leads.
    """

    node_id: int
    leading: bool
    leader: int
    leader_epoch: int
    members: tuple[int, ...]
    settled: tuple[int, ...]
    configuration: tuple[int, int]
    wanted: tuple[int, ...]


def view_of_member(replica: Any) -> ServerView:  # noqa: ANN401 (tidemark.nodes.families.raft.changing.ChangingMember)
    """Of a state machine."""
    newest = replica.configurations.newest
    return ServerView(
        replica.node_id,
        replica.leading,
        replica.leader,
        replica.leader_epoch,
        replica.members,
        replica.settled,
        (newest.generation, newest.offset),
        replica.wanted,
    )


def view_of_status(node: int, said: Mapping[str, Any]) -> ServerView:
    """Of what a process says of its replica (``status`` of its admin port)."""
    generation, offset = said["configuration"]
    return ServerView(
        node,
        said["role"] == "leader",
        said["leader"],
        said["leader_epoch"],
        tuple(said["members"]),
        tuple(said["settled"]),
        (generation, offset),
        tuple(said["wanted"]),
    )


def leader_among(servers: Sequence[ServerView]) -> ServerView | None:
    """Who leads with the highest generation."""
    return max((one for one in servers if one.leading), key=lambda one: one.leader_epoch, default=None)


def is_as_wanted(wanted: Sequence[int], servers: Sequence[ServerView]) -> bool:
    """Whether all that are wanted follow one leader and know it: one that was deposed may lead an old group."""
    leader = leader_among(servers)
    group = [one for one in servers if one.node_id in wanted]
    return (
        leader is not None
        and not leader.wanted
        and len(group) == len(wanted)
        and all(
            one.leader == leader.node_id
            and one.leader_epoch == leader.leader_epoch
            and set(one.settled) == set(one.members) == set(wanted)
            for one in group
        )
    )


def state_of_group(partition: str, wanted: tuple[int, ...], servers: Sequence[ServerView]) -> PartitionState:
    """As the newest leader of those that answer has it; without one, as who has the newest configuration. Servers that are wanted,
    and are no members yet, count as replicas that are being added, and a leader that has taken itself away as one that goes.
    """
    leader = leader_among(servers)
    newest = leader or max(servers, key=lambda one: one.configuration, default=None)
    members = newest.members if newest is not None else wanted
    adding = tuple(server for server in wanted if server not in members)
    removing = tuple(server for server in members if server not in wanted)
    if leader is not None and leader.node_id not in (*wanted, *removing):
        removing = (*removing, leader.node_id)
    replicas = (*wanted, *removing)
    found = PartitionState(partition, replicas, replicas, adding=adding, removing=removing)
    if leader is not None:
        found.leader, found.leader_epoch = leader.node_id, leader.leader_epoch
    return found
