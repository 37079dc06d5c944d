"""What stands beside the answers: that it may be chance, that a bug outside the rule did it, or what no plan came to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from loss_of_kip_101 import comparison

from tidemark.harness.report.answer import answers, from_outside, headline, no_worse, not_reached, outside_column
from tidemark.harness.report.chance import chance
from tidemark.harness.report.comparison import (
    ANY,
    LOST,
    AnomalyCount,
    Between,
    KnownLoss,
    OtherCause,
    Rate,
    VariantResult,
)
from tidemark.harness.report.pages import render
from tidemark.harness.report.rule_words import OUTSIDE_THE_RULES
from tidemark.harness.zoo.entry import all_entries


def few(one: VariantResult, variant: str, losses: int, failures: int) -> VariantResult:
    """So many losses and violating runs of 500."""
    rates = {hits: Rate(hits, 500, 0.0, 0.1) for hits in (losses, failures)}
    none = Rate(0, 500, 0.0, 0.0076)
    return replace(
        one,
        variant=variant,
        loss=rates[losses],
        any_loss=rates[losses],
        anomalies=(AnomalyCount(ANY, rates[failures], none, None),),
    )


def test_what_may_be_chance_is_told_by_rows_and_the_others_are_hardly_chance(tmp_path: Path) -> None:
    both = comparison()
    names = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.7")
    variants = tuple(map(few, [both.variants[0]] * 4, names, (122, 3, 8, 0), (197, 32, 22, 0)))
    between = (
        Between("kafka-0.10", "kafka-0.11", LOST, 500, 120, 1, 1e-34, 6e-34),
        Between("kafka-0.10", "kafka-0.11", ANY, 500, 179, 14, 1e-37, 5e-37),
        Between("kafka-0.11", "kafka-2.0", LOST, 500, 1, 6, 0.125, 0.25),
        Between("kafka-0.11", "kafka-2.0", ANY, 500, 16, 6, 0.0525, 0.157),
        Between("kafka-0.11", "kafka-2.7", LOST, 500, 3, 0, 0.25),
        Between("kafka-0.11", "kafka-2.7", ANY, 500, 32, 0, 0.01),  # of these two nothing is said: nobody corrected it
        Between("kafka-2.0", "kafka-2.7", LOST, 500, 8, 0, 0.0078, 0.039),
        Between("kafka-2.0", "kafka-2.7", ANY, 500, 22, 0, 5e-7, 2e-6),
    )
    told = replace(both, variants=variants, between=between)

    method = "exact McNemar tests, corrected by Holm’s method for 6 comparisons"
    hardly = f"differences between neighbouring rows are hardly chance (largest p {{}}; {method})."
    with_others = "KIP-279 (3 and 8 losses; 32 and 22 failures) and against Truncate on fetch (3 and 0 losses)"
    may = f"May be chance: KIP-101 against {with_others}."
    assert chance(told) == f"{may} All other {hardly.format('0.039')}"
    page = render(told, [], tmp_path).read_text(encoding="utf-8")
    assert page.index("</tbody></table>") < page.index(f'<p class="note beside">{may}') < page.index('class="ran"')

    clear = tuple(replace(two, p_value=1e-9, p_adjusted=1e-8) for two in between if two.p_adjusted is not None)
    assert chance(replace(told, between=clear)) == f"All {hardly.format('< 0.001')}"
    vague = tuple(replace(two, p_value=0.01, p_adjusted=0.06) for two in between if two.one == "kafka-2.0")
    assert chance(replace(told, between=vague)) == (
        "May be chance: KIP-279 against Truncate on fetch (8 and 0 losses; 22 and 0 failures)."
    )
    assert chance(replace(told, between=())) == ""
    same = replace(told, variants=tuple(few(one, one.variant, 3, 5) for one in variants))
    assert chance(same) == ""


def test_whom_chance_may_have_put_apart_is_counted_where_there_are_many() -> None:
    both = comparison()
    names = ("kafka-0.11", "kafka-2.7", "kafka-3.7", "kafka-4.0", "raft")
    variants = tuple(map(few, [both.variants[0]] * 5, names, (3, 0, 0, 0, 0), (3, 0, 0, 0, 0)))
    between = tuple(Between(names[0], name, LOST, 500, 3, 0, 0.25) for name in names[1:])

    assert chance(replace(both, variants=variants, between=between)) == (
        "May be chance: KIP-101 against 4 rows (3 and 0 losses)."
    )


def test_failures_of_a_bug_outside_the_rule_are_told_with_the_number(tmp_path: Path) -> None:
    both = comparison()
    names = ("kafka-2.0", "kafka-2.1", "kafka-2.7")
    variants = tuple(map(few, [both.variants[0]] * 3, names, (8, 0, 0), (22, 8, 0)))
    causes = {
        name: (OtherCause("KAFKA-1120", "A broker bounces", f"{name}+bounce-detection", runs, "2.2.0 (KIP-380)"),)
        for name, runs in (("kafka-2.0", 9), ("kafka-2.1", 8))
    }
    known = replace(both, variants=variants, other_causes=causes)

    assert [answer.notes for answer in answers(known)] == [
        (),
        ("All 8 failures come from KAFKA-1120, which is no part of the rule; Kafka 2.2 repaired it.",),
        (),
    ]
    assert no_worse(known) == "KIP-279 with fences lost nothing either; its failures come from a bug outside the rule."
    (sentence,) = from_outside(known)
    assert sentence == (
        "KAFKA-1120, a bug outside the rules that Kafka 2.2 repaired: the controller misses that a broker restarted quickly, and "
        "never tells it who leads. With only this bug repaired (option +bounce-detection) these runs pass."
    )
    assert outside_column(known) == ("KAFKA-1120", [9, 8, 0])

    def with_only(option: str) -> str:
        return f"With only this bug repaired (option +{option}) these runs pass."

    another = {"kafka-2.1": (*causes["kafka-2.1"], OtherCause("KAFKA-1", "It breaks", "kafka-2.1+whole", 2))}
    assert outside_column(replace(known, other_causes=causes | another)) == ("other bugs", [9, 10, 0])
    assert from_outside(replace(known, other_causes=causes | another)) == [
        sentence.replace(" repaired: the", " repaired, failed 9 of KIP-279 and 8 of KIP-279 with fences: the"),
        f"KAFKA-1, a bug outside the rules, failed 2 of KIP-279 with fences: It breaks. {with_only('whole')}",
    ]
    assert headline(known) == "Truncate on fetch, Kafka since 2.7: 0 of 500 runs failed"  # as judged
    two_bugs = (replace(causes["kafka-2.1"][0], runs=6), OtherCause("KAFKA-1", "It breaks", "kafka-2.1+whole", 2))
    by_two = replace(known, other_causes={"kafka-2.1": two_bugs})
    assert answers(by_two)[1].notes == (
        "All 8 failures come from KAFKA-1120 and KAFKA-1, which are no part of the rule; Kafka 2.2 repaired KAFKA-1120.",
    )
    page = render(known, [], tmp_path).read_text(encoding="utf-8")
    assert 'of failed: <span class="whole-words">KAFKA-1120</span></th>' in page
    assert [re.findall(r'<td role="cell">(\d+)</td>', row) for row in page.split("<tr ")[2:5]] == [["9"], ["8"], ["0"]]
    assert page.index("KIP-279 with fences lost nothing either") < page.index("<strong>All 8 failures come from")
    assert json.loads((tmp_path / "comparison.json").read_text())["other_causes"]["kafka-2.1"][0]["runs"] == 8

    one_less = {"kafka-2.1": (replace(causes["kafka-2.1"][0], runs=7),)}
    assert no_worse(replace(known, other_causes=one_less)) == ""
    assert not any(answer.notes for answer in answers(replace(known, other_causes=one_less)))
    unknown = replace(known, other_causes=None)
    assert (no_worse(unknown), from_outside(unknown), outside_column(unknown)) == ("", [], None)
    assert "other_causes" not in unknown.to_json()


def test_a_row_without_losses_says_which_known_losses_no_plan_reached(tmp_path: Path) -> None:
    both = comparison("kafka-0.10", "kafka-2.7")
    reign, start, shrink = (
        KnownLoss(key, "It loses", "4.3.1") for key in ("missed-reign", "stale-log-start", "unheard-shrink")
    )
    assert not_reached(both) == []  # nobody looked

    (told,) = not_reached(replace(both, not_reached={"kafka-2.1": (reign, start), "kafka-2.7": (reign, start)}))
    assert told == (
        "KIP-279 with fences and Truncate on fetch can lose records, too, by known bugs that no plan here reached (missed-reign "
        "and stale-log-start); Kafka 4.3.1 still has them."
    )
    apart = replace(both, not_reached={"kafka-2.7": (reign,), "kafka-4.0": (shrink,)})
    fetch, elr = not_reached(apart)
    by = "can lose records, too, by a known bug that no plan here reached"
    assert fetch == f"Truncate on fetch {by} (missed-reign); Kafka 4.3.1 still has it."
    assert elr == f"Truncate on fetch, KRaft with ELR {by} (unheard-shrink); Kafka 4.3.1 still has it."
    page = render(apart, [], tmp_path).read_text(encoding="utf-8")
    assert page.index("</h1>") < page.index("Truncate on fetch can lose records, too") < page.index('class="answers"')
    assert "<code>kafka-2.7</code>: It loses (<code>tidemark zoo missed-reign</code>)</li>" in page
    assert (
        json.loads((tmp_path / "comparison.json").read_text())["not_reached"]["kafka-2.7"][0]["key"] == "missed-reign"
    )


@pytest.mark.parametrize(
    ("fixed", "told"),
    [
        ("2.2.0 (KIP-380, KAFKA-7235)", "bug outside the rules that Kafka 2.2 repaired: "),
        ("2.0.1, 2.1.0", "bug outside the rules that Kafka 2.0.1 and 2.1 repaired: "),
        ("merged in July 2025 (pull request 20200)", "bug outside the rules: "),
        ("", "bug outside the rules: "),
    ],
)
def test_who_repaired_a_bug_outside_the_rules_is_as_the_zoo_has_it(fixed: str, told: str) -> None:
    cause = OtherCause("KAFKA-1", "It breaks", "kafka-0.10+whole", 2, fixed)

    assert told in from_outside(replace(comparison(), other_causes={"kafka-0.10": (cause,)}))[0]


def test_a_bug_outside_the_rules_that_has_words_is_in_the_zoo() -> None:
    assert {*OUTSIDE_THE_RULES} <= {entry.key for entry in all_entries()}
