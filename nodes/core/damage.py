"""What damage does to files, on a simulated disk as on a real one: which of a node's files, and which bits of them.

Disks flip bits, and file systems lose the ends of files, without a word (Bairavasundaram et al., "An Analysis of Data Corruption in
the Storage Stack", FAST 2008). Jepsen does both to the files of a few nodes (``jepsen.nemesis.file``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

FLIP_BITS, CUT_TAIL = "flip-bits", "cut-tail"
HOWS: Final = (FLIP_BITS, CUT_TAIL)
ALL, HALF, ONE = "all", "half", "one"
WHICH: Final = (ALL, HALF, ONE)
"""Of a node's files; a half is each of them with one chance in two, and at least one."""

_THOUSANDTHS = 1000


def draw_files(noise: Callable[[], float], names: Sequence[str], which: str) -> list[str]:
    """Which files are struck, in their order; none if there are none.

    Args:
        noise: numbers in [0, 1), of which one is drawn for each name, and one more.
        names: of the files that have anything in them.
        which: a word of `WHICH`.
    """
    heads = [noise() < 0.5 for _ in names]
    alone = int(noise() * len(names))
    if which == ALL:
        return list(names)
    chosen = [name for name, head in zip(names, heads, strict=True) if head and which == HALF]
    return chosen or list(names[alone : alone + 1])


def draw_bits(noise: Callable[[], float], size: int, amount: int) -> list[int]:
    """Which bits of a file are flipped, in order and each once, of so many bytes; bit 0 is the lowest of the first byte."""
    return sorted({int(noise() * size * 8) for _ in range(amount)} if size else ())


def cut_at(size: int, share: int) -> int:
    """Where a file ends, of so many bytes, that has lost so many thousandths of them: at least one, unless it is empty."""
    return max(size - max(size * share // _THOUSANDTHS, 1), 0)
