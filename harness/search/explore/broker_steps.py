"""The core's brokers, brought back from their frozen state for one step, and frozen again.

Every step is the core's own: an object of :class:`tidemark.nodes.core.broker.Broker` is made as the frozen state says, takes a
message, and is written down again. What is done by hand here is that, and nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.frozen import Place, Replica, Term, Word
from tidemark.nodes.core import replica as core
from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.broker import PUBLISH, Broker
from tidemark.nodes.core.follower import Following
from tidemark.nodes.core.leader import NEVER, Leadership, Remote
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import (
    ALL,
    CONTROLLER,
    AlterPartition,
    AlterPartitionResponse,
    LeaderAndIsr,
    ProduceRequest,
)
from tidemark.nodes.core.recovery import DiskImage, PartitionImage, Recovered, RecoveredPartition, StoredBatch, recover
from tidemark.nodes.core.roles import Role
from tidemark.nodes.core.variant import Variant

NOW = 1 << 40
"""The time at which everything happens: long after ``NEVER``, and no time-out is over but where one is asked for."""
PARTITION = "t-0"
PRODUCER = 100
KNOWN = 1
"""The partition epoch that a broker knows; what it hears next has a higher one."""
NEWER = 2
DELAYED = {Role.FETCHING_DELAYED: Role.FETCHING, Role.TRUNCATING_DELAYED: Role.TRUNCATING}
"""A follower that was refused asks again at its next tick: as if it had not asked yet."""
VALUES = (0,)


class UnfrozenError(RuntimeError):
    """The core came to a state that the frozen one has no room for; the message says which."""


@cache
def batch_of(base: int, epoch: int) -> Batch:
    """The record at an offset of an epoch; batches never change, so all logs share it."""
    return Batch(base, epoch, VALUES)


class BrokerSteps:
    """What one broker, or a follower and its leader, can do.

    Args:
        variant: the protocol. bounds: settings, number of brokers.
        watch_fetching: whether to keep who has fetched in its epoch.
    """

    def __init__(self, variant: Variant, bounds: Bounds, *, watch_fetching: bool = False) -> None:
        """See the class."""
        self.variant = variant
        self.settings = bounds.settings()
        self.nodes = bounds.nodes()
        self.watch_fetching = watch_fetching
        self._hosts = {b: Broker(b, 1, variant, self.settings, Recovered({})) for b in self.nodes}
        """One broker each, which is given another replica for every step."""

    # Thaw and freeze

    def first(self, node: int) -> Place:
        """A broker that knows nothing, with an empty log."""
        return Place(node, True, 1, Replica(Role.NO_LEADER, (), (), 0), ())

    def thaw(self, place: Place) -> Broker:
        """The broker that was frozen; the one that was thawed before under this name is no more."""
        told = place.replica
        broker = self._hosts[place.node]
        broker.broker_epoch = place.broker_epoch
        broker.hears_controller = True
        broker.dead_fetchers = set(told.dead)
        broker.out.clear()
        broker.dispatch.clear()
        broker._known.clear()
        broker._unpublished.clear()
        former = broker.replicas.get(PARTITION)
        if former is not None:
            vars(former).clear()
        replica = core.Replica(broker, PARTITION, _recovered(told.log, told.cache, told.hw))
        broker.replicas[PARTITION] = replica
        replica.leader_epoch, replica.leader, replica.last_leader = told.leader_epoch, told.leader, told.last_leader
        replica.partition_epoch = KNOWN
        if told.term is not None:
            replica.leading = self._thaw_term(replica, told.term)
        elif told.role not in (Role.NO_LEADER, Role.HALTED):
            replica.following = Following(replica, told.leader, told.leader_epoch)
            replica.following.established = told.established
            replica.following.answers = told.answers
        replica._enter(told.role)
        return broker

    def _thaw_term(self, replica: core.Replica, term: Term) -> Leadership:
        leading = Leadership(replica)
        leading.epoch = replica.leader_epoch
        leading.epoch_start = term.epoch_start
        leading.isr = leading.maximal = term.isr
        leading.eligible = self.nodes
        leading._shrink_due = NOW << 1
        for broker, leo, epoch in term.remotes:
            remote = leading.remotes[broker] = Remote()
            remote.leo, remote.broker_epoch = leo, epoch
            remote.caught_up_us = remote.last_fetch_us = NOW if broker in term.isr else NEVER
        if term.pending is not None:
            mine = replica.broker.broker_epoch
            leading.pending = AlterPartition(
                replica.node_id, PARTITION, leading.epoch, KNOWN, term.pending, mine, replica.correlation
            )
            leading.pending_since = NOW
            if not self.variant.leader_writes_isr:
                leading.maximal = tuple(dict.fromkeys((*term.isr, *(b for b, _ in term.pending))))
        return leading

    def freeze(self, broker: Broker, broker_epoch: int, unheard: tuple[Word, ...] = ()) -> Place:
        """Write a broker down."""
        replica = broker.replicas[PARTITION]
        log = tuple([batch.epoch for batch in replica.log.batches])
        if replica.log.leo != len(log) or replica.log.start:
            raise UnfrozenError(f"a log of {len(log)} records from {replica.log.start} to {replica.log.leo}")
        entries = replica.cache.entries()
        if replica.role is Role.HALTED:
            return Place(broker.node_id, False, broker_epoch, Replica(Role.HALTED, log, entries, replica.hw), ())
        leading, following = replica.leading, replica.following
        told = Replica(
            DELAYED.get(replica.role, replica.role),
            log,
            entries,
            replica.hw,
            replica.leader_epoch,
            replica.leader,
            -1 if self.variant.restart_on_epoch else replica.last_leader,
            self.watch_fetching and following is not None and following.established,
            tuple(sorted(broker.dead_fetchers)),
            None if leading is None else self._freeze_term(leading),
            following.answers if following is not None and replica.rule.counts_answers else 0,
        )
        return Place(broker.node_id, True, broker_epoch, told, unheard)

    def _freeze_term(self, leading: Leadership) -> Term:
        pending = leading.pending
        return Term(
            leading.epoch_start,
            tuple(sorted(leading.isr)),
            None if pending is None else tuple(sorted(pending.isr)),
            tuple(sorted((b, remote.leo, remote.broker_epoch) for b, remote in leading.remotes.items())),
        )

    def _freeze_as(self, broker: Broker, place: Place) -> Place:
        return self.freeze(broker, place.broker_epoch, place.unheard)

    # One broker

    def told(self, place: Place, word: Word) -> Place:
        """The controller has said something, and this broker will hear of it, unless that makes no difference to it."""
        if not place.up:
            return place
        newest = place.unheard[-1].epoch if place.unheard else place.replica.leader_epoch
        if word.leader != place.node:
            if word.epoch <= newest:
                return place
            word = word._replace(isr=())
        return place._replace(unheard=(*place.unheard, word))

    def hears(self, place: Place, index: int) -> Place:
        """It hears one of the words, and none of those before it any more."""
        word = place.unheard[index]
        broker = self.thaw(place)
        broker.step(
            NOW,
            LeaderAndIsr(
                CONTROLLER,
                PARTITION,
                word.leader,
                word.epoch,
                word.isr,
                NEWER,
                self.nodes,
                broker.broker_epoch,
                self.nodes,
            ),
        )
        if self.variant.metadata_log:
            broker.step(NOW, PUBLISH.event)
        return self.freeze(broker, place.broker_epoch, place.unheard[index + 1 :])

    def appends(self, place: Place) -> Place | None:
        """A producer's record, acks=all, reaches a leader; None if it is refused."""
        broker = self.thaw(place)
        broker.step(NOW, ProduceRequest(PRODUCER, PARTITION, VALUES, ALL, 1))
        after = self._freeze_as(broker, place)
        return None if after == place else after

    def shrinks(self, place: Place, member: int) -> Place | None:
        """The lag time of a member is over, and the leader looks; None if it has nothing to propose."""
        broker = self.thaw(place)
        leading = broker.replicas[PARTITION].leading
        if leading is None or leading.pending is not None or member not in leading.remotes:
            return None
        leading.remotes[member].caught_up_us = NEVER
        leading._shrink_due = NOW
        leading.do_what_is_due(NOW, None)
        return self._freeze_as(broker, place) if leading.pending is not None else None

    def crashes(self, place: Place, hw: int) -> Place:
        """The process is gone; its log and its epochs stay, and the high watermark that was checkpointed last."""
        told = place.replica
        return Place(place.node, False, place.broker_epoch, Replica(Role.HALTED, told.log, told.cache, hw), ())

    def starts(self, place: Place) -> Place:
        """Another process of the broker starts with what recovery makes of the disk."""
        told = place.replica
        stored = [StoredBatch(batch_of(base, epoch)) for base, epoch in enumerate(told.log)]
        image = DiskImage({PARTITION: PartitionImage(stored, told.cache)}, {PARTITION: told.hw})
        broker = Broker(place.node, 1, self.variant, self.settings, recover(image, self.variant.recovery))
        return self.freeze(broker, place.broker_epoch + self.variant.broker_epoch_checks)

    # A follower and its leader

    def asks_leader(self, follower: Place, leader: Place) -> tuple[Place, Place]:
        """The follower's request reaches its leader, and the answer the follower: what both are then.

        A fetch that has to wait is answered when it has waited.
        """
        asking, asked = self.thaw(follower), self.thaw(leader)
        following = asking.replicas[PARTITION].following
        if following is None:
            return follower, leader
        if following.replica.role is Role.TRUNCATING:
            following.ask(NOW)
        else:
            following.fetch(NOW)
        (request,) = [action.message for action in asking.out if type(action) is Send]
        answer = _answer_to(follower.node, asked.step(NOW, request))
        leading = asked.replicas[PARTITION].leading
        if answer is None and leading is not None:
            leading.do_what_is_due(NOW + self.settings.fetch_wait_us, None)
            answer = _answer_to(follower.node, asked.out)
        if answer is None:
            raise UnfrozenError(f"no answer to {request}")
        asking.step(NOW, answer)
        return self._freeze_as(asking, follower), self._freeze_as(asked, leader)

    # A leader and the controller

    def proposal(self, place: Place) -> AlterPartition | None:
        """The ISR that a leader has proposed."""
        if place.replica.term is None or place.replica.term.pending is None:
            return None
        leading = self.thaw(place).replicas[PARTITION].leading
        return None if leading is None else leading.pending

    def hears_answer(self, place: Place, answer: AlterPartitionResponse) -> Place:
        """The controller's answer to the proposal."""
        broker = self.thaw(place)
        broker.step(NOW, answer)
        return self._freeze_as(broker, place)


def _recovered(log: tuple[int, ...], epochs: tuple[tuple[int, int], ...], hw: int) -> RecoveredPartition:
    return RecoveredPartition([batch_of(base, epoch) for base, epoch in enumerate(log)], epochs, hw)


def _answer_to(node: int, actions: list[Any]) -> object | None:
    for action in actions:
        if type(action) is Send and action.to == node:
            return action.message
    return None


__all__ = ["NEWER", "NOW", "PARTITION", "BrokerSteps", "UnfrozenError"]
