"""What a share group promises (KIP-932), by what its members were given, and what they were answered.

``lost-to-group``: a record is in the log, and in the end nobody was given it, though nobody may have accepted or rejected it.
``redelivered``: a record was given to somebody after a broker had confirmed that it is accepted, or rejected.
``held-by-two``: while one member held a record, another was given it, and yet the first one's acknowledgement was confirmed.
``phantom-delivery``: a member was given a record that nobody sent, or whose send had failed.

>>> from tidemark.checkers import History, check, polled, sent
>>> from tidemark.checkers.history.history import Op
>>> given, done = (("share-fetch", 1, {"t-0": [(0, 7, 1)]}),), (("share-acknowledge", 1, {"t-0": [(0, "accept")]}),)
>>> ops = [sent(1, "p1", "t-0", 7, 0), Op(2, "m1", "invoke", "share-fetch", ()), Op(3, "m1", "ok", "share-fetch", given)]
>>> ops += [Op(4, "m1", "invoke", "share-acknowledge", done), Op(5, "m1", "ok", "share-acknowledge", done)]
>>> ops += [Op(6, "m2", "invoke", "share-fetch", ()), Op(7, "m2", "ok", "share-fetch", given)]
>>> print(check(History.of(ops=ops)).named("redelivered")[0].message)
Record 7 of t-0 (offset 0), which broker 1 had confirmed at 0.000005 s as accepted by m1, was given to m2 by broker 1 at 0.000007 s.

A broker answers an acknowledgement when the share coordinator has written it to ``__share_group_state``, and all in sync have it
(``SharePartition.acknowledge``, ``ShareCoordinatorService.writeState``). So it holds for ever, whoever leads. Locks are kept in the
leader's memory, and end with it: so two members may hold a record at once. But a broker that gave a record to another no longer
confirms what the first one says of it (``INVALID_RECORD_STATE``); unless nobody holds it any more, and the group's start offset
has gone past it: then whatever is said of it is confirmed, and means nothing.

A leader that does not know yet that it was deposed may give what another has given, or has confirmed. So what somebody else is
given counts only if it came from the broker that confirmed; from one that knew by then that it leads in a later epoch; or in the
end, when nobody is deposed any more. Whoever leads in a later epoch has read what was confirmed before: from then on the
coordinator refuses what the one before still writes (``FENCED_LEADER_EPOCH``).

A record that was given as often as the group allows is archived, and not lost. A fetch whose answer never came counts as one
delivery of any record that was there. Of deleted records nothing is told; nor, but as permitted, of a partition whose log lost
records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.checkers.history.trace_events import KIND, PARTITION, Converged, Lead
from tidemark.checkers.replicas.contract import NEEDS_REPLICAS
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, seconds

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History, Op, Value
    from tidemark.checkers.replicas.lost_committed_write import Fates

FETCH, ACKNOWLEDGE = "share-fetch", "share-acknowledge"
LOST, REDELIVERED, HELD_BY_TWO, PHANTOM = "lost-to-group", "redelivered", "held-by-two", "phantom-delivery"
NAMES = (LOST, REDELIVERED, HELD_BY_TWO, PHANTOM)
LAST_WORDS = {"accept": "accepted", "reject": "rejected", "gap": "no record"}
"""Acknowledgements after which nobody is given a record any more."""
DELIVERIES = 5
"""So often a record is given where nobody says otherwise (``group.share.delivery.count.limit``)."""
CLOCKS_US = 100_000
"""So far brokers' clocks and ours may be apart."""
_EXAMPLES = 20

Place = tuple[str, int]
"""Partition and offset."""


class _Half(NamedTuple):
    """Where in the history an operation began and ended, when it began, its completion, and the broker that was asked."""

    began: int
    ended: int
    time: int
    op: Op
    broker: int

    @property
    def confirmed(self) -> bool:
        return self.op.type == "ok"


