"""What Jepsen's nemesis did, as strikes and healings.

Jepsen notes an operation of the nemesis twice, when it begins and when it is done, both as ``:info``. Here a fault strikes when the
operation that brings it begins, and is healed when the one that ends it is done; what is neither lasts as long as its operation. A
fault that nothing ends is struck and never healed.

Source: ``jepsen.nemesis.combined`` (its ``:perf`` maps name what starts a fault and what stops it) and
``jepsen.util/nemesis-intervals``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.verdict.verdict import Json

_ENDED_BY = {"kill": "start", "pause": "resume", "bump-clock": "reset-clock", "start": "stop"}
"""What brings a fault → what ends it, beside ``start-…`` and ``stop-…``."""

_OURS = ("strike-", "heal-")


class NemesisHalf(NamedTuple):
    """One of the two entries of an operation of the nemesis; the time in µs, names without their colons."""

    time: int
    f: str
    value: Json


class _Done(NamedTuple):
    began: int
    ended: int
    f: str
    value: Json


def strikes_and_healings(halves: Iterable[NemesisHalf]) -> list[NemesisOp]:
    """What the nemesis did, in order of time.

    >>> strikes_and_healings([NemesisHalf(1, "kill", "one"), NemesisHalf(2, "kill", {"n1": "killed"}),
    ...                       NemesisHalf(8, "start", "all"), NemesisHalf(9, "start", {"n1": "started"})])
    [(1, 'strike', 0, 'kill', {'value': '{"n1": "killed"}'}), (9, 'heal', 0, 'kill', {})]
    """
    found: list[NemesisOp] = []
    halves = list(halves)
    ours = [half for half in halves if _is_ours(half)]
    for time, f, value in ours:
        what, _, kind = f.partition("-")
        found.append((time, what, value["index"], kind, {key: one for key, one in value.items() if key != "index"}))
    index = max((entry[2] for entry in found), default=-1) + 1
    done = _paired([half for half in halves if not _is_ours(half)])
    ends = _ends({one.f for one in done})
    open_: dict[str, list[int]] = {}
    for one in done:
        if one.f in ends:
            for kind in ends[one.f]:
                found += [
                    (one.ended, "heal", struck, kind.removeprefix("start-"), {}) for struck in open_.pop(kind, ())
                ]
            continue
        kind = one.f.removeprefix("start-")
        found.append((one.began, "strike", index, kind, {} if one.value is None else {"value": _shown(one.value)}))
        if any(one.f in begun for begun in ends.values()):
            open_.setdefault(one.f, []).append(index)
        else:
            found.append((one.ended, "heal", index, kind, {}))
        index += 1
    return sorted(found, key=lambda entry: entry[0])


def _is_ours(half: NemesisHalf) -> bool:
    """Whether `tidemark export` wrote it."""
    value = half.value
    return half.f.startswith(_OURS) and isinstance(value, Mapping) and type(value.get("index")) is int


def _paired(halves: list[NemesisHalf]) -> list[_Done]:
    """Two entries of one name that follow each other are one operation."""
    done: list[_Done] = []
    waiting: NemesisHalf | None = None
    for half in halves:
        if waiting is not None and waiting.f == half.f:
            done.append(_Done(waiting.time, half.time, half.f, half.value))
            waiting = None
            continue
        if waiting is not None:
            done.append(_Done(waiting.time, waiting.time, waiting.f, waiting.value))
        waiting = half
    if waiting is not None:
        done.append(_Done(waiting.time, waiting.time, waiting.f, waiting.value))
    return done


def _ends(fs: set[str]) -> dict[str, list[str]]:
    """What ends a fault → the faults it ends, among operations of these names. ``start`` is the end of ``kill`` where processes are
    killed, else it begins what ``stop`` ends; ``start-partition`` is a ``partition``.
    """
    ends: dict[str, list[str]] = {}
    for kind in sorted(fs):
        end = f"stop-{kind[6:]}" if kind.startswith("start-") else _ENDED_BY.get(kind)
        if end is not None and not (kind == "start" and "kill" in fs):
            ends.setdefault(end, []).append(kind)
    return ends


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"
