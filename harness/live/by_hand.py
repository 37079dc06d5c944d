"""Clusters to play with by hand: node processes run, nobody hurts them, and they live until they are taken down.

What must be known of one lies in the engine, as labels of its containers, so that any later command finds it; only its SSH key is
a file, in the state folder.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from docker import DockerClient
from docker.errors import DockerException
from docker.models.containers import Container
from requests import RequestException

from tidemark.harness.live.cluster_nodes import ClusterNodes
from tidemark.harness.live.link_faults import TRANSPORT
from tidemark.harness.live.observation import Observation
from tidemark.harness.machines.cluster import ContainerCluster, node_name
from tidemark.harness.machines.cluster_keys import keep_key, key_file
from tidemark.harness.machines.errors import ClusterError, ContainerWorldError, NodeError
from tidemark.harness.machines.leftovers import every, remove
from tidemark.harness.machines.machine import HOST_PORT, Machine
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.owner import NODE, RUN, Owner
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.machines.ssh_keys import read_key
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.system import System
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import AnyVariant, family_of, parse_variant

VARIANT = "tidemark.variant"
SYSTEM = "tidemark.system"
READY_S = 30.0
STATUS_S = 5.0


class ByHand(NamedTuple):
    """A cluster in the engine, whoever's it is.

    Attributes:
        name: also the run id of its labels. owner: whose. variant: empty for a run's own cluster, which has one after the other.
        machines: node → machine. running: the nodes whose containers run.
        key: file of its SSH key, if we have it.
    """

    name: str
    owner: Owner
    variant: str
    machines: dict[int, Machine]
    running: frozenset[int]
    key: Path | None

    def close(self) -> None:
        """End the SSH connections; nothing else happens to the cluster."""
        for machine in self.machines.values():
            machine.shell.close()

    @property
    def node_0(self) -> str:
        """What runs on node 0; nothing, if the protocol has neither a controller nor a metadata store."""
        try:
            family = family_of(parse_variant(self.variant))
        except VariantError:
            return "controller"
        return "controller" if family.has_isr else "metadata store" if family.has_node_0 else ""

    @property
    def bootstrap(self) -> str:
        """``bootstrap.servers`` for clients on this computer."""
        return ",".join(machine.advertised for node, machine in self.machines.items() if node)


def up(
    client: DockerClient,
    name: str,
    spec: ClusterSpec,
    variant: AnyVariant,
    *,
    system: System,
    image: str,
    owner: Owner | None,
) -> ContainerCluster:
    """Bring containers and node processes up, and wait until every partition has a leader.

    Raises:
        ContainerWorldError: a container or process did not come up; nothing is left then.
    """
    key_file(name)  # whether it can be one's name
    labels = {VARIANT: variant.name, SYSTEM: system.name}
    cluster = ContainerCluster.up(
        spec.brokers, run_id=name, image=image, client=client, owner=owner, labels=labels, needs=system.needs
    )
    try:
        keep_key(name, cluster.keys)
        start_nodes(system, Deployment(cluster.machines, spec, variant))
    except BaseException:
        cluster.down()
        raise
    return cluster


def start_nodes(system: System, deployment: Deployment) -> None:
    """Start the node process of every machine, and wait until every partition has a leader.

    Raises:
        NodeError: one did not start, or a partition is without a leader after 30 s.
    """
    nodes = ClusterNodes(deployment, system, delay=TRANSPORT)
    controls = nodes.controls

    def start(node: int) -> None:
        controls[node].start(nodes.config(node, incarnation=1))

    try:
        nodes.prepare()
        if system.controller_first and nodes.has_node_0:
            start(CONTROLLER)
        with ThreadPoolExecutor(len(controls)) as pool:
            for started in [pool.submit(start, node) for node in controls if node or not system.controller_first]:
                started.result()
        nodes.after_start()
        _until_led(nodes.observation)
    finally:
        for control in controls.values():
            control.admin.close()


def _until_led(observation: Observation) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        partitions = observation.views()
        if all(view.leader > 0 for view in partitions.values()):
            return
        if time.monotonic() > deadline:
            without = ", ".join(name for name, view in partitions.items() if view.leader <= 0)
            raise NodeError(f"no leader for {without} within {READY_S:g} s; the nodes say why: tidemark cluster logs")
        time.sleep(0.1)


def all_clusters(client: DockerClient) -> list[ByHand]:
    """Every cluster of ours in the engine, by name.

    Raises:
        ClusterError: the engine cannot be asked.
    """
    names = sorted({item.run for item in every(client) if item.run})
    return [cluster for name in names if (cluster := find(client, name)) is not None]


def find(client: DockerClient, name: str) -> ByHand | None:
    """A cluster by its name; None if there are no containers of that name.

    Raises:
        ClusterError: the engine cannot be asked.
    """
    try:
        containers = client.containers.list(all=True, filters={"label": [f"{RUN}={name}", NODE]}, ignore_removed=True)
        if not containers:
            return None
        networks = client.networks.list(filters={"label": f"{RUN}={name}"})
    except (DockerException, RequestException) as error:
        raise ClusterError(f"the engine cannot say what runs: {error}") from None
    labels = containers[0].labels
    key = key_file(name)
    machines = {}
    for container in sorted(containers, key=lambda one: int(one.labels[NODE])):
        machine = _machine(container, key if key.exists() else None)
        machine.network = networks[0] if networks else None
        machines[machine.node] = machine
    running = frozenset(int(one.labels[NODE]) for one in containers if one.status == "running")
    return ByHand(name, Owner.of(labels), labels.get(VARIANT, ""), machines, running, key if key.exists() else None)


def _machine(container: Container, key: Path | None) -> Machine:
    node = int(container.labels[NODE])
    bindings = container.attrs["HostConfig"]["PortBindings"] or {}
    networks = container.attrs["NetworkSettings"]["Networks"].values()
    inner = next((((network["IPAMConfig"] or {}).get("IPv4Address", "")) for network in networks), "")
    pkey = read_key(key) if key is not None else None
    shell = Shell("127.0.0.1", _port(bindings, 22), pkey=pkey, name=node_name(node))
    return Machine(node, node_name(node), shell, inner, "127.0.0.1", _port(bindings, HOST_PORT), container=container)


def _port(bindings: Mapping[str, Any], port: int) -> int:
    """The port of this computer that a container's port is published at; 0 if it is not."""
    published = bindings.get(f"{port}/tcp")
    return int(published[0]["HostPort"]) if published else 0


def down(client: DockerClient, name: str) -> int:
    """Remove a cluster; how many containers, networks and volumes there were.

    Raises:
        ClusterError: there is none, or something of it is still there.
    """
    found = every(client, name)
    remove(client, found)
    return len(found)


def node_states(cluster: ByHand) -> dict[int, dict[str, Any]]:
    """Node → what its admin port says (see ``status``), or ``{"error": sentence}``; asked side by side."""

    def ask(node: int) -> dict[str, Any]:
        if node not in cluster.running:
            return {"error": "its container does not run"}
        if cluster.key is None:
            return {"error": "its SSH key belongs to the run that started it"}
        if node == CONTROLLER and not cluster.node_0:
            return {"error": f"there is no controller in {cluster.variant}, and nothing runs here"}
        control = NodeControl(cluster.machines[node])
        try:
            return dict(control.status(timeout_s=STATUS_S))
        except ContainerWorldError as error:
            return {"error": str(error)}
        finally:
            control.admin.close()

    with ThreadPoolExecutor(len(cluster.machines)) as pool:
        return dict(zip(cluster.machines, pool.map(ask, cluster.machines), strict=True))
