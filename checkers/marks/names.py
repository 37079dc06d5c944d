"""The marks: their names, and what each says. Where a run comes to them is in `exercised`."""

from __future__ import annotations

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
    "cut-inside-a-batch": "a cut fell inside a batch: all of it went, and the log goes on behind a hole",
    "cut-without-conflict": "a follower truncated a record that its leader had as well",
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
    "recovery-dropped-an-epoch": "a recovery dropped all records of a leader epoch",
    "came-back-unclean": "a broker was accepted again whose process had not shut down cleanly",
    "checkpoint-behind": "a broker came back with a high watermark below the one it had known",
    "all-stopped": "no replica of a partition was running",
    "gave-up": "a process gave up by itself",
    # Membership
    "isr-shrunk": "the controller's ISR became smaller",
    "isr-grew": "the controller's ISR grew",
    "isr-flapped": "the controller's ISR became smaller, grew, and became smaller again, within two seconds",
    "isr-shrunk-over-a-wait": "the controller's ISR became smaller while its leader had records that were not committed",
    "written-past-a-member": "a leader wrote while a member of the ISR had no process, or a paused one",
    "accepted-below-min-isr": "a leader wrote, with acks=all, while the controller's ISR was smaller than min.insync.replicas",
    "caught-up-outside": "a replica outside the ISR had all that its leader had",
    "isr-of-one": "a leader was alone in the ISR",
    "fenced": "a broker's session ended",
    "unfenced-behind": "a broker took part again that had not heard of a partition's latest election",
    "majority-lacks-committed": "the logs of a majority ended below what a leader had committed",
    "ensemble-lacks-confirmed": "fewer bookies of an entry's own ensemble had it than must, and it was confirmed",
    "reassigned": "a partition's replicas were reassigned",
    # Deletion
    "deleted": "records were deleted on purpose",
    "began-anew": "a follower dropped its log, and began at its leader's log start",
}
"""Name → what has happened at least once."""

WITHOUT_ISR = frozenset({"majority-lacks-committed", "ensemble-lacks-confirmed"})
"""Those that only families without an ISR can come to."""
