"""The report: what a campaign or one run found, as a page that needs nothing else and nobody to explain it.

`page.render` takes a comparison and one example per variant, `page.render_run` a single run; the values they take are in `model`.
Only the pages need more than the standard library, so nothing here imports them: a comparison can be printed without.
"""

from tidemark.harness.report.model import (
    ANY,
    AnomalyCount,
    Comparison,
    Example,
    Paired,
    Rate,
    Recovery,
    Spread,
    VariantResult,
)

__all__ = [
    "ANY",
    "AnomalyCount",
    "Comparison",
    "Example",
    "Paired",
    "Rate",
    "Recovery",
    "Spread",
    "VariantResult",
]
