"""In what presets differ besides their truncation rules: a row of a comparison is a preset, and not a rule alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from tidemark.nodes.core.describe import differences
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import parse_variant


class Besides(NamedTuple):
    """Two variants next to each other, and the topics on which they would still differ if both had the second one's rule.

    `rule_alone` is what to compare instead, the second with its own rule and with the first one's; empty where they have the same.
    """

    one: str
    other: str
    topics: tuple[str, ...]
    rule_alone: str


def besides(names: Iterable[str]) -> list[Besides]:
    """Each variant of Kafka's family and the one before it, where more than the rule differs; nothing of any that is not known.

    >>> besides(["kafka-2.1", "kafka-2.1+truncation=hw"]), besides(["raft", "kafka-2.1"])
    ([], [])
    >>> besides(["kafka-0.10", "kafka-0.11"])[0].topics[1]
    'refetch on every epoch (KAFKA-7164)'
    """
    found = []
    for one, other in pairwise(names):
        try:
            first, second = parse_variant(one), parse_variant(other)
            if not isinstance(first, Variant) or not isinstance(second, Variant):
                continue
            same_rule = parse_variant(f"{one}+truncation={second.truncation}")
        except VariantError:
            continue
        topics = tuple(difference.topic for difference in differences(same_rule, second))
        if topics:
            same = first.truncation == second.truncation
            found.append(Besides(one, other, topics, "" if same else f"{other},{other}+truncation={first.truncation}"))
    return found
