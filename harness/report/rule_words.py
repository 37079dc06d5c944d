"""What a variant's rule is called where a person reads, and why it loses records or keeps them."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import family_of, parse_variant


class RuleWords(NamedTuple):
    """A rule's name, whose it is, and a sentence about what it does; the last two are empty where nobody has said it."""

    called: str
    whose: str = ""
    why: str = ""


_HIGH_WATERMARK = (
    "A follower cuts its log back to its own high watermark, up to which it knows that records are committed. That lags behind the "
    "leader's: committed records are cut, and gone if it leads next."
)
_KIP_101 = (
    "A follower asks the leader where its last leader epoch ended (a number that each new leader raises). The answer is an offset "
    "without an epoch: if the leader never had that epoch, too little is cut, and the logs differ."
)
_KIP_279 = "The answer names an epoch, too, so both logs are cut to where they agree."
_FETCH = (
    "Each fetch names the epoch of the follower's last record. Where the logs differ the leader says so, and the follower cuts "
    "before it appends anything."
)
_PRESETS = {
    "kafka-0.10": RuleWords("High watermark", "Kafka up to 0.10", _HIGH_WATERMARK),
    "kafka-0.11": RuleWords("Leader epoch, KIP-101", "Kafka 0.11 to 1.1", _KIP_101),
    "kafka-2.0": RuleWords(
        "Leader epoch, KIP-279",
        "Kafka 2.0",
        f"{_KIP_279} But messages of an earlier leader epoch are not refused: a broker that missed an election is still believed.",
    ),
    "kafka-2.1": RuleWords(
        "Leader epoch, KIP-279, with fences",
        "Kafka 2.1 to 2.6",
        f"{_KIP_279} Requests of another leader epoch are refused (fences). But a broker whose restart goes unnoticed may wait "
        "for ever.",
    ),
    "kafka-2.7": RuleWords("Truncate on fetch", "Kafka's rule since 2.7", _FETCH),
    "kafka-3.7": RuleWords("Truncate on fetch, KRaft", "Kafka 3.7", _FETCH),
    "kafka-4.0": RuleWords("Truncate on fetch, KRaft with ELR", "Kafka 4.0 on", _FETCH),
    "fluss-0.9": RuleWords(
        "Own log end",
        "Apache Fluss 0.9",
        "A follower's high watermark is its own log end, so it keeps all that it has when it gets a new leader, also what that "
        "leader never had.",
    ),
}


def rule_words(variant: str) -> RuleWords:
    """Of a variant as it is typed. One with modifiers is called by its preset's rule, *changed*; what nobody knows, as it is typed.

    >>> rule_words("kafka-0.11").called, rule_words("kafka-0.11+elr").called, rule_words("my log").called
    ('Leader epoch, KIP-101', 'Leader epoch, KIP-101, changed', 'my log')
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
