"""The anomalies by name, each in one sentence (docs/anomalies.md has the exact definitions)."""

from __future__ import annotations

from typing import Final

from tidemark.checkers.registry import all_checkers

MEANINGS: Final = {name: words for one in all_checkers() if not one.near_miss for name, words in one.meanings.items()}
"""What may be a violation in a run: of its replicas, then of its clients. A name → what happened."""
NEAR_MISS_MEANINGS: Final = {
    name: words for one in all_checkers() if one.near_miss for name, words in one.meanings.items()
}
"""States of replicas from which one step loses something. A name → what it means."""

OF_RUNS: Final = tuple(MEANINGS)
NEAR_MISSES: Final = tuple(NEAR_MISS_MEANINGS)


def meaning(name: str) -> str:
    """One sentence; nothing of an anomaly that somebody's own checker names.

    >>> meaning("two-leaders")
    'Two brokers lead in one leader epoch.'
    """
    return MEANINGS.get(name) or NEAR_MISS_MEANINGS.get(name, "")
