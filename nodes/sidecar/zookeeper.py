"""ZooKeeper, as a second JVM on the controller's machine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.jvm import Jvm
from tidemark.nodes.sidecar.jvm_command import zookeeper_command
from tidemark.nodes.sidecar.readiness import ephemeral_nodes, zookeeper_answers
from tidemark.nodes.sidecar.server_files import write_plain

LOOK_S = 0.1
PAUSE_LOOK_S = 0.02
PATIENCE_S = 5.0
_ANY = "0.0.0.0"  # noqa: S104 (compared with, not bound to)


class ZooKeeper:
    """The process.

    Attributes:
        jvm: it.
        address: where it serves.
    """

    def __init__(self, config: SidecarConfig, env: Mapping[str, str], loop: asyncio.AbstractEventLoop) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        settings = config.zookeeper
        Path(settings["dataDir"]).mkdir(parents=True, exist_ok=True)
        zoo_cfg = config.process.with_name("zoo.cfg")
        write_plain(zoo_cfg, settings)
        host = settings.get("clientPortAddress", _ANY)
        self.address = Address("127.0.0.1" if host == _ANY else host, int(settings["clientPort"]))
        self.jvm = Jvm(zookeeper_command(config, zoo_cfg), env, loop)

    async def serves(self) -> bool:
        """Ends when it serves; false if it ended before that."""
        while not self.jvm.ended.done():
            if await zookeeper_answers(self.address):
                return True
            await asyncio.sleep(LOOK_S)
        return False

    async def frees(self, path: str, within_s: float) -> float:
        """Ends when no session holds this ephemeral node any more, or the time is over, or ZooKeeper does not say; how long that
        took, s: 0 if nobody held it.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        waited = 0.0
        while waited < within_s and not self.jvm.ended.done():
            if path not in (await ephemeral_nodes(self.address) or ()):
                break
            await asyncio.sleep(LOOK_S)
            waited = loop.time() - began
        return waited

    async def pause_with(self, broker: Jvm) -> None:
        """Whoever stops the controller's broker (SIGSTOP) means the whole machine: stand still, and go on, when it does."""
        stopped = False
        while True:
            if broker.is_stopped != stopped:
                stopped = not stopped
                self.jvm.signal(signal.SIGSTOP if stopped else signal.SIGCONT)
            await asyncio.sleep(PAUSE_LOOK_S)

    async def end(self, *, in_order: bool) -> None:
        """End it: with a signal that lets it close its files, or as a killed machine would."""
        await self.jvm.end(PATIENCE_S if in_order else 0.0)
