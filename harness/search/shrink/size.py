"""How small a plan is: what is compared first matters most to who must understand it.

As with Hypothesis' *shortlex*, the order is total and every step of the shrinker goes down in it, so that passes cannot undo each
other's work and the search ends: faults, brokers, partitions, records, clients, then how special each fault is, noise, how round
and how early the times are.
"""

from __future__ import annotations

from tidemark.nemesis import KINDS, Fault, Plan

UNBOUNDED = 1 << 40
"""Stands for the records of a workload that is drawn."""

SPECIAL = {"b": 4, "any": 3, "isr-member": 2}
"""A role says more than a broker's number. Leader and follower are what protocols are told with."""

Size = tuple[int, ...]
"""Compared from left to right; the smaller plan has the smaller one."""


def size_of(plan: Plan) -> Size:
    """The size of a plan, all whole numbers."""
    cluster, work = plan.cluster, plan.workload
    return (
        len(plan.faults),
        cluster.brokers,
        cluster.replication_factor,
        cluster.partitions,
        records_of(plan),
        len(work.sends or ()),
        work.producers,
        work.consumers,
        int(cluster.settings.unclean_election),
        sum(map(_severity, plan.faults)),
        sum(0 if fault.after is None else fault.after.nth for fault in plan.faults),
        sum(map(_speciality, plan.faults)),
        int(plan.fixed_delay_us is None),
        sum(map(_trouble, times_of(plan))),
        sum(times_of(plan)),
    )


def records_of(plan: Plan) -> int:
    """The most records that its clients send; :data:`UNBOUNDED`, and a little more for larger batches, if that is drawn."""
    work = plan.workload
    return UNBOUNDED + work.batch if work.sends is None else sum(send.records for send in work.sends)


def times_of(plan: Plan) -> list[int]:
    """All times of a plan, amounts and pauses included, in µs."""
    sends = [send.at_us for send in plan.workload.sends or ()]
    faults = [time for fault in plan.faults for time in (fault.at_us, fault.lasts_us, fault.amount)]
    return [
        plan.faults_end_us,
        plan.fixed_delay_us or 0,
        plan.workload.poll_us,
        plan.workload.patience_us,
        plan.workload.again_us,
        *sends,
        *faults,
    ]


def _trouble(time: int) -> int:
    """What a time asks of who reads it: 10 ms count one, and a digit thirty. 1500000 has two digits."""
    return time // 10_000 + 30 * len(str(time).rstrip("0"))


def _severity(fault: Fault) -> int:
    row, steps = fault.row, 0
    while row.gentler:
        row, steps = KINDS[row.gentler], steps + 1
    return steps


def _speciality(fault: Fault) -> int:
    role = SPECIAL.get(fault.target, SPECIAL["b"] if fault.target[1:].isdecimal() else 1)
    return (
        100 * role
        + 10 * int(fault.clients)
        + int(bool(fault.after and fault.after.node))
        + fault.pick
        + fault.partition
    )
