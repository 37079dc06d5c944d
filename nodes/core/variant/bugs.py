"""Bugs of Kafka that can be put back into a variant (docs/protocol.md, "Bugs that can be put back")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tidemark.nodes.core.switches import NOTHING, Need, Row
from tidemark.nodes.core.variant.rule_option import ASKS, EPOCH_CACHE, EPOCH_IN_FETCH


class Bug(NamedTuple):
    """One of them.

    Attributes:
        says: what goes wrong. need: without it the bug can do no harm.
        switches_off: the field of a variant that is its fix, if the fix is a switch.
    """

    says: str
    need: Need = NOTHING
    switches_off: str = ""

    def is_in(self, key: str, variant: Any) -> bool:  # noqa: ANN401 (a variant of Kafka's)
        """Whether a variant has the bug of this key, put back or by its design."""
        return key in variant.bugs or bool(self.switches_off and not getattr(variant, self.switches_off))


BUGS = {
    "KAFKA-1382": Bug(
        "A leader that did not hear that its ISR was written to ZooKeeper writes it again, is refused for the version "
        "that it raised itself, and never changes the ISR again.",
    ),
    "KAFKA-5634": Bug(
        "Retention does not look at the high watermark: a leader deletes records that are not committed, and its log "
        "start passes it.",
    ),
    "KAFKA-6975": Bug(
        "A follower that begins anew at its leader's log start refuses the batch that reaches across it as out of order, for ever."
    ),
    "KAFKA-7128": Bug(
        "The ISR may expand to a follower below the leader's epoch start: a lagging high watermark lets it in, and it can be "
        "elected without committed records."
    ),
    "KAFKA-7164": Bug(
        "A follower restarts fetching only if the leader's id changed, and so never truncates for the new epoch of a "
        "re-elected leader.",
        switches_off="restart_on_epoch",
    ),
    "KAFKA-7414": Bug(
        "A follower whose log ends after its leader's takes that for a loss of data, and stops its broker.",
        switches_off="out_of_range_cuts",
    ),
    "KAFKA-7415": Bug(
        "A new leader does not put its epoch into the cache before it has a record of it, and answers questions wrongly "
        "meanwhile.",
        EPOCH_CACHE,
        switches_off="epoch_on_lead",
    ),
    "KAFKA-7786": Bug(
        "A follower takes an answer about the end of its epoch that was meant for an earlier reign of the same leader.",
        ASKS,
        switches_off="fresh_answers",
    ),
    "KAFKA-8306": Bug(
        "A log that ends below its checkpointed log start is kept: its leader appends below the log start, where nobody reads."
    ),
    "KAFKA-9491": Bug(
        "A follower that begins anew at its leader's log start keeps its lower high watermark; if it is elected before it learns a "
        "better one, its high watermark is in no batch of its log, and never moves again."
    ),
    "KAFKA-9672": Bug(
        "While its ISR names a broker that a reassignment has removed, a leader takes nobody out of the ISR: isr-expiration fails."
    ),
    "KAFKA-10432": Bug(
        "After an unclean stop recovery adds no entry for leader epoch 0 to an epoch cache that lost it.", EPOCH_CACHE
    ),
    "KAFKA-10706": Bug(
        "A truncation leaves epochs without records at the end of the cache, and asking never ends.", EPOCH_CACHE
    ),
    "KAFKA-12686": Bug(
        "A leader that is told of a new leader epoch while a change of its ISR is under way forgets that it is; the next "
        "change waits for the answer to the first, and is forgotten with it: it stays pending, and is never sent.",
    ),
    "KAFKA-13091": Bug(
        "A leader whose ISR the controller has shrunk for it does not look at its high watermark, until somebody writes."
    ),
    "KAFKA-13141": Bug("The leader counts a fetch that diverges as progress of the follower.", EPOCH_IN_FETCH),
    "KAFKA-13173": Bug(
        "KRaft's controller handles several brokers whose sessions end at the same time each as if the others were still "
        "there: who just failed may be elected, and the last one's ISR counts.",
    ),
    "KAFKA-13198": Bug(
        "With a metadata log a replica that a reassignment removes is told nothing: it follows, or leads, as it did, and "
        "keeps its log.",
    ),
    "KAFKA-14144": Bug(
        "ZooKeeper's controller compares versions before it looks whether a proposed ISR is what it has: a leader that "
        "did not hear the answer is refused whenever it asks again, and its ISR stays pending.",
    ),
    "KAFKA-15586": Bug(
        "The controller does not take a broker that shut down uncleanly out of the eligible leader replicas."
    ),
    "KAFKA-15665": Bug(
        "A reassignment ends when all replicas that it adds are in the ISR, though others of its target are not: records are "
        "left with fewer replicas than before.",
        switches_off="whole_target_in_sync",
    ),
    "KAFKA-19522": Bug("Where nobody is eligible, the last known leader is elected even while it is fenced."),
    "KAFKA-14704": Bug(
        "A follower takes high watermark and log start of a response that says it diverges, before it cuts.",
        EPOCH_IN_FETCH,
    ),
}


class BugsOption:
    """Which bugs were put back, each by its key."""

    words = BUGS.keys()

    def rows(self, name: str, variant: Any) -> list[Row]:  # noqa: ANN401 (as an option has it)
        """One for each bug that was put back; of others nothing is said."""
        put_back = getattr(variant, name)
        return [
            Row(f"bug put back: {key}", bug.need.or_idle(variant, bug.says))
            for key, bug in BUGS.items()
            if key in put_back
        ]

    def words_of(self, _name: str, variant: Any) -> list[str]:  # noqa: ANN401 (the same)
        """Also those that the design had."""
        return [key for key, bug in BUGS.items() if bug.is_in(key, variant)]

    def changes(self, name: str, variant: Any, modifier: str) -> Mapping[str, Any] | None:  # noqa: ANN401 (the same)
        """The bug, and without what would be its fix."""
        if modifier not in BUGS:
            return None
        fix = BUGS[modifier].switches_off
        return {name: getattr(variant, name) | {modifier}, **({fix: False} if fix else {})}
