"""The answer of a comparison, one plain sentence for each variant: what was lost against its promise, and what with permission."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tidemark.checkers.acknowledged import CLAUSES
from tidemark.checkers.replicas.contract import ACK_QUORUM, ALWAYS, INTACT, MAJORITY
from tidemark.harness.report.comparison import (
    ANY,
    LOST,
    Between,
    Comparison,
    KnownLoss,
    OtherCause,
    Rate,
    VariantResult,
)
from tidemark.harness.report.rule_words import OUTSIDE_THE_RULES, RuleWords, called, rule_words
from tidemark.harness.report.words import CLEAR, bounds, interval, listed, p_words, percent
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant

_ALTHOUGH: Final[Mapping[str, str]] = {
    ALWAYS: "an in-sync replica was alive at every moment",
    "kip-966": "fewer than min ISR of the replicas that held it shut down uncleanly",
    INTACT: "fewer than min ISR of the replicas that held it lost their logs by power, disk or damage",
    ACK_QUORUM: "fewer bookies than an ack quorum lost their disks",
    MAJORITY: "no replica lost its disk",
}
"""Promise → when it still held, though a record is gone."""
_WITH_ALL_LOGS: Final = "no broker had lost its log by power, disk or damage"
"""The same of the one that counts, beside a run's own, as long as that is so."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be said of a variant first.

    Attributes:
        rule: what it is called. notes: what its numbers do not say by themselves, in sentences.
        sentence: what it did, in full, without its name.
        kept: it broke no promise, and nothing was unknown.
        only_others: it failed, and lost no acknowledged record.
        others: what else was violated, as (name, runs), most frequent first.
    """

    variant: str
    rule: RuleWords
    notes: tuple[str, ...]
    sentence: str
    kept: bool
    only_others: bool
    others: tuple[tuple[str, int], ...]

    @property
    def plain(self) -> str:
        """All of it as text."""
        also = listed([f"{name} in {runs}" for name, runs in self.others])
        return f"{self.variant} {self.sentence}{f' Also: {also}.' if also else ''}"


def answers(comparison: Comparison) -> list[Answer]:
    """One for each variant, in their order."""
    return [_answer(variant, comparison) for variant in comparison.variants]


def headline(comparison: Comparison) -> str:
    """The answer in one sentence: who broke no promise, or, if everybody did, who did so least and most often."""
    judged = [variant for variant in comparison.variants if variant.judged]
    if not judged:
        return "No run could be judged"
    kept = [variant for variant in judged if not variant.violating.hits]
    if len(kept) == 1:
        return f"{_called(kept[0].variant)}: 0 of {_runs(kept)} failed"
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


def no_worse(comparison: Comparison) -> str:
    """A sentence about the variants whose rule lost nothing, and that failed by bugs outside of it alone; empty without any."""
    names = [
        rule_words(variant.variant).called
        for variant in comparison.variants
        if variant.violating.hits
        and not variant.loss.hits
        and _from_outside(comparison, variant) == variant.violating.hits
    ]
    if not names:
        return ""
    either = " either" if any(one.judged and not one.violating.hits for one in comparison.variants) else ""
    its, rule = ("its", "the rule") if len(names) == 1 else ("their", "the rules")
    return f"{listed(names)} lost nothing{either}; {its} failures come from a bug outside {rule}."


def set_up(comparison: Comparison) -> str:
    """Under which settings all of it ran, and what these mean where an ISR decides; empty of imported histories."""
    if comparison.world == "imported":
        return ""
    cluster = comparison.cluster
    brokers, replicas = cluster["brokers"], cluster["replication_factor"]
    cluster_of = (
        f"{brokers} broker{'s' if brokers > 1 else ''}{'' if replicas == brokers else f', {replicas} replicas'}"
    )
    min_isr = cluster["settings"]["min_isr"]
    if cluster["acks"] != "all" or {ALWAYS, "kip-966"}.isdisjoint(comparison.own_promises):
        return f"acks={cluster['acks']}, {cluster_of}, min ISR {min_isr}"
    return (
        f"{cluster_of}; a record is acknowledged once it is committed, that is once all in-sync replicas have it, at least "
        f"{min_isr} (acks=all, min ISR {min_isr})"
    )


def promised(comparison: Comparison) -> str:
    """When a record that is gone counts as lost: although a promise still held; empty of promises that have no words. Where no log
    was lost, and none went with permission, all count.
    """
    own = [name for name in comparison.own_promises if name in _ALTHOUGH]
    if not own:
        return ""
    beside = () if comparison.contract is not None else (ALWAYS, INTACT) if ALWAYS in comparison.promises else (INTACT,)
    names = list(dict.fromkeys((*own, *(() if comparison.world == "imported" else beside))))
    record = "an acknowledged record" if comparison.cluster.get("acks") == "all" else "a committed record"
    no_log_lost = INTACT in names and comparison.profile == "intact"
    if no_log_lost and not any(variant.acked_lost_permitted for variant in comparison.variants):
        return f"Lost: {record} is gone. No broker lost its log here, so nothing excuses that (promise “{INTACT}”)."
    min_isr = comparison.cluster.get("settings", {}).get("min_isr")
    held = _ALTHOUGH if INTACT in own else {**_ALTHOUGH, INTACT: _WITH_ALL_LOGS}
    told = [f"although {held[name]} (“{name}”)" for name in names]
    if min_isr is not None:
        told = [although.replace("min ISR", f"min ISR ({min_isr})") for although in told]
    sentence = f"Lost: {record} is gone {', '.join(told[:-1])}{', or ' if len(told) > 1 else ''}{told[-1]}."
    return sentence + (" Here no broker lost its log." if no_log_lost else "")


def from_outside(comparison: Comparison) -> list[str]:
    """A sentence or two about each bug outside the rules by which some run failed: what goes wrong, who repaired it, how to see it;
    and how many runs, where several such bugs share a column.
    """
    causes: dict[str, list[tuple[VariantResult, OtherCause]]] = {}
    for variant in comparison.variants:
        for one in (comparison.other_causes or {}).get(variant.variant, ()):
            causes.setdefault(one.key, []).append((variant, one))
    told = []
    for key, of_variants in causes.items():
        repairs = sorted({one.repaired.removeprefix(variant.variant) for variant, one in of_variants})
        runs = [f"{one.runs} of {rule_words(variant.variant).called}" for variant, one in of_variants]
        repaired = _repaired_in(of_variants[0][1])
        what = f"a bug outside the rules{f' that {repaired} repaired' if repaired else ''}"
        made = f", failed {listed(runs)}" if len(causes) > 1 else ""
        told.append(
            f"{key}, {what}{made}: {OUTSIDE_THE_RULES.get(key, of_variants[0][1].title)}. "
            f"With only this bug repaired (option {listed(repairs)}) these runs pass."
        )
    return told


def _repaired_in(bug: OtherCause) -> str:
    """`Kafka 2.2`, of a bug that 2.2.0 repaired; nothing if the zoo names no release."""
    releases = bug.fixed.partition(" (")[0].split(", ")
    if not all(re.fullmatch(r"\d+(\.\d+)+", release) for release in releases):
        return ""
    short = [release.removesuffix(".0") if release.count(".") == 2 else release for release in releases]
    return f"Kafka {listed(short)}"


def outside_column(comparison: Comparison) -> tuple[str, list[int]] | None:
    """The column of failures by bugs outside the rules: what heads it, and so many of each variant; None without any."""
    keys = {one.key for causes in (comparison.other_causes or {}).values() for one in causes}
    if not keys:
        return None
    counts = [_from_outside(comparison, variant) for variant in comparison.variants]
    return keys.pop() if len(keys) == 1 else "other bugs", counts


def not_reached(comparison: Comparison) -> list[str]:
    """A sentence for the rows that lost nothing, and can by the same known bugs; none where nobody looked."""
    rows: dict[tuple[KnownLoss, ...], list[str]] = {}
    for variant, losses in (comparison.not_reached or {}).items():
        rows.setdefault(losses, []).append(variant)
    told = []
    for losses, variants in rows.items():
        bugs, them = ("a known bug", "it") if len(losses) == 1 else ("known bugs", "them")
        keys = listed([one.key for one in losses])
        releases = listed(sorted({one.release for one in losses}))
        told.append(
            f"{called(variants)} can lose records, too, by {bugs} that no plan here reached ({keys}); "
            f"Kafka {releases} still has {them}."
        )
    return told


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
        for name, what, one, other in (
            (LOST, "lost acknowledged records against its promise", older.loss, newer.loss),
            (ANY, "violated something", older.violating, newer.violating),
        ):
            if other.share <= one.share:
                continue
            told.append(
                f"{newer.variant} {what} in more runs than {older.variant} ({other.hits} against {one.hits} of {other.runs}). "
                + _chance(comparison.two(older.variant, newer.variant, name))
            )
            break
    return told


def _family_of(name: str) -> str | None:
    """The family of a variant's protocol, if it is the name of one."""
    try:
        return family_of(parse_variant(name)).name
    except VariantError:
        return None


