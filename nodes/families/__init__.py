"""Families of protocols: what each owns, and the one place where they are found by name (docs/families).

Common to all are the log and its batches, storage, crash and recovery, actions, the trace, settings, and the requests of clients
(:mod:`tidemark.nodes.core`). A family owns its messages, its roles, how it decides what is committed, and how a node that
comes back mends its log. Kafka's presets are one family (:mod:`tidemark.nodes.core`); each other is a package here.
"""

from tidemark.nodes.families.family import AnyVariant, Family
from tidemark.nodes.families.registry import FAMILIES, family_of, parse_variant

__all__ = ["FAMILIES", "AnyVariant", "Family", "family_of", "parse_variant"]
