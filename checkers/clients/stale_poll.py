"""`stale-poll`: a poll did not show a record that had been acknowledged, or read, before the poll began.

Kafka's consumers, and those of most families here, may be behind: a leader that was deposed and does not know it shows what was
committed when it led. Where reads are promised to be linearizable (the meta line's `reads_within`: so many offsets from its
position a poll looks at), a poll that succeeds shows everything that was acknowledged under acks=all, or that another poll had
returned, before it was invoked. Once for each key, with the first such poll; judged as the loss of the record, where that was lost.

>>> from tidemark.checkers import History, Op, check, polled, sent
>>> verdict = check(History.of(reads_within=50, ops=[
...     sent(10, "p1", "t-0", 7, 0),
...     Op(20, "c1", "invoke", "poll", (("poll", {}),)),
...     polled(30, "c1", "t-0"),
... ]))
>>> print(verdict.named("stale-poll")[0].message)
c1 polled t-0 from offset 0 on at 0.000020 s and was given nothing up to offset 0, where record 7 was known since 0.000010 s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tidemark.checkers.history.history import Op, Value
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement, seconds

NAME = "stale-poll"


class _Stale(NamedTuple):
    op: Op
    invoked: int
    position: int
    end: int
    known: int
    since: int
    value: Value


def stale_polls(
    ops: Sequence[Op], meta: Mapping[str, Any], fates: Mapping[tuple[str, Value], Judgement]
) -> list[Anomaly]:
    """One anomaly for each key, where it is promised how many offsets from its position a poll looks at, at least.

    Args:
        ops: of all clients, in order of time.
        meta: the history's.
        fates: how the loss of a record is judged.
    """
    within, acks = meta.get("reads_within", 0), meta.get("acks", "all")
    if "reads_within" not in meta:
        return []
    known: dict[str, dict[int, tuple[int, Value]]] = {}
    positions: dict[tuple[str, bool, str], int] = {}
    invoked: dict[str, int] = {}
    found: dict[str, list[_Stale]] = {}
    for op in ops:
        if op.type == "invoke":
            invoked[op.process] = op.time
        elif op.f == "send" and op.type == "ok" and (op.acks or acks) == "all":
            for _, key, (offset, value) in op.value:
                if offset is not None:
                    known.setdefault(key, {}).setdefault(offset, (op.time, value))
        elif op.f == "poll" and op.type == "ok":
            for _, answer in op.value:
                for key, records in answer.items():
                    place = (op.process, op.final, key)
                    position = positions.get(place, 0)
                    end = records[-1][0] + 1 if records else position
                    began = invoked.get(op.process, op.time)
                    told = known.setdefault(key, {})
                    for offset in range(end, position + within):
                        if offset in told and told[offset][0] < began:
                            stale = _Stale(op, began, position, end, offset, *told[offset])
                            found.setdefault(key, []).append(stale)
                            break
                    for offset, value in records:
                        told.setdefault(offset, (op.time, value))
                    positions[place] = end
    return [_anomaly(key, stale, fates) for key, stale in sorted(found.items())]


def _anomaly(key: str, polls: Sequence[_Stale], fates: Mapping[tuple[str, Value], Judgement]) -> Anomaly:
    op, invoked, position, end, known, since, value = polls[0]
    more = "" if len(polls) == 1 else f" (and {len(polls) - 1} more such polls)"
    given = "nothing" if end == position else f"nothing from offset {end}"
    message = (
        f"{op.process} polled {key} from offset {position} on at {seconds(invoked)} and was given {given} up to offset {known}, "
        f"where record {value} was known since {seconds(since)}{more}."
    )
    evidence = {
        "process": op.process, "invoked": invoked, "position": position, "end": end, "known": known, "value": value,
        "since": since, "count": len(polls),
    }  # fmt: skip
    judged = fates.get((key, value), VIOLATES)
    return Anomaly(NAME, judged.verdict, op.time, key, message, judged.clause, judged.breaks, evidence)