@dataclass(slots=True)
class _Delivery:
    """A record that somebody was given, and what that one said of it."""

    by: _Half
    value: Value
    count: int
    how: str = ""
    said: _Half | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.said is not None and self.said.confirmed

    @property
    def was_the_last(self) -> bool:
        """Whether a broker has confirmed that nobody else will be given it."""
        return self.is_confirmed and self.how in LAST_WORDS

    @property
    def may_be_the_last(self) -> bool:
        """Whether it may have been written that nobody else will be given it."""
        return self.said is not None and self.said.op.type != "fail" and self.how in LAST_WORDS


@dataclass
class _Group:
    """What a history tells of a share group.

    Attributes:
        deliveries: of each record, in the order in which they were told.
        unanswered: where the fetches ended that had no answer.
        sent: where it began that a value was sent to a partition.
    """

    deliveries: dict[Place, list[_Delivery]]
    unanswered: list[int]
    sent: Mapping[tuple[str, Value], int]

    def may_be_given(self, partition: str, value: Value, deliveries: Sequence[_Delivery], most: int) -> int:
        """How often a record may be given still, at least: how often it was given is told with each delivery."""
        told = max((one.count for one in deliveries), default=0)
        since = deliveries[-1].by.began if deliveries else self.sent.get((partition, value), 0)
        return most - told - sum(ended > since for ended in self.unanswered)


def share_group(history: History, fates: Fates) -> list[Anomaly]:
    """All anomalies of a share group, one of a name and partition.

    Args:
        history: its operations ``share-fetch`` and ``share-acknowledge`` are judged (docs/history.md).
        fates: the records that logs have lost.
    """
    if not any(op.f == FETCH for op in history.ops):
        return []
    sent, failed = _sent(history.ops)
    group = _gathered(history.ops, sent)
    deleted = _deleted(history.ops)
    group.deliveries = {place: all_ for place, all_ in group.deliveries.items() if place[1] >= deleted[place[0]]}
    meta = history.meta.get("share_group", {})
    most = meta.get("deliveries", DELIVERIES)
    found = [*_of_deliveries(group, most, Leaderships.of(history)), *_phantoms(group, failed)]
    if meta.get("drained") and history.meta.get("read_back", True):
        found += _lost(group, history.ops, most, deleted)
    lossy = {partition for partition, _ in fates}
    return [
        replace(one, verdict=PERMITTED, clause=NEEDS_REPLICAS) if one.partition in lossy else one
        for one in _summed_up(found)
    ]


def _sent(ops: Iterable[Op]) -> tuple[dict[tuple[str, Value], int], set[tuple[str, Value]]]:
    """Where each value of a partition was first sent, and those whose send failed."""
    sent: dict[tuple[str, Value], int] = {}
    failed: set[tuple[str, Value]] = set()
    for index, op in enumerate(ops):
        for micro in op.value or () if op.f in ("send", "txn") else ():
            if micro[0] == "send":
                record = micro[1], micro[2][1] if isinstance(micro[2], tuple) else micro[2]
                sent.setdefault(record, index)
                if op.type == "fail":
                    failed.add(record)
    return sent, failed


def _gathered(ops: Iterable[Op], sent: Mapping[tuple[str, Value], int]) -> _Group:
    began: dict[str, tuple[int, int]] = {}
    group = _Group(defaultdict(list), [], sent)
    held: dict[tuple[str, Place], _Delivery] = {}
    for index, op in enumerate(ops):
        if op.f not in (FETCH, ACKNOWLEDGE):
            continue
        if op.type == "invoke":
            began[op.process] = index, op.time
            continue
        if op.f == FETCH and op.type == "info":
            group.unanswered.append(index)
        member = op.process.partition(".")[0]
        for _, broker, told in op.value or ():
            at, since = began.get(op.process, (index, op.time))
            half = _Half(at, index, since, op, broker)
            for place, rest in _places(told):
                if op.f == ACKNOWLEDGE:
                    delivery = held.pop((member, place), None)
                    if delivery is not None:
                        delivery.how, delivery.said = rest[0], half
                elif op.type == "ok":
                    held[member, place] = _Delivery(half, *rest)
                    group.deliveries[place].append(held[member, place])
    return group


