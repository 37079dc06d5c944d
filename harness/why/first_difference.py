"""The first event that two runs of a plan do not share: with the same noise, it is where another rule first acted.

Until then the traces are the same. That is often long before a node does anything of consequence otherwise
(`tidemark.harness.why.parting`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import TIME, TraceEvent
from tidemark.harness.report.why_section import Deed, FirstDifference

_WORDS: Final[Mapping[str, Callable[..., str]]] = {
    "append": lambda base, epoch, values: (
        f"appends {'record' if len(values) == 1 else 'records'} of epoch {epoch} at offset {base}"
        + (f" to {base + len(values) - 1}" if len(values) > 1 else "")
    ),
    "hw": lambda hw, epoch, leads: (
        f"moves its high watermark to {hw}, as {'leader' if leads else 'follower'} in epoch {epoch}"
    ),
    "truncate": lambda to, old, reason, epoch: f"cuts its log from {old} to {to} in epoch {epoch} ({reason})",
    "hole": lambda begin, leo: f"has nothing from offset {begin} to {leo - 1}: the cut fell inside a batch",
    "lead": lambda epoch, leo, *_: f"takes over as leader of epoch {epoch}; its log ends at {leo}",
    "follow": lambda epoch, leader, leo, _hw: (
        f"follows {f'broker {leader}' if leader > 0 else 'nobody'} in epoch {epoch}; its log ends at {leo}"
    ),
    "ask": lambda leader, epoch: f"asks leader {leader} where epoch {epoch} ended",
    "fetched": lambda epoch, leader: f"has its first answer from leader {leader} in epoch {epoch}",
    "elect": lambda leader, epoch, isr, *_: (
        f"{f'makes broker {leader} leader' if leader > 0 else 'has no leader'} in epoch {epoch}; in sync: {_names(isr)}"
    ),
    "isr-change": lambda isr, *_: f"has {_names(isr)} in sync",
    "isr": lambda isr, *_: f"has {_names(isr)} in its ISR",
    "start": lambda *_: "starts",
    "stop": lambda how, *_: f"stops ({how})",
    "fatal": lambda words, *_: f"gives up: {words}",
}
"""What a node does, by the event's fields behind its partition."""


def first_difference(failing: History, repaired: History) -> FirstDifference | None:
    """Where the traces of two runs of the same plan first differ; None if they do not."""
    for same, (one, other) in enumerate(zip_longest(failing.trace, repaired.trace)):
        if one != other:
            time = min(event[TIME] for event in (one, other) if event is not None)
            return FirstDifference(time, same, _deed(one), _deed(other))
    return None


def _deed(event: TraceEvent | None) -> Deed | None:
    if event is None:
        return None
    time, node, name, _, *fields = event
    words = _WORDS.get(name)
    what = f"comes to the event “{name}”" if words is None else words(*fields)
    return Deed(time, f"{f'broker {node}' if node else 'the controller'} {what}")


def _names(nodes: Sequence[Any]) -> str:
    return ", ".join(map(str, nodes)) or "nobody"
