"""Variants: which truncation rule, which fences, which later rules a cluster runs, the presets that Kafka shipped,
and those of its relatives.

A variant is written as a preset and modifiers, joined by ``+``::

    kafka-2.1                       the design of inter-broker version 2.1
    kafka-2.1+no-fetch-fence        without one of KIP-320's four fences
    kafka-2.1+KAFKA-7128            with a bug put back
    kafka-2.0+truncation=fetch      with another truncation rule
    kafka-4.0+repaired              with all that would repair what docs/findings tells of it

Whatever can be switched is declared once, with its words and with the sentences that ``tidemark variants`` says of it: most in
:mod:`~tidemark.nodes.core.variant.design`, by :mod:`tidemark.nodes.core.switches`.
"""

from tidemark.nodes.core.switches import VariantError
from tidemark.nodes.core.variant.bugs import BUGS
from tidemark.nodes.core.variant.design import SWITCHES, Variant
from tidemark.nodes.core.variant.fences import Fence
from tidemark.nodes.core.variant.presets import BUNDLES, EVERY, PRESETS, RELATIVES, known, parse_variant

__all__ = [
    "BUGS",
    "BUNDLES",
    "EVERY",
    "PRESETS",
    "RELATIVES",
    "SWITCHES",
    "Fence",
    "Variant",
    "VariantError",
    "known",
    "parse_variant",
]