def _places(told: Mapping[str, Iterable[tuple[Any, ...]]]) -> Iterator[tuple[Place, tuple[Any, ...]]]:
    for key, records in told.items():
        for offset, *rest in records:
            yield (key, offset), tuple(rest)


def _deleted(ops: Iterable[Op]) -> defaultdict[str, int]:
    """Partition → the offset below which records may have been deleted."""
    found: defaultdict[str, int] = defaultdict(int)
    for op in ops:
        if op.f == "delete" and op.type != "fail" and len(op.value) == 1:
            ((_, key, offset),) = op.value
            found[key] = max(found[key], offset)
    return found


@dataclass
class Leaderships:
    """By their own word, who led each partition since when, and in which epoch.

    Attributes:
        known: (partition, broker) → times and epochs.
        restless: the partitions that did not come to rest, so that somebody may be deposed to the end.
    """

    known: Mapping[tuple[str, int], list[tuple[int, int]]]
    restless: Collection[str]

    @classmethod
    def of(cls, history: History) -> Leaderships:
        """From the brokers' trace."""
        known: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
        restless: set[str] = set()
        for event in history.trace:
            if event[KIND] == "lead":
                lead = Lead(event)
                known[lead.partition, lead.node].append((lead.time, lead.leader_epoch))
            elif event[KIND] == "converged" and not Converged(event).ok:
                restless.add(event[PARTITION])
        return cls(known, restless)

    def epoch(self, partition: str, broker: int, time: int) -> int | None:
        """The last in which a broker had said by then that it leads; None if it never had."""
        return max((epoch for at, epoch in self.known.get((partition, broker), ()) if at <= time), default=None)

    def is_later(self, partition: str, said: _Half, other: _Half) -> bool:
        """Whether who gave something knew that it leads in a later epoch than that in which something was confirmed before."""
        confirmed = self.epoch(partition, said.broker, said.op.time)
        given = self.epoch(partition, other.broker, other.time - CLOCKS_US)
        return confirmed is not None and given is not None and given > confirmed


def _of_deliveries(group: _Group, most: int, leaderships: Leaderships) -> Iterator[Anomaly]:
    for place, deliveries in sorted(group.deliveries.items()):
        for one in deliveries:
            said = one.said
            if said is None or not said.confirmed:
                continue
            for other in deliveries:
                if other is one:
                    continue
                in_the_end = other.by.op.final and place[0] not in leaderships.restless
                same = in_the_end or other.by.broker == said.broker
                if same and one.by.ended < other.by.began and other.by.ended < said.began:
                    if not _may_be_over(
                        deliveries, one, said, group.may_be_given(place[0], one.value, deliveries, most)
                    ):
                        yield _held_by_two(place, one, said, other)
                elif (
                    one.was_the_last
                    and said.ended < other.by.began
                    and (same or leaderships.is_later(place[0], said, other.by))
                ):
                    yield _redelivered(place, one, said, other)


def _may_be_over(deliveries: Iterable[_Delivery], one: _Delivery, said: _Half, left: int) -> bool:
    """Whether the group may have been past a record before something was said of it."""
    return left <= 0 or any(
        other is not one and other.may_be_the_last and other.said is not None and other.said.began < said.ended
        for other in deliveries
    )


def _redelivered(place: Place, one: _Delivery, said: _Half, other: _Delivery) -> Anomaly:
    message = (
        f"Record {one.value} of {place[0]} (offset {place[1]}), which broker {said.broker} had confirmed at "
        f"{seconds(said.op.time)} as {LAST_WORDS[one.how]} by {said.op.process}, was given to {other.by.op.process} by broker "
        f"{other.by.broker} at {seconds(other.by.op.time)}."
    )
    evidence = {"value": one.value, "offset": place[1], "confirmed": said.op.time, "given": other.by.op.time}
    return Anomaly(REDELIVERED, VIOLATION, other.by.op.time, place[0], message, evidence=evidence)


