"""What must hold in every state, by name.

``WeakIsr``, ``StrongIsr`` and ``LeaderInIsrOrNone`` are those of the public TLA+ specification of Kafka's replication
(hachikuji/kafka-specification, KafkaReplication.tla; its LeaderInIsr says that a leader-less partition is none of the ISR's), the
others are those of docs/anomalies.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tidemark.harness.search.explore.frozen import Common, Place, Replica
from tidemark.harness.search.explore.world import State, World
from tidemark.nodes.core.roles import Role


class Invariant(NamedTuple):
    """A claim about every state.

    Attributes:
        says: the claim. broken: what breaks it, as a sentence; empty if it holds.
        needs: what the world must keep for it: ``fetching`` or ``commits``.
    """

    says: str
    broken: Callable[[Common, tuple[Place, ...]], str]
    needs: str = ""


def same_below(one: Replica, other: Replica, end: int) -> bool:
    """Whether both hold the same records below an offset."""
    return len(one.log) >= end and one.log[:end] == other.log[:end]


def first_difference(one: Replica, other: Replica, end: int) -> str:
    """Which record of the first is not in the second."""
    for offset in range(min(end, len(one.log))):
        if offset >= len(other.log):
            return f"has nothing at offset {offset}, where the other has a record of epoch {one.log[offset]}"
        if one.log[offset] != other.log[offset]:
            return (
                f"has a record of epoch {other.log[offset]} at offset {offset}, "
                f"where the other has one of epoch {one.log[offset]}"
            )
    return ""


def _misses(leader: Place, members: tuple[int, ...], places: tuple[Place, ...], whose: str) -> str:
    hw = leader.replica.hw
    for broker in members:
        member = places[broker - 1]
        if member is not leader and not same_below(member.replica, leader.replica, hw):
            lacks = first_difference(leader.replica, member.replica, hw)
            return f"broker {broker} of {whose} {lacks}: below the high watermark {hw} of broker {leader.node}, which leads"
    return ""


def _weak_isr(_: Common, places: tuple[Place, ...]) -> str:
    for leader in places:
        if leader.replica.term is not None:
            broken = _misses(leader, leader.replica.term.isr, places, "its own ISR")
            if broken:
                return broken
    return ""


def _strong_isr(common: Common, places: tuple[Place, ...]) -> str:
    for leader in places:
        if leader.replica.term is not None:
            broken = _misses(leader, common.controller.isr, places, "the controller's ISR")
            if broken:
                return broken
    return ""


def _log_matching(_: Common, places: tuple[Place, ...]) -> str:
    for index, one in enumerate(places):
        for other in places[index + 1 :]:
            end = min(one.replica.hw, other.replica.hw)
            if not same_below(one.replica, other.replica, end):
                lacks = first_difference(one.replica, other.replica, end)
                return f"below both high watermarks broker {other.node} {lacks} (broker {one.node})"
    return ""


def _follower_prefix(_: Common, places: tuple[Place, ...]) -> str:
    for place in places:
        replica = place.replica
        if replica.role is not Role.FETCHING or not replica.established:
            continue
        leader = places[replica.leader - 1]
        if leader.replica.term is None or leader.replica.leader_epoch != replica.leader_epoch:
            continue
        end = len(replica.log)
        if len(leader.replica.log) < end or not same_below(replica, leader.replica, end):
            lacks = first_difference(replica, leader.replica, end)
            leads = f"broker {leader.node} leads epoch {replica.leader_epoch}"
            return f"{leads} and {lacks} (broker {place.node}, which fetches from it)"
    return ""


def _leader_in_isr(common: Common, _: tuple[Place, ...]) -> str:
    state = common.controller
    return (
        ""
        if state.leader < 0 or state.leader in state.isr
        else f"the controller's leader {state.leader} is not in its ISR"
    )


def _one_leader(_: Common, places: tuple[Place, ...]) -> str:
    leads: dict[int, int] = {}
    for place in places:
        if place.replica.term is not None:
            if place.replica.leader_epoch in leads:
                return f"brokers {leads[place.replica.leader_epoch]} and {place.node} both lead epoch {place.replica.leader_epoch}"
            leads[place.replica.leader_epoch] = place.node
    return ""


def _hw_in_log(_: Common, places: tuple[Place, ...]) -> str:
    for place in places:
        if place.replica.hw > len(place.replica.log):
            return f"the high watermark {place.replica.hw} of broker {place.node} is beyond its log's end {len(place.replica.log)}"
    return ""


def _leader_completeness(common: Common, places: tuple[Place, ...]) -> str:
    committed = common.committed
    for place in places:
        replica = place.replica
        if replica.term is None or replica.leader_epoch != common.controller.leader_epoch:
            continue
        if replica.log[: len(committed)] != committed:
            return f"broker {place.node} leads epoch {replica.leader_epoch} without what was committed: {committed}, by epochs"
    return ""


INVARIANTS = {
    "WeakIsr": Invariant(
        "Every member of a leader's own ISR has all that lies below that leader's high watermark.", _weak_isr
    ),
    "StrongIsr": Invariant(
        "Every member of the controller's ISR has all that lies below the high watermark of whoever thinks that it leads.",
        _strong_isr,
    ),
    "FollowerPrefix": Invariant(
        "The log of a follower that has fetched in its leader's epoch is the beginning of its leader's.",
        _follower_prefix,
        "fetching",
    ),
    "LogMatchingHw": Invariant("Any two logs are the same below both high watermarks.", _log_matching),
    "LeaderInIsrOrNone": Invariant("The controller's leader is in its ISR, or there is none.", _leader_in_isr),
    "OneLeader": Invariant("No two brokers think that they lead the same leader epoch.", _one_leader),
    "HwInLog": Invariant("No high watermark lies beyond the end of its log.", _hw_in_log),
    "LeaderCompleteness": Invariant(
        "Who leads the newest epoch has every record that ever lay below a leader's high watermark.",
        _leader_completeness,
        "commits",
    ),
}
DEFAULT = ("WeakIsr", "StrongIsr", "LogMatchingHw", "LeaderInIsrOrNone", "OneLeader", "HwInLog")
"""Those that need nothing kept for them."""


class Checks:
    """Invariants over the numbered states of a world; what was found once is not looked at again."""

    def __init__(self, world: World, names: tuple[str, ...]) -> None:
        """See the class; ``names`` in the order in which they are looked at."""
        self._world = world
        self._invariants = [(name, INVARIANTS[name]) for name in names]

    def broken(self, state: State) -> tuple[str, str] | None:
        """The first invariant that does not hold, and why; None if all hold."""
        world = self._world
        common = world.commons.values[state[0]]
        return self.broken_in(common, tuple([world.places.values[number] for number in state[1:]]))

    def broken_in(self, common: Common, places: tuple[Place, ...]) -> tuple[str, str] | None:
        """The same of a state that is told in full."""
        for name, invariant in self._invariants:
            why = invariant.broken(common, places)
            if why:
                return name, why
        return None
