"""What a variant's rule is called where a person reads, and why it loses records or keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tidemark.harness.report.words import listed
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import family_of, parse_variant


class RuleWords(NamedTuple):
    """A rule's name, whose it is, and a sentence about what it does; the last two are empty where nobody has said it."""

    called: str
    whose: str = ""
    why: str = ""


_HIGH_WATERMARK = (
    "A follower cuts its log to the high watermark, the end of what is committed, as far as it knows. That lags behind, so "
    "committed records go, too; they are lost if this follower is elected next."
)
_KIP_101 = (
    "A follower asks where its last epoch (the number of a leader's term) ended, and cuts there. If the leader never had that "
    "epoch, the follower cuts off too little (logs differ), or cuts to its own high watermark (records are lost)."
)
_KIP_279 = (
    "The answer names an epoch, too, so the cut is where the logs part. But a broker that missed an election still answers as "
    "leader: a follower then cuts committed records, which are lost if it is elected next."
)
_FENCED = "As KIP-279, but requests of another leader epoch are refused (fences): nobody believes a broker that missed an election."
_FETCH = (
    "Each fetch names the epoch of the follower's last record. If the logs differ, the leader says so, and the follower cuts "
    "before it appends. Fenced, too."
)


OUTSIDE_THE_RULES = {
    "KAFKA-1120": "the controller misses that a broker restarted quickly, and never tells it who leads",
}
"""Bugs that have nothing to do with how a follower truncates, by key: what goes wrong, for readers who do not know the name."""
_MOST_NAMED: Final = 3
"""Of more rules than these it is only told how many they are."""
_PRESETS = {
    "kafka-0.10": RuleWords("High watermark", "Kafka up to 0.10", _HIGH_WATERMARK),
    "kafka-0.11": RuleWords("KIP-101", "Kafka 0.11–1.1", _KIP_101),
    "kafka-2.0": RuleWords("KIP-279", "Kafka 2.0", _KIP_279),
    "kafka-2.1": RuleWords("KIP-279 with fences", "Kafka 2.1–2.6", _FENCED),
    "kafka-2.7": RuleWords("Truncate on fetch", "Kafka since 2.7", _FETCH),
    "kafka-3.7": RuleWords("Truncate on fetch, KRaft", "Kafka 3.7", _FETCH),
    "kafka-4.0": RuleWords("Truncate on fetch, KRaft with ELR", "Kafka 4.0 on", _FETCH),
    "fluss-0.9": RuleWords(
        "Own log end",
        "Apache Fluss 0.9",
        "A follower's high watermark is its own log end, so a follower keeps its whole log when it gets a new leader, also records "
        "that this leader never had.",
    ),
}


def rule_words(variant: str) -> RuleWords:
    """Of a variant as it is typed. One with modifiers is called by its preset's rule, *changed*; what nobody knows, as it is typed.

    >>> rule_words("kafka-0.11").called, rule_words("kafka-0.11+elr").called, rule_words("my log").called
    ('KIP-101', 'KIP-101, changed', 'my log')
    """
    if variant in _PRESETS:
        return _PRESETS[variant]
    try:
        parsed = parse_variant(variant)
    except VariantError:
        return RuleWords(variant)
    preset, _, modifiers = variant.partition("+")
    called = _PRESETS[preset].called if isinstance(parsed, Variant) else family_of(parsed).title
    return RuleWords(f"{called}, changed" if modifiers else called)


def called(variants: Sequence[str]) -> str:
    """Several by their rules; of many, how many they are.

    >>> called(["kafka-0.11", "kafka-2.0"]), called(["kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7"])
    ('KIP-101 and KIP-279', '4 rows')
    """
    return (
        listed([rule_words(one).called for one in variants])
        if len(variants) <= _MOST_NAMED
        else f"{len(variants)} rows"
    )