def _held_by_two(place: Place, one: _Delivery, said: _Half, other: _Delivery) -> Anomaly:
    message = (
        f"Record {one.value} of {place[0]} (offset {place[1]}) was given to {one.by.op.process} by broker {one.by.broker} at "
        f"{seconds(one.by.op.time)}, then to {other.by.op.process} by broker {other.by.broker} at "
        f"{seconds(other.by.op.time)}, and yet what {said.op.process} said of it ({one.how}) was confirmed at "
        f"{seconds(said.op.time)}."
    )
    evidence = {"value": one.value, "offset": place[1], "given": other.by.op.time, "confirmed": said.op.time}
    return Anomaly(HELD_BY_TWO, VIOLATION, said.op.time, place[0], message, evidence=evidence)


def _phantoms(group: _Group, failed: Collection[tuple[str, Value]]) -> Iterator[Anomaly]:
    for place, deliveries in sorted(group.deliveries.items()):
        for one in deliveries:
            record = (place[0], one.value)
            if one.value is None or (record in group.sent and record not in failed):
                continue
            why = "whose send had failed" if record in failed else "which nobody sent"
            message = (
                f"{one.by.op.process} was given record {one.value} of {place[0]} (offset {place[1]}) at "
                f"{seconds(one.by.op.time)}, {why}."
            )
            evidence = {"value": one.value, "offset": place[1], "given": one.by.op.time}
            yield Anomaly(PHANTOM, VIOLATION, one.by.op.time, place[0], message, evidence=evidence)


def _lost(group: _Group, ops: Iterable[Op], most: int, deleted: Mapping[str, int]) -> Iterator[Anomaly]:
    end = 0
    records: dict[Place, Value] = {}
    for op in ops:
        end = op.time
        if op.f == "poll" and op.final and op.type == "ok":
            records |= {place: rest[0] for micro in op.value for place, rest in _places(micro[1])}
    for place, value in sorted(records.items()):
        deliveries = group.deliveries.get(place, [])
        if place[1] < deleted.get(place[0], 0) or any(
            one.may_be_the_last and one.value is not None for one in deliveries
        ):
            continue
        # In the end every record is accepted, and what has no answer is given again; so what is left was not given.
        seen = max((one.count for one in deliveries), default=0)
        if any(one.by.op.final and one.value is not None for one in deliveries):
            continue
        if group.may_be_given(place[0], value, deliveries, most) <= 0:
            continue
        last = deliveries[-1] if deliveries else None
        how = (
            "was never given to anybody"
            if last is None
            else f"was given to {last.by.op.process} at {seconds(last.by.op.time)} for the last time, who did not accept it"
            if last.value is not None
            else f"was acquired for {last.by.op.process} at {seconds(last.by.op.time)}, who was sent no record at that offset"
        )
        message = f"Record {value} of {place[0]} (offset {place[1]}) {how}, though in the end the group took all that it was given."
        evidence = {"value": value, "offset": place[1], "deliveries": len(deliveries), "count_told": seen}
        yield Anomaly(LOST, VIOLATION, end, place[0], message, evidence=evidence)


def _summed_up(found: Iterable[Anomaly]) -> Iterator[Anomaly]:
    """The first of each name and partition, which tells how many there are."""
    alike: dict[tuple[str, str], list[Anomaly]] = {}
    for one in found:
        alike.setdefault((one.name, one.partition), []).append(one)
    for all_ in alike.values():
        first = min(all_, key=lambda one: one.time)
        offsets = sorted({one.evidence["offset"] for one in all_})
        more = f" And {len(offsets) - 1} more such records." if len(offsets) > 1 else ""
        evidence = {**first.evidence, "records": len(offsets), "offsets": offsets[:_EXAMPLES]}
        yield replace(first, message=first.message + more, evidence=evidence)
