"""What is lost of a set, and by which faults, and how members come to differ.

A cluster of one member answered a put before its log was synced (issue 14370 of etcd, repaired in 3.5.5). Those of several do not:
what is committed is in the logs of a majority before. Up to 3.5.2 a member noted that it had applied an entry before it had, so one
that was killed in between never did (issue 13766): the more work a transaction is, the likelier.
"""

from __future__ import annotations

from tidemark.harness.systems.outside.real_system import Script
from tidemark.nemesis import Fault, ObjectWorkload, Plan, WorkloadSpec
from tidemark.nemesis.object_workload import LARGE
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

S = 1_000_000
_ONE = ClusterSpec(brokers=1, replication_factor=1, settings=Settings(min_isr=1))
_WORK = WorkloadSpec(producers=4, consumers=1, interval_us=S // 5, object=ObjectWorkload("set"))
_BUSY = WorkloadSpec(
    producers=8, consumers=0, interval_us=S // 30, object=ObjectWorkload("list-append", **LARGE["list-append"])
)
REPAIRED, APPLIES_ALL, APPLIED_ALL_BEFORE = (3, 5, 5), (3, 5, 3), (3, 5, 0)
_KILLS = 30
_LOG_FILE = 2
"""Noise seed of a plan that damages one of a member's two files: by it the write-ahead log, and not the store."""


def scripts(version: str) -> dict[str, Script]:
    """By name.

    Args:
        version: such as ``3.5.0``.
    """
    slow_and_lost = [
        fault for at in (2 * S, 12 * S, 22 * S) for fault in (_slow_disk(at), Fault("power", at + 2 * S, S, "b1"))
    ]
    number = tuple(map(int, version.split(".")))
    is_repaired = number >= REPAIRED
    kills = tuple(Fault("crash", S + at * 4 * S // 3, S // 5, "follower", pick=at) for at in range(_KILLS))
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
        "killed-in-large-transactions": Script(
            f"A follower is killed, {_KILLS} times in {_KILLS * 4 // 3} s, and starts again at once, while clients "
            "append to up to a hundred lists in a transaction. Up to 3.5.2 one try in four shows members that differ.",
            Plan(0, 0, 1, "by hand", ClusterSpec(), _BUSY, kills, _KILLS * 4 * S // 3 + 2 * S),
            loses=APPLIED_ALL_BEFORE <= number < APPLIES_ALL,
        ),
        "one-loses-tail-two-cut": Script(
            "One follower is cut off while the two others acknowledge writes. The other follower is killed, the second half of its "
            "write-ahead log is cut off, and it starts again; now the first can be reached again, and the leader cannot.",
            _two_cut(Fault("cut-tail", 6 * S + S // 10, S, "follower", pick=5, amount=500), _LOG_FILE),
            loses=True,
        ),
        "one-killed-two-cut": Script(
            "The same, and that follower is killed: its files stay whole.",
            _two_cut(Fault("crash", 6 * S + S // 10, S, "follower", pick=5)),
            loses=False,
        ),
    }


def _slow_disk(at: int) -> Fault:
    return Fault("slow-disk", at, 3 * S - S // 10, "b1", amount=400_000)


def _two_cut(struck: Fault, noise_seed: int = 1) -> Plan:
    """The first follower is cut off, then the leader, while something happens to the second follower. Nobody chooses who leads."""
    cut = Fault("isolate", 2 * S, 6 * S + S // 2, "follower"), Fault("isolate", 6 * S, 20 * S, "leader")
    return _plan(ClusterSpec(), *cut, struck, noise_seed=noise_seed)


def _plan(cluster: ClusterSpec, *faults: Fault, noise_seed: int = 1) -> Plan:
    end = max(fault.at_us + fault.lasts_us for fault in faults) + 2 * S
    return Plan(0, 0, noise_seed, "by hand", cluster, _WORK, faults, end)
