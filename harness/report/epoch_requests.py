"""Why followers of a variant ask nobody where an epoch ends: a zero among its numbers that is no puzzle then."""

from __future__ import annotations

from typing import Final

from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import parse_variant

IN_FETCHES: Final = "none: the answer to a fetch tells where the logs part (KIP-595)"
NOBODY: Final = "none: a follower cuts to its own high watermark, and asks nobody"


def why_none(name: str) -> str:
    """Why a variant of Kafka's never asks, by its truncation rule; nothing of one that does, or of another family's or system's.

    >>> why_none("kafka-2.7")
    'none: the answer to a fetch tells where the logs part (KIP-595)'
    """
    try:
        variant = parse_variant(name)
    except VariantError:  # brokers of a real Kafka, held to some protocol
        return ""
    if not isinstance(variant, Variant):
        return ""
    rules = [RULES[rule] for rule in (variant.truncation, *(rule for _, rule in variant.truncation_at))]
    if any(rule.asks for rule in rules):
        return ""
    return IN_FETCHES if all(rule.epoch_in_fetch for rule in rules) else NOBODY if len(rules) == 1 else ""
