"""What is lost of a stream with three replicas, and by which faults: node 1 leads, nodes 2 and 3 follow."""

from __future__ import annotations

from dataclasses import replace

from tidemark.harness.systems.outside.real_system import Script
from tidemark.nemesis import Fault, ObjectWorkload, Plan, WorkloadSpec
from tidemark.nemesis.object_workload import QUEUE
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

S = 1_000_000
_WORK = WorkloadSpec(producers=2, consumers=1, interval_us=S // 20, poll_us=S // 5, batch=1)
_QUEUE_WORK = WorkloadSpec(
    producers=3, consumers=2, interval_us=S // 5, object=ObjectWorkload(QUEUE, reads=1, writes=3)
)
_PATIENT = ClusterSpec(settings=Settings().scaled(2))
"""A queue is emptied only when what nobody acknowledged has been delivered again."""
OF_QUEUES = ("all-lose-power", "one-down-one-loses-power", "one-loses-power", "kill-all")
"""Scripts that there are for a queue, too."""
_ASLEEP = 20 * S
"""Elections take 4 to 9 s, and those that elect need time to write."""


_CUT_LOGS, _FLIPPED_LOGS = 73, 37
"""Noise seeds of plans that damage half of the files: by these, of a follower's, the stream's messages and its Raft log."""


def _plan(*faults: Fault, noise_seed: int = 1) -> Plan:
    end = max(fault.at_us + fault.lasts_us for fault in faults) + S
    return Plan(0, 0, noise_seed, "by hand", ClusterSpec(), _WORK, faults, end)


def _two_cut(struck: Fault, noise_seed: int = 1) -> Plan:
    """One follower is cut off first; then the leader is, while something happens to the other follower."""
    return _plan(
        Fault("isolate", 2 * S, 4 * S + S // 2, "b3"),
        Fault("isolate", 6 * S, _ASLEEP, "b1"),
        struck,
        noise_seed=noise_seed,
    )


def scripts(*, always: bool) -> dict[str, Script]:
    """By name.

    Args:
        always: whether every message is synced before it counts.
    """
    of_logs = {
        "all-lose-power": Script(
            "The power of all three fails at once.", _plan(Fault("power-all", 5 * S, S)), loses=not always
        ),
        "one-down-one-loses-power": Script(
            "One follower is killed before the writes; after them the other follower loses its power, and the leader sleeps while "
            "these two start and elect; it wakes at the end.",
            _plan(
                Fault("crash", S, 6 * S, "b3"),
                Fault("pause", 7 * S - S // 5, _ASLEEP, "b1"),
                Fault("power", 7 * S - S // 10, S // 10, "b2"),
            ),
            loses=not always,
        ),
        "one-loses-power-two-cut": Script(
            "One follower is cut off while the leader and the other follower acknowledge writes. That one loses its power; now "
            "the first can be reached again, and the leader cannot. Nobody is killed, and nobody else loses power.",
            _two_cut(Fault("power", 6 * S + S // 10, S, "b2")),
            loses=not always,
        ),
        "one-loses-tails-two-cut": Script(
            "The same, and in place of the power loss that follower is killed, and the second half of its two logs is cut off: the "
            "stream's messages, and Raft's entries.",
            _two_cut(Fault("cut-tail", 6 * S + S // 10, S, "b2", pick=1, amount=500), _CUT_LOGS),
            loses=True,
        ),
        "one-flips-bits-two-cut": Script(
            "The same, and in place of the cut 20 bits are flipped in each of the two logs.",
            _two_cut(Fault("flip-bits", 6 * S + S // 10, S, "b2", pick=1, amount=20), _FLIPPED_LOGS),
            loses=True,
        ),
        "one-killed-two-cut": Script(
            "The same, and that follower is killed: its files stay whole.",
            _two_cut(Fault("crash", 6 * S + S // 10, S, "b2")),
            loses=False,
        ),
        "one-loses-power": Script(
            "The power of one follower fails: the two others have everything.",
            _plan(Fault("power", 5 * S, S, "b2")),
            loses=False,
        ),
        "kill-all": Script(
            "All three are killed at once: what they have written survives.",
            _plan(Fault("crash-all", 5 * S, S)),
            loses=False,
        ),
    }
    return of_logs | {f"queue-{name}": _of_a_queue(of_logs[name]) for name in OF_QUEUES}


def _of_a_queue(script: Script) -> Script:
    plan = replace(script.plan, cluster=_PATIENT, workload=_QUEUE_WORK)
    return Script(f"With a queue. {script.about}", plan, script.loses)
