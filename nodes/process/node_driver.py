"""What both kinds of node process share: one core, its events one at a time, its timers, its trace, and its end.

The loop's callbacks (sockets, timers, the admin port) give events to :meth:`NodeDriver.deliver`. An event that comes while a
step is being carried out waits for its turn, so the core is never entered twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from random import Random
from typing import Any, NamedTuple, Protocol

from tidemark.nodes.admin.message_rules import FIRST_CLIENT
from tidemark.nodes.admin.trace_file import Entry, Trace
from tidemark.nodes.core.actions import Action, Append, Delete, Halt, Journal, Send, SetTimer, Sync
from tidemark.nodes.core.events import Started
from tidemark.nodes.formats.wire.names import topics_by_id
from tidemark.nodes.process.config import HOST, INTERNAL, NodeConfig
from tidemark.nodes.process.transport_faults import TransportFaults
from tidemark.nodes.process.wire.peers import Peers
from tidemark.nodes.process.wire.server import Connection, Handler, Listener, Request

log = logging.getLogger(__name__)

CLEAN, FATAL, BUG = 0, 1, 70
"""Exit codes: halted cleanly; gave up, as the core or the disk wanted; something that must not happen (``EX_SOFTWARE``)."""

Change = Callable[[int], object]


class Core(Protocol):
    """The state machine that a process is driven by; ``out`` is the list that ``step`` returns."""

    out: list[Action]

    def step(self, now_us: int, event: Any) -> list[Action]:  # noqa: ANN401 (a message or one of tidemark.nodes.core.events)
        """Take one event; what to do about it, in order."""


class _Task(NamedTuple):
    event: object
    request: Request | None
    change: Change | None


class NodeDriver:
    """One node process around its core. A subclass knows what the core's messages become on the wire.

    Attributes:
        ended: the exit code, once the process is to end.
        trace: the node's trace.
        faults: what happens to outgoing messages.
        peers: outgoing connections.
        request: what the event of the current step came in, until it is answered.
        listeners: by name.
        slow_disk_us: every append and sync first takes that long.
    """

    core: Core

    def __init__(self, config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> None:
        """Nothing happens before :meth:`begin`."""
        self.config = config
        self.loop = loop
        self.trace = trace
        self.ended: asyncio.Future[int] = loop.create_future()
        noise = Random(f"{config.node}/{config.incarnation}")
        self.faults = TransportFaults(config.node, loop.call_later, noise, config.family.kinds_of)
        timeout_us = config.cluster.settings.request_timeout_us
        client_id = "controller" if config.is_controller else f"broker-{config.node}"
        self.peers = Peers(loop, config.peers, client_id, timeout_us)
        self.listeners: dict[str, Listener] = {}
        self.request: Request | None = None
        self.slow_disk_us = 0
        self.partitions = config.cluster.assignment()
        self.topics = topics_by_id(self.partitions)
        self._tasks: deque[_Task] = deque()
        self._busy = False
        self._numbers = count(FIRST_CLIENT)

    @property
    def over(self) -> bool:
        """Whether the process is ending; nothing is stepped or sent any more."""
        return self.ended.done()

    @staticmethod
    def now_us() -> int:
        """CLOCK_MONOTONIC, which all processes of one machine share, in µs."""
        return time.monotonic_ns() // 1000

    # What a subclass adds

    def load(self) -> None:
        """Make the core from what there is: nothing, on a node without a disk.

        Raises:
            OSError: the disk cannot be read or written.
        """
        self.note("start", "", self.config.incarnation)
        self.make_listeners()

    def begin(self) -> None:
        """Give the core its first event; the listeners listen."""
        self.deliver(Started())

    def shut_down(self) -> None:
        """SIGTERM: end cleanly, soon; there may be something to hand over first."""
        if not self.over:
            self.note("stop", "", "clean")
            self.end(CLEAN)

    def served(self, listener: str) -> tuple[Mapping[int, tuple[int, int]], Mapping[int, Handler]]:
        """The API versions of a listener, and who takes their requests."""
        raise NotImplementedError

    def send(self, to: int, message: object) -> None:
        """Put a message of the core on the wire."""
        raise NotImplementedError

    def write(self, now: int, action: Any) -> Entry | None:  # noqa: ANN401 (any action that is for the disk)
        """Carry out an action on the disk; what is to be traced of it, with the time of its step.

        Raises:
            TypeError: there is no disk.
            OSError: it was not done.
        """
        raise TypeError(f"a node without a disk cannot carry out {action!r}")

    def stepped(self, entries: list[Entry]) -> None:
        """A step's actions were carried out; this is what it traced."""

    def faults_changed(self) -> None:
        """A fault of the transport was put in force, or ended."""

    def connection_closed(self, connection: Connection) -> None:
        """A connection on a listener ended."""

    # Events

    def deliver(self, event: object, request: Request | None = None) -> None:
        """Give an event to the core: at once, or when the steps before it are carried out.

        Args:
            event: a message, or another event of the core.
            request: what it came in; :attr:`request` during the step.
        """
        self._enqueue(_Task(event, request, None))

    def perform(self, change: Change) -> None:
        """Call ``change(now_us)`` in place of a step, and carry out what it puts into the core's ``out``."""
        self._enqueue(_Task(None, None, change))

    def _enqueue(self, task: _Task) -> None:
        self._tasks.append(task)
        if not self._busy:
            self._run()

    def _run(self) -> None:
        self._busy = True
        while self._tasks and not self.over:
            task = self._tasks.popleft()
            now = self.now_us()
            self.request = task.request
            if task.change is None:
                actions = self.core.step(now, task.event)
            else:
                actions = self.core.out
                actions.clear()
                task.change(now)
            if self.slow_disk_us:
                waits = sum(1 for action in actions if isinstance(action, Append | Journal | Sync))
                if waits:
                    self.loop.call_later(waits * self.slow_disk_us / 1e6, self._go_on, now, list(actions))
                    return
            self._carry_out(now, actions)
        self._busy = False

    def _go_on(self, now: int, actions: list[Any]) -> None:
        """The slow disk has had its time."""
        if not self.over:
            self._carry_out(now, actions)
            self._run()

    def _carry_out(self, now: int, actions: list[Any]) -> None:
        """Disk and timers first, in order, then the trace, then what is sent. Nothing is sent if the disk or trace fails.

        Only a deletion is told of before it is carried out: a log that was told to be gone, and is found, can be told again.
        """
        entries: list[Entry] = []
        sends: list[Send] = []
        how = ""
        told = 0
        try:
            for action in actions:
                kind = type(action)
                if kind is tuple:
                    entries.append(action)
                elif kind is Send:
                    sends.append(action)
                elif kind is SetTimer:
                    self.loop.call_later(action.delay_us / 1e6, self.deliver, action.event)
                elif kind is Halt:
                    how = action.how
                elif kind is Delete:
                    if not self._wrote(entries[told:]):
                        return
                    told = len(entries)
                    self.write(now, action)
                else:
                    entry = self.write(now, action)
                    if entry is not None:
                        entries.append(entry)
        except OSError as e:
            self.give_up(f"the disk failed: {e}", entries[told:])
            return
        if how:
            entries.append((self.now_us(), self.config.node, "stop", "", how))
        if entries[told:] and not self._wrote(entries[told:]):
            return
        try:
            for send in sends:
                self.send(send.to, send.message)
            self.stepped(entries)
        except OSError as e:  # a batch that is to be sent cannot be read
            self.give_up(f"the disk failed: {e}")
        if how:
            log.info("halted: %s", how)
            self.end(CLEAN if how == "clean" else FATAL)

    # Trace

    def note(self, event: str, partition: str, *fields: object) -> None:
        """Trace an event of this process, rather than of its core."""
        self._wrote([(self.now_us(), self.config.node, event, partition, *fields)])

    def _wrote(self, entries: list[Entry]) -> bool:
        """Write to the trace; a node that cannot must end, and without another word."""
        try:
            self.trace.write(entries)
        except OSError as e:
            log.error("gave up: the trace cannot be written: %s", e)  # noqa: TRY400 (a sentence for people)
            self.end(FATAL)
            return False
        return True

    # The end

    def give_up(self, why: str, entries: list[Entry] | None = None, code: int = FATAL) -> None:
        """End at once, saying why; what this step would have sent is not sent.

        Args:
            why: for people.
            entries: what the step traced before.
            code: exit code.
        """
        if self.over:
            return
        log.error("gave up: %s", why)
        now, node = self.now_us(), self.config.node
        self._wrote([*(entries or ()), (now, node, "fatal", "", why), (now, node, "stop", "", "fatal")])
        self.end(code)

    def end(self, code: int) -> None:
        """The process is to end with this exit code; the first one counts."""
        if not self.ended.done():
            self.ended.set_result(code)

    def close(self) -> None:
        """Close every connection."""
        for listener in self.listeners.values():
            listener.close()
        self.peers.close()

    # Wire

    def make_listeners(self) -> None:
        """The listeners of this node, not listening yet."""
        for name in (INTERNAL,) if self.config.is_controller else (INTERNAL, HOST):
            allowed, handlers = self.served(name)
            self.listeners[name] = Listener(name, allowed, handlers, self._numbers, self.connection_closed)

    def reply(self, request: Request, to: int, message: object, entity: object) -> None:
        """Answer a peer's request, as far as the faults in force let it.

        Args:
            request: to answer.
            to: the peer.
            message: what the answer says, for the rules to judge.
            entity: the response.
        """
        self.faults.pass_on(to, message, partial(request.reply, entity), request.no_reply)
