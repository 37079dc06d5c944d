"""The answer of a comparison, one plain sentence for each variant: what was lost against its promise, and what with permission."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from tidemark.checkers.acknowledged import CLAUSES
from tidemark.harness.report.comparison import ANY, LOST, Comparison, Rate, VariantResult, Worse
from tidemark.harness.report.rule_words import RuleWords, rule_words
from tidemark.harness.report.words import CLEAR, bounds, interval, listed, p_words, percent
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a variant's runs, as the bar beside its sentence shows it: `kind` is its looks, `width` in % of all runs."""

    kind: str
    words: str
    width: float


KINDS = {
    "kept": "kept its promise",
    "lost": "lost acknowledged records",
    "failed": "failed in another way: logs differ, or replication is stuck",
    "permitted": "lost records only where its promise excuses it",
    "unknown": "could not be judged",
}
"""What the colours of a bar mean, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be said of a variant first.

    Attributes:
        rule: what it is called. brief: what it did, in one number for each thing. sentence: the same in full, without its name.
        kept: it broke no promise, and nothing was unknown.
        only_others: it failed, and lost no acknowledged record.
        others: what else was violated, as (name, runs), most frequent first.
    """

    variant: str
    rule: RuleWords
    brief: str
    sentence: str
    kept: bool
    only_others: bool
    others: tuple[tuple[str, int], ...]
    shares: tuple[Share, ...]

    @property
    def plain(self) -> str:
        """All of it as text."""
        also = listed([f"{name} in {runs}" for name, runs in self.others])
        return f"{self.variant} {self.sentence}{f' Also: {also}.' if also else ''}"


def answers(comparison: Comparison) -> list[Answer]:
    """One for each variant, in their order."""
    return [_answer(variant) for variant in comparison.variants]


def legend(told: list[Answer]) -> list[tuple[str, str]]:
    """What the colours mean that are to be seen."""
    seen = {"kept"} | {share.kind for answer in told for share in answer.shares}
    return [(kind, words) for kind, words in KINDS.items() if kind in seen]


def headline(comparison: Comparison) -> str:
    """The answer in one sentence: who broke no promise, or, if everybody did, who did so least and most often."""
    judged = [variant for variant in comparison.variants if variant.judged]
    if not judged:
        return "No run could be judged"
    kept = [variant for variant in judged if not variant.violating.hits]
    if len(kept) == 1:
        return f"{_called(kept[0].variant)}: 0 of {_runs(kept)} lost records, diverged or got stuck"
    if kept:
        of = "All" if len(kept) == len(comparison.variants) else f"{len(kept)} of {len(comparison.variants)}"
        names = "; ".join(rule_words(variant.variant).called for variant in kept)
        return f"{of} rules kept their promises in {_runs(kept)}: {names}"
    least = min(judged, key=lambda variant: variant.violating.share)
    if len(comparison.variants) == 1:
        return f"{_called(least.variant)} broke a promise in {_hits(least.violating)}"
    return f"Every rule broke a promise: {_called(least.variant)} least often, in {_hits(least.violating)}"


def _called(variant: str) -> str:
    rule = rule_words(variant)
    return f"{rule.called}, {rule.whose}" if rule.whose else rule.called


def _runs(variants: list[VariantResult]) -> str:
    runs = {variant.judged for variant in variants}
    each = " each" if len(variants) > 1 else ""
    return f"{min(runs):,} runs{each}" if len(runs) == 1 else f"{min(runs):,} runs or more each"


def _hits(rate: Rate) -> str:
    return f"{rate.hits:,} of {rate.runs:,} runs"


def _brief(variant: VariantResult) -> str:
    lost, others = variant.loss, variant.violating.hits - variant.loss.hits
    unknown = f" {variant.unknown:,} runs could not be judged." if variant.unknown else ""
    if not variant.judged:
        return unknown.strip() or "No run."
    if lost.hits:
        told = f"Lost acknowledged records in {_hits(lost)} ({percent(lost.share)})"
        told += f", and failed in another way in {others:,} more" if others else ""
    elif others:
        told = f"Lost {'nothing that it promises to keep' if variant.any_loss.hits else 'no acknowledged record'}, but failed in "
        told += f"another way in {_hits(variant.violating)}"
        told += f" ({percent(variant.violating.share)})"
    else:
        told = f"Kept its promise in all {lost.runs:,} runs"
    permitted = variant.any_loss.hits - lost.hits
    return f"{told}{f'; in {permitted:,} it lost records as it may' if permitted else ''}.{unknown}"


def oddities(comparison: Comparison) -> list[str]:
    """A sentence for each variant that did worse than the one before it, whose rule is older: can it be chance? None of imported
    histories, whose variants are whatever they are, nor where the one before is of another family of protocols.
    """
    if comparison.world == "imported":
        return []
    told = []
    for older, newer in pairwise(comparison.variants):
        if _family_of(older.variant) != _family_of(newer.variant):
            continue
        for what, one, other in (
            ("lost acknowledged records against its promise", older.loss, newer.loss),
            ("violated something", older.violating, newer.violating),
        ):
            if other.share <= one.share:
                continue
            told.append(
                f"{newer.variant} {what} in more runs than {older.variant} ({other.hits} against {one.hits} of {other.runs}). "
                + _chance(
                    next((w for w in comparison.worse if (w.older, w.newer) == (older.variant, newer.variant)), None)
                )
            )
            break
    return told