def _chance(two: Between | None) -> str:
    """Whether a rule may only seem to be worse than the one before."""
    if two is None or not two.pairs:
        return "They have no plan in common, so this may be the plans' doing."
    likely = "this may be chance" if two.p_value >= CLEAR else "this is hardly chance"
    return (
        f"On the same plans {two.only_other} hit only {two.other} and {two.only_one} only {two.one}: {likely} "
        f"(exact McNemar test, by itself: p {p_words(two.p_value)})."
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


def _answer(variant: VariantResult, comparison: Comparison) -> Answer:
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
        (note,) if (note := _by_other_causes(variant, comparison)) else (),
        words,
        variant.violating.hits == 0 and variant.judged > 0,
        variant.violating.hits > 0 and variant.loss.hits == 0,
        tuple((row.name, row.violation.hits) for row in others),
    )


def _by_other_causes(variant: VariantResult, comparison: Comparison) -> str:
    """That all its failures come of bugs that are no part of its rule, where they do."""
    causes = (comparison.other_causes or {}).get(variant.variant, ())
    if not causes or _from_outside(comparison, variant) < variant.violating.hits:
        return ""
    all_of_them = f"All {variant.violating.hits} failures come" if variant.violating.hits > 1 else "The failure comes"
    are = "is" if len(causes) == 1 else "are"
    repaired = [(release, one.key) for one in causes if (release := _repaired_in(one))]
    by = [f"{release} repaired {'it' if len(causes) == 1 else key}" for release, key in repaired]
    then = f"; {listed(by)}" if by else ""
    return f"{all_of_them} from {listed([one.key for one in causes])}, which {are} no part of the rule{then}."


