"""Truncation rules: what a follower does with its log when it meets a new leader.

One module a rule, one class each, so that two can be laid side by side. A rule never touches the log; it looks at a
:class:`~tidemark.nodes.core.truncation.rule.LogView` and says what to do next. Whatever depends on the rule is in its module;
no other module of the core names one. To add one, write its module here: it is found by itself.
"""

from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from tidemark.nodes.core.truncation.rule import LogView, Question, Step, TruncationRule

_IN_ORDER = ("high_watermark", "kip101", "kip279", "on_fetch", "unknown_epoch", "lineage", "hw_epoch")
"""Kafka's, as its versions had them; then those that were rejected. Any other follows these."""


def _found() -> Iterator[TruncationRule]:
    others = {module.name for module in iter_modules(__path__)} - {*_IN_ORDER, "rule"}
    for name in (*_IN_ORDER, *sorted(others)):
        module = import_module(f"{__name__}.{name}")
        for kind in vars(module).values():
            own = isinstance(kind, type) and kind.__module__ == module.__name__
            if own and issubclass(kind, TruncationRule) and not isabstract(kind):
                yield kind()


RULES = {rule.name: rule for rule in _found()}
"""By name. Who brings a rule from elsewhere puts it here before a variant names it."""

__all__ = ["RULES", "LogView", "Question", "Step", "TruncationRule"]
