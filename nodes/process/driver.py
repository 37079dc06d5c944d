"""The process of a Kafka broker: a :class:`~tidemark.nodes.core.broker.Broker` with files, peers and clients."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.messages import LeaderAndIsr
from tidemark.nodes.core.recovery import Recovered
from tidemark.nodes.process.config import NodeConfig
from tidemark.nodes.process.log_driver import LogDriver, NodeSide
from tidemark.nodes.process.wire.broker_peers import BrokerPeers


class BrokerDriver(LogDriver):
    """One broker's process."""

    core: Broker

    def __init__(self, config: NodeConfig, loop: asyncio.AbstractEventLoop, trace: Trace) -> None:
        """As every process that keeps logs; the controller has said nothing yet."""
        self._states: dict[str, LeaderAndIsr] = {}
        super().__init__(config, loop, trace)

    @property
    def states(self) -> Mapping[str, LeaderAndIsr]:
        """Partition → newest state that the controller sent."""
        return self._states

    def make_node_side(self) -> NodeSide:
        """Fetches, epoch questions, and the controller."""
        return BrokerPeers(self, self.took, lambda: self.core.hears_controller)

    def make_core(self, recovered: Recovered) -> Broker:
        """It registers with the controller when it starts."""
        config = self.config
        return Broker(config.node, config.incarnation, config.kafka, config.cluster.settings, recovered)

    def took(self, state: LeaderAndIsr) -> bool:
        """Whether the core took a state of the controller's, which is then remembered unless something newer is known."""
        if self.core._known.get(state.partition, -1) < state.partition_epoch:  # noqa: SLF001 (what its heartbeats report)
            return False
        known = self._states.get(state.partition)
        if known is None or state.partition_epoch >= known.partition_epoch:
            self._states[state.partition] = state
        return True
