"""A machine that runs one node: how to reach it, and what can be done to it from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from docker.errors import APIError, DockerException, NotFound

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.ssh import Shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker.models.containers import Container
    from docker.models.networks import Network

T = TypeVar("T")

INTERNAL_PORT = 9092
HOST_PORT = 19092
ADMIN_PORT = 9990
SETTLE_S = 10.0


@dataclass(slots=True)
class Machine:
    """A node's machine: a container, or a host from a hosts file (then ``container`` and ``network`` are None).

    Attributes:
        node: 0 for the controller, brokers from 1. name: for people.
        shell: its SSH connection.
        inner_ip: the address other nodes reach it by, at port 9092.
        host_address, host_port: what clients on this computer dial; the node binds port 19092 for them.
        admin_port: of the node process, on its loopback only (see :meth:`Shell.channel`).
    """

    node: int
    name: str
    shell: Shell
    inner_ip: str
    host_address: str
    host_port: int
    admin_port: int = ADMIN_PORT
    container: Container | None = None
    network: Network | None = None

    @property
    def internal(self) -> str:
        """``ADDRESS:PORT`` for other nodes."""
        return f"{self.inner_ip}:{INTERNAL_PORT}"

    @property
    def advertised(self) -> str:
        """``ADDRESS:PORT`` for clients on this computer."""
        return f"{self.host_address}:{self.host_port}"

    def kill_container(self) -> None:
        """SIGKILL everything in the container at once. Its tmpfs is gone then, its volume and layer stay.

        Raises:
            NodeError: no container, or it does not die.
        """
        container = self._container("killed")
        self._docker("kill", lambda: container.kill("SIGKILL"))
        self._until("is still running after SIGKILL", lambda: not _running(container))
        self.shell.close()

    def start_container(self) -> None:
        """Start it after a kill: same addresses, same ports, and SSH answers. The node process does not start by itself.

        Raises:
            NodeError: no container, or SSH does not answer within 15 s.
        """
        container = self._container("started")
        self.shell.close()
        self._docker("start", container.start)
        self._until("does not start", lambda: _running(container))
        self.shell.connect()

    def disconnect(self) -> None:
        """Pull its network cable. SSH and the published ports go with it, until :meth:`connect`.

        Raises:
            NodeError: no container, or it is still on the network.
        """
        container, network = self._container("disconnected"), self._network()
        self.shell.close()
        self._docker("disconnect", lambda: network.disconnect(container, force=True))
        self._until("is still on its network", lambda: self._address() is None)

    def connect(self) -> None:
        """Put the cable back: same address, and SSH answers.

        Raises:
            NodeError: no container, or another address, or SSH does not answer within 15 s.
        """
        container, network = self._container("connected"), self._network()
        self._docker("connect", lambda: network.connect(container, ipv4_address=self.inner_ip))
        self._until(f"did not get its address {self.inner_ip} back", lambda: self._address() == self.inner_ip)
        self.shell.connect()

    def _container(self, done: str) -> Container:
        if self.container is None:
            raise NodeError(f"{self.name} is a machine from a hosts file; only a container can be {done}")
        return self.container

    def _network(self) -> Network:
        if self.network is None:
            raise NodeError(f"{self.name} has no network of its own")
        return self.network

    def _address(self) -> str | None:
        """Its address on the cluster's network, as the engine sees it; None if it is not connected."""
        container, network = self._container("asked"), self._network()
        container.reload()
        networks = container.attrs["NetworkSettings"]["Networks"]
        return (networks[network.name]["IPAddress"] or None) if network.name in networks else None

    def _docker(self, what: str, act: Callable[[], T]) -> T:
        try:
            return act()
        except NotFound:
            raise NodeError(f"cannot {what} {self.name}: its container or network is gone") from None
        except DockerException as error:
            why = error.explanation if isinstance(error, APIError) and error.explanation else error
            raise NodeError(f"cannot {what} {self.name}: {why}") from None

    def _until(self, wrong: str, right: Callable[[], bool]) -> None:
        """Wait until the engine sees it too."""
        deadline = time.monotonic() + SETTLE_S
        while not self._docker("inspect", right):
            if time.monotonic() > deadline:
                raise NodeError(f"{self.name} {wrong}")
            time.sleep(0.02)


def _running(container: Container) -> bool:
    container.reload()
    return bool(container.status == "running")
