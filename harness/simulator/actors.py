"""Who takes events: ports, clients, and nodes that run a state machine on a simulated disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tidemark.harness.simulator.disk import SimDisk
from tidemark.nodes.core.actions import (
    BeginAt,
    Delete,
    DropBefore,
    Halt,
    Journal,
    MarkCleanShutdown,
    Sync,
    Truncate,
    WriteEpochs,
    WriteHighWatermarks,
    WriteLogStarts,
    WriteVote,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.core.actions import Action


class Port:
    """Where events are delivered: one class for all receivers, which keeps the loop's attribute look-ups fast.

    Attributes:
        token: incarnation of the process behind it, −1 while there is none: what was under way to an old process (messages on
            its connections, its timers) never reaches a new one, and nothing reaches a dead one.
        paused: events go to the backlog.
        deliver: takes (now, event); returns actions to carry out, or None.
    """

    __slots__ = ("backlog", "deliver", "node", "paused", "token")

    def __init__(self, deliver: Callable[[int, Any], Any], node: Any = None) -> None:  # noqa: ANN401 - the loop narrows by class
        self.token = 0
        self.paused = False
        self.backlog: list[object] = []
        self.deliver = deliver
        self.node = node


class Actor:
    """Something that takes events: a client, a node."""

    __slots__ = ("port",)

    def __init__(self) -> None:
        self.port = Port(self.handle)

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - any message
        """Take an event."""
        raise NotImplementedError


class Caller(Actor):
    """Calls functions at a time."""

    __slots__ = ()

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - the event is the function
        """Call it."""
        event()


class StateMachine(Protocol):
    """A broker or the controller."""

    def step(self, now_us: int, event: object) -> list[Action]:
        """See nodes."""


class SimNode(Actor):
    """A node that runs a state machine on a simulated disk."""

    __slots__ = (
        "disk",
        "ended",
        "hw_checkpoints",
        "incarnation",
        "machine",
        "node_id",
        "on_halt",
        "restart_wanted",
        "running",
        "stopping",
    )

    def __init__(self, node_id: int, on_halt: Callable[[SimNode, str], None]) -> None:
        """Not running yet; ``on_halt`` is told how the machine ends its process."""
        super().__init__()
        self.port.node = self
        self.on_halt = on_halt
        self.node_id = node_id
        self.machine: StateMachine | None = None
        self.disk = SimDisk()
        self.hw_checkpoints = 0
        """How often it wrote its high watermarks."""
        self.incarnation = 0
        self.ended = ""
        """How its last process did."""
        self.running = False
        self.stopping = False
        self.restart_wanted = False

    def carry_out(self, action: Action, now: int) -> None:
        """Do what the machine asks of its disk or its process."""
        disk = self.disk
        if isinstance(action, WriteHighWatermarks):
            disk.write_checkpoint("high_watermarks", action.offsets, now)
            self.hw_checkpoints += 1
        elif isinstance(action, WriteEpochs):
            disk.write_epochs(action.partition, action.entries, now)
        elif isinstance(action, Journal):
            disk.append(now, action.partition, action.batch)
        elif isinstance(action, Truncate):
            disk.truncate(action.partition, action.offset, now)
        elif isinstance(action, Sync):
            disk.sync(action.partition)
        elif isinstance(action, BeginAt):
            disk.begin_at(action.partition, action.offset)
        elif isinstance(action, DropBefore):
            disk.drop_before(action.partition, action.offset)
        elif isinstance(action, WriteLogStarts):
            disk.write_checkpoint("log_starts", action.offsets, now)
        elif isinstance(action, WriteVote):
            disk.write_vote(action.partition, action.generation, action.candidate)
        elif isinstance(action, MarkCleanShutdown):
            disk.mark_clean(action.broker_epoch, now, synced=action.synced)
        elif isinstance(action, Delete):
            disk.delete(action.partition)
        elif isinstance(action, Halt):
            self.on_halt(self, action.how)
