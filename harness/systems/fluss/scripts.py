"""What is lost of a log table with three replicas, and by which faults: tablet server 1 leads, 2 is the next, 3 the last."""

from __future__ import annotations

from tidemark.harness.systems.fluss.servers import SESSION_S
from tidemark.harness.systems.outside.real_system import Script
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

S = 1_000_000
_WORK = WorkloadSpec(producers=4, consumers=1, interval_us=S // 20, poll_us=S // 2, batch=1)
_SESSION = SESSION_S * S
"""A server that is killed is missed a session after its last ping, which is at most a third of one old."""
_CUT, _KILLED = 5 * S, 7 * S
_JOINED = _KILLED + _SESSION + 3 * S
"""By then 2 is elected, and has written."""
_AGAIN = _JOINED + 12 * S
"""By then 3 has found its way to 2, though it asks for a connection ever more seldom."""
_BACK = _AGAIN + _SESSION + 3 * S


def _plan(*faults: Fault) -> Plan:
    end = max(fault.at_us + fault.lasts_us for fault in faults) + S
    return Plan(0, 0, 1, "by hand", ClusterSpec(), _WORK, faults, end)


def scripts() -> dict[str, Script]:
    """By name."""
    return {
        "fluss-high-watermark": Script(
            "Server 2 is cut off from 1 and 3, not from the coordinator: what is written then reaches 3 only, and is not "
            "acknowledged. 1 is killed, 2 is elected, and writes. The cut ends; 3 keeps what 2 never had, and counts as having "
            "all. 2 is killed, and 3 leads.",
            _plan(
                # With three servers a bridge is a cut between the two others.
                Fault("bridge", _CUT, _JOINED - _CUT, "b1"),
                Fault("bridge", _CUT, _JOINED - _CUT, "b3"),
                Fault("crash", _KILLED, _BACK - _KILLED, "b1"),
                Fault("crash", _AGAIN, _BACK - _AGAIN, "b2"),
            ),
            loses=True,
        ),
        "one-killed": Script(
            "The leader is killed, and comes back: the two others have everything.",
            _plan(Fault("crash", 5 * S, _SESSION + 5 * S, "b1")),
            loses=False,
        ),
        "kill-all": Script(
            "All three are killed at once, and come back: who leads, and is told a moment later that nobody does, cuts its log to "
            "the high watermark of its last checkpoint.",
            _plan(Fault("crash-all", 5 * S, S)),
            loses=True,
        ),
    }