def _family_of(name: str) -> str | None:
    """The family of a variant's protocol, if it is the name of one."""
    try:
        return family_of(parse_variant(name)).name
    except VariantError:
        return None


def _chance(worse: Worse | None) -> str:
    """Whether a rule may only seem to be worse than the one before."""
    if worse is None or not worse.pairs:
        return "They have no plan in common, so this may be the plans' doing."
    likely = "this may be chance" if worse.p_value >= CLEAR else "this is hardly chance"
    return (
        f"On the same plans {worse.only_newer} hit only {worse.newer} and {worse.only_older} only {worse.older}: {likely} "
        f"(exact McNemar test, by itself: p {p_words(worse.p_value)})."
    )


def nearly_agreeing(comparison: Comparison) -> list[str]:
    """A sentence for each variant of which fewer runs broke its own promise than lost records against any: whence the others."""
    told = []
    for variant in comparison.variants:
        own = next((name for name in variant.contracts if name in variant.promises), None)
        if own is None or len(variant.contracts) > 1:
            continue
        alone = variant.promises[own].hits
        more = variant.loss.hits - alone
        if more > 0:
            void = f"“{own}” promised nothing any more"
            if own == "documented":
                void = f"every in-sync replica had been down at one moment, so {void}; but no log was lost, so “durable” forbade it"
            told.append(
                f"{variant.variant} lost acked records in {variant.loss.hits} runs, {alone} of them against “{own}” alone: "
                f"in {more} runs {void}."
            )
    return told


def _answer(variant: VariantResult) -> Answer:
    told = {ANY, LOST}
    if (lost := variant.count("lost-committed-write")) and lost.violation.hits == variant.loss.hits:
        told.add(lost.name)  # the same runs
    others = [row for row in variant.anomalies if row.violation.hits and row.name not in told]
    others.sort(key=lambda row: (-row.violation.hits, row.name))
    words = f"{_first(variant)}{_permitted(variant)}."
    if variant.unknown:
        words += f" {variant.unknown} of its {variant.runs} runs could not be judged"
        words += f": if none or all of them lost records, {bounds(variant.loss)} did." if variant.judged else "."
    return Answer(
        variant.variant,
        rule_words(variant.variant),
        _brief(variant),
        words,
        variant.violating.hits == 0 and variant.judged > 0,
        variant.violating.hits > 0 and variant.loss.hits == 0,
        tuple((row.name, row.violation.hits) for row in others),
        _shares(variant),
    )


def _first(variant: VariantResult) -> str:
    promise = f"what “{listed(variant.contracts)}” promises"
    loss, any_violation = variant.loss, variant.violating
    own = next((variant.promises[name].hits for name in variant.contracts if name in variant.promises), loss.hits)
    apart = ""
    if own < loss.hits and len(variant.contracts) == 1:  # the rest broke one that always counts beside it
        promise = "its promises"
        apart = f": in {own} against “{variant.contracts[0]}”, in {loss.hits - own} more only against one that counts beside it"
        if variant.contracts[0] == "documented":
            apart += ", “durable”"
    if not variant.judged:
        return "was not judged in any run"
    if loss.hits:
        return f"lost acknowledged records against {promise} in {_of(loss)}{apart}"
    if any_violation.hits:
        return f"lost no acknowledged record against {promise}, but failed in other ways in {_of(any_violation)}"
    return f"kept {promise} in all {loss.runs} runs (95 % interval of runs that break it: {interval(any_violation)})"


def _of(rate: Rate) -> str:
    return f"{rate.hits} of {rate.runs} runs ({percent(rate.share)}; 95 % interval {interval(rate)})"


def _permitted(variant: VariantResult) -> str:
    runs = variant.any_loss.hits - variant.loss.hits
    if not runs:
        return ""
    clauses = sorted(variant.permitted_by.items(), key=lambda one: (-one[1], one[0]))
    why = "; ".join(f"{CLAUSES.get(clause, clause)}: {hits}" for clause, hits in clauses)
    more = "more " if variant.loss.hits else ""
    return f"; in {runs} {more}runs it lost some as it may{f' ({why})' if why else ''}"


def _shares(variant: VariantResult) -> tuple[Share, ...]:
    runs = variant.runs or 1
    loss, violating = variant.loss.hits, variant.violating.hits
    only_permitted = max(variant.any_loss.hits - violating, 0)
    parts = (
        ("lost", "lost acknowledged records against the promise", loss),
        ("failed", "failed in other ways", violating - loss),
        ("permitted", "lost records as the promise permits", only_permitted),
        ("unknown", "could not be judged", variant.unknown),
    )
    return tuple(
        Share(kind, f"{hits} of {variant.runs} runs {words}", round(100 * hits / runs, 2))
        for kind, words, hits in parts
        if hits
    )
