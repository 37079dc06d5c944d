"""The numbers of a comparison: which differ clearly, which mean nothing for a variant, and which runs they lead to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from loss_of_kip_101 import anomaly, comparison, example, verdict

from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.report import figures
from tidemark.harness.report.comparison import ANY, AnomalyCount, Example, FaultsPresent, Paired, PresentIn, Rate
from tidemark.harness.report.epoch_requests import IN_FETCHES, NOBODY, why_none
from tidemark.harness.report.pages import render
from tidemark.harness.report.style import looks
from tidemark.harness.report.words import clearly


def test_rates_that_differ_widely_are_drawn_on_a_logarithmic_axis() -> None:
    old, new = comparison().variants
    rare = Rate(1, 100_000, 0.000002, 0.00006)
    rarely = replace(new, anomalies=(AnomalyCount(ANY, rare, rare, None),))
    with looks():
        assert figures.rates(comparison()).axes[0].get_xscale() == "linear"
        assert figures.rates(replace(comparison(), variants=(old, rarely))).axes[0].get_xscale() == "log"


def test_a_variant_that_never_asks_where_an_epoch_ends_says_why(tmp_path: Path) -> None:
    old, new = comparison("kafka-0.10", "kafka-2.7").variants
    silent = [replace(one, epoch_round_trips=0) for one in (old, new)]
    asks = replace(new, variant="kafka-2.1")
    of_others = replace(silent[1], variant="raft")
    given = replace(comparison(), variants=(*silent, asks, of_others))

    text = render(given, [], tmp_path).read_text(encoding="utf-8")

    row = text[text.index("epoch requests per election") :]
    assert re.findall(r'data-of="([^"]+)"><div>(.*?)</div>', row[: row.index("</tr>")]) == [
        ("kafka-0.10", f'0.00 <span class="reason">{NOBODY}</span>'),
        ("kafka-2.7", f'0.00 <span class="reason">{IN_FETCHES}</span>'),
        ("kafka-2.1", "2.10"),
        ("raft", "0.00"),
    ]


def test_brokers_of_one_cluster_with_several_rules_have_no_one_reason() -> None:
    assert why_none("kafka-0.10+truncation@1=fetch") == ""
    assert why_none("kafka-2.7+truncation@1=kip279") == ""


def present(plans: int, mean: float, **kinds: tuple[int, float, float]) -> PresentIn:
    """So many plans have a fault of each kind, with the interval of their share."""
    return PresentIn(plans, mean, {kind: Rate(hits, plans, low, high) for kind, (hits, low, high) in kinds.items()})


def test_kinds_of_faults_that_stand_out_in_violating_runs_are_named_with_both_shares(tmp_path: Path) -> None:
    everywhere = present(500, 4.25, crash=(100, 0.17, 0.24), slow=(200, 0.36, 0.44), pause=(50, 0.08, 0.13))
    old = present(37, 6.0, crash=(20, 0.38, 0.69), slow=(15, 0.27, 0.57))  # whose family has no pauses
    faults = FaultsPresent(everywhere, {"kafka-0.10": old}, whole=True)

    page = (
        render(replace(comparison(), faults=faults), [], tmp_path)
        .read_text(encoding="utf-8")
        .replace("\N{NO-BREAK SPACE}", " ")
    )

    assert faults.kinds == ["slow", "crash", "pause"]
    assert "more often than in all 500 plans" in page
    assert "<li><strong>kafka-0.10</strong>, 37 violating runs: crash (54.1 % against 20.0 %).</li>" in page
    assert "here 4.2 on average" in page
    assert "Which faults decided is told" not in page  # as there is no example
    table = page[page.index('id="faults-present"') :]
    cells = re.findall(r'data-of="([^"]+)"><div>(.*?)</div>', table[: table.index("</table>")])
    assert cells[:4] == [("all plans", "500"), ("kafka-0.10", "37"), ("all plans", "4.2"), ("kafka-0.10", "6.0")]
    assert [re.split(" <", cell)[0] for _, cell in cells[4:]] == ["200", "15", "100", "<strong>20</strong>", "50", "–"]

    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["faults"]
    assert stored["violating"]["kafka-0.10"]["kinds"]["crash"]["hits"] == 20
    assert "faults" not in comparison().to_json()

    some = replace(faults, whole=False, violating={"kafka-0.10": replace(old, kinds={"slow": old.kinds["slow"]})})
    page = render(replace(comparison(), faults=some), [], tmp_path).read_text(encoding="utf-8")
    assert "more often than in the first 500 plans" in page
    assert "<li><strong>kafka-0.10</strong>, 37 violating runs looked at: none.</li>" in page


def test_a_kind_of_violation_says_fewer_or_more_and_keeps_its_p_values_folded(tmp_path: Path) -> None:
    old, new = comparison().variants
    any_violation, loss = new.anomalies
    by_chance = replace(loss.paired, only_here=0, only_baseline=3, p_adjusted=0.25)
    perhaps = replace(new, variant="kafka-2.7", anomalies=(any_violation, replace(loss, paired=by_chance)))
    both = replace(comparison(), variants=(old, new, perhaps))

    text = render(both, [], tmp_path).read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")

    line = '<span class="line small">'
    shown, folded = text[text.index('id="kind-lost-committed-write"') :].split("<details><summary>Each difference", 1)
    assert re.findall(r'data-of="([^"]+)"><div>(.*?)</div>', shown) == [
        ("kafka-0.10", '<a class="bad" href="#runs-kafka-0.10-lost-committed-write">37</a>'),
        ("kafka-2.1", f'<span class="none">0</span> {line}↓ fewer</span>'),
        ("kafka-2.7", '<span class="none">0</span>'),
    ]
    assert re.findall(r'data-of="([^"]+)"><div>(.*?)</div>', folded[: folded.index("</details>")]) == [
        ("kafka-2.1", f"0 / 37 {line}-7.4 points (-10.0 to -5.4)</span> {line}p &lt; 0.001</span>"),
        ("kafka-2.7", f"0 / 3 {line}-0.6 points (-10.0 to -5.4)</span> {line}p 0.25</span>"),
    ]


def test_what_differs_clearly_is_more_or_fewer() -> None:
    pair = Paired("kafka-0.10", 500, 8, 1, 0.039, 0.04, 0.0, 0.03, primary=False)
    assert [clearly(pair), clearly(replace(pair, p_adjusted=0.05))] == ["more", ""]
    assert clearly(replace(pair, only_here=1, only_baseline=8)) == "fewer"
    assert clearly(replace(pair, only_here=4, only_baseline=4)) == ""


def test_a_promise_that_means_nothing_for_a_variant_is_no_zero(tmp_path: Path) -> None:
    old, new = comparison().variants
    votes = replace(new, variant="raft", contracts=("majority",), promises={"majority": new.loss, "durable": new.loss})

    both = replace(comparison(), variants=(old, votes))
    text = render(both, [], tmp_path).read_text(encoding="utf-8")

    assert both.promises == ("documented", "kip-966", "durable", "majority")
    row = text[text.index("against “documented”, had it been promised") :]
    assert row[: row.index("</tr>")].endswith("<div>–</div></td>")


def test_a_number_leads_to_its_runs_and_to_an_example(tmp_path: Path) -> None:
    old, new = comparison().variants
    any_violation, loss = old.anomalies
    listed = replace(old, anomalies=(any_violation, replace(loss, plans=(7, 9))), replay="tidemark run --index PLAN")
    explained = replace(example(), name="lost-committed-write", command="tidemark run --index 7")
    seen = replace(anomaly(), name="lost-write", time=9_000_000)
    both = replace(verdict(), anomalies=(anomaly(), seen))
    examples = [replace(explained, verdict=both), replace(explained, verdict=both, name="lost-write")]
    any_other = replace(any_violation, name="lost-write", plans=(7,))
    counted = replace(listed, anomalies=(*listed.anomalies, any_other))

    asked: list[str] = []

    def deciding(_: Example, told: Anomaly) -> None:
        asked.append(told.name)

    compared_with = replace(comparison(), variants=(counted, new))
    text = render(compared_with, examples, tmp_path, None, deciding).read_text(encoding="utf-8")

    assert 'href="#runs-kafka-0.10-lost-committed-write">37</a>' in text
    row = text[text.index('id="runs-kafka-0.10-lost-committed-write"') :]
    assert 'data-of="plans"><div>7, 9, …</div></td>' in row
    assert "<code>tidemark runs hand --variant VARIANT --anomaly NAME --limit 0</code>" in text
    assert (
        'href="#run-kafka-0.10-plan-7">an example</a>' in row[: row.index("</tr>")]
    )  # told at length, and not once more
    assert 'id="run-kafka-0.10-plan-7"' in text
    assert asked == ["lost-write"]
    assert 'id="example-kafka-0.10-lost-committed-write"' not in text
    row = text[text.index('id="runs-kafka-0.10-lost-write"') :]
    assert 'href="#example-kafka-0.10-lost-write">an example</a>' in row[: row.index("</tr>")]
    brief = text[text.index('<details id="example-kafka-0.10-lost-write">') :]
    assert "Broker 2 cuts its log from 2 to 1" in brief[: brief.index("</details>")]
    assert "<pre>tidemark run --index 7</pre>" in brief
