"""A run as the checkers see it: client operations, nemesis operations and the replicas' trace.

The shapes are those of ``docs/history.md``, which is the contract between whoever makes a history (the
simulator, real brokers, somebody else's test) and the checkers. All times are integers, microseconds since the
run began; offsets, log end offsets and high watermarks are exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.checkers.history.trace_events import TraceEvent

if TYPE_CHECKING:
    from tidemark.checkers.history.columns.columns import Columns
    from tidemark.checkers.history.edn.forms import Form

Value = Any
"""A record's value: an integer, unique per key. In foreign histories anything hashable."""

NemesisOp = tuple[Any, ...]
"""``(time, "strike" | "heal", index, kind, detail)``."""


class Op(NamedTuple):
    """One half of a client operation: its invocation or its completion (Jepsen's shape)."""

    time: int
    process: str
    type: str
    f: str
    value: Any
    error: str | None = None
    acks: str | None = None
    final: bool = False


@dataclass(slots=True)
class History:
    """Everything that may be used to judge a run.

    Attributes:
        cut_off: why this is only the beginning of the run's history, as a sentence; empty if it is not.
        columns: the client operations, where they are not in `ops`: of a file without a trace.
        forms: the operations as an EDN file has them, nemesis and all, where somebody asked to keep them.
        gaps: why some of it is missing or out of place, as a sentence, so that nothing in it can be relied on; empty if nothing is.
    """

    meta: dict[str, Any] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    nemesis: list[NemesisOp] = field(default_factory=list)
    trace: list[TraceEvent] = field(default_factory=list)
    cut_off: str = ""
    gaps: str = ""
    columns: Columns | None = None
    forms: list[Form] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        *,
        ops: Iterable[Op] = (),
        trace: Iterable[TraceEvent] = (),
        nemesis: Iterable[NemesisOp] = (),
        **meta: object,
    ) -> History:
        """A small history written by hand; keyword arguments that are not a stream go to `meta`."""
        return cls(dict(meta), list(ops), list(nemesis), list(trace))


def sent(time: int, process: str, key: str, value: Value, offset: int | None = None, acks: str = "all") -> Op:
    """An acknowledged send of one record, for histories written by hand."""
    return Op(time, process, "ok", "send", (("send", key, (offset, value)),), None, acks)


def deleted(time: int, process: str, key: str, offset: int) -> Op:
    """An acknowledged deletion of the records below an offset, for histories written by hand."""
    return Op(time, process, "ok", "delete", (("delete", key, offset),))


def polled(time: int, process: str, key: str, *records: tuple[int, Value]) -> Op:
    """A successful poll of one key that returned ``(offset, value)`` pairs, for histories written by hand."""
    return Op(time, process, "ok", "poll", (("poll", {key: list(records)}),))
