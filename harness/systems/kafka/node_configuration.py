"""What a sidecar is told: its node's part of the cluster, as ``tidemark.nodes.sidecar.config`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.harness.machines.machine import INTERNAL_PORT
from tidemark.harness.systems.kafka.internal_topics import coordinators_of
from tidemark.harness.systems.kafka.jvm_settings import WATCHED, JvmSettings
from tidemark.harness.systems.kafka.kafka_versions import KafkaVersion, protocol_for
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.harness.systems.kafka.properties import (
    BEHIND_PROXY_PORT,
    BEHIND_QUORUM_PROXY_PORT,
    BEHIND_ZOOKEEPER_PROXY_PORT,
    QUORUM_PORT,
    SIDECAR_PORT,
    ZOOKEEPER_PORT,
    JvmPlace,
    of_share_groups,
    server_properties,
    zookeeper_properties,
)
from tidemark.harness.systems.kafka.voters import initial_controllers
from tidemark.nemesis.plan import SHARE_GROUP
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.formats.log_directories import BOTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.systems.deployment import Deployment

LIBRARIES = "/opt/kafka/libs"


def node_configuration(
    kafka: KafkaVersion,
    node: int,
    incarnation: int,
    deployment: Deployment,
    extra: Mapping[str, str],
    *,
    proxied: bool,
    jvm: JvmSettings = WATCHED,
) -> dict[str, Any]:
    """The configuration of one sidecar.

    Args:
        kafka: the binary, or binaries.
        node: 0 for the controller's machine.
        incarnation: which start of this node it is, from 1.
        deployment: of this run.
        extra: further settings of all brokers.
        proxied: whether messages between nodes can be dropped, held and delayed.
        jvm: how it runs.

    Raises:
        SystemRefusalError: no broker would start with this.
    """
    protocol = protocol_for(kafka, deployment.variant.name)
    first, kafka = kafka, kafka.at_start(incarnation)
    places = KafkaPlaces()
    machines, cluster = deployment.machines, deployment.cluster
    here = machines[node]
    alone = node == CONTROLLER
    data = f"{places.data}/kafka" if alone else places.data
    place = JvmPlace(
        node,
        here.inner_ip,
        "" if alone else here.advertised,
        machines[CONTROLLER].inner_ip,
        ",".join(f"{data}/{name}" for name in BOTH) if deployment.two_log_directories and not alone else data,
        proxied=proxied,
        quorum={voter: machines[voter].inner_ip for voter in voters(kafka)} if kafka.controllers > 1 else {},
        metadata=places.metadata,
        metadata_apart=deployment.log_directories_fail and not alone,
        dynamic=deployment.dynamic_quorum,
    )
    more = {**(of_share_groups(cluster.settings) if deployment.workload == SHARE_GROUP else {}), **extra}
    zookeeper = alone and kafka.uses_zookeeper
    kraft_controller = alone and not kafka.uses_zookeeper
    config: dict[str, Any] = {
        "node": node,
        "incarnation": incarnation,
        "version": kafka.version,
        "role": "zookeeper" if zookeeper else "kraft-controller" if alone else "broker",
        "properties": server_properties(kafka, protocol, cluster, place, more),
        "heap": jvm.heap,
        "jvm_options": list(jvm.options),
        "quiet": jvm.quiet,
        "raises_features": node in voters(kafka) and kafka != first,
        "libs": LIBRARIES,
        "proxies": _proxies(place, zookeeper=zookeeper) if proxied else [],
        "peers": {machines[n].inner_ip: n for n in (CONTROLLER, *cluster.broker_ids())},
        "partitions": {name: list(replicas) for name, replicas in cluster.assignment().items()},
        "coordinators": coordinators_of(deployment.workload, cluster),
        "kafka": f"127.0.0.1:{_sidecar_port(kraft_controller=kraft_controller, proxied=proxied)}",
        "admin": f"127.0.0.1:{here.admin_port}",
        "data": data,
        "trace": places.trace,
        "process": places.pid,
    }
    if place.quorum:
        config["quorum"] = True
        if place.has_both_roles:
            config["controls"] = f"127.0.0.1:{BEHIND_QUORUM_PROXY_PORT if proxied else QUORUM_PORT}"
        elif alone:
            config["controls"] = config["kafka"]
        if place.dynamic and "controls" in config:
            config["initial_controllers"] = initial_controllers(place.controllers)
    if zookeeper:
        config["zookeeper"] = zookeeper_properties(cluster, f"{places.data}/zookeeper", proxied=proxied)
    return config


def voters(kafka: KafkaVersion) -> tuple[int, ...]:
    """The nodes that are controllers: node 0, and of a quorum the first brokers."""
    return tuple(range(CONTROLLER, CONTROLLER + kafka.controllers))


def _sidecar_port(*, kraft_controller: bool, proxied: bool) -> int:
    """Where the sidecar asks its own JVM: KRaft's controller has one listener only."""
    if not kraft_controller:
        return SIDECAR_PORT
    return BEHIND_PROXY_PORT if proxied else INTERNAL_PORT


def _proxies(place: JvmPlace, *, zookeeper: bool) -> list[dict[str, str]]:
    """What stands before the listeners that other nodes dial."""
    found = [{"listen": f"0.0.0.0:{INTERNAL_PORT}", "to": f"127.0.0.1:{BEHIND_PROXY_PORT}", "speaks": "kafka"}]
    if place.has_both_roles:
        found.append({"listen": f"0.0.0.0:{QUORUM_PORT}", "to": place.controls, "speaks": "controller"})
    if zookeeper:
        behind = f"127.0.0.1:{BEHIND_ZOOKEEPER_PROXY_PORT}"
        found.append({"listen": f"0.0.0.0:{ZOOKEEPER_PORT}", "to": behind, "speaks": "zookeeper"})
    return found
