"""Exit codes, and what they are said of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

VALID = 0
ANOMALY = 1
UNKNOWN = 2
INTERRUPTED = 130
BAD_ARGUMENTS = 254
INTERNAL_ERROR = 255


def exit_code(verdicts: Iterable[str]) -> int:
    """1 if any verdict is ``invalid``, else 2 if any is ``unknown``, else 0."""
    seen = set(verdicts)
    return ANOMALY if "invalid" in seen else UNKNOWN if "unknown" in seen else VALID
