"""How a cluster of containers is shown: as JSON, as a table, and as lines to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from rich.console import Console

    from tidemark.harness.live.by_hand import ByHand
    from tidemark.nodes.core.cluster import ClusterSpec

_SSH = "ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"


def ssh_line(cluster: ByHand, node: int) -> str:
    """What takes a person into a node; empty if we have no key."""
    return f"{_SSH} -i {cluster.key} -p {cluster.machines[node].shell.port} root@127.0.0.1" if cluster.key else ""


def cluster_json(cluster: ByHand, states: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Plain values; ``states`` is what each node says of itself."""
    return {
        "name": cluster.name,
        "owner": str(cluster.owner),
        "stale": cluster.owner.is_gone,
        "variant": cluster.variant,
        "bootstrap_servers": cluster.bootstrap,
        "nodes": [
            {
                "node": node,
                "name": machine.name,
                "running": node in cluster.running,
                "listener": machine.advertised if node != CONTROLLER else "",
                "inner": machine.internal,
                "ssh": ssh_line(cluster, node),
                "state": states[node],
            }
            for node, machine in cluster.machines.items()
        ],
    }


def print_cluster(console: Console, cluster: dict[str, Any]) -> None:
    """A table of its nodes."""
    variant = f", {cluster['variant']}" if cluster["variant"] else ""
    console.print(f"[bold]{cluster['name']}[/]{variant} ({cluster['owner']})", highlight=False)
    table = Table("node", "container", "clients dial", "partitions", box=None, pad_edge=False)
    for node in cluster["nodes"]:
        running = "runs" if node["running"] else "is stopped"
        table.add_row(node["name"], running, node["listener"] or "–", _partitions(node["node"], node["state"]))
    console.print(table)


def _partitions(node: int, state: dict[str, Any]) -> str:
    """What a node says of its partitions, in short."""
    if "error" in state:
        return str(state["error"])
    described = []
    for name, partition in sorted(state.get("partitions", {}).items()):
        epoch = partition.get("leader_epoch")
        if node == CONTROLLER:
            leader = f"b{partition['leader']}" if partition["leader"] > 0 else "none"
            isr = ", ".join(f"b{member}" for member in partition["isr"])
            described.append(f"{name}: leader {leader} in epoch {epoch}, ISR {isr or 'empty'}")
        else:
            described.append(
                f"{name}: {partition['role']} in epoch {epoch}, log to {partition['leo']}, HW {partition['hw']}"
            )
    return "\n".join(described) or "none"


def print_hints(console: Console, cluster: ByHand, spec: ClusterSpec, *, detached: bool) -> None:
    """How to reach it, as lines to copy."""
    brokers = cluster.bootstrap
    down = f"tidemark cluster down {cluster.name}" if detached else "Ctrl-C"
    nodes = f"a {cluster.node_0} and {spec.brokers} brokers" if cluster.node_0 else f"{spec.brokers} servers"
    for line in (
        f"{cluster.name}: {nodes}, {cluster.variant}",
        f"bootstrap servers: {brokers}",
        "",
        f"  kcat -b {brokers} -L",
        f"  echo 1 | kcat -b {brokers} -P -t t -p 0 -X acks={spec.acks}",
        f"  kcat -b {brokers} -C -t t -p 0 -o beginning -e",
        f"  {ssh_line(cluster, 1)}   # b1",
        f"  tidemark cluster status {cluster.name}",
        f"  tidemark cluster logs b1 --name {cluster.name} --follow",
        "",
        f"to remove it: {down}",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
