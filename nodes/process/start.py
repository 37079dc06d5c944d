"""Starting one node process, and ending it with the right exit code.

0: halted cleanly. 1: gave up, as its core or its disk wanted. 2: the configuration cannot be used, or an address or directory
cannot be had. 70: a bug, with a traceback.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
from typing import Any

from tidemark.nodes.admin.config_file import ConfigError
from tidemark.nodes.admin.port import listen
from tidemark.nodes.admin.start_up import CannotStartError, bind, configuration_file, new_loop
from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.formats.checkpoints import CheckpointError
from tidemark.nodes.process.admin_commands import AdminCommands
from tidemark.nodes.process.config import NodeConfig
from tidemark.nodes.process.controller_driver import ControllerDriver
from tidemark.nodes.process.driver import BrokerDriver
from tidemark.nodes.process.ledger_driver import LedgerDriver
from tidemark.nodes.process.node_driver import BUG, FATAL, NodeDriver
from tidemark.nodes.process.storage.directory_lock import DirectoryInUseError
from tidemark.nodes.process.store_driver import StoreDriver
from tidemark.nodes.process.voting_driver import VotingDriver

UNUSABLE = 2

log = logging.getLogger("tidemark.nodes.process")


def main(arguments: list[str] | None = None) -> int:
    """Run one node; returns its exit code."""
    path = configuration_file(arguments, "tidemark.nodes.process", "One node: a broker, or the controller.")
    try:
        config = NodeConfig.load(path)
        sockets = {name: bind(listener.bind) for name, listener in config.listeners.items()}
        admin_socket = bind(config.admin)
        trace = _open_trace(config)
    except (ConfigError, CannotStartError) as e:
        log.error("%s", e)  # noqa: TRY400 (a sentence for people)
        return UNUSABLE
    loop = new_loop()
    try:
        return loop.run_until_complete(_run(config, loop, trace, sockets, admin_socket))
    except CannotStartError as e:
        log.error("%s", e)  # noqa: TRY400 (a sentence for people)
        return UNUSABLE
    finally:
        trace.close()
        loop.close()


def _open_trace(config: NodeConfig) -> Trace:
    try:
        return Trace(config.trace)
    except OSError as e:
        raise CannotStartError(f"cannot write the trace {config.trace}: {e.strerror}") from e


async def _run(
    config: NodeConfig,
    loop: asyncio.AbstractEventLoop,
    trace: Trace,
    sockets: dict[str, socket.socket],
    admin_socket: socket.socket,
) -> int:
    driver = _make(config, loop, trace)
    loop.set_exception_handler(lambda _loop, context: _failed(driver, context))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, driver.shut_down)
    try:
        driver.load()
        await _listen(driver, sockets, admin_socket)
        log.info("node %d started, incarnation %d, %s", config.node, config.incarnation, config.variant.name)
        driver.begin()
        gc.collect()
        gc.freeze()
        return await driver.ended
    except CannotStartError:
        raise
    except (CheckpointError, OSError) as e:
        driver.give_up(f"the logs cannot be loaded: {e}")
        return FATAL
    except Exception as e:
        log.exception("a bug")
        driver.give_up(f"a bug: {e!r}", code=BUG)
        return BUG
    finally:
        driver.close()
        await asyncio.sleep(0.01)  # what was written to sockets leaves


def _make(config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> NodeDriver:
    family = config.family
    if config.is_controller:
        return (ControllerDriver if family.has_isr else StoreDriver)(config, loop, trace)
    without_isr = VotingDriver if family.store is None else LedgerDriver
    try:
        return (BrokerDriver if family.has_isr else without_isr)(config, loop, trace)
    except DirectoryInUseError as e:
        raise CannotStartError(str(e)) from e
    except OSError as e:
        raise CannotStartError(f"cannot make the log directories: {e}") from e


async def _listen(driver: NodeDriver, sockets: dict[str, socket.socket], admin_socket: socket.socket) -> None:
    try:
        for name, listener in driver.listeners.items():
            await listener.start_on(sockets[name])
        await listen(AdminCommands(driver).by_name(), driver.trace, admin_socket)
    except OSError as e:
        raise CannotStartError(f"cannot listen: {e.strerror}") from e


_HARMLESS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED}
"""The system could not give one more connection."""


def _failed(driver: NodeDriver, context: dict[str, Any]) -> None:
    """An exception that nobody caught: a lost connection, a disk that cannot be read, or a bug."""
    error = context.get("exception")
    if error is None or isinstance(error, ConnectionError | TimeoutError) or getattr(error, "errno", 0) in _HARMLESS:
        log.warning("%s: %s", context.get("message"), error)
    elif isinstance(error, OSError):
        driver.give_up(f"the disk failed: {error}")
    else:
        log.error("a bug", exc_info=error)
        driver.give_up(f"a bug: {error!r}", code=BUG)
