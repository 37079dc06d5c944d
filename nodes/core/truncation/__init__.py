"""Truncation rules: what a follower does with its log when it meets a new leader.

One module a rule, one class each, so that two can be laid side by side. A rule never touches the log; it looks at a
:class:`~tidemark.nodes.core.truncation.rule.LogView` and says what to do next. Whatever depends on the rule is in its module;
no other module of the core names one. To add one: write its module, add its line here, describe it in ``docs/protocol.md``.
"""

from tidemark.nodes.core.truncation.high_watermark import HighWatermarkRule
from tidemark.nodes.core.truncation.hw_epoch import HighWatermarkEpochRule
from tidemark.nodes.core.truncation.kip101 import Kip101Rule
from tidemark.nodes.core.truncation.kip279 import Kip279Rule
from tidemark.nodes.core.truncation.lineage import LineageRule
from tidemark.nodes.core.truncation.on_fetch import OnFetchRule
from tidemark.nodes.core.truncation.rule import LogView, Question, Step, TruncationRule
from tidemark.nodes.core.truncation.unknown_epoch import UnknownEpochRule

_ALL: tuple[TruncationRule, ...] = (
    HighWatermarkRule(),
    Kip101Rule(),
    Kip279Rule(),
    OnFetchRule(),
    UnknownEpochRule(),
    LineageRule(),
    HighWatermarkEpochRule(),
)
RULES = {rule.name: rule for rule in _ALL}

__all__ = ["RULES", "LogView", "Question", "Step", "TruncationRule"]
