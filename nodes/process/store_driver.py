"""The process of BookKeeper's metadata store, on node 0. It has no disk: what it was told it keeps for as long as it runs.

Where the store is to fail, the process goes on and is deaf, as in the simulator: what ZooKeeper has written lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.process.config import NodeConfig
from tidemark.nodes.process.node_driver import NodeDriver
from tidemark.nodes.process.wire.ledger_peers import LedgerPeers
from tidemark.nodes.process.wire.server import Handler


class StoreDriver(NodeDriver):
    """The store's process."""

    def __init__(self, config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> None:
        """Make the core; nothing happens before :meth:`begin`."""
        super().__init__(config, loop, trace)
        make = config.family.store
        if make is None:
            raise TypeError(f"{config.family.title} has no metadata store")
        self.core = make(config.cluster.broker_ids(), self.partitions, config.variant, config.cluster.settings)
        self._nodes = LedgerPeers(self)

    def served(self, listener: str) -> tuple[Mapping[int, tuple[int, int]], Mapping[int, Handler]]:
        """What nodes ask."""
        versions: dict[int, tuple[int, int]] = {}
        handlers: dict[int, Handler] = {}
        self._nodes.add_to(versions, handlers)
        return versions, handlers

    def send(self, to: int, message: object) -> None:
        """Tell a node."""
        self._nodes.senders[type(message)](to, message)
