"""What is lost of a set, and by which faults.

A cluster of one member answered a put before its log was synced (issue 14370 of etcd, repaired in 3.5.5). Those of several do not:
what is committed is in the logs of a majority before.
"""

from __future__ import annotations

from tidemark.harness.systems.outside.real_system import Script
from tidemark.nemesis import Fault, ObjectWorkload, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

S = 1_000_000
_ONE = ClusterSpec(brokers=1, replication_factor=1, settings=Settings(min_isr=1))
_WORK = WorkloadSpec(producers=4, consumers=1, interval_us=S // 5, object=ObjectWorkload("set"))
REPAIRED = (3, 5, 5)


def scripts(version: str) -> dict[str, Script]:
    """By name.

    Args:
        version: such as ``3.5.0``.
    """
    slow_and_lost = [
        fault for at in (2 * S, 12 * S, 22 * S) for fault in (_slow_disk(at), Fault("power", at + 2 * S, S, "b1"))
    ]
    is_repaired = tuple(map(int, version.split("."))) >= REPAIRED
    return {
        "one-member-loses-power": Script(
            "The power of a cluster of one member fails three times, while each of its syncs takes 400 ms.",
            _plan(_ONE, *slow_and_lost),
            loses=not is_repaired,
        ),
        "all-lose-power": Script(
            "The power of all three fails at once, while each sync of one takes 400 ms.",
            _plan(ClusterSpec(), _slow_disk(2 * S), Fault("power-all", 4 * S, S)),
            loses=False,
        ),
        "kill-all": Script(
            "All three are killed at once: what they have written survives.",
            _plan(ClusterSpec(), Fault("crash-all", 4 * S, S)),
            loses=False,
        ),
    }


def _slow_disk(at: int) -> Fault:
    return Fault("slow-disk", at, 3 * S - S // 10, "b1", amount=400_000)


def _plan(cluster: ClusterSpec, *faults: Fault) -> Plan:
    end = max(fault.at_us + fault.lasts_us for fault in faults) + 2 * S
    return Plan(0, 0, 1, "by hand", cluster, _WORK, faults, end)
