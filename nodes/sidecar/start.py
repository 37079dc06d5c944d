"""Starting one sidecar, and ending it with the right exit code.

0: the JVM shut down cleanly, or was killed. 1: it ended by itself. 2: the configuration cannot be used, or an address or file
cannot be had. 70: a bug, with a traceback.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from tidemark.nodes.admin import port as admin_port
from tidemark.nodes.admin.config_file import ConfigError, load
from tidemark.nodes.admin.start_up import CannotStartError, bind, configuration_file, new_loop
from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.sidecar.admin_commands import SidecarCommands
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.end_of_jvm import FATAL, End
from tidemark.nodes.sidecar.lines import dialect
from tidemark.nodes.sidecar.server_files import ServerFilesError, choose_release, format_directory
from tidemark.nodes.sidecar.sidecar import KeeperError, Sidecar

OK, GAVE_UP, UNUSABLE, BUG = 0, 1, 2, 70
PREDECESSOR_S = 30.0
"""For an earlier sidecar of this node to finish its trace."""

log = logging.getLogger("tidemark.nodes.sidecar")


def main(arguments: list[str] | None = None) -> int:
    """Keep one node; returns the exit code."""
    path = configuration_file(arguments, "tidemark.nodes.sidecar", "One node of a real Kafka cluster.", "sidecar: ")
    try:
        config = load(path, SidecarConfig.from_json)
        lock = _wait_for_predecessor(Path(f"{config.process}.lock"))
        bound = bind(config.admin)
        trace = Trace(config.trace)
        choose_release(config.version)
        format_directory(config)
    except (ConfigError, CannotStartError, ServerFilesError) as e:
        log.error("%s", e)  # noqa: TRY400 (a sentence for people)
        return UNUSABLE
    except OSError as e:
        log.error("cannot start: %s", e)  # noqa: TRY400
        return UNUSABLE
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(_keep(config, trace, bound))
    finally:
        trace.close()
        bound.close()
        os.close(lock)  # last: a successor that waits for it listens where the loop listened until it was closed


def _wait_for_predecessor(path: Path) -> int:
    """Take the node's lock, which the kernel lifts when its holder ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + PREDECESSOR_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(lock)
                raise CannotStartError(f"another sidecar holds {path}: end that one first.") from None
            time.sleep(0.01)


async def _keep(config: SidecarConfig, trace: Trace, bound: socket.socket) -> int:
    sidecar = Sidecar(config, trace, dialect(config.version), sys.stdout.fileno())
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: _failed(sidecar, context))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, log.info, "ignored a signal: the node ends when its JVM does")
    serving: asyncio.Task[None] | None = None
    code = OK
    try:
        await sidecar.start()
        serving = loop.create_task(_serve(sidecar, bound))
        end = await sidecar.ended()
    except KeeperError as e:
        end = End(FATAL, str(e))
    except Exception as e:
        log.exception("a bug")
        end = End(FATAL, f"a bug: {e!r}")
        code = BUG
    finally:
        if serving is not None:
            serving.cancel()
        await sidecar.close()
    sidecar.finish(end)
    await asyncio.sleep(0.01)  # what was written to sockets leaves
    return code or (GAVE_UP if end.how == FATAL else OK)


async def _serve(sidecar: Sidecar, bound: socket.socket) -> None:
    """Listen on the admin port once the node is ready: whoever started it waits for that."""
    try:
        await sidecar.serves()
        await admin_port.listen(SidecarCommands(sidecar).by_name(), sidecar.trace, bound)
    except Exception as e:
        log.exception("a bug")
        sidecar.fail(f"a bug: {e!r}")
    else:
        log.info("node %d serves, incarnation %d", sidecar.config.node, sidecar.config.incarnation)


def _failed(sidecar: Sidecar, context: dict[str, Any]) -> None:
    """An exception that nobody caught: a lost connection, or a bug."""
    error = context.get("exception")
    if error is None or isinstance(error, OSError | TimeoutError):
        log.warning("%s: %s", context.get("message"), error)
    else:
        log.error("a bug", exc_info=error)
        sidecar.fail(f"a bug: {error!r}")
