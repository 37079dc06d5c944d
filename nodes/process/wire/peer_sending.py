"""How a process sends requests to other nodes as far as its faults let it, and hears their answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.wire.names import MeaninglessError

if TYPE_CHECKING:
    from tidemark.nodes.process.node_driver import NodeDriver

log = logging.getLogger(__name__)

Versions = dict[int, tuple[int, int]]
"""API key → lowest and highest version."""


def _lost() -> None:
    """A request that is not sent leaves nothing behind."""


def nothing(_response: object) -> None:
    """What is read of a response that says only that the message was heard."""


class PeerSending:
    """The sending half of one process's inter-node side."""

    def __init__(self, driver: NodeDriver) -> None:
        """Nothing is sent yet."""
        self.driver = driver

    def check_peer(self, node: int, partition: str = "") -> None:
        """Whether a message may come from there, and be about this partition.

        Raises:
            MeaninglessError: it may not.
        """
        config = self.driver.config
        if node == config.node or node not in config.cluster.broker_ids():
            raise MeaninglessError(f"there is no other broker {node}")
        if partition and partition not in self.driver.partitions:
            raise MeaninglessError(f"there is no partition {partition}")

    def send(
        self,
        to: int,
        message: object,
        key: int,
        version: int,
        body: object,
        read: Callable[[Any], object | None],
        purpose: str = "",
    ) -> None:
        """Send a request as far as the faults in force let it; ``read`` makes the core's message of the answer."""
        send = partial(self.driver.peers.send, to, purpose, key, version, body, partial(self._heard, to, read))
        self.driver.faults.pass_on(to, message, send, _lost)

    def _heard(self, source: int, read: Callable[[Any], object | None], entity: object) -> None:
        if self.driver.over:
            return
        try:
            answer = read(entity)
        except (MeaninglessError, BadBatchError) as e:
            log.warning("dropped an answer of node %d: %s", source, e)
            return
        if answer is not None:
            self.driver.deliver(answer)
