"""A plan as its run went: what struck, whom and when, and what the clients sent.

A plan leaves much to its world: roles are resolved, events waited for, sends drawn. On real processes all of that falls elsewhere
than in the simulator. The history of the run has it, so the model can be given the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tidemark.checkers import History
from tidemark.harness.search.shrink.judge import noises_of
from tidemark.nemesis import Fault, Plan, Send
from tidemark.nemesis.kind import Part

PRODUCER = re.compile(r"p\d+")
"""How every world of ours calls its producers."""
SLOW_US = (2_000, 5_000, 10_000, 20_000, 50_000)
"""What a message may take between real processes, with all that is done on its way."""


def as_it_happened(plan: Plan, history: History) -> Plan:
    """The plan with times, brokers and sends as the history has them; faults that never struck are left out."""
    faults = []
    for time, what, index, kind, detail in history.nemesis:
        if what == "strike" and 0 <= index < len(plan.faults) and plan.faults[index].kind == kind:
            faults.append(_struck(plan.faults[index], time, detail.get("node", 0), plan.cluster.brokers))
    sends = sends_of(history)
    producers = max((send.producer for send in sends), default=1)
    workload = replace(plan.workload, sends=tuple(sends), producers=producers)
    return replace(plan, faults=tuple(faults), workload=workload)


def ways_it_may_have_gone(plan: Plan, happened: Plan, noises: int) -> Iterator[Plan]:
    """What to look for a real run's anomaly in: its plan, and that as it happened, each under several noises and slow delays."""
    for one in (plan, happened):
        yield from noises_of(one, noises)
    for delay in SLOW_US:
        for one in (plan, happened):
            yield replace(one, fixed_delay_us=delay)


def sends_of(history: History) -> list[Send]:
    """What the producers of a run sent, in order of time."""
    return [
        Send(op.time, int(op.process[1:]), int(op.value[0][1].rpartition("-")[2]), len(op.value))
        for op in history.ops
        if op.type == "invoke" and op.f == "send" and op.value and PRODUCER.fullmatch(op.process)
    ]


def _struck(fault: Fault, time: int, node: int, brokers: int) -> Fault:
    by_role = fault.row.on is Part.CONTROLLER or not 1 <= node <= brokers
    return replace(fault, at_us=time, after=None, target=fault.target if by_role else f"b{node}")
