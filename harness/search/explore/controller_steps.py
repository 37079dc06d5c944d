"""The core's controller, brought back from its frozen state for one step, and frozen again."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.broker_steps import NEWER, NOW, PARTITION
from tidemark.harness.search.explore.frozen import ControllerState, Word
from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.controller import Controller, make_controller
from tidemark.nodes.core.controller.zookeeper import ZooKeeperController
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.messages import (
    CONTROLLER,
    AlterPartition,
    AlterPartitionResponse,
    Elect,
    Heartbeat,
    LeaderAndIsr,
    Register,
    StateTaken,
)
from tidemark.nodes.core.variant import Variant

LONG_AGO = 0


class Decided(NamedTuple):
    """What the controller is then, what it tells whom, in order, and what it answers to a proposal."""

    state: ControllerState
    words: tuple[tuple[int, Word], ...]
    answer: AlterPartitionResponse | None = None


class ControllerSteps:
    """What the controller can do."""

    def __init__(self, variant: Variant, bounds: Bounds) -> None:
        """See the class."""
        self.variant = variant
        self.settings = bounds.settings()
        self.nodes = bounds.nodes()

    def first(self) -> ControllerState:
        """The first broker leads epoch 0, and everybody is in the ISR."""
        return ControllerState(1, 0, self.nodes, (), 1 if self.variant.elr else -1, self.nodes, (1,) * len(self.nodes))

    def thaw(self, state: ControllerState, preferred: int = 0, version: int = 1) -> Controller:
        """The controller that was frozen.

        Args:
            state: what it knows.
            preferred: the broker that comes first in the assignment, and so leads where several could; 0: the first.
            version: the partition epoch.
        """
        order = tuple(sorted(self.nodes, key=lambda b: (b != preferred, b)))
        controller = make_controller(self.nodes, {PARTITION: order}, self.variant, self.settings)
        controller._opened = True
        controller._next_broker_epoch = max(state.broker_epochs) + 1
        partition = controller.partitions[PARTITION]
        partition.isr, partition.elr = state.isr, state.elr
        partition.leader, partition.leader_epoch = state.leader, state.leader_epoch
        partition.last_leader, partition.partition_epoch = state.last_leader, version
        for broker, session in controller.sessions.items():
            session.live = broker in state.live
            session.incarnation, session.broker_epoch = 1, state.broker_epochs[broker - 1]
            session.last_heard_us = NOW
        if isinstance(controller, ZooKeeperController):
            controller._there = {b: b in state.live for b in self.nodes}
            controller._seen = {b: state.broker_epochs[b - 1] for b in self.nodes}
        return controller

    def _freeze(self, controller: Controller, broker_epochs: tuple[int, ...]) -> ControllerState:
        partition = controller.partitions[PARTITION]
        return ControllerState(
            partition.leader,
            partition.leader_epoch,
            tuple(sorted(partition.isr)),
            tuple(sorted(partition.elr)),
            partition.last_leader if self.variant.elr else -1,
            tuple(b for b, session in controller.sessions.items() if session.live),
            broker_epochs,
        )

    def _decided(self, controller: Controller, epochs: tuple[int, ...], *events: object) -> Decided:
        """Let it take events, and what it has to tell go out at once."""
        words: list[tuple[int, Word]] = []
        answer = None
        waiting = list(events)
        while waiting:
            for action in list(controller.step(NOW, waiting.pop(0))):
                if type(action) is not Send:
                    continue
                message = action.message
                if isinstance(message, LeaderAndIsr):
                    words.append((action.to, Word(message.leader, message.leader_epoch, tuple(sorted(message.isr)))))
                    if message.correlation:
                        waiting.append(StateTaken(action.to, message.correlation))
                elif isinstance(message, AlterPartitionResponse):
                    answer = message
        return Decided(self._freeze(controller, epochs), tuple(words), answer)

    def elects(self, state: ControllerState, broker: int, *, unclean: bool = False) -> Decided:
        """An operator's election of a broker, which is refused where it must be."""
        how = "unclean" if unclean else "forced"
        return self._decided(self.thaw(state), state.broker_epochs, Elect(CONTROLLER, PARTITION, how, broker))

    def misses(self, state: ControllerState, broker: int, preferred: int) -> Decided:
        """A broker's session ends; where a leader is to be chosen, ``preferred`` comes first if it can lead."""
        controller = self.thaw(state, preferred)
        controller.sessions[broker].last_heard_us = LONG_AGO
        return self._decided(controller, state.broker_epochs, TimerFired("tick"))

    def hears_again(self, state: ControllerState, broker: int) -> Decided:
        """A broker whose process has gone on has a session again."""
        epoch = state.broker_epochs[broker - 1]
        controller = self.thaw(state)
        if isinstance(controller, ZooKeeperController):
            return self._decided(controller, state.broker_epochs, Register(broker, 1, epoch), TimerFired("tick"))
        return self._decided(controller, state.broker_epochs, Heartbeat(broker, epoch, {PARTITION: NEWER}))

    def registers(self, state: ControllerState, broker: int) -> Decided:
        """A new process of a broker registers; with KRaft it stays fenced until it has heard what holds."""
        epochs = list(state.broker_epochs)
        epochs[broker - 1] += self.variant.broker_epoch_checks
        controller = self.thaw(state)
        events: list[object] = [Register(broker, 2, -1)]
        if isinstance(controller, ZooKeeperController):
            events.append(TimerFired("tick"))
        return self._decided(controller, tuple(epochs), *events)

    def takes(self, state: ControllerState, proposal: AlterPartition, *, current: bool) -> Decided:
        """A leader proposes an ISR; ``current``: it knows of everything that was decided."""
        version = proposal.partition_epoch
        controller = self.thaw(state, version=version if current else version + 1)
        return self._decided(controller, state.broker_epochs, proposal)
