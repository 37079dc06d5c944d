"""`stale-order`: a leader changed its group for an order that had been replaced before it led.

Where servers change their group themselves, an operator's order is in the memory of whoever leads, and goes with the reign; the
operator asks the next leader, until the group is as the newest order wants it. So whatever a leader changes is a step towards an
order that was the newest at some time in its reign: who comes is wanted, and who goes is not. A change begins from the newest group
that is committed; which one that is nobody can say any more where a disk was lost, and with it perhaps what was committed.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", replicas={"t-0": [1, 2, 3]}, trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, ()), (20, 2, "lead", "t-0", 2, 0, 0, ()),
...     (60, 1, "lead", "t-0", 3, 4, 4, ()), (70, 1, "members", "t-0", (1, 2, 3, 4), 5, 3, False),
... ], nemesis=[
...     (15, "strike", 0, "one-more-replica", {"partition": "t-0", "replicas": [1, 2, 3, 4]}),
...     (30, "strike", 1, "one-fewer-replica", {"partition": "t-0", "replicas": [1, 2, 3]}),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1, leader of generation 3 of t-0 since 0.000060 s, made the members [1, 2, 3, 4] of [1, 2, 3] at 0.000070 s, though since \
0.000030 s [1, 2, 3] are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import KIND, Lead, Members, Stop, TraceEvent
from tidemark.checkers.replicas.contract import SPOILT
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "stale-order"
_BEFORE_ALL = -1

Group = frozenset[int]


def stale_orders(
    events: Sequence[TraceEvent], nemesis: Sequence[NemesisOp], assignment: Mapping[str, Sequence[int]]
) -> Iterator[Anomaly]:
    """One for each such change; none of a partition of which no order is known, as where a script asks."""
    orders = {partition: [(_BEFORE_ALL, Group(servers))] for partition, servers in assignment.items()}
    for time, what, _, _, detail in nemesis:
        if what == "strike" and "replicas" in detail and detail.get("partition") in orders:
            orders[detail["partition"]].append((time, Group(detail["replicas"])))
    if all(len(of_one) == 1 for of_one in orders.values()):
        return
    since: dict[tuple[str, int, int], int] = {}
    settled = {partition: [(_BEFORE_ALL, Group(servers))] for partition, servers in assignment.items()}
    for event in events:
        if event[KIND] == Stop.kind and Stop(event).how in SPOILT:
            return
        if event[KIND] == Lead.kind:
            lead = Lead(event)
            since[lead.partition, lead.node, lead.leader_epoch] = lead.time
        elif event[KIND] == Members.kind and len(orders.get((told := Members(event)).partition, ())) > 1:
            group = Group(told.replicas)
            if told.committed:
                settled[told.partition].append((told.offset, group))
                continue
            begun = since.get((told.partition, told.node, told.epoch))
            _, before = max(one for one in settled[told.partition] if one[0] < told.offset)
            if begun is not None and not any(
                _is_towards(before, group, wanted) for wanted in _newest(orders[told.partition], begun, told.time)
            ):
                ordered, wanted = max(one for one in orders[told.partition] if one[0] <= told.time)
                message = (
                    f"Broker {told.node}, leader of generation {told.epoch} of {told.partition} since {seconds(begun)}, made the "
                    f"members {sorted(group)} of {sorted(before)} at {seconds(told.time)}, though since {seconds(ordered)} "
                    f"{sorted(wanted)} are wanted."
                )
                evidence = {
                    "leader": told.node,
                    "generation": told.epoch,
                    "before": sorted(before),
                    "members": sorted(group),
                    "wanted": sorted(wanted),
                    "ordered_at": ordered,
                }
                yield Anomaly(NAME, VIOLATION, told.time, told.partition, message, evidence=evidence)


def _newest(orders: Sequence[tuple[int, Group]], begin: int, end: int) -> Iterator[Group]:
    """The orders each of which was the newest at some time from one time to another."""
    for place, (time, wanted) in enumerate(orders):
        replaced = orders[place + 1][0] if place + 1 < len(orders) else end
        if time <= end and replaced >= begin:
            yield wanted


def _is_towards(before: Group, after: Group, wanted: Group) -> bool:
    return after - before <= wanted and not (before - after) & wanted
