"""The marks by name. One that no run of a campaign has is something the campaign never tried."""

from __future__ import annotations

from collections.abc import Collection, Mapping

MARKS: dict[str, str] = {
    # Elections
    "elected-behind-committed": "a leader was elected whose log ends below what an earlier leader had committed",
    "elected-while-a-member-lags": "a leader began to lead while a member of its ISR had less than it",
    "elected-while-a-member-is-ahead": "a leader began to lead while a member of its ISR had more than it",
    "elected-from-outside": "a leader was elected from outside ISR and ELR",
    "elected-again-at-once": "a leader was deposed before it had written a record",
    "no-leader-left": "nobody could be elected",
    # Reigns
    "reign-skipped-by-follower": "a follower went on in a reign without having heard of the one before",
    "reign-skipped-by-leader": "a leader was elected again, and had not heard of the reign between (with ZooKeeper only "
    "after a change of controllers: one tells each broker all it has to tell it, in turn)",
    "led-on-in-a-new-epoch": "a leader went on in the next epoch, as leader",
    "two-lead": "a leader wrote while a newer one had been elected",
    "deposed-leader-committed": "a leader's high watermark moved while a newer one had been elected",
    "followed-ahead": "a follower began to follow with a longer log than its leader's",
    "cut-behind-the-leaders-back": "a follower truncated while another broker still took itself for its leader",
    "led-on-over-a-cut": "a leader went on in a new epoch after a follower had truncated behind its back",
    # Truncation
    "cut-below-high-watermark": "a replica truncated below its own high watermark",
    "cut-below-committed": "a replica truncated below what a leader had committed (no loss where others still have it)",
    "cut-to-high-watermark": "a follower truncated to its high watermark",
    "cut-by-epoch": "a follower truncated to where an epoch ends",
    "cut-whole-log": "a replica's whole log was cut or dropped",
    "out-of-range": "a follower's fetch was out of its leader's range",
    "out-of-order": "a follower refused a batch that did not go on where its log ended",
    "rounds-2": "a follower needed two answers of its leader before their logs agreed",
    "rounds-3": "a follower needed three answers or more",
    # Crashes
    "leader-stopped": "a leader's process ended",
    "follower-stopped": "a follower's process ended",
    "leader-paused": "a leader was paused",
    "follower-paused": "a follower was paused",
    "log-lost": "a broker lost its log, or what it had not synced",
    "recovery-dropped-records": "a recovery dropped records",
    "checkpoint-behind": "a broker came back with a high watermark below the one it had known",
    "all-stopped": "no replica of a partition was running",
    "gave-up": "a process gave up by itself",
    # Membership
    "isr-shrunk": "the controller's ISR became smaller",
    "isr-grew": "the controller's ISR grew",
    "isr-of-one": "a leader was alone in the ISR",
    "fenced": "a broker's session ended",
    "reassigned": "a partition's replicas were reassigned",
    # Deletion
    "deleted": "records were deleted on purpose",
    "began-anew": "a follower dropped its log, and began at its leader's log start",
}
"""Name → what has happened at least once."""


def by_mark(seen: Mapping[str, int], among: Collection[str] | None = None) -> dict[str, int]:
    """Runs that came to each mark, in the order of `MARKS`; those that none came to with 0.

    Args:
        seen: how many came to each.
        among: those that a protocol's runs can come to; None: all. Others are told if there are any.
    """
    return {name: seen.get(name, 0) for name in MARKS if among is None or name in among or seen.get(name)}
