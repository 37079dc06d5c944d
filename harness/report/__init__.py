"""The report: what a campaign or one run found, as a page that needs nothing else and nobody to explain it.

`render` takes a comparison and one example per variant, `render_run` a single run; the values they take are in `model`.
"""

from harness.report.model import (
    ANY,
    AnomalyCount,
    Comparison,
    Example,
    Paired,
    Rate,
    Spread,
    VariantResult,
)
from harness.report.page import render, render_run

__all__ = [
    "ANY",
    "AnomalyCount",
    "Comparison",
    "Example",
    "Paired",
    "Rate",
    "Spread",
    "VariantResult",
    "render",
    "render_run",
]
