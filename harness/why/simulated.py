"""Whether a run can be had again in the simulator."""

from __future__ import annotations

from tidemark.checkers.history.history import History
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import parse_variant


def is_simulated(history: History) -> bool:
    """Whether the simulator made a history, of a variant that it knows."""
    meta = history.meta
    try:
        parse_variant(str(meta.get("variant", "")))
    except VariantError:  # brokers of a real Kafka, held to some protocol
        return False
    return bool(meta.get("world", "sim") == "sim" and meta.get("system", "tidemark") == "tidemark")
