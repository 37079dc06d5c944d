"""Keeping one program, and ending with it.

Exit codes: 0: the program shut down cleanly, or was killed. 1: it ended by itself. 2: the configuration cannot be used, or an
address or file cannot be had.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.nodes.admin import port as admin_port
from tidemark.nodes.admin.config_file import ConfigError, load
from tidemark.nodes.admin.process_file import put_process_file
from tidemark.nodes.admin.seccomp import UnknownMachineError
from tidemark.nodes.admin.start_up import CannotStartError, bind, configuration_file
from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.keeper.config import KeeperConfig
from tidemark.nodes.keeper.program import Program
from tidemark.nodes.keeper.sync_ledger import SyncLedger

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

OK, GAVE_UP, UNUSABLE = 0, 1, 2
LOOK_S = 0.02

log = logging.getLogger("tidemark.nodes.keeper")


def main(arguments: list[str] | None = None) -> int:
    """Keep one program; returns the exit code."""
    path = configuration_file(arguments, "tidemark.nodes.keeper", "A program, and its admin port.", "keeper: ")
    try:
        config = load(path, KeeperConfig.from_json)
        bound = bind(config.admin)
        trace = Trace(config.trace)
        return asyncio.run(Keeper(config, trace).run(bound))
    except (ConfigError, CannotStartError, UnknownMachineError) as error:
        log.error("%s", error)  # noqa: TRY400 - a sentence for people
    except OSError as error:
        log.error("cannot start: %s", error)  # noqa: TRY400
    return UNUSABLE


def now_us() -> int:
    """CLOCK_MONOTONIC, µs."""
    return time.monotonic_ns() // 1000


class Keeper:
    """One program and its admin port."""

    def __init__(self, config: KeeperConfig, trace: Trace) -> None:
        """Nothing runs yet."""
        self._config, self._trace = config, trace
        self._ledger = None if config.ledger is None else SyncLedger(config.data, config.ledger)
        self._asked = config.process.with_name(config.process.name + ".asked")
        """There if the program was asked to shut down: it may then end with any exit code."""
        self._program: Program

    async def run(self, bound: socket.socket) -> int:
        """Until the program has ended; the exit code."""
        config, loop = self._config, asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()
        self._asked.unlink(missing_ok=True)
        self._note("start", config.incarnation)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, log.info, "ignored a signal: the node ends when its program does")
        _write_files(config.files)
        self._program = Program(config, self._ledger, lambda code: _tell(loop, ended, code))
        put_process_file(config.process, self._program.pid)
        serving = loop.create_task(self._serve(bound))
        code = await ended
        serving.cancel()
        how = self._how(code)
        if how:
            self._note("stop", how)
        await asyncio.sleep(0.01)  # what was written to sockets leaves
        return GAVE_UP if how == "fatal" else OK

    def _how(self, code: int) -> str:
        """How it ended by its own account: empty if it was killed, for whoever did that tells of it."""
        if code == -signal.SIGKILL:
            return ""
        return "clean" if code == 0 or self._asked.exists() else "fatal"

    async def _serve(self, bound: socket.socket) -> None:
        """Listen once the program is ready: whoever started it waits for that."""
        while not self._program.is_ready():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(LOOK_S)
        commands: dict[str, admin_port.Command] = {
            "status": self._status,
            "sync": self._sync,
            "slow-disk": self._slow_disk,
        }
        await admin_port.listen(commands, self._trace, bound)
        log.info("node %d is ready, incarnation %d", self._config.node, self._config.incarnation)

    def _status(self, _command: dict[str, Any]) -> admin_port.Answer:
        return {
            "node": self._config.node,
            "mono_us": now_us(),
            "wall_us": time.time_ns() // 1000,
            "transport": [],
            "slow_disk_us": self._program.slow_us,
            "partitions": {},
        }

    def _sync(self, _command: dict[str, Any]) -> admin_port.Answer:
        """What the program has written is durable, as after half a minute of rest."""
        if self._ledger is not None:
            self._ledger.everything()
        return {}

    def _slow_disk(self, command: dict[str, Any]) -> admin_port.Answer:
        self._program.slow_us = admin_port.delay_of(command)
        return {}

    def _note(self, event: str, *fields: object) -> None:
        self._trace.write([(now_us(), self._config.node, event, "", *fields)])


def _tell(loop: asyncio.AbstractEventLoop, ended: asyncio.Future[int], code: int) -> None:
    loop.call_soon_threadsafe(ended.set_result, code)


def _write_files(files: Mapping[str, str]) -> None:
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
