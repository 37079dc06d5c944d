"""Variants: which truncation rule, which fences, which later rules a cluster runs, and the presets that Kafka shipped.

A variant is written as a preset and modifiers, joined by ``+``::

    kafka-2.1                       the design of inter-broker version 2.1
    kafka-2.1+no-fetch-fence        without one of KIP-320's four fences
    kafka-2.1+KAFKA-7128            with a bug put back
    kafka-2.0+truncation=fetch      with another truncation rule

Whatever can be switched is declared here once, with its word and with the sentences that ``tidemark variants`` says of it.

Sources: KIP-101, KIP-279, KIP-320, KIP-380, KIP-595 (truncate on fetch), KIP-841, KIP-903, KIP-966, KAFKA-15583.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

from tidemark.nodes.core.recovery import RecoveryRules
from tidemark.nodes.core.truncation import RULES, TruncationRule


class Need(NamedTuple):
    """What a truncation rule must be like for a switch, fence or bug to have anything to do."""

    words: str
    is_met: Callable[[TruncationRule], bool]


ANY_RULE = Need("", lambda _: True)
EPOCH_CACHE = Need("an epoch cache", lambda rule: rule.keeps_epochs)
ASKS = Need("a rule that asks for the end of an epoch", lambda rule: rule.asks)
EPOCH_IN_FETCH = Need("a rule whose fetches name the last fetched epoch", lambda rule: rule.epoch_in_fetch)


class Fence(StrEnum):
    """KIP-320's four fences, each with what happens with it and without."""

    __hash__ = str.__hash__  # an enum's own is Python

    need: Need
    on: str
    off: str

    FETCH = (
        "fetch",
        "A leader refuses a fetch of another leader epoch (FENCED_LEADER_EPOCH if older, UNKNOWN_LEADER_EPOCH if newer).",
        "A leader answers a fetch whatever leader epoch the follower is in.",
    )
    TRUNCATION = (
        "truncation",
        "A leader refuses the question where an epoch ends from a follower that is in another leader epoch.",
        "A leader says where an epoch ends whatever leader epoch the follower is in.",
        ASKS,
    )
    HW = (
        "hw",
        "A leader counts a fetch as progress, for high watermark and ISR, only if it is of its own leader epoch.",
        "A leader counts every fetch it does not refuse as progress.",
    )
    ISR = (
        "isr",
        "The ISR expands only to a follower whose last fetch was of the leader's epoch.",
        "The ISR expands to a caught-up follower whatever leader epoch it fetched in.",
    )

    def __new__(cls, word: str, on: str, off: str, need: Need = ANY_RULE) -> Self:
        """A word that knows its sentences."""
        fence = str.__new__(cls, word)
        fence._value_ = word
        fence.on, fence.off, fence.need = on, off, need
        return fence


class Switch(NamedTuple):
    """Something a variant does or does not do.

    Attributes:
        topic: what it is called. on, off: what happens with it and without.
        word: turns it on as a modifier, and with ``no-`` before off; empty where only a bug turns it off.
        need: the truncation rules that it matters to.
    """

    topic: str
    on: str
    off: str
    word: str = ""
    need: Need = ANY_RULE


class Bug(NamedTuple):
    """A bug that can be put back (docs/protocol.md, "Bugs that can be put back").

    Attributes:
        says: what goes wrong. need: the truncation rules that it can do harm to.
        switches_off: the field of a variant that is its fix, if the fix is a switch.
    """

    says: str
    need: Need = ANY_RULE
    switches_off: str = ""


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


