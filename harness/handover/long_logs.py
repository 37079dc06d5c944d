"""Logs that somebody has to read: a broker that tries the same again and again prints it ten thousand times a minute."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

ENDS: Final = 500
"""Of lines that are alike but for their numbers so many are kept, the first ones and as many of the last."""
_NUMBER: Final = re.compile(r"\d+")


def shortened(log: str) -> str:
    """The log without the middle of what it says again and again; a line at its end tells how many lines that were."""
    lines = log.splitlines()
    kinds = [_NUMBER.sub("", line) for line in lines]
    total, seen = Counter(kinds), Counter[str]()
    kept = []
    for line, kind in zip(lines, kinds, strict=True):
        seen[kind] += 1
        if seen[kind] <= ENDS or seen[kind] > total[kind] - ENDS:
            kept.append(line)
    if len(kept) == len(lines):
        return log
    left = len(lines) - len(kept)
    return "\n".join(
        [*kept, f"[{left} lines were left out: of lines alike but for numbers, the first and last {ENDS} are here]", ""]
    )
