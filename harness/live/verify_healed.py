"""After everything was healed: is it really?"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from shlex import quote

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.contained_node import ContainedNode
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.machines import firewall
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.machine_faults import BALLAST, clock_text
from tidemark.nodes.core.messages import CONTROLLER

HEAL_S = 60.0
"""A broker that was asked to shut down may take seconds for it, and a JVM's start on a busy machine as many again."""
_LOOK_US = 50_000
_NEXT = "=== next"


def verify(cluster: LiveCluster, within_s: float = HEAL_S) -> None:
    """Wait until no fault is left anywhere.

    Raises:
        RunError: what remained, by name.
    """
    deadline = time.monotonic() + within_s
    while left := remaining(cluster):
        if time.monotonic() > deadline:
            raise RunError(f"{within_s:g} s after healing there remained: {'; '.join(left)}")
        cluster.run_until(cluster.now_us() + _LOOK_US)


def remaining(cluster: LiveCluster) -> list[str]:
    """What is still wrong with the machines, in words; a process that ended by its own decision is not a fault."""
    with ThreadPoolExecutor(len(cluster.nodes)) as threads:
        on_machines = list(threads.map(_on_machine, cluster.nodes.values()))
    statuses = cluster.observation.statuses(cluster.nodes)
    left = [words for found in on_machines for words in found]
    for broker, node in cluster.nodes.items():
        if broker != CONTROLLER and cluster.processes.gave_up(broker):
            continue
        status = statuses[broker]
        if status is None:
            left.append(f"the process of {node.name} does not answer")
        elif status["transport"]:
            left.append(f"rules {', '.join(map(str, status['transport']))} on the transport of {node.name}")
        elif status.get("slow_disk_us"):
            left.append(f"the slow disk of {node.name}")
        elif not node.clock_is_right(status):
            left.append(f"the clock of {node.name}")
    return left


def _on_machine(node: ContainedNode) -> list[str]:
    if node.is_unplugged:
        return [f"{node.name} is off the network"]
    places = node.control.places
    script = f"""
iptables -w 5 -S
echo "{_NEXT}"; tc qdisc show
echo "{_NEXT}"; ls {quote(f"{places.volatile}/{BALLAST}")} 2>/dev/null
echo "{_NEXT}"; cat {quote(places.faketime)} 2>/dev/null
:
"""
    try:
        rules, qdiscs, ballast, clock = node.control.run(script, to="look for faults").split(f"{_NEXT}\n")
        state = node.control.state()
    except NodeError as error:
        return [str(error)]
    left = [f"the firewall chain {chain} of {node.name}" for chain in firewall.leftovers(rules)]
    if "netem" in qdiscs:
        left.append(f"slow links of {node.name}")
    if ballast.strip():
        left.append(f"the full disk of {node.name}")
    if clock.strip() not in {"", clock_text(0)}:
        left.append(f"the clock of {node.name}")
    if state == "stopped":
        left.append(f"the paused process of {node.name}")
    return left
