"""What a node process is told: its part of the cluster, as ``tidemark.nodes.process.config`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.harness.machines.machine import HOST_PORT, INTERNAL_PORT
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_places import Places
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import AnyVariant


def node_config(
    node: int,
    incarnation: int,
    *,
    machines: Mapping[int, Machine],
    places: Places,
    cluster: ClusterSpec,
    variant: AnyVariant,
    first_leader_epoch: int = 0,
) -> dict[str, Any]:
    """The configuration of one process.

    Args:
        node: 0 for the controller.
        incarnation: which start of this node it is, from 1.
        machines: at least those of the cluster's nodes.
        places: paths on the machine.
        cluster: shape and settings.
        variant: the protocol.
        first_leader_epoch: the epoch of each partition's first leader.
    """
    brokers = cluster.broker_ids()
    nodes = (CONTROLLER, *brokers) if family_of(variant).has_node_0 else brokers
    here = machines[node]
    listeners = {"internal": {"bind": f"0.0.0.0:{INTERNAL_PORT}", "advertise": here.internal}}
    if node != CONTROLLER:
        listeners["host"] = {"bind": f"0.0.0.0:{HOST_PORT}", "advertise": here.advertised}
    return {
        "node": node,
        "incarnation": incarnation,
        "variant": variant.name,
        "cluster": cluster.to_json(),
        "first_leader_epoch": first_leader_epoch,
        "listeners": listeners,
        "peers": {str(n): machines[n].internal for n in nodes},
        "hosts": {str(n): machines[n].advertised for n in brokers},
        "admin": f"127.0.0.1:{here.admin_port}",
        "data": places.data,
        "volatile": places.volatile,
        "trace": places.trace,
    }
