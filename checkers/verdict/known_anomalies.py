"""The anomalies by name, each in one sentence (docs/anomalies.md has the exact definitions)."""

from __future__ import annotations

from typing import Final

MEANINGS: Final = {
    "lost-committed-write": "A record that was committed is missing from the log of a later leader.",
    "leader-completeness": "A leader was elected that lacks committed records.",
    "log-matching": "Two replicas hold different records below both their high watermarks.",
    "divergence": "A follower's log and its leader's differ while it follows, and truncation has not mended it.",
    "hw-regression": "A leader's high watermark moved back.",
    "hw-beyond-log": "A replica's high watermark lies beyond the end of its log.",
    "broken-log": "A log has a gap, falling leader epochs, or an epoch cache that does not match it.",
    "unasked-election": "A leader from outside ISR and ELR, though neither the configuration nor an operator allowed one.",
    "two-leaders": "Two brokers lead in one leader epoch.",
    "dirty-read": "A consumer read a record that was not committed yet.",
    "stale-read-below-hw": "A consumer read a record at an offset where another one was committed.",
    "stale-poll": "A poll did not show what had been acknowledged or read before it began, though that is promised.",
    "truncated-under-consumer": "A consumer had read a committed record that a later leader does not have.",
    "acked-by-too-few": "A record was acknowledged under acks=all although fewer replicas than min ISR had it.",
    "double-vote": "A server voted for two candidates in one generation.",
    "unsafe-commit": "A leader called records committed while a server without them could still be elected.",
    "leader-append-only": "A leader cut its own log.",
    "entry-matching": "Two logs have the same entry at an offset, and differ before it.",
    "state-machine-safety": "Two servers hold different records to be committed at one offset.",
    "no-leader": "A partition stayed without a leader longer than an election takes, though a candidate was well.",
    "isr-not-shrunk": "A leader kept a member in the ISR that could not fetch, longer than it may.",
    "not-acknowledged": "A send timed out although the whole ISR had been well since long before.",
    "wrong-deletion": "A log start moved beyond what may be deleted, or what anybody had deleted.",
    "stuck": "After everything was healed, a partition did not come to rest: no leader, no progress, or logs that differ.",
    "broker-stopped": "A broker gave up by itself, as its protocol makes it do.",
    "broker-crashed": "A broker's process ended, and neither the nemesis nor its protocol ended it.",
    "lost-write": "An acknowledged record was never read, although a consumer read beyond it, or to the end.",
    "inconsistent-offsets": "Clients saw different records at one offset.",
    "duplicate": "One record stands at two offsets.",
    "G1a": "Aborted read: a consumer read a record whose send had failed.",
    "phantom": "A consumer read a record that nobody sent.",
    "precommitted-read": "A transaction read what it had itself written and not committed.",
    "poll-skip": "A consumer passed over an offset that somebody saw.",
    "nonmonotonic-poll": "A consumer went back between two polls.",
    "int-poll-skip": "One operation passed over an offset that somebody saw, between two of its records.",
    "int-nonmonotonic-poll": "One operation polled a record at or before one that it had polled already.",
    "nonmonotonic-send": "A producer's later record has an earlier offset.",
    "int-nonmonotonic-send": "Of two records that one operation sent, the later has the earlier offset.",
    "int-send-skip": "Between two records that one operation sent, somebody saw another.",
    "unseen": "Acknowledged records that nobody read, and of which nobody can say whether they are lost.",
    "G0": "Write cycle: operations each of which wrote before the next, and the last before the first.",
    "G0-process": "A write cycle (G0), counting the order within one process.",
    "G0-realtime": "A write cycle (G0), counting what had ended before another began.",
    "G1c": "Cycle of information: operations each of which wrote before the next or was read by it, and the last by the first.",
    "G1c-process": "A cycle of information (G1c), counting the order within one process.",
    "G1c-realtime": "A cycle of information (G1c), counting what had ended before another began.",
}
"""What may be a violation in a run: of its replicas, then of its clients. A name → what happened."""
NEAR_MISS_MEANINGS: Final = {
    "strong-isr": "A live broker in the controller's ISR lacks a committed record: if it is elected, the record is lost.",
    "weak-isr": "A member of the ISR that a leader goes by lacks a record that it takes for committed.",
    "leader-candidate-completeness": "A member of the ELR lacks a committed record.",
    "fenced-in-isr": "The controller has a broker in the ISR that it has fenced.",
    "isr-quorum": "A leader commits without a broker that the controller may elect.",
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