class VariantError(ValueError):
    """The text does not name a variant; the message says what would."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One point in the space of protocols; immutable, comparable, and named so that it can be typed."""

    name: str
    truncation: str
    fences: frozenset[Fence] = frozenset()
    bounce_detection: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "bounce detection (KIP-380)",
                "A broker that stops and starts between two looks of the controller is handled as failed and as new, and a broker "
                "ignores leadership meant for another incarnation.",
                "A broker that stops and starts between two looks of the controller is not noticed, and told nothing (KAFKA-1120).",
                "bounce-detection",
            )
        },
    )
    min_isr_gates_hw: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "min ISR gates HW (KAFKA-15583)",
                "The high watermark does not advance while the ISR is smaller than min.insync.replicas.",
                "The high watermark advances however small the ISR is.",
                "min-isr-gate",
            )
        },
    )
    broker_epoch_checks: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "broker epochs (KIP-841/903)",
                "AlterPartition and fetches name the broker epoch they speak for: the controller lets no fenced or restarted "
                "broker into the ISR, and the leader refuses fetches of an earlier incarnation.",
                "The controller does not ask whether a proposed member is fenced or has restarted, and a fetch of an earlier "
                "incarnation counts.",
                "broker-epochs",
            )
        },
    )
    elr: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "ELR (KIP-966)",
                "Members that leave the ISR while it is below min.insync.replicas stay eligible to lead, until the ISR is back "
                "at that size or they shut down uncleanly; the ISR may become empty.",
                "Only members of the ISR are eligible to lead, and its last member stays in it even when it is down.",
                "elr",
            )
        },
    )
    epoch_on_lead: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "epoch cached on becoming leader (KAFKA-7415)",
                "A new leader notes its epoch, at its log end offset, when it becomes leader.",
                "A new leader notes its epoch at its first append, the cache ignores a note that is not newer than all others, and "
                "knows no end of an epoch below its first.",
                need=EPOCH_CACHE,
            )
        },
    )
    restart_on_epoch: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "refetch on every epoch (KAFKA-7164)",
                "A follower starts anew, truncation included, in every new leader epoch.",
                "A follower whose leader's id has not changed fetches on without truncating.",
            )
        },
    )
    fresh_answers: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "late answers (KAFKA-7786)",
                "A follower drops an answer to what it asked in an earlier leader epoch.",
                "A follower takes an answer that its leader gave in an earlier reign.",
                "fresh-answers",
                ASKS,
            )
        },
    )
    failures_stay_apart: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "what does not fit (KIP-461)",
                "A follower that cannot append what it fetched fetches no more of this partition until there is a newer leader "
                "epoch.",
                "A follower that cannot append what it fetched fetches nothing more from this leader, of any partition, until "
                "none of them has this leader.",
                "partition-failure",
            )
        },
    )
    out_of_range_cuts: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "out of range (KAFKA-7414)",
                "A follower whose log ends after its leader's cuts to the leader's log end, and fetches on.",
                "A follower whose log ends after its leader's stops its broker, unless unclean election is enabled.",
            )
        },
    )
    leader_writes_isr: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "who writes the ISR (KIP-497)",
                "The leader writes the ISR to ZooKeeper itself, and the high watermark stands still until it has; if the version "
                "it knows is stale, it cannot, until it is elected again (KAFKA-2729).",
                "The leader asks the controller for a change of the ISR; until it hears, the high watermark waits for old and new "
                "members alike.",
                "leader-writes-isr",
            )
        },
    )
    shrink_raises_epoch: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "ISR shrinks (KAFKA-15021)",
                "When the controller takes a replica out of an ISR, the leader stays and gets a new leader epoch.",
                "When the controller takes a replica out of an ISR, the leader epoch stays.",
                "shrink-raises-epoch",
            )
        },
    )
    metadata_log: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "metadata log (KRaft)",
                "A broker reads what the controller decided from a log, and acts on the last state of what it finds at once: a "
                "broker that was deaf or asleep never acts on what was between, and may miss a leader's whole reign. It is fenced "
                "until it has caught up, and may stop when the others have.",
                "The controller (ZooKeeper) sends a broker each state, in order, one at a time, each until it is answered, and the "
                "broker acts on every one.",
                "metadata-log",
            )
        },
    )
    reassignments_replace: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "another reassignment (KIP-455)",
                "A reassignment may be replaced by another one while it is under way, and so be taken back.",
                "A reassignment must come to its end before there can be another.",
                "replace-reassignment",
            )
        },
    )
    whole_target_in_sync: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "end of a reassignment (KAFKA-15665)",
                "A reassignment ends when all replicas that there are to be are in the ISR.",
                "A reassignment ends when all replicas that it adds are in the ISR, or one that stays if it adds none; the ISR may "
                "be smaller than min.insync.replicas then.",
                "whole-target",
            )
        },
    )
    refuses_strangers: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "fetch of no replica (KAFKA-13837)",
                "A leader refuses a fetch of a broker that is no replica, as far as it knows.",
                "A leader lets a fetch of a broker that is no replica, as far as it knows, wait, then answers, and does not count "
                "it.",
                "refuse-strangers",
            )
        },
    )
    delete_records: bool = field(
        default=True,
        metadata={
            "switch": Switch(
                "log start (KIP-107)",
                "A client may delete records below the high watermark: the leader's log start moves up, its followers take it over "
                "from fetch responses, and it has a checkpoint.",
                "Only retention deletes, on each broker by itself; a log starts where its first batch does, and a follower does "
                "not hear where its leader's starts unless it is out of range.",
                "delete-records",
            )
        },
    )
    rebuild_epochs: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "epochs after a crash (forgotten log start)",
                "After an unclean stop a replica takes all its epochs from its batches.",
                "After an unclean stop a replica adds the epochs that are newer than all in its file; those that were cut off "
                "with a log start do not come back, though the records may.",
                "rebuild-epochs",
                need=EPOCH_CACHE,
            )
        },
    )
    begin_anew: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "cut at a log start inside a batch",
                "A follower whose log ends at its leader's log start, and is sent a batch that begins before, begins anew where "
                "that batch does.",
                "It refuses the batch as out of order, for ever, unless its own log is empty (Kafka's "
                "Partition.appendRecordsToFollowerOrFutureReplica).",
                "begin-anew",
            )
        },
    )
    moved_leader_leaves_isr: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "ISR of an operator's election (KIP-279)",
                "A leader that loses its leadership to an operator's election, a preferred one, leaves the ISR, and comes back "
                "when it has caught up (KIP-279's second alternative for clean elections).",
                "A leader that loses its leadership to an operator's election stays in the ISR.",
                "old-leader-leaves-isr",
            )
        },
    )
    errors_cut_to_hw: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "no answer about an epoch (KIP-279)",
                "A follower whose question about an epoch is answered with an error, or not in time, cuts to its high "
                "watermark, as KIP-279 has it.",
                "A follower whose question about an epoch is answered with an error, or not in time, asks again (Kafka's "
                "AbstractFetcherThread).",
                "hw-on-error",
                need=ASKS,
            )
        },
    )
    forget_log_ends: bool = field(
        default=False,
        metadata={
            "switch": Switch(
                "log ends of followers (missed reign)",
                "A leader forgets in each leader epoch how far its followers are, until they fetch in it.",
                "A broker that is elected while it leads in its own eyes goes on with the log ends it knows of its followers, also "
                "if it missed the reign of another (Kafka's Replica.resetReplicaState).",
                "forget-log-ends",
            )
        },
    )
    bugs: frozenset[str] = frozenset()
    truncation_at: tuple[tuple[int, str], ...] = ()
    """Brokers with a rule of their own, as during an upgrade: (broker, name of the rule)."""

    @property
    def recovery(self) -> RecoveryRules:
        """How a replica of this design recovers its log."""
        return RecoveryRules("KAFKA-8306" in self.bugs, self.rebuild_epochs, "KAFKA-10432" in self.bugs)

    @property
    def rule(self) -> TruncationRule:
        """The truncation rule that ``truncation`` names."""
        return RULES[self.truncation]

    def rule_of(self, broker: int) -> TruncationRule:
        """The truncation rule of one broker."""
        return RULES[dict(self.truncation_at).get(broker, self.truncation)]

    @property
    def contract(self) -> str:
        """The promise this design makes unless the run asks for another one (see docs/anomalies.md)."""
        return "kip-966" if self.elr else "documented"

    @property
    def has_epoch_cache(self) -> bool:
        """False for the designs before KIP-101, which keep no leader epochs."""
        return self.rule.keeps_epochs


