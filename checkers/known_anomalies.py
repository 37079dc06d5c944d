"""The anomalies' names, for those who ask for one of them (docs/anomalies.md has what they mean)."""

OF_RUNS = (
    "lost-committed-write", "leader-completeness", "log-matching", "divergence", "hw-regression", "hw-beyond-log", "broken-log",
    "unasked-election", "two-leaders", "dirty-read", "stale-read-below-hw", "truncated-under-consumer", "acked-by-too-few",
    "double-vote", "unsafe-commit", "leader-append-only", "entry-matching", "state-machine-safety",
    "no-leader", "isr-not-shrunk", "not-acknowledged", "wrong-deletion", "stuck", "broker-stopped", "broker-crashed",
    "lost-write", "inconsistent-offsets", "duplicate", "G1a", "phantom", "precommitted-read", "poll-skip", "nonmonotonic-poll",
    "int-poll-skip", "int-nonmonotonic-poll", "nonmonotonic-send", "int-nonmonotonic-send", "int-send-skip", "unseen",
    "G0", "G0-process", "G0-realtime", "G1c", "G1c-process", "G1c-realtime",
)  # fmt: skip
"""What may be a violation in a run: of its replicas, then of its clients."""
NEAR_MISSES = ("strong-isr", "weak-isr", "leader-candidate-completeness", "fenced-in-isr", "isr-quorum")
"""States of replicas from which one step loses something."""
