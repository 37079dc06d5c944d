"""What every process does that keeps logs and serves clients: of a Kafka broker, and of a server of another family."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.nodes.admin.trace_file import Entry, Trace
from tidemark.nodes.core.actions import Append, WriteHighWatermarks, WriteLogStarts
from tidemark.nodes.core.events import ShutdownRequested
from tidemark.nodes.core.messages import DeleteRecordsResponse, LeaderAndIsr, ProduceResponse
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition, recover
from tidemark.nodes.families.family import Machine
from tidemark.nodes.process.config import INTERNAL, NodeConfig
from tidemark.nodes.process.node_driver import NodeDriver
from tidemark.nodes.process.storage.log_directory import LogDirectory
from tidemark.nodes.process.wire.client_apis import ClientApis
from tidemark.nodes.process.wire.server import Connection, Handler

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.peer_sending import Versions

log = logging.getLogger(__name__)


class NodeSide(Protocol):
    """What a process says to other nodes, and hears from them.

    Attributes:
        senders: how each of the core's messages to a node is sent.
    """

    senders: dict[type, Callable[[int, Any], None]]

    def add_to(self, versions: Versions, handlers: dict[int, Handler]) -> None:
        """Add the APIs between nodes to those of the clients."""

    def forget(self, connection: Connection) -> None:
        """A connection ended."""


class LogDriver(NodeDriver):
    """A process with files, peers and clients.

    Attributes:
        logs: its files.
        checkpointed: partition → high watermark in the checkpoint file.
        log_starts: partition → log start in its checkpoint file.
        refused: partition → why its last fetched batch was not appended.
    """

    core: Machine

    def __init__(self, config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> None:
        """Take the log directory; nothing in it is touched before :meth:`load`.

        Raises:
            tidemark.nodes.process.storage.directory_lock.DirectoryInUseError: another process has it.
            OSError: it cannot be made.
        """
        super().__init__(config, loop, trace)
        assert config.data is not None  # noqa: S101 (a broker's configuration has both)
        assert config.volatile is not None  # noqa: S101
        self.logs = LogDirectory(config.data, config.volatile)
        self.checkpointed: dict[str, int] = {}
        self.log_starts: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        self._nodes = self.make_node_side()
        self._clients: ClientApis

    # What a subclass adds

    @abstractmethod
    def make_node_side(self) -> NodeSide:
        """What talks to other nodes."""

    @abstractmethod
    def make_core(self, recovered: Recovered) -> Machine:
        """The state machine, of what recovery found."""

    @property
    @abstractmethod
    def states(self) -> Mapping[str, LeaderAndIsr]:
        """Partition → who leads, as far as this node knows."""

    # Life cycle

    def load(self) -> None:
        """Recover the logs, trace what was found, and make the core of it."""
        config = self.config
        self.note("start", "", config.incarnation)
        image = self.logs.load()
        recovered = recover(image, config.variant.recovery)
        self.logs.after_recovery(recovered)
        self.checkpointed = dict(image.high_watermarks)
        self.log_starts = dict(image.log_starts)
        for name, found in recovered.partitions.items():
            self.tell_recovered(name, found)
            if found.start:
                self.note("log-start", name, found.start, 0, "recovered")
            log.info("recovered %s from %d to %d, high watermark %d", name, found.start, found.leo, found.hw)
        self.core = self.make_core(recovered)
        self._clients = ClientApis(self)
        self.make_listeners()

    def tell_recovered(self, name: str, found: RecoveredPartition) -> None:
        """Trace what was found of a log; how much of it was lost, only a replay of the trace tells."""
        self.note("recovered", name, found.leo, found.hw, -1)

    def shut_down(self) -> None:
        """End as the core wants to: Kafka's hands over leadership first (controlled shutdown)."""
        log.info("asked to shut down")
        self.deliver(ShutdownRequested())

    def close(self) -> None:
        """Close connections and files."""
        super().close()
        self.logs.close()

    # What the core asks for

    def write(self, now: int, action: Any) -> Entry | None:  # noqa: ANN401 (any action that is for the disk)
        """Carry out an action on the log directory."""
        if type(action) is Append:
            partition, batch = action.partition, action.batch
            raw = self.logs.append(partition, batch)
            self.refused.pop(partition, None)
            return (now, self.config.node, "append", partition, batch.base, batch.epoch, raw)
        self.logs.carry_out(action)
        if type(action) is WriteHighWatermarks:
            self.checkpointed = action.offsets
        elif type(action) is WriteLogStarts:
            self.log_starts = action.offsets
        return None

    def send(self, to: int, message: object) -> None:
        """Put a message on the wire: to a node, or as an acknowledgement to a client."""
        if isinstance(message, ProduceResponse | DeleteRecordsResponse):
            answer = partial(self._clients.on_answer, message)
            self.faults.pass_on(to, message, answer, partial(self._lose_answer, to, answer))
        else:
            self._nodes.senders[type(message)](to, message)

    def stepped(self, entries: list[Entry]) -> None:
        """Take note of roles and refusals, and let clients see what is new."""
        for entry in entries:
            event = entry[2]
            if event == "out-of-order":
                self.refused[entry[3]] = f"a fetched batch begins at {entry[4]}, but the log ends at {entry[5]}"
            elif event == "removed":
                self.refused.pop(entry[3], None)
                log.info("%s: no replica any more, the log is deleted", entry[3])
            elif event in ("lead", "follow"):
                self.refused.pop(entry[3], None)
                log.info("%s: %s in leader epoch %s", entry[3], event, entry[4])
        self._clients.after_step(entries)

    # Wire

    def served(self, listener: str) -> tuple[Mapping[int, tuple[int, int]], Mapping[int, Handler]]:
        """The client APIs, and on the internal listener what nodes ask each other."""
        versions, handlers = dict(self._clients.versions), dict(self._clients.handlers)
        if listener == INTERNAL:
            self._nodes.add_to(versions, handlers)
        return versions, handlers

    def _lose_answer(self, to: int, answer: Callable[[], None]) -> None:
        """TCP cannot lose one response of many: the client's connection says nothing any more until the fault ends."""
        for listener in self.listeners.values():
            for connection in listener.connections:
                if connection.number == to:
                    connection.muted = True
        answer()

    def faults_changed(self) -> None:
        """Close the connections that were silent because of a fault that is gone."""
        if not self.faults.rules.loses("acks"):
            for listener in self.listeners.values():
                for connection in [c for c in listener.connections if c.muted]:
                    connection.close()

    def connection_closed(self, connection: Connection) -> None:
        """Forget the requests that came on it."""
        self._nodes.forget(connection)
        self._clients.on_closed(connection)