SWITCHES: dict[str, Switch] = {f.name: f.metadata["switch"] for f in fields(Variant) if "switch" in f.metadata}
"""Field of a variant → what it switches."""
_FIELD_OF_WORD = {switch.word: name for name, switch in SWITCHES.items() if switch.word}

_OWN_RULE = re.compile(r"truncation@([1-9]\d?)=([\w-]+)")

_ALL = frozenset(Fence)
_ZOOKEEPER = Variant(
    "",
    "hw",
    leader_writes_isr=True,
    shrink_raises_epoch=True,
    fresh_answers=False,
    failures_stay_apart=False,
)
_KRAFT = Variant(
    "kafka-3.7",
    "fetch",
    _ALL,
    bounce_detection=True,
    min_isr_gates_hw=True,
    broker_epoch_checks=True,
    metadata_log=True,
    reassignments_replace=True,
    whole_target_in_sync=False,
)
_ALTER_ISR = replace(
    _ZOOKEEPER,
    leader_writes_isr=False,
    fresh_answers=True,
    failures_stay_apart=True,
    reassignments_replace=True,
    refuses_strangers=False,
)
PRESETS: dict[str, Variant] = {
    v.name: v
    for v in (
        replace(_ZOOKEEPER, name="kafka-0.10", restart_on_epoch=False, out_of_range_cuts=False, delete_records=False),
        replace(_ZOOKEEPER, name="kafka-0.11", truncation="kip101", epoch_on_lead=False, out_of_range_cuts=False),
        replace(_ZOOKEEPER, name="kafka-2.0", truncation="kip279", refuses_strangers=False),
        replace(
            _ZOOKEEPER,
            name="kafka-2.1",
            truncation="kip279",
            fences=_ALL,
            fresh_answers=True,
            refuses_strangers=False,
        ),
        replace(_ALTER_ISR, name="kafka-2.7", truncation="fetch", fences=_ALL, bounce_detection=True),
        _KRAFT,
        replace(_KRAFT, name="kafka-4.0", elr=True, whole_target_in_sync=True),
    )
}


