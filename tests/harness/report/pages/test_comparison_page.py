"""The page of a comparison: the answer first and all else folded, complete without a script, and safe to open."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from loss_of_kip_101 import anomaly, comparison, example, history, plan, verdict

from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.harness.report.comparison import Example, Rate, Recovery, RunLine
from tidemark.harness.report.environment import FILTER, STEPS, UNFOLD, digest_of
from tidemark.harness.report.pages import render
from tidemark.harness.report.why_section import Repair, Why
from tidemark.harness.report.words import primary_words, recovered
from tidemark.nodes.core.describe import Difference


@pytest.fixture(scope="module")
def comparison_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the comparison."""
    return render(comparison(), [example()], tmp_path_factory.mktemp("comparison"))


def test_the_page_stands_alone_with_figures_finding_and_command(comparison_page: Path) -> None:
    text, folder = comparison_page.read_text(encoding="utf-8"), comparison_page.parent
    assert text.count("<svg ") == 4
    assert (
        "<strong>kafka-0.10</strong> lost acknowledged records against what “documented” promises in 37 of 500 runs"
        in text
    )
    assert "<h1>KIP-279 with fences, Kafka 2.1–2.6: 0 of 500 runs failed</h1>" in text
    assert '<h2 id="near">Near misses</h2>' in text
    assert re.search(
        r">strong-isr<br>.+it is elected, the record is lost.</span></th><td [^>]+><div>39 of 500</div></td>", text
    )
    assert "tidemark run --plan kafka-0.10-plan-7-plan.json --variant kafka-0.10" in text
    assert "--contract" not in text
    assert json.loads((folder / "kafka-0.10-plan-7-plan.json").read_text(encoding="utf-8")) == plan()
    assert not re.search(r"""(src|href)=["']?(https?:|//|file:)|@import|<script |<link""", text)
    for name in ("rates", "first-violation", "availability"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        ET.parse(folder / f"{name}.svg")
    ET.parse(folder / "kafka-0.10-plan-7-spacetime.svg")


def test_the_answer_comes_first_and_all_else_is_folded(comparison_page: Path) -> None:
    text = comparison_page.read_text(encoding="utf-8")
    shown, *folded = re.split(r'<details class="section">', text)

    assert shown.index("Simulated models: a 0 is no proof.") < shown.index("<h1>") < shown.index('class="answers"')
    assert shown.index("</table>") < shown.index("with acks=all, 3 brokers, replication factor 3 and min ISR 2")
    assert "Of 500 runs each: 3 brokers; a record is acknowledged once it is committed" in shown
    assert "at least 2 (acks=all, min ISR 2). Failed: a record was lost" in shown
    assert (
        "Lost: an acknowledged record is gone. No broker lost its log here, so nothing excuses that (promise “durable”)."
        in shown
    )
    assert "KAFKA-1120" not in shown  # nobody looked
    assert "<code>--variants kafka-2.1,kafka-2.1+truncation=hw</code>" in shown
    (facts,) = [part for part in folded if 'id="facts"' in part]
    assert "<code>kafka-0.10</code> and <code>kafka-2.1</code>: fence: fetch, fence: truncation, " in facts
    assert (
        shown.count(
            '<td role="cell"><span class="bad">37</span> <span class="line small">7.4\N{NO-BREAK SPACE}%</span></td>'
        )
        == 2
    )
    assert shown.count('<td role="cell"><span class="none">0</span></td>') == 2
    assert '<a href="#run-kafka-0.10-plan-7">See it</a>' in shown
    assert len(re.sub(r"<[^>]+>", " ", shown[shown.index("<main>") :]).split()) < 285
    assert all(part.count("<details") + 1 == part.count("</details>") for part in folded)
    assert "<h2" not in re.sub(r"<summary>.*?</summary>", "", text)


def test_a_page_without_plans_says_nothing_of_their_faults(comparison_page: Path) -> None:
    assert "faults-present" not in comparison_page.read_text(encoding="utf-8")


def test_what_many_rules_do_otherwise_and_lists_of_an_example_are_folded(tmp_path: Path) -> None:
    two = replace(verdict(), anomalies=(anomaly(), replace(anomaly(), time=9_000_000)))
    rules = tuple(Difference(f"rule {number}", "does", "does not") for number in range(5))
    repair = Repair("kafka-0.11", "it repairs", "", rules, None, (), ("kafka-0.11",), (1, 0), "tidemark run")
    second = replace(example(), variant="kafka-2.1", verdict=two)

    def why(given: Example) -> Why:
        kept = rules if given.variant == "kafka-2.1" else rules[:4]
        return Why(("It was cut.",), (), replace(repair, differences=kept))

    page = render(comparison(), [replace(example(), verdict=two), second], tmp_path, why).read_text(encoding="utf-8")

    first, other = page.split('id="run-kafka-2.1-plan-7"')
    assert '<details class="stepped"><summary>Both runs, side by side</summary>' in first
    assert '<details class="stepped"><summary>Both runs, side by side</summary>' in other
    assert first.count("An example is the run with the fewest faults") == 1
    assert "An example is the run" not in other
    assert "What the two variants do otherwise: " not in first
    assert "<details><summary>What the two variants do otherwise: 5 rules</summary>" in other
    assert page.count("<details><summary>Everything the checkers found in this run: 2 anomalies</summary>") == 2


def test_a_percentile_that_never_recovers_is_told_so(comparison_page: Path) -> None:
    text = comparison_page.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")

    assert text.count("<div>1.40 s (never)</div></td>") == 2
    assert "30 of 500" in text
    assert recovered(None, Recovery(Rate(0, 0, 0.0, 1.0), *[None] * 5)) == "–"


def test_what_was_exercised_stands_with_its_sentence(comparison_page: Path) -> None:
    text = comparison_page.read_text(encoding="utf-8")

    assert comparison().never_exercised == ["out-of-order"]
    assert "No run of any variant came to out-of-order: what was never tried" in text
    assert "In no run it happened that …<ul><li>… a follower refused a batch" in text
    assert "a leader wrote while a newer one had been elected" in text


def test_a_campaign_of_which_nobody_asked_what_it_exercised_says_nothing_of_it() -> None:
    unasked = replace(comparison(), variants=tuple(replace(one, exercised={}) for one in comparison().variants))

    assert unasked.never_exercised == []


def test_one_comparison_is_primary_and_the_others_are_corrected(comparison_page: Path) -> None:
    text = comparison_page.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")

    assert (
        "Primary comparison, kafka-2.1 against kafka-0.10, any violation: of 500 plans 0 hit only kafka-2.1 and 37 only "
        "kafka-0.10, a difference of -7.4 percentage points (95 % interval -10.0 to -5.4), p &lt; 0.001. The other p-value is "
        "corrected (Holm)."
    ) in text
    assert '<span class="line small">p &lt; 0.001 (primary)</span>' in text
    assert "All p-values but the primary one are corrected" in text


def test_a_table_that_turns_names_the_column_of_each_cell_and_stays_a_table(comparison_page: Path) -> None:
    text = comparison_page.read_text(encoding="utf-8")
    tables = re.findall(r'<table class="[^"]*turns"[^>]*>.*?</table>', text, re.DOTALL)
    assert len(tables) > 6
    for table in tables:
        head, body = table.split("</thead>")
        names = re.findall(r'role="columnheader">(.*?)</th>', head)[0 if "<td" in head else 1 :]
        rows = re.findall(r'<tr role="row".*?</tr>', body, re.DOTALL)
        assert ' role="table">' in table[: table.index("\n")]
        assert [row for row in rows if '<th scope="row" role="rowheader"' in row] == rows != []
        assert not re.findall(r"<(?:td|tr|th|thead|tbody)(?![^>]* role=)[ >]", table)
        if "faults" not in table[: table.index("\n")]:
            assert {tuple(re.findall(r'data-of="([^"]+)"', row)) for row in rows} == {tuple(names)}


def test_a_comparison_without_a_primary_one_says_that_all_are_corrected() -> None:
    old, new = comparison().variants
    any_violation, loss = new.anomalies
    none_primary = replace(any_violation, paired=loss.paired)
    chosen = replace(comparison(), variants=(old, replace(new, anomalies=(none_primary, loss))), primary=None)

    assert primary_words(chosen) == (
        "No comparison is the primary one, as kafka-0.10 is not the campaign's first variant: all 2 p-values are corrected (Holm)."
    )
    assert primary_words(replace(chosen, variants=(old,))) == ""


def test_ids_are_unique_on_the_page(comparison_page: Path) -> None:
    ids = re.findall(r'\bid="([^"]+)"', comparison_page.read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))


