"""The admin port: JSON lines, by which whoever tests a node steers and watches it; what the commands do is the node's business.

``{"id": 1, "do": "status"}`` is answered with ``{"id": 1, "ok": true, …}`` or ``{"id": 1, "error": "a sentence"}``. An answer that
takes time may come after those to later commands. One command is every node's: ``watch`` with ``events``, a list of events, or
"*": from now on trace entries of these kinds come as ``{"trace": […]}``. In a watched entry that tells of a batch its record count
stands where the trace file has the batch.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Collection, Container, Coroutine, Mapping
from typing import Any, cast

from tidemark.nodes.admin.message_rules import MessageRule, RuleError
from tidemark.nodes.admin.trace_file import WITH_BATCH, Entry, Trace
from tidemark.nodes.core.messages import KINDS
from tidemark.nodes.formats.record_batch import read_header

log = logging.getLogger(__name__)

MAX_LINE = 1 << 20
MAX_UNREAD = 8 << 20
"""A watcher that leaves more than this unread is let go."""
MAX_DELAY_US = 60_000_000

Answer = dict[str, Any]
Command = Callable[[dict[str, Any]], "Answer | Coroutine[Any, Any, Answer]"]
"""Takes the command's entries, but for ``id`` and ``do``; gives the answer's, or something that will."""


class CommandError(ValueError):
    """The command cannot be carried out; the message says why."""


class AdminConnection(asyncio.Protocol):
    """One connection to the admin port."""

    def __init__(self, commands: Mapping[str, Command], trace: Trace) -> None:
        """Wait for commands.

        Args:
            commands: by name.
            trace: what is watched.
        """
        self._trace = trace
        self._transport: asyncio.Transport | None = None
        self._line = bytearray()
        self._wanted: set[str] | None = set()
        """Events that are watched; None: all."""
        self._watching = False
        self._commands: dict[str, Command] = {**commands, "watch": self._watch}
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; nothing is watched any more."""
        self._transport = None
        for task in self._tasks:
            task.cancel()
        if self._watching:
            self._trace.watchers.remove(self._show)
            self._watching = False

    def data_received(self, data: bytes) -> None:
        """Carry out the commands that are complete now."""
        self._line += data
        *lines, rest = self._line.split(b"\n")
        self._line = bytearray(rest)
        if len(rest) > MAX_LINE and self._transport is not None:
            self._transport.abort()
            return
        for line in lines:
            self._take(bytes(line))

    def _take(self, line: bytes) -> None:
        try:
            command = json.loads(line)
        except ValueError:
            command = None
        if not isinstance(command, dict):
            self._say({"id": None, "error": "A command is one JSON object on one line."})
            return
        number = command.pop("id", None)
        do = command.pop("do", None)
        known = self._commands.get(do) if isinstance(do, str) else None
        if known is None:
            words = f"There is no command {do!r}: known are {', '.join(self._commands)}."
            self._say({"id": number, "error": words})
            return
        try:
            answer = known(command)
        except CommandError as e:
            self._say(_refusal(number, do, e))
            return
        if isinstance(answer, dict):
            self._say({"id": number, "ok": True, **answer})
        else:
            task = asyncio.get_running_loop().create_task(self._say_later(number, do, answer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _say_later(self, number: object, do: object, answer: Coroutine[Any, Any, Answer]) -> None:
        try:
            self._say({"id": number, "ok": True, **await answer})
        except CommandError as e:
            self._say(_refusal(number, do, e))

    def _say(self, what: dict[str, Any]) -> None:
        if self._transport is not None:
            self._transport.write(json.dumps(what, separators=(",", ":")).encode() + b"\n")

    def _watch(self, command: dict[str, Any]) -> dict[str, Any]:
        events = command.get("events")
        if events == "*":
            self._wanted = None
        elif isinstance(events, list) and all(isinstance(event, str) for event in events):
            self._wanted = set(events)
        else:
            raise CommandError('events must be a list of events, or "*"')
        if not self._watching:
            self._watching = True
            self._trace.watchers.append(self._show)
        return {}

    def _show(self, entries: list[Entry]) -> None:
        for entry in entries:
            if self._wanted is None or entry[2] in self._wanted:
                shown = (*entry[:-1], read_header(entry[-1]).count) if entry[2] in WITH_BATCH else entry
                self._say({"trace": shown})
        if self._transport is not None and self._transport.get_write_buffer_size() > MAX_UNREAD:
            log.warning("let go a watcher that does not read")
            self._transport.abort()


def _refusal(number: object, do: object, error: CommandError) -> dict[str, Any]:
    return {"id": number, "error": f"{do}: {error}."}


def key_of(command: dict[str, Any]) -> str | int:
    """The key of a fault.

    Raises:
        CommandError: it is no key.
    """
    key = command.get("key")
    if not isinstance(key, str | int):
        raise CommandError("key must be a text or a number")
    return key


def rules_of(command: dict[str, Any], kinds: Collection[str] = KINDS) -> list[MessageRule]:
    """The rules of a fault.

    Args:
        command: that puts them in force.
        kinds: of messages that this node can tell apart.

    Raises:
        CommandError: there are none, or one cannot be.
    """
    rules = command.get("rules")
    if not isinstance(rules, list) or not rules:
        raise CommandError("rules must be a list that is not empty")
    try:
        return [MessageRule.from_json(rule, kinds) for rule in rules]
    except RuleError as e:
        raise CommandError(str(e)) from e


def delay_of(command: dict[str, Any]) -> int:
    """How slow the disk is to be, µs.

    Raises:
        CommandError: it cannot be.
    """
    delay_us = command.get("delay_us")
    if type(delay_us) is not int or not 0 <= delay_us <= MAX_DELAY_US:
        raise CommandError("delay_us must be a whole number of µs, at most a minute")
    return delay_us


def partition_of(command: dict[str, Any], partitions: Container[str]) -> str:
    """The partition that a command is about.

    Raises:
        CommandError: there is none of that name.
    """
    partition = command.get("partition")
    if not isinstance(partition, str) or partition not in partitions:
        raise CommandError(f"there is no partition {partition!r}")
    return partition


async def listen(commands: Mapping[str, Command], trace: Trace, bound: socket.socket) -> asyncio.Server:
    """Listen on a socket that is bound already."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: AdminConnection(commands, trace), sock=bound)
