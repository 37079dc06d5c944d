"""Which marks of what a run exercised (``tidemark.checkers.marks``) there can be without a controller, an ISR and deletions."""

from __future__ import annotations

ELECTIONS = frozenset({"elected-behind-committed", "elected-again-at-once", "two-lead", "deposed-leader-committed"})
FOLLOWING = frozenset({"reign-skipped-by-follower", "followed-ahead", "cut-behind-the-leaders-back"})
CUTS = frozenset({"cut-below-high-watermark", "cut-below-committed", "cut-by-epoch", "cut-whole-log"})
STOPS = frozenset(
    {
        "leader-stopped", "follower-stopped", "leader-paused", "follower-paused", "all-stopped", "log-lost",
        "recovery-dropped-records", "recovery-dropped-an-epoch", "checkpoint-behind",
    }
)  # fmt: skip
MARKS = ELECTIONS | FOLLOWING | CUTS | STOPS
VOTING = MARKS | {"majority-lacks-committed"}
"""Those of every family that votes. A server that leads hears of a newer generation before it leads again, so it never leads on."""
