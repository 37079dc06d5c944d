"""Which known losses a comparison's plans did not reach: bugs of the zoo that a variant without a loss has all the same."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.harness.report.comparison import Comparison, KnownLoss
from tidemark.harness.zoo.entry import all_entries
from tidemark.nodes.core.variant import PRESETS, Variant, VariantError
from tidemark.nodes.families import parse_variant

_LOSS = "lost-committed-write"
_NOT_IN = "not in "
"""How the zoo says which release was looked at last, of a bug that none has repaired."""


def not_reached(comparison: Comparison) -> Mapping[str, tuple[KnownLoss, ...]] | None:
    """Variant of Kafka that lost nothing → the bugs that it has, by which records are lost, and that no release of Apache Kafka has
    repaired; without variants that have none. None where something else than our models ran.
    """
    if (comparison.world, comparison.system) != ("sim", "tidemark"):
        return None
    bugs = [entry for entry in all_entries() if _LOSS in entry.anomalies and entry.fixed.startswith(_NOT_IN)]
    found = {}
    for one in comparison.variants:
        try:
            variant = parse_variant(one.variant)
        except VariantError:
            continue
        if not isinstance(variant, Variant) or one.variant.partition("+")[0] not in PRESETS:
            continue
        has = [entry for entry in bugs if entry.is_in(variant)]
        if has and one.judged and not one.any_loss.hits:
            found[one.variant] = tuple(
                KnownLoss(entry.key, entry.title, entry.fixed.removeprefix(_NOT_IN)) for entry in has
            )
    return found
