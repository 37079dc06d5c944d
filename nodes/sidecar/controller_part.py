"""What the sidecar of the controller's machine needs beside a broker's sidecar: the state of the cluster, and deeds on it.

The real thing is :class:`tidemark.nodes.sidecar.controller.cluster_controller.ClusterController`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class ControllerPart(Protocol):
    """Watches the cluster's metadata, and acts on it."""

    async def start(self) -> None:
        """Begin to watch."""
        ...

    def status(self) -> dict[str, Any]:
        """``partitions`` and ``sessions``, as :mod:`tidemark.nodes.process.status` shows a controller's."""
        ...

    async def elect(self, partition: str, how: str, target: int) -> dict[str, Any]:
        """An operator's election; leader and leader epoch after it."""
        ...

    async def create_topics(self, partitions: Mapping[str, Sequence[int]], config: Mapping[str, Any]) -> dict[str, Any]:
        """Create the topics of these partitions: partition → its replicas."""
        ...

    async def reassign(self, partition: str, replicas: Sequence[int], *, wait: bool = True) -> dict[str, Any]:
        """Give a partition other replicas; ends when it is done, or when it is under way."""
        ...

    async def close(self) -> None:
        """Read to the end of the metadata, and watch no more."""
        ...
