"""What a variant does, in Kafka's words, put together from what its rule, fences, switches and bugs say of themselves.

Nothing is written down here but topics: a sentence about a rule is the first paragraph of the docstring of the method that does
it (:mod:`tidemark.nodes.core.truncation`), and the others stand where a fence, a switch or a bug is declared
(:mod:`tidemark.nodes.core.variant`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tidemark.nodes.core.variant import ASKS, BUGS, SWITCHES, Fence, Need, Variant


class Row(NamedTuple):
    """One thing a variant does."""

    topic: str
    sentence: str


class Difference(NamedTuple):
    """One topic on which two variants differ; an empty sentence where one has nothing to say."""

    topic: str
    one: str
    other: str


def describe(variant: Variant) -> list[Row]:
    """Everything the variant does that another may do otherwise, in an order for reading."""
    return [*_truncation(variant), *_fences(variant), *_switches(variant), *_bugs(variant), _promise(variant)]


def differences(one: Variant, other: Variant) -> list[Difference]:
    """The topics on which they differ, in the order of the descriptions."""
    return rows_that_differ(describe(one), describe(other))


def rows_that_differ(one: Sequence[Row], other: Sequence[Row]) -> list[Difference]:
    """The topics on which two descriptions differ, in their order."""
    first, second = dict(one), dict(other)
    topics = dict.fromkeys((*first, *second))
    pairs = (Difference(topic, first.get(topic, ""), second.get(topic, "")) for topic in topics)
    return [pair for pair in pairs if pair.one != pair.other]


def modifiers(variant: Variant) -> list[str]:
    """The words that say the same as the variant's name; a bug that the design had is among them."""
    fences = [f"{fence}-fence" for fence in Fence if fence in variant.fences]
    words = ["all-fences"] if len(fences) == len(Fence) else fences or ["no-fences"]
    words += [switch.word for name, switch in SWITCHES.items() if switch.word and getattr(variant, name)]
    words += [
        key for key, bug in BUGS.items()
        if key in variant.bugs or (bug.switches_off and not getattr(variant, bug.switches_off))
    ]  # fmt: skip
    own = [f"truncation@{broker}={rule}" for broker, rule in variant.truncation_at]
    return [f"truncation={variant.truncation}", *own, *words]


def _truncation(variant: Variant) -> list[Row]:
    rule = variant.rule
    own = "".join(f" Broker {broker} has {name}." for broker, name in variant.truncation_at)
    return [
        Row("truncation", f"The rule {rule.name}: {rule.title}.{own}"),
        Row("leader epochs", _says(rule.epoch_cache)),
        Row("new leader", _says(rule.on_new_leader)),
        Row("leader's answer", _unless_idle(variant, ASKS, _says(rule.leaders_answer))),
        Row("after the answer", _says(rule.on_answer)),
    ]


def _fences(variant: Variant) -> list[Row]:
    return [
        Row(f"fence: {fence}", _unless_idle(variant, fence.need, fence.on if fence in variant.fences else fence.off))
        for fence in Fence
    ]


def _switches(variant: Variant) -> list[Row]:
    return [
        Row(switch.topic, _unless_idle(variant, switch.need, switch.on if getattr(variant, name) else switch.off))
        for name, switch in SWITCHES.items()
    ]


def _bugs(variant: Variant) -> list[Row]:
    return [
        Row(f"bug put back: {key}", _unless_idle(variant, bug.need, bug.says))
        for key, bug in BUGS.items()
        if key in variant.bugs
    ]


def _promise(variant: Variant) -> Row:
    return Row(
        "promise",
        f"Losses are judged by the promise {variant.contract} and what counts beside it, unless a run asks for another one.",
    )


def _unless_idle(variant: Variant, need: Need, sentence: str) -> str:
    return sentence if need.is_met(variant.rule) else f"Nothing to do: it takes {need.words}."


def _says(method: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(method) or "").split("\n\n")[0].split())
