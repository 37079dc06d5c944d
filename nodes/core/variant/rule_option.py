"""The truncation rule of a variant, and what some options need of one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.nodes.core.switches import Need, Row
from tidemark.nodes.core.truncation import RULES, TruncationRule

EPOCH_CACHE = Need("an epoch cache", lambda variant: variant.rule.keeps_epochs)
ASKS = Need("a rule that asks for the end of an epoch", lambda variant: variant.rule.asks)
METADATA_LOG = Need("a metadata log", lambda variant: variant.metadata_log)
EPOCH_IN_FETCH = Need("a rule whose fetches name the last fetched epoch", lambda variant: variant.rule.epoch_in_fetch)

_OWN_RULE = re.compile(r"truncation@([1-9]\d?)=([\w-]+)")


class RuleOption:
    """Which rule all brokers have (``truncation=RULE``), and which one has another (``truncation@BROKER=RULE``).

    A sentence about a rule is the first paragraph of the docstring of the method that does it
    (:mod:`tidemark.nodes.core.truncation`).
    """

    @property
    def words(self) -> dict[str, str]:
        """A rule may have been added since."""
        return {f"truncation={name}": name for name in RULES}

    def rows(self, _name: str, variant: Any) -> list[Row]:  # noqa: ANN401 (as an option has it)
        """What the rule of all brokers does, step by step."""
        rule: TruncationRule = variant.rule
        own = "".join(f" Broker {broker} has {name}." for broker, name in variant.truncation_at)
        return [
            Row("truncation", f"The rule {rule.name}: {rule.title}.{own}"),
            Row("leader epochs", _says(rule.epoch_cache)),
            Row("new leader", _says(rule.on_new_leader)),
            Row("leader's answer", ASKS.or_idle(variant, _says(rule.leaders_answer))),
            Row("after the answer", _says(rule.on_answer)),
        ]

    def words_of(self, _name: str, variant: Any) -> list[str]:  # noqa: ANN401 (the same)
        """Everybody's, then each one's own."""
        own = [f"truncation@{broker}={rule}" for broker, rule in variant.truncation_at]
        return [f"truncation={variant.truncation}", *own]

    def changes(self, name: str, variant: Any, modifier: str) -> Mapping[str, Any] | None:  # noqa: ANN401 (the same)
        """One broker's rule is added to those of others."""
        if modifier in self.words:
            return {name: self.words[modifier]}
        if (own := _OWN_RULE.fullmatch(modifier)) and own[2] in RULES:
            return {"truncation_at": (*variant.truncation_at, (int(own[1]), own[2]))}
        return None


def _says(method: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(method) or "").split("\n\n")[0].split())