def parse_variant(text: str) -> Variant:
    """The variant a person typed.

    Args:
        text: a preset, followed by any number of ``+modifier``: ``no-fences``, ``all-fences``, ``no-FENCE-fence``,
            ``FENCE-fence``, ``truncation=RULE``, ``truncation@BROKER=RULE``, ``KAFKA-NNNN``, ``elr``, ``no-elr`` and the other
            switches.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    preset, *modifiers = text.strip().split("+")
    if preset not in PRESETS:
        msg = f"unknown variant {preset!r}: known are {', '.join(PRESETS)}"
        raise VariantError(msg)
    variant = PRESETS[preset]
    for modifier in modifiers:
        variant = _modified(variant, modifier)
    return replace(variant, name="+".join([preset, *modifiers]))


def _modified(variant: Variant, modifier: str) -> Variant:
    if modifier in BUGS:
        fix = BUGS[modifier].switches_off
        return replace(variant, bugs=variant.bugs | {modifier}, **_switched(fix, on=False))
    if modifier == "no-fences":
        return replace(variant, fences=frozenset())
    if modifier == "all-fences":
        return replace(variant, fences=_ALL)
    if modifier.startswith("truncation=") and modifier.removeprefix("truncation=") in RULES:
        return replace(variant, truncation=modifier.removeprefix("truncation="))
    if (own := _OWN_RULE.fullmatch(modifier)) and own[2] in RULES:
        return replace(variant, truncation_at=(*variant.truncation_at, (int(own[1]), own[2])))
    wanted = not modifier.startswith("no-")
    word = modifier.removeprefix("no-")
    fence = {fence for fence in Fence if word == f"{fence}-fence"}
    if fence:
        return replace(variant, fences=variant.fences | fence if wanted else variant.fences - fence)
    if word in _FIELD_OF_WORD:
        return replace(variant, **_switched(_FIELD_OF_WORD[word], on=wanted))
    fences = ", ".join(f"no-{f}-fence" for f in Fence)
    msg = (
        f"unknown modifier {modifier!r}: use no-fences, all-fences, {fences}, "
        f"truncation={'|'.join(RULES)}, truncation@BROKER=…, {', '.join(_FIELD_OF_WORD)} (or no-…), or a bug: {', '.join(BUGS)}"
    )
    raise VariantError(msg)


def _switched(name: str, *, on: bool) -> dict[str, Any]:
    return {name: on} if name else {}
