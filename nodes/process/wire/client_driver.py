"""What the client APIs need of the node they run in."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from typing import Protocol

from tidemark.nodes.core.messages import LeaderAndIsr
from tidemark.nodes.families.family import Machine
from tidemark.nodes.process.config import NodeConfig


class ClientDriver(Protocol):
    """The driver, as :mod:`tidemark.nodes.process.wire.client_apis` sees it."""

    core: Machine
    config: NodeConfig
    loop: AbstractEventLoop

    @property
    def states(self) -> Mapping[str, LeaderAndIsr]:
        """Partition → newest state that the controller sent; without one, who leads as this server knows it."""

    def now_us(self) -> int:
        """The time of this process, in µs."""

    def perform(self, change: Callable[[int], object]) -> None:
        """Call ``change(now_us)`` as one step of the core, then carry out what it put into ``core.out``.

        If a step is under way, the call waits for its turn.
        """