def test_hostile_text_is_shown_and_not_run(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    evil = replace(anomaly(), message=hostile, name=f"x{hostile}")
    ours = replace(history(), meta={**history().meta, "variant": f"v{hostile}"})
    run = Example(f"v{hostile}", 7, plan(), ours, replace(verdict(), anomalies=(evil, evil)))

    text = render(comparison(f"v{hostile}"), [run], tmp_path).read_text(encoding="utf-8")

    assert re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL) == [UNFOLD, STEPS]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def listed_page(tmp_path: Path, *, more: bool = False) -> str:
    lines = [
        RunLine("kafka-0.10", 7, "invalid", (("lost-write", VIOLATION, 2), ("strong-isr", "near-miss", 1)), 2_500_000),
        RunLine("kafka-2.1", 9, "unknown", (), None, "nothing was <acknowledged>"),
    ]
    return render(comparison(), [], tmp_path, lines=lines, more_lines=more).read_text(encoding="utf-8")


def test_runs_are_listed_one_by_one_and_whole_without_a_script(tmp_path: Path) -> None:
    text = listed_page(tmp_path)
    assert (
        '<tr data-variant="kafka-0.10" data-valid="invalid" data-found="lost-write:violation strong-isr:near-miss">'
        '<th scope="row">kafka-0.10</th><td>7</td><td>invalid</td><td>2.50\N{NO-BREAK SPACE}s</td><td>lost-write ×2</td>'
    ) in text
    assert "nothing was &lt;acknowledged&gt;" in text
    assert '<form hidden role="search"' in text  # a filter that does nothing is not shown
    assert not re.search(r"<tr[^>]* hidden", text)
    assert "only the first 2 are here" not in text
    assert "only the first 2 are here" in listed_page(tmp_path, more=True)


def test_the_only_scripts_of_a_comparison_are_those_that_the_policy_names(tmp_path: Path) -> None:
    text = listed_page(tmp_path)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert scripts == [FILTER, UNFOLD]
    assert policy is not None
    assert all(f"'{digest_of(script)}'" in policy[1] for script in scripts)
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


def test_every_table_has_a_caption_and_every_head_a_scope(tmp_path: Path, run_page: Path) -> None:
    for text in (listed_page(tmp_path), run_page.read_text(encoding="utf-8")):
        tables = re.findall(r"<table[^>]*>(.*?)</table>", text, re.DOTALL)
        assert len(tables) > 3
        assert all(table.lstrip().startswith("<caption>") for table in tables)
        assert not re.findall(r"<th(?![^>]*scope=)[ >]", text)
