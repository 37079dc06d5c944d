"""Tidemark's own nodes: the protocol core in a process with sockets and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.evidence.partition_disk import Disk, lay_out, read_disk
from harness.machines.images import ensure_image
from harness.machines.node_control import NodeControl
from harness.machines.node_places import Places
from harness.systems.system import Deployment, System
from harness.systems.tidemark_config import node_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import DockerClient

    from harness.machines.machine import Machine


class TidemarkSystem(System):
    """``--system tidemark``."""

    name = "tidemark"
    runs_on_hosts = True

    def image(self, client: DockerClient, tell: Callable[[str], None]) -> str:
        """The node image."""
        return ensure_image(client, tell)

    def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
        """The node process of a machine."""
        return NodeControl(machine, on_lost=on_lost)

    def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
        """As ``nodes.process.config`` reads it."""
        return node_config(
            node,
            incarnation,
            machines=deployment.machines,
            places=Places(),
            cluster=deployment.cluster,
            variant=deployment.variant,
            first_leader_epoch=deployment.first_leader_epoch,
        )

    def lay_out(self, control: NodeControl, partition: str, disk: Disk) -> None:
        """All of it fsynced."""
        lay_out(control, partition, disk)

    def read_disk(self, control: NodeControl, partition: str) -> Disk:
        """What reached the disk, and what did not yet."""
        return read_disk(control, partition)
