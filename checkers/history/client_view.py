"""What the clients of a run know, gathered in one pass over their operations: what the replicas' evidence is held against, and
`nothing_to_find`. The anomalies of clients are found in `Columns`.

Inference is Jepsen's (``jepsen.tests.kafka``): polls count whatever their completion, values are unique per
key, and a send *must have committed* if it completed ok, or completed info and one of its records was read by
an ok poll.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Op, Value

DELETE = "delete"
"""The operation by which a client deletes records."""

Placed = tuple[int, Value]
"""``(offset, value)``."""

_new = tuple.__new__
"""Makes a named tuple without the function that its class has for it, which takes three times as long."""


class Ack(NamedTuple):
    """An acknowledged record; `offset` is `None` if the client was not told."""

    time: int
    process: str
    value: Value
    offset: int | None
    acks: str


class Counts(NamedTuple):
    """How much the clients did.

    `acked` counts records; `invoked` and `succeeded` operations by kind; `availability` is the part of the sends invoked before
    the faults ended and completed at all that were acknowledged (`None` without any).
    """

    acked: int
    invoked: Mapping[str, int]
    succeeded: Mapping[str, int]
    availability: float | None


class Deletion(NamedTuple):
    """Records below `offset` were deleted, or may have been; `done` is when that was acknowledged, `None` if it was not, and
    `begun` when it was asked for, -1 if nobody tells.
    """

    offset: int
    done: int | None
    begun: int = -1


class KeyView:
    """One key (topic-partition) as the clients saw it."""

    __slots__ = ("acked", "deletions", "failed", "ok_reads", "other_reads", "placed")

    def __init__(self) -> None:
        self.failed: set[Value] = set()
        self.acked: dict[Value, Ack] = {}
        """The first acknowledgement of each value, in order of time."""
        self.placed: set[Placed] = set()
        """Offsets that sends were told."""
        self.deletions: list[Deletion] = []
        self.ok_reads: set[Placed] = set()
        self.other_reads: set[Placed] = set()


class ClientView:
    """All keys, and counts of operations, as `Counts` has them.

    Attributes:
        info_sends: the records of sends whose outcome is unknown.
        ended_sends: the completions of sends, but for those that failed.
        answered: all that succeeded and were no sends: whatever clients were given is in them.
        final_reads: process and key → the first and the last offset that its final polls returned.
        final_polls: process → the keys that its final polls named, of which they returned records or not.
        polled_on: whether every process polled each key from offset to offset without a gap, where it kept its position.
    """

    def __init__(self, ops: Sequence[Op], *, acks: str = "all", faults_end_us: int | None = None) -> None:
        self.ops = ops
        self.keys: dict[str, KeyView] = {}
        self.invoked: dict[str, int] = {}
        self.succeeded: dict[str, int] = {}
        self.availability: float | None = None
        self.ended_sends: list[Op] = []
        self.answered: list[Op] = []
        self.polled_on = True
        self.final_reads: dict[tuple[str, str], tuple[int, int]] = {}
        self.final_polls: dict[str, set[str]] = {}
        self._at: dict[tuple[str, bool], dict[str, int]] = {}
        self.info_sends: list[list[tuple[str, Value]]] = []
        self._open_deletions: dict[str, tuple[str, int]] = {}
        self._acks = acks
        self._gather(faults_end_us)

    @property
    def counts(self) -> Counts:
        """How much the clients did."""
        acked = sum(len(seen.acked) for seen in self.keys.values())
        return Counts(acked, self.invoked, self.succeeded, self.availability)

    def acked_among(self, records: Collection[tuple[str, Value]]) -> list[tuple[str, Value]]:
        """Those of some records that were acknowledged."""
        return [(key, value) for key, value in records if key in self.keys and value in self.keys[key].acked]

    def key(self, name: str) -> KeyView:
        """The view of one key; empty if nothing is known of it."""
        view = self.keys.get(name)
        if view is None:
            view = self.keys[name] = KeyView()
        return view

    def _gather(self, faults_end_us: int | None) -> None:
        began: dict[str, int] = {}
        judged = answered = 0
        invoked, succeeded = self.invoked, self.succeeded
        for op in self.ops:
            time, process, kind, f, value, _, _, _ = op
            if kind == "invoke":
                invoked[f] = invoked.get(f, 0) + 1
                began[process] = time
            elif kind == "ok":
                succeeded[f] = succeeded.get(f, 0) + 1
            if f == "send":
                if kind != "invoke":
                    self._ended(op)
                    if kind != "fail":
                        self.ended_sends.append(op)
                    if faults_end_us is None or began.get(process, time) < faults_end_us:
                        judged += 1
                        answered += kind == "ok"
            elif f == "poll":
                if kind != "invoke":
                    for micro in value or ():
                        self._poll(op, micro[1])
                    if kind == "ok":
                        self.answered.append(op)
            else:
                self._seldom(op)
        if judged:
            self.availability = answered / judged
        for key, offset in self._open_deletions.values():
            self.key(key).deletions.append(Deletion(offset, None))

    def _seldom(self, op: Op) -> None:
        if op.type == "ok":
            self.answered.append(op)
        if op.f == "txn":
            if op.type != "invoke":
                self._ended(op)
        elif op.f == DELETE:
            self._delete(op)
        elif op.f == "assign" and op.type in ("ok", "info"):
            self._assign(op)

    def _assign(self, op: Op) -> None:
        """A process keeps its position in the keys that it names."""
        for final in (False, True):
            at = self._at.get((op.process, final))
            if at:
                self._at[op.process, final] = {key: offset for key, offset in at.items() if key in op.value}

    def _delete(self, op: Op) -> None:
        """One whose outcome is unknown may still have happened."""
        if len(op.value) != 1:  # of a key, and not of records
            return
        ((_, key, offset),) = op.value
        if op.type == "invoke":
            self._open_deletions[op.process] = (key, offset)
            return
        self._open_deletions.pop(op.process, None)
        if op.type != "fail":
            self.key(key).deletions.append(Deletion(offset, op.time if op.type == "ok" else None))

    def _ended(self, op: Op) -> None:
        """A send or a transaction came to an end."""
        time, process, kind, _, micros, _, acks, _ = op
        acks = acks or self._acks
        info: list[tuple[str, Value]] = []
        view, of = None, ""
        for micro in micros or ():
            if micro[0] == "poll":
                self._poll(op, micro[1])
                continue
            _, name, what = micro
            if view is None or name != of:
                view, of = self.key(name), name
                acked, placed = view.acked, view.placed
            offset, value = what if isinstance(what, tuple) else (None, what)
            if offset is not None and offset < 0:
                offset = None
            if kind == "ok":
                if value not in acked:
                    acked[value] = _new(Ack, (time, process, value, offset, acks))
            elif kind == "fail":
                view.failed.add(value)
                continue
            else:
                info.append((name, value))
            if offset is not None:
                placed.add(what)
        if info:
            self.info_sends.append(info)

    def _poll(self, op: Op, answer: dict[str, list[Placed]]) -> None:
        _, process, kind, _, _, _, _, final = op
        at = self._at.setdefault((process, final), {})
        if final and kind == "ok":
            self.final_polls.setdefault(process, set()).update(answer)
        for name, records in answer.items():
            view = self.keys.get(name) or self.key(name)
            (view.ok_reads if kind == "ok" else view.other_reads).update(records)
            if not records:
                continue
            first = records[0][0]
            if at.get(name, first - 1) != first - 1 or (
                len(records) > 1 and [offset for offset, _ in records] != list(range(first, first + len(records)))
            ):
                self.polled_on = False
            if kind == "ok":
                at[name] = records[-1][0]
                if final:
                    self.final_reads[process, name] = (
                        self.final_reads.get((process, name), records[0])[0],
                        records[-1][0],
                    )
