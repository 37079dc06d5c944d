"""A cluster of containers: one for the controller, one for each broker, on a network of their own.

The harness reaches them through ports published on 127.0.0.1 only; nothing here dials a container's own address. The node
processes are not started here (see ``node_control``): a fresh cluster is machines with sshd.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol, Self

from docker.errors import APIError, DockerException
from docker.types import IPAMConfig, IPAMPool
from requests import RequestException

from tidemark.harness.machines.addresses import FIRST_HOST, free_ports, subnets
from tidemark.harness.machines.errors import ClusterError, ContainerWorldError
from tidemark.harness.machines.interrupts import held_interrupts
from tidemark.harness.machines.leftovers import every, remove
from tidemark.harness.machines.machine import HOST_PORT, Machine
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.harness.machines.owner import NODE, Owner
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.machines.ssh_keys import KeyPair, new_key_pair
from tidemark.harness.machines.survivor import survived
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Network
    from types import TracebackType

    from docker import DockerClient
    from docker.models.containers import Container
    from docker.models.networks import Network
    from docker.models.volumes import Volume

DATA = "/var/lib/tidemark/data"
VOLATILE = "/var/lib/tidemark/volatile"
KEPT = "/var/lib/tidemark/kept"
MAX_BROKERS = 100
ATTEMPTS = 20
_UNITS = {"k": 10, "m": 20, "g": 30}


class Cluster(Protocol):
    """Machines for a controller and brokers, whatever they are made of."""

    @property
    def machines(self) -> dict[int, Machine]:
        """Node → machine; 0 is the controller."""
        ...

    def down(self) -> None:
        """Remove everything that was brought up; nothing happens the second time."""
        ...


class ContainerCluster:
    """Containers that are up and answer over SSH; made by :meth:`up`, removed by :meth:`down`.

    Attributes:
        run_id: names the cluster, and everything of it in the engine. keys: of its machines.
        machines: node → machine; 0 is the controller.
    """

    def __init__(self, client: DockerClient, run_id: str, labels: Mapping[str, str], keys: KeyPair) -> None:
        self.run_id = run_id
        self.keys = keys
        self._client = client
        self._labels = dict(labels)
        self.machines: dict[int, Machine] = {}
        self._is_down = False

    @classmethod
    def up(
        cls,
        brokers: int,
        *,
        run_id: str,
        image: str,
        client: DockerClient,
        needs: MachineNeeds | None = None,
        owner: Owner | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Self:
        """Make the network, then all containers at once, and wait until each answers over SSH (2 s for five).

        Args:
            brokers: how many, besides the controller.
            run_id: names the cluster; letters, digits, ``-``, ``_``, ``.``.
            image: the node image.
            client: of the engine; must live as long as the cluster.
            needs: what each container must have.
            owner: whose it is; this process, unless told otherwise: then what is left of it is removed, however it ends.
            labels: further ones of everything that is made.

        Raises:
            ClusterError: it cannot be made; nothing of it is left then.
        """
        if not 1 <= brokers <= MAX_BROKERS:
            raise ClusterError(f"a cluster of containers has 1 to {MAX_BROKERS} brokers, not {brokers}")
        whose = (owner or survived()).labels(run_id)
        cluster = cls(client, run_id, {**(labels or {}), **whose}, new_key_pair(f"tidemark-{run_id}"))
        if every(client, run_id):
            raise ClusterError(f"there is a cluster {run_id} already; remove it with: tidemark cluster down {run_id}")
        try:
            with held_interrupts():
                cluster._make(brokers, image, needs or MachineNeeds())
        except BaseException as error:
            try:
                cluster.down()
            except ClusterError as left:
                error.add_note(str(left))
            if isinstance(error, (DockerException, RequestException, OSError)):
                raise ClusterError(f"cannot bring the containers up: {_words(error)}") from None
            raise
        return cluster

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.down()

    def down(self) -> None:
        """Remove containers, network and volumes of this run, whatever state they are in, and see that they are gone.

        Raises:
            ClusterError: something is left after 30 s; calling again tries again.
        """
        if self._is_down:
            return
        with held_interrupts():
            for machine in self.machines.values():
                machine.shell.close()
            remove(self._client, every(self._client, self.run_id))
            self._is_down = True

    def _make(self, brokers: int, image: str, needs: MachineNeeds) -> None:
        network, subnet = self._make_network()
        data = [self._make_volume(node, needs) for node in range(brokers + 1)]
        # One thread each: what takes long is the engine's and the container's own work.
        with ThreadPoolExecutor(brokers + 1) as pool:
            made = [
                pool.submit(self._make_machine, node, network, str(subnet[FIRST_HOST + node]), image, needs, data)
                for node in range(brokers + 1)
            ]
        self.machines = {machine.node: machine for machine in (future.result() for future in made)}

    def _make_network(self) -> tuple[Network, IPv4Network]:
        said = "no subnet of 10.77.0.0/16 is free"
        for _, subnet in zip(range(ATTEMPTS), subnets(), strict=False):
            pool = IPAMPool(subnet=str(subnet), gateway=str(subnet[1]))
            try:
                network = self._client.networks.create(
                    f"tidemark-{self.run_id}",
                    driver="bridge",
                    ipam=IPAMConfig(pool_configs=[pool]),
                    labels=self._labels,
                    check_duplicate=True,
                )
            except APIError as error:
                said = _words(error)
                if "overlaps" not in said:
                    break
            else:
                return network, subnet
        raise ClusterError(f"cannot make a network for the containers: {said}")

    def _make_volume(self, node: int, needs: MachineNeeds) -> Volume:
        in_memory = {"type": "tmpfs", "device": "tmpfs", "o": f"size={needs.data_size}"} if needs.data_size else {}
        return self._client.volumes.create(
            self._name_of(node), driver_opts=in_memory, labels={**self._labels, NODE: str(node)}
        )

    def _name_of(self, node: int) -> str:
        return f"tidemark-{self.run_id}-{node_name(node)}"

    def _make_machine(
        self, node: int, network: Network, address: str, image: str, needs: MachineNeeds, data: list[Volume]
    ) -> Machine:
        labels = {**self._labels, NODE: str(node)}
        name = self._name_of(node)
        client = self._client
        volumes = {data[node].name: {"bind": DATA, "mode": "rw"}}
        if needs.data_size and node == CONTROLLER:
            # A volume in memory lives as long as a container uses it: this one outlives the kill of the others.
            volumes |= {data[n].name: {"bind": f"{KEPT}/{n}", "mode": "ro"} for n in range(1, len(data))}
        memory = _bytes(needs.volatile_size) + _bytes(needs.data_size or "0") + needs.memory
        for attempt in range(ATTEMPTS):
            ssh_port, host_port = free_ports(2)
            container = client.containers.create(
                image,
                name=name,
                hostname=node_name(node),
                labels=labels,
                environment={"TIDEMARK_AUTHORISED_KEY": self.keys.authorised},
                init=True,
                cap_add=["NET_ADMIN"],
                network=network.name,
                networking_config={str(network.name): client.api.create_endpoint_config(ipv4_address=address)},
                ports={"22/tcp": ("127.0.0.1", ssh_port)}
                | ({f"{HOST_PORT}/tcp": ("127.0.0.1", host_port)} if node else {}),
                volumes=volumes,
                tmpfs={VOLATILE: f"size={needs.volatile_size}"},
                mem_limit=memory,
                memswap_limit=memory,
            )
            try:
                container.start()
                break
            except APIError as error:
                container.remove(force=True)
                if "port" not in _words(error) or attempt == ATTEMPTS - 1:
                    raise
        return self._answering(node, container, network, address, ssh_port, host_port if node else 0)

    def _answering(
        self, node: int, container: Container, network: Network, address: str, ssh_port: int, host_port: int
    ) -> Machine:
        shell = Shell("127.0.0.1", ssh_port, pkey=self.keys.key, name=node_name(node))
        machine = Machine(
            node, node_name(node), shell, address, "127.0.0.1", host_port, container=container, network=network
        )
        self.machines[node] = machine  # so that its connection is closed whatever happens
        try:
            shell.connect()
        except ContainerWorldError as error:
            raise ClusterError(f"{error}{_last_words(container)}") from None
        return machine


def node_name(node: int) -> str:
    """``controller``, ``b1``, ``b2`` …"""
    return f"b{node}" if node else "controller"


def _bytes(size: str) -> int:
    """``256m`` → bytes.

    Raises:
        ClusterError: not a size.
    """
    number, unit = (size[:-1], size[-1].lower()) if size[-1:].isalpha() else (size, "")
    if not number.isdigit() or (unit and unit not in _UNITS):
        raise ClusterError(f"{size!r} is not a size; write one such as 256m")
    return int(number) << _UNITS.get(unit, 0)


def _words(error: BaseException) -> str:
    return str((error.explanation if isinstance(error, APIError) else None) or error).strip()


def _last_words(container: Container) -> str:
    """What a container that does not answer printed last."""
    try:
        said = container.logs(tail=1).decode(errors="replace").strip()
    except (DockerException, RequestException):
        return ""
    return f" (it said: {said})" if said else ""
