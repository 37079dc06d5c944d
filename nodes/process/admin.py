"""The admin port: JSON lines, by which whoever tests the node steers and watches it.

``{"id": 1, "do": "status"}`` is answered with ``{"id": 1, "ok": true, …}`` or ``{"id": 1, "error": "a sentence"}``.

================  =========================  ===============================================================================
do                further entries            what happens
================  =========================  ===============================================================================
status                                       the node's state
log               partition                  batches of the log: base offset, leader epoch, record count (brokers)
elect             partition, how, target     an operator's election (controller): preferred, forced or unclean
transport         key, rules                 faults on outgoing messages (:mod:`nodes.process.transport_faults`)
transport-clear   key                        end one; ``found`` says whether it was in force
slow-disk         delay_us                   every append and sync first takes that long (brokers); 0 ends it
watch             events                     from now on trace entries come as ``{"trace": […]}``; a list of events, or "*"
================  =========================  ===============================================================================

In a watched ``append`` the record count stands where the trace file has the batch.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from typing import Any, cast

from nodes.messages import CONTROLLER, Elect
from nodes.process.controller_driver import ControllerDriver
from nodes.process.driver import BrokerDriver
from nodes.process.node_driver import NodeDriver
from nodes.process.status import batches, status
from nodes.process.storage.record_batch import read_header
from nodes.process.trace import Entry
from nodes.process.transport_faults import Rule, RuleError

log = logging.getLogger(__name__)

MAX_LINE = 1 << 20
MAX_UNREAD = 8 << 20
"""A watcher that leaves more than this unread is let go."""

HOW = ("preferred", "forced", "unclean")


class CommandError(ValueError):
    """The command cannot be carried out; the message says why."""


class AdminConnection(asyncio.Protocol):
    """One connection to the admin port."""

    def __init__(self, driver: NodeDriver) -> None:
        """Wait for commands."""
        self._driver = driver
        self._transport: asyncio.Transport | None = None
        self._line = bytearray()
        self._wanted: set[str] | None = set()
        """Events that are watched; None: all."""
        self._watching = False
        self._commands: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "status": self._status,
            "log": self._log,
            "elect": self._elect,
            "transport": self._put_faults,
            "transport-clear": self._clear_faults,
            "slow-disk": self._slow_disk,
            "watch": self._watch,
        }

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; nothing is watched any more."""
        self._transport = None
        if self._watching:
            self._driver.trace.watchers.remove(self._show)
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
            self._say(self._answer(bytes(line)))

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            command = json.loads(line)
        except ValueError:
            return {"id": None, "error": "A command is one JSON object on one line."}
        if not isinstance(command, dict):
            return {"id": None, "error": "A command is one JSON object on one line."}
        number = command.pop("id", None)
        do = command.pop("do", None)
        known = self._commands.get(do) if isinstance(do, str) else None
        if known is None:
            return {"id": number, "error": f"There is no command {do!r}: known are {', '.join(self._commands)}."}
        try:
            return {"id": number, "ok": True, **known(command)}
        except (CommandError, RuleError) as e:
            return {"id": number, "error": f"{do}: {e}."}

    def _say(self, what: dict[str, Any]) -> None:
        if self._transport is not None:
            self._transport.write(json.dumps(what, separators=(",", ":")).encode() + b"\n")

    # Commands

    def _status(self, _command: dict[str, Any]) -> dict[str, Any]:
        return status(self._driver)

    def _log(self, command: dict[str, Any]) -> dict[str, Any]:
        return {"batches": batches(self._broker(), self._partition(command))}

    def _elect(self, command: dict[str, Any]) -> dict[str, Any]:
        driver = self._driver
        if not isinstance(driver, ControllerDriver):
            raise CommandError("only the controller holds elections")
        partition, how, target = self._partition(command), command.get("how"), command.get("target", -1)
        if how not in HOW:
            raise CommandError(f"how must be one of {', '.join(HOW)}, not {how!r}")
        if how != "preferred" and target not in driver.core.partitions[partition].replicas:
            raise CommandError(f"target must be a replica of {partition}, not {target!r}")
        driver.deliver(Elect(CONTROLLER, partition, how, target))
        state = driver.core.partitions[partition]
        return {"leader": state.leader, "leader_epoch": state.leader_epoch}

    def _put_faults(self, command: dict[str, Any]) -> dict[str, Any]:
        rules = command.get("rules")
        if not isinstance(rules, list) or not rules:
            raise CommandError("rules must be a list that is not empty")
        self._driver.faults.put(_key(command), [Rule.from_json(rule) for rule in rules])
        self._driver.faults_changed()
        return {}

    def _clear_faults(self, command: dict[str, Any]) -> dict[str, Any]:
        found = self._driver.faults.clear(_key(command))
        self._driver.faults_changed()
        return {"found": found}

    def _slow_disk(self, command: dict[str, Any]) -> dict[str, Any]:
        delay_us = command.get("delay_us")
        if type(delay_us) is not int or not 0 <= delay_us <= 60_000_000:
            raise CommandError("delay_us must be a whole number of µs, at most a minute")
        self._broker().slow_disk_us = delay_us
        return {}

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
            self._driver.trace.watchers.append(self._show)
        return {}

    def _show(self, entries: list[Entry]) -> None:
        for entry in entries:
            if self._wanted is None or entry[2] in self._wanted:
                shown = (*entry[:-1], read_header(entry[-1]).count) if entry[2] == "append" else entry
                self._say({"trace": shown})
        if self._transport is not None and self._transport.get_write_buffer_size() > MAX_UNREAD:
            log.warning("let go a watcher that does not read")
            self._transport.abort()

    def _broker(self) -> BrokerDriver:
        if not isinstance(self._driver, BrokerDriver):
            raise CommandError("the controller has no log and no disk")
        return self._driver

    def _partition(self, command: dict[str, Any]) -> str:
        partition = command.get("partition")
        if not isinstance(partition, str) or partition not in self._driver.partitions:
            raise CommandError(f"there is no partition {partition!r}")
        return partition


def _key(command: dict[str, Any]) -> str | int:
    key = command.get("key")
    if not isinstance(key, str | int):
        raise CommandError("key must be a text or a number")
    return key


async def start(driver: NodeDriver, bound: socket.socket) -> asyncio.Server:
    """Listen on a socket that is bound already."""
    return await driver.loop.create_server(lambda: AdminConnection(driver), sock=bound)