def _from_outside(comparison: Comparison, variant: VariantResult) -> int:
    """How many of its violating runs do."""
    return sum(one.runs for one in (comparison.other_causes or {}).get(variant.variant, ()))


def _first(variant: VariantResult) -> str:
    promise = f"what “{listed(variant.contracts)}” promises"
    loss, any_violation = variant.loss, variant.violating
    if not variant.judged:
        return "was not judged in any run"
    if loss.hits:
        apart = _by_promise(variant)
        return f"lost acknowledged records against {'a promise' if apart else promise} in {_of(loss)}{apart}"
    if any_violation.hits:
        return f"lost no acknowledged record against {promise}, but failed in other ways in {_of(any_violation)}"
    return f"kept {promise} in all {loss.runs} runs (95 % interval of runs that break it: {interval(any_violation)})"


def _by_promise(variant: VariantResult) -> str:
    """How many of its losses broke its own promise, where some broke only another that counts, too; else nothing."""
    own = next((name for name in variant.contracts if name in variant.promises), None)
    more = variant.loss.hits - (variant.promises[own].hits if own else variant.loss.hits)
    if own is None or more <= 0 or len(variant.contracts) > 1:
        return ""
    told = f": {variant.promises[own].hits} against its own, “{own}”, and {more} only against "
    if own == ALWAYS:
        return f"{told}“{INTACT}”, which forbids a loss even after all brokers were down, where none has lost its log"
    others = [f"“{name}”" for name in (ALWAYS, INTACT) if name != own and name in variant.promises]
    return f"{told}{' or '.join(others)}, by which losses are judged, too" if others else ""


def _of(rate: Rate) -> str:
    return f"{rate.hits} of {rate.runs} runs ({percent(rate.share)}; 95 % interval {interval(rate)})"


def _permitted(variant: VariantResult) -> str:
    runs = variant.permitted_only
    if not runs:
        return ""
    clauses = sorted(variant.permitted_by.items(), key=lambda one: (-one[1], one[0]))
    why = "; ".join(f"{CLAUSES.get(clause, clause)}: {hits}" for clause, hits in clauses)
    more = "more " if variant.loss.hits else ""
    return f"; in {runs} {more}runs it lost some as it may{f' ({why})' if why else ''}"
