"""How two nodes' copies of a log differ, of which their files tell at the end of a run, batch by batch."""

from __future__ import annotations

from typing import Protocol


class Copy(Protocol):
    """What a node has.

    Attributes:
        hw: up to where the node knows the log to be committed.
        entries: its batches: base offset, next offset, leader epoch, checksum.
    """

    node: int
    hw: int
    entries: tuple[tuple[int, int, int, int], ...]


def difference(name: str, one: Copy, other: Copy) -> str:
    """How they differ where both are committed, and both go back to, as a sentence; empty if they do not.

    Args:
        name: what they are copies of, such as ``metadata log``.
        one: a node's copy.
        other: another node's.
    """
    begin = max(log.entries[0][0] if log.entries else log.hw for log in (one, other))
    end = min(one.hw, other.hw)
    had, has = ({b[0]: b[1:] for b in log.entries if begin <= b[0] < end} for log in (one, other))
    offset = next((base for base in sorted({*had, *has}) if had.get(base) != has.get(base)), None)
    if offset is None:
        return ""
    return (
        f"The {name} of node {one.node} and that of node {other.node} differ at offset {offset}, below both their high watermarks "
        f"({one.hw} and {other.hw}): one has {_batch(had.get(offset))}, the other {_batch(has.get(offset))}."
    )


def _batch(found: tuple[int, ...] | None) -> str:
    if found is None:
        return "no batch that begins there"
    end, epoch, checksum = found
    return f"a batch up to {end} of epoch {epoch} (checksum {checksum})"
