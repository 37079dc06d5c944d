"""Truncation rules: what a follower does with its log when it meets a new leader.

One module a rule, one class each, so that two can be laid side by side. A rule never touches the log; it looks at a
:class:`~nodes.core.truncation.rule.LogView` and says what to do next. To add one: write its module, add its line here, name it in
``nodes.core.variant.TRUNCATION_RULES`` and describe it in ``docs/protocol.md``.
"""

from nodes.core.truncation.high_watermark import HighWatermarkRule
from nodes.core.truncation.kip101 import Kip101Rule
from nodes.core.truncation.kip279 import Kip279Rule
from nodes.core.truncation.on_fetch import OnFetchRule
from nodes.core.truncation.rule import LogView, Step, TruncationRule

RULES: dict[str, TruncationRule] = {
    "hw": HighWatermarkRule(),
    "kip101": Kip101Rule(),
    "kip279": Kip279Rule(),
    "fetch": OnFetchRule(),
}

__all__ = ["RULES", "LogView", "Step", "TruncationRule"]
