"""The report, on the data loss of KIP-101 (scenario 1) written by hand.

Two brokers, m1 = 101 at offset 0 and m2 = 102 at offset 1. Broker 1 leads, both have both records and both are acknowledged.
Broker 2 restarts before it learns that m2 is committed, cuts its log to the high watermark it remembers, and leads when
broker 1 dies before it fetches again.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tidemark.checkers import check
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Verdict
from tidemark.harness.report import figures, pages
from tidemark.harness.report.answer import (
    answers,
    from_outside,
    headline,
    nearly_agreeing,
    no_worse,
    not_reached,
    oddities,
    outside_column,
    promised,
    set_up,
)
from tidemark.harness.report.beside_the_rule import besides
from tidemark.harness.report.chance import chance
from tidemark.harness.report.comparison import (
    ANY,
    LOST,
    AnomalyCount,
    Between,
    Comparison,
    Example,
    FaultsPresent,
    KnownLoss,
    OtherCause,
    Paired,
    PresentIn,
    Rate,
    Recovery,
    RunLine,
    Spread,
    VariantResult,
)
from tidemark.harness.report.environment import FILTER, STEPS, UNFOLD, digest_of
from tidemark.harness.report.epoch_requests import IN_FETCHES, NOBODY, why_none
from tidemark.harness.report.faults import fault_lines
from tidemark.harness.report.lanes import Span, Term, lanes_of
from tidemark.harness.report.pages import render, render_run
from tidemark.harness.report.rule_words import OUTSIDE_THE_RULES
from tidemark.harness.report.spacetime import draw_story
from tidemark.harness.report.story import choose_anomaly, tell
from tidemark.harness.report.style import inline, looks, save
from tidemark.harness.report.what_ran import what_ran_of
from tidemark.harness.report.why_section import Repair, Why
from tidemark.harness.report.words import (
    clearly,
    compared,
    interval,
    p_words,
    percent,
    primary_words,
    recovered,
    seconds,
)
from tidemark.harness.zoo.entry import all_entries
from tidemark.nodes.core.describe import Difference

PARTITION = "t-0"
M1, M2, M3 = 101, 102, 103


def send(time: int, kind: str, value: int, offset: int | None = None) -> Op:
    """One half of a send."""
    return Op(time, "p1", kind, "send", (("send", PARTITION, (offset, value) if kind == "ok" else value),), None, "all")


def history() -> History:
    """The run."""
    trace: list[tuple[Any, ...]] = [
        (1_000, 1, "start", "", 1),
        (1_000, 2, "start", "", 1),
        (5_000, 0, "elect", PARTITION, 1, 1, (1, 2), (), "initial", True, 0),
        (6_000, 1, "lead", PARTITION, 1, 0, 0, (1, 2)),
        (6_500, 2, "follow", PARTITION, 1, 1, 0, 0),
        (7_000, 2, "fetched", PARTITION, 1, 1),
        (100_400, 1, "append", PARTITION, 0, 1, (M1,)),
        (102_000, 2, "append", PARTITION, 0, 1, (M1,)),
        (104_000, 1, "hw", PARTITION, 1, 1, True),
        (105_000, 2, "hw", PARTITION, 1, 1, False),
        (200_400, 1, "append", PARTITION, 1, 1, (M2,)),
        (202_000, 2, "append", PARTITION, 1, 1, (M2,)),
        (204_000, 1, "hw", PARTITION, 2, 1, True),
        (230_000, 2, "stop", "", "crash"),
        (530_000, 2, "start", "", 2),
        (531_000, 2, "recovered", PARTITION, 2, 1, 0),
        (560_000, 2, "follow", PARTITION, 1, 1, 2, 1),
        (560_200, 2, "truncate", PARTITION, 1, 2, "high watermark", 1),
        (561_000, 1, "stop", "", "crash"),
        (1_600_000, 0, "fence", "", 1),
        (1_601_000, 0, "elect", PARTITION, 2, 2, (2,), (), "online", True, 1),
        (1_602_500, 2, "lead", PARTITION, 2, 1, 1, (2,)),
        (1_700_300, 2, "append", PARTITION, 1, 2, (M3,)),
        (1_700_300, 2, "hw", PARTITION, 2, 2, True),
        (2_100_000, 1, "start", "", 2),
        (2_101_000, 1, "recovered", PARTITION, 2, 2, 0),
        (2_130_000, 1, "follow", PARTITION, 2, 2, 2, 2),
        (2_130_400, 1, "truncate", PARTITION, 1, 2, "high watermark", 2),
        (2_135_000, 1, "append", PARTITION, 1, 2, (M3,)),
    ]
    ops = [
        send(100_000, "invoke", M1),
        send(104_500, "ok", M1, 0),
        send(200_000, "invoke", M2),
        send(204_600, "ok", M2, 1),
        Op(215_000, "c1", "ok", "poll", (("poll", {PARTITION: [(0, M1), (1, M2)]}),)),
        send(1_700_000, "invoke", M3),
        send(1_701_000, "ok", M3, 1),
    ]
    nemesis = [
        (230_000, "strike", 0, "crash", {"node": 2, "role": "follower", "partition": PARTITION, "nodes": [2]}),
        (530_000, "heal", 0, "crash", {}),
        (561_000, "strike", 1, "crash", {"node": 1, "role": "leader", "partition": PARTITION, "nodes": [1]}),
        (2_100_000, "heal", 1, "crash", {}),
        (2_100_000, "heal", -1, "all", {}),
    ]
    return History.of(
        ops=ops,
        trace=trace,
        nemesis=nemesis,
        variant="kafka-0.10",
        contract="documented",
        replicas={PARTITION: [1, 2]},
        min_isr=1,
        acks="all",
        unclean_election=False,
        faults_end_us=2_100_000,
        end_us=3_000_000,
        plan=7,
        seed=1,
    )


def anomaly() -> Anomaly:
    """What the checker says about it."""
    return Anomaly(
        "lost-committed-write",
        VIOLATION,
        1_602_500,
        PARTITION,
        "Record 102 of t-0 (offset 1, epoch 1), committed by broker 1 in epoch 1 at 0.204000 s and acknowledged to p1 at "
        "0.204600 s, is not in the log of broker 2, leader of epoch 2 since 1.602500 s: it truncated its log from 2 to 1 at "
        "0.560200 s (high watermark).",
        None,
        ("documented", "kip-966", "durable"),
        {
            "partition": PARTITION,
            "offset": 1,
            "value": M2,
            "epoch": 1,
            "ack_time": 204_600,
            "leader": 2,
            "leader_epoch": 2,
        },
    )


def verdict() -> Verdict:
    """The verdict of the run."""
    return Verdict("invalid", "documented", (anomaly(),), None, {"acked": 3, "elections": 2, "truncations": 2})


def plan() -> dict[str, Any]:
    """The plan of the run, as JSON."""
    return {
        "index": 7,
        "seed": 1,
        "noise_seed": 3,
        "profile": "intact",
        "faults_end_us": 2_100_000,
        "cluster": {"brokers": 2},
        "workload": {"producers": 1},
        "faults": [
            {"kind": "crash", "at_us": 230_000, "lasts_us": 300_000, "target": "follower"},
            {"kind": "crash", "at_us": 561_000, "lasts_us": 1_539_000},
        ],
    }


def comparison(old: str = "kafka-0.10", new: str = "kafka-2.1") -> Comparison:
    """37 of 500 runs against none."""
    settings = {"min_isr": 2, "unclean_election": False}
    cluster = {"brokers": 3, "replication_factor": 3, "partitions": 1, "acks": "all", "settings": settings}
    variants = (variant(old, 37, None), variant(new, 0, old))
    return Comparison("hand", "intact", 1, 500, cluster, old, variants, 10_000_000, primary=new)


def variant(name: str, hits: int, baseline: str | None) -> VariantResult:
    """A variant that lost acked records in `hits` of 500 runs."""
    rate = Rate(hits, 500, 0.054, 0.1) if hits else Rate(0, 500, 0.0, 0.0076)
    none = Rate(0, 500, 0.0, 0.0076)
    pair = Paired(baseline, 500, 0, 37, 1.5e-11, 3e-11, -0.1, -0.054, primary=True) if baseline else None
    second = replace(pair, primary=False) if pair else None
    spread = Spread(500, 0.9, 0.6, 0.8, 0.92, 0.97, 1.0)
    empty = Spread(0, *[None] * 6)
    return VariantResult(
        variant=name, runs=500, judged=500, unknown=0, errors=0, contracts=("documented",), acked=9_000,
        acked_lost_violation=hits, acked_lost_permitted=0, loss=rate, permitted_loss=none, any_loss=rate,
        promises={"documented": rate, "kip-966": none, "durable": rate},
        anomalies=(AnomalyCount(ANY, rate, none, pair), AnomalyCount("lost-committed-write", rate, none, second)),
        near_misses={"strong-isr": Rate(hits + 2, 500, 0.0, 0.1)},
        first_violation=Spread(hits, *[2_000_000.0] * 6) if hits else empty,
        hit_curve=((1_000_000, 0.02), (3_000_000, 0.074)) if hits else (),
        elections=1_000, unclean_elections=0, truncations=90, records_truncated=400, epoch_round_trips=2_100,
        one_round=1_900, two_rounds=4, more_rounds=0, hw_checkpoints=3_000,
        availability=spread, recovery=Recovery(Rate(30, 500, 0.042, 0.084), 0, 200_000, 1_400_000, 5_000_000, None),
        exercised={"two-lead": hits, "out-of-order": 0},
    )  # fmt: skip


def example() -> Example:
    return Example("kafka-0.10", 7, plan(), history(), verdict())


# ------------------------------------------------------------------------------------------------------------- the lanes


def test_a_lane_follows_role_and_record() -> None:
    one, two = lanes_of(history(), PARTITION, 1)

    assert two.terms == [
        Term(6_500, 230_000, 1, 1, leads=False),
        Term(560_000, 1_602_500, 1, 1, leads=False),
        Term(1_602_500, 3_000_001, 2, 2, leads=True),
    ]
    assert two.spans == [Span(230_000, 530_000, "stopped", "crash")]
    assert [(life.value, life.start, life.end) for life in two.lives] == [
        (M2, 202_000, 560_200),
        (M3, 1_700_300, 3_000_001),
    ]
    assert [(life.value, life.start, life.end) for life in one.lives] == [
        (M2, 200_400, 2_130_400),
        (M3, 2_135_000, 3_000_001),
    ]
    assert two.hw[-3:] == [(560_000, 1), (1_602_500, 1), (1_700_300, 2)]


def test_a_network_fault_is_a_span_until_it_heals() -> None:
    struck = replace(history(), nemesis=[(5, "strike", 0, "isolate", {"node": 2}), (9, "heal", 0, "isolate", {})])

    assert [span for span in lanes_of(struck, PARTITION, 1)[1].spans if span.kind == "fault"] == [
        Span(5, 9, "fault", "isolate")
    ]


def with_log_starts(*events: tuple[object, ...]) -> History:
    """Broker 1 has the record until 2.130400 s; these events of its come before."""
    before = history()
    return replace(before, trace=sorted([*before.trace, *events], key=lambda event: event[0]))


def test_a_record_ends_with_the_log_start_that_passes_it_and_may_come_back() -> None:
    deleted = (300_000, 1, "log-start", PARTITION, 2, 0, "delete-records")
    one = lanes_of(with_log_starts(deleted), PARTITION, 1)[0]
    remembered = (2_101_000, 1, "log-start", PARTITION, 2, 0, "recovered")
    remembering = lanes_of(with_log_starts(deleted, remembered), PARTITION, 1)[0]
    not_reached = lanes_of(with_log_starts((300_000, 1, "log-start", PARTITION, 1, 0, "leader")), PARTITION, 1)[0]

    lives = [(life.value, life.start, life.end) for life in one.lives]
    assert lives == [(M2, 200_400, 300_000), (M2, 2_101_000, 2_130_400), (M3, 2_135_000, 3_000_001)]
    assert [(life.value, life.start, life.end) for life in remembering.lives] == [lives[0], lives[2]]
    assert not_reached.lives[0].end == 2_130_400


def test_a_log_that_begins_anew_ends_every_record() -> None:
    anew = (300_000, 1, "log-start", PARTITION, 1, 0, "begin-anew")
    one = lanes_of(with_log_starts(anew), PARTITION, 1)[0]

    assert (one.lives[0].end, one.lives[0].ended_by) == (300_000, anew)
    assert (300_000, 1) in one.leo


# ------------------------------------------------------------------------------------------------------------- the story


def test_the_story_tells_of_deletions_that_reach_the_record() -> None:
    deletions = [
        Op(280_000, "d1", "invoke", "delete", (("delete", PARTITION, 2),)),
        Op(310_000, "d1", "ok", "delete", (("delete", PARTITION, 2),)),
        Op(280_000, "d2", "invoke", "delete", (("delete", PARTITION, 1),)),
    ]
    told = with_log_starts((300_000, 1, "log-start", PARTITION, 2, 0, "delete-records"))
    story = tell(replace(told, ops=sorted([*told.ops, *deletions], key=lambda op: op.time)), anomaly())
    words = [moment.sentence for moment in story.moments]

    assert f"Client d1 asks for the deletion of {PARTITION} before offset 2." in words
    assert "d1 is told that everything before offset 2 is deleted." in words
    assert "The log of broker 1 starts at 2 (delete-records): record 102 is gone from this replica." in words
    assert not any("d2" in sentence for sentence in words)


def test_the_story_tells_birth_commit_ack_and_loss_in_order() -> None:
    story = tell(history(), anomaly())

    assert [moment.sentence for moment in story.moments if moment.rank == 0] == [
        "Client p1 sends record 102 to t-0 with acks=all.",
        "Broker 1, leader of epoch 1, writes record 102 at offset 1.",
        "Broker 2 copies record 102 at offset 1.",
        "The high watermark of leader 1 (epoch 1) moves to 2, past the record: it is committed.",
        "p1 is told that record 102 is written (acknowledged).",
        "Broker 2 cuts its log from 2 to 1 in epoch 1 (high watermark): record 102 is gone from this replica.",
        "Broker 2 takes over as leader of epoch 2; its log ends at 1, without record 102.",
        "Broker 2 writes another record, 103, at offset 1.",
        "Broker 1 cuts its log from 2 to 1 in epoch 2 (high watermark): record 102 is gone from this replica.",
    ]
    assert [moment.number for moment in story.moments] == list(range(1, len(story.moments) + 1))
    assert len(story.moments) <= 18


def test_a_violation_with_an_ack_is_explained_before_anything_else() -> None:
    early = replace(anomaly(), name="hw-regression", verdict=PERMITTED, time=1)
    silent = replace(anomaly(), evidence={**anomaly().evidence, "ack_time": None}, time=2)
    both = replace(verdict(), anomalies=(early, silent, anomaly()))

    assert choose_anomaly(both) == anomaly()
    assert choose_anomaly(replace(verdict(), anomalies=())) is None


def test_of_two_records_that_differ_the_acknowledged_one_is_told() -> None:
    pair = {"leader": 2, "follower": 1, "leader_record": (2, 999), "follower_record": (1, M2)}
    differ = replace(anomaly(), name="divergence", evidence={"offset": 1, **pair})

    story = tell(history(), differ)

    assert story.value == M2
    assert "Broker 1 follows broker 2 with another record at offset 1, 102 instead of 999: divergence." in " ".join(
        moment.sentence for moment in story.moments
    )


def test_of_a_record_that_is_not_there_nothing_is_named() -> None:
    pair = {"leader": 2, "follower": 1, "leader_record": (2, 999), "follower_record": (-1, None)}

    def told(**pair: object) -> str:
        differ = replace(anomaly(), name="log-matching", evidence={"offset": 1, **pair})
        return " ".join(moment.sentence for moment in tell(history(), differ).moments)

    assert "Broker 1 follows broker 2 and has nothing at offset 1, where that has 999: log-matching." in told(**pair)
    other = {"leader_record": (-1, None), "follower_record": (1, 7)}
    assert "Broker 1 follows broker 2 and has 7 at offset 1, where that has nothing: log-matching." in told(
        **(pair | other)
    )


def test_an_anomaly_without_a_record_has_a_story_too() -> None:
    stuck = replace(anomaly(), name="stuck", evidence={"waiting_for": "broker 2"}, time=2_000_000)

    story = tell(history(), stuck)

    assert (story.offset, story.value) == (None, None)
    assert "Broker 1 is killed" in " ".join(moment.sentence for moment in story.moments)
    draw_story(tell(history(), stuck))


def test_of_a_system_that_tells_nothing_while_it_runs_the_faults_are_the_story() -> None:
    trace = [(5_000, 1, "stop", "", "power"), (9_000, 1, "start", "", 2)]
    trace += [
        (9_000_000, node, "final", PARTITION, role, -1, 1, 1, (), ((0, 0, (value,)),))
        for node, role, value in ((1, "leader", M1), (2, "follower", M2))
    ]
    replicas = {PARTITION: [1, 2]}
    run = History.of(untold=True, isr=False, min_isr=2, replicas=replicas, contract="majority", trace=trace)
    (differs,) = check(run).named("divergence")

    story = tell(run, differs)

    assert "Broker 1 loses power" in story.moments[0].sentence
    assert [(lane.leo, lane.hw) for lane in story.lanes] == [([], [])] * 2
    draw_story(story)


# ----------------------------------------------------------------------------------------------------------- the picture


def test_the_picture_names_what_happened_in_text_of_at_least_nine_points() -> None:
    figure = draw_story(tell(history(), anomaly()))

    texts = {text.get_text(): text for axes in figure.axes for text in axes.texts if text.get_text()}
    assert {"broker 1", "broker 2", "controller", "clients", "ack", "truncated to 1 (was 2)", "committed"} <= set(texts)
    assert {"LEADER, epoch 1", "follows 1, epoch 1", "down: crash", "leader 2, e2", "offset 1"} <= set(texts)
    assert min(text.get_fontsize() for text in texts.values()) >= 9


@pytest.fixture(autouse=True)
def _no_figures_for_a_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test writes for its words has figures as SVG alone, in a third of the time; `comparison_page` has all."""

    def svg_alone(*args: Any, for_paper: bool = False) -> str:
        return save(*args)

    monkeypatch.setattr(pages, "save", svg_alone)


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run."""
    return render_run(plan(), history(), verdict(), tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def comparison_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the comparison."""
    return render(comparison(), [example()], tmp_path_factory.mktemp("comparison"))


def test_the_same_history_is_the_same_picture(run_page: Path, tmp_path: Path) -> None:
    render_run(plan(), history(), verdict(), tmp_path)

    for name in ("report.html", "report-spacetime.svg"):
        assert (run_page.parent / name).read_bytes() == (tmp_path / name).read_bytes()


def test_rates_that_differ_widely_are_drawn_on_a_logarithmic_axis() -> None:
    old, new = comparison().variants
    rare = Rate(1, 100_000, 0.000002, 0.00006)
    rarely = replace(new, anomalies=(AnomalyCount(ANY, rare, rare, None),))
    with looks():
        assert figures.rates(comparison()).axes[0].get_xscale() == "linear"
        assert figures.rates(replace(comparison(), variants=(old, rarely))).axes[0].get_xscale() == "log"


def test_inline_figures_do_not_share_ids() -> None:
    svg = '<?xml version="1.0"?><svg x="1"><path id="p"/><use xlink:href="#p" clip-path="url(#p)"/></svg>'

    assert inline(svg, "a", 'say "<x>"') == (
        '<svg role="img" aria-label="say &quot;&lt;x>&quot;" x="1"><path id="a-p"/>'
        '<use xlink:href="#a-p" clip-path="url(#a-p)"/></svg>'
    )


# ------------------------------------------------------------------------------------------------------------- the pages


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


def test_a_run_page_keeps_the_plan_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("mine")

    page = render_run(plan(), history(), verdict(), tmp_path / "report.html")

    assert "The promise “documented” was broken." in page.read_text(encoding="utf-8")
    assert "tidemark run --plan plan.json" in page.read_text(encoding="utf-8")
    assert (tmp_path / "plan.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Verdict("valid", "documented", (), None, {}), "found no anomaly"),
        (Verdict("unknown", "documented", (), "nothing was acknowledged", {}), "nothing was acknowledged"),
    ],
)
def test_a_run_without_anomaly_says_so(given: Verdict, words: str, tmp_path: Path) -> None:
    assert words in render_run(plan(), history(), given, tmp_path).read_text(encoding="utf-8")


def test_a_fault_is_told_with_what_it_hit() -> None:
    first, second = fault_lines(plan(), history())

    assert (first.kind, first.planned, first.struck) == ("crash", "follower, at 0.230 s", "0.230 s")
    assert (first.hit, first.lasts) == ("broker 2 (follower of t-0)", "0.300 s")
    assert (second.left, second.width) == (18.7, 51.3)


def test_a_fault_that_waited_in_vain_did_not_strike() -> None:
    waiting = {**plan(), "faults": [{"kind": "crash", "at_us": 5, "after": {"event": "truncate", "nth": 9, "node": 2}}]}

    (line,) = fault_lines(waiting, replace(history(), nemesis=[]))

    assert line.struck == "did not strike"
    assert line.planned == "leader, at event “truncate” number 9 at broker 2 after 0.000 s"


# ------------------------------------------------------------------------------------------------------------- the words


def test_each_variant_is_answered_in_a_sentence() -> None:
    one, other = comparison().variants
    stuck = AnomalyCount("stuck", Rate(4, 500, 0.003, 0.02), Rate(0, 500, 0.0, 0.0076), None)
    waits = replace(
        other, variant="kafka-2.7", anomalies=(AnomalyCount(ANY, stuck.violation, stuck.permitted, None), stuck)
    )

    lost, kept, failed = answers(replace(comparison(), variants=(one, other, waits)))

    assert lost.plain == (
        "kafka-0.10 lost acknowledged records against what “documented” promises in 37 of 500 runs "
        "(7.4 %; 95 % interval 5.4–10.0 %)."
    )
    assert (lost.kept, lost.only_others) == (False, False)
    assert kept.plain == (
        "kafka-2.1 kept what “documented” promises in all 500 runs (95 % interval of runs that break it: 0–0.76 %)."
    )
    assert (kept.kept, kept.only_others) == (True, False)
    assert failed.plain == (
        "kafka-2.7 lost no acknowledged record against what “documented” promises, but failed in other ways in 4 of 500 runs "
        "(0.8 %; 95 % interval 0.3–2.0 %). Also: stuck in 4."
    )
    assert (failed.kept, failed.only_others) == (False, True)


def test_a_newer_rule_that_does_worse_is_told_with_whether_it_may_be_chance() -> None:
    old, new = comparison().variants
    none, few = Rate(0, 500, 0.0, 0.0076), Rate(2, 500, 0.001, 0.0145)

    assert oddities(comparison()) == []
    paired = Between("kafka-2.1", "kafka-0.10", LOST, 500, 0, 2, 0.5)
    variants = (replace(new, loss=none), replace(old, loss=few))
    (told,) = oddities(replace(comparison(), variants=variants, between=(paired,)))
    assert told == (
        "kafka-0.10 lost acknowledged records against its promise in more runs than kafka-2.1 (2 against 0 of 500). On the "
        "same plans 2 hit only kafka-0.10 and 0 only kafka-2.1: this may be chance (exact McNemar test, by itself: p 0.5)."
    )
    clear = replace(paired, p_value=0.0004)
    (told,) = oddities(replace(comparison(), variants=variants, between=(clear,)))
    assert told.endswith("this is hardly chance (exact McNemar test, by itself: p < 0.001).")
    (told,) = oddities(replace(comparison(), variants=variants))
    assert told.endswith("They have no plan in common, so this may be the plans' doing.")
    another = (variants[0], replace(variants[1], variant="quorum-hwm"))
    assert oddities(replace(comparison(), variants=another)) == []  # of another family, it is no newer rule
    campaigns = tuple(replace(one, variant=f"mine: {one.variant}") for one in variants)
    assert len(oddities(replace(comparison(), variants=campaigns))) == 1


def test_the_words_of_the_comparison_name_the_world() -> None:
    one, other = comparison().variants
    three = replace(comparison(), variants=(one, other, replace(other, variant="kafka-2.7")))

    assert compared(three).startswith("kafka-0.10, kafka-2.1 and kafka-2.7 each met the same 500 random fault plans")
    assert (
        "no power loss, no lost disks), with acks=all, 3 brokers, replication factor 3 and min ISR 2, and every run"
        in compared(three)
    )
    assert "min ISR 2 (clients: 5 producers and 1 send a second of each), and" in compared(
        replace(three, workload={"producers": 5, "rate": 1.0})
    )
    assert "no power loss, no lost disks) on real processes in containers, with acks=all" in compared(
        replace(three, world="docker")
    )


def test_the_introduction_tells_of_the_cluster_that_was_run() -> None:
    settings = {"min_isr": 1, "unclean_election": True}
    cluster = {"brokers": 5, "replication_factor": 4, "partitions": 2, "acks": "1", "settings": settings}

    assert (
        "with acks=1, 5 brokers, 2 partitions, replication factor 4 and min ISR 1, unclean leader election allowed, and every"
        in compared(replace(comparison(), cluster=cluster))
    )


def test_what_was_lost_with_permission_is_said_first_too() -> None:
    old, new = comparison().variants
    none, all_but_one = Rate(0, 60, 0.0, 0.0602), Rate(59, 60, 0.911, 0.997)
    permitted = replace(
        new,
        runs=60,
        loss=none,
        any_loss=all_but_one,
        permitted_loss=all_but_one,
        permitted_by={"unclean-election": 40, "no-live-isr-member": 19},
        anomalies=(AnomalyCount(ANY, none, all_but_one, None),),
    )
    both = replace(old, any_loss=Rate(66, 500, 0.105, 0.165), permitted_loss=Rate(40, 500, 0.059, 0.107))

    all_permitted, some = answers(replace(comparison(), variants=(permitted, both)))

    assert all_permitted.plain == (
        "kafka-2.1 kept what “documented” promises in all 60 runs (95 % interval of runs that break it: 0–6.0 %); "
        "in 59 runs it lost some as it may (after an unclean election that was asked for: 40; after a moment without any live "
        "in-sync replica: 19)."
    )
    assert (permitted.permitted_only, both.permitted_only) == (59, 29)
    # In 11 of the 40 runs with a permitted loss another one was against the promise.
    assert some.plain.endswith(
        "in 37 of 500 runs (7.4 %; 95 % interval 5.4–10.0 %); in 29 more runs it lost some as it may."
    )


def test_the_answer_says_what_unknown_runs_could_change() -> None:
    old, _ = comparison().variants
    some = replace(old, runs=625, loss=replace(old.loss, unknown=125), unknown=125)
    nobody = replace(old, runs=2, judged=0, unknown=2, loss=Rate(0, 0, 0.0, 1.0, 2))

    one, none = answers(replace(comparison(), variants=(some, nobody)))

    assert one.plain.endswith(
        " 125 of its 625 runs could not be judged: if none or all of them lost records, 5.9–25.9 % did."
    )
    assert none.plain.startswith("kafka-0.10 was not judged in any run")


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


@pytest.mark.parametrize(
    ("share", "words"),
    [(None, "–"), (0.0, "0 %"), (0.0012, "0.12 %"), (0.074, "7.4 %"), (0.256, "25.6 %"), (1.0, "100 %")],
)
def test_a_share_as_a_percentage(share: float | None, words: str) -> None:
    assert percent(share) == words


def test_other_numbers_in_words() -> None:
    assert interval(Rate(37, 500, 0.054, 0.1)) == "5.4–10.0 %"
    assert interval(Rate(0, 500, 0.0, 0.0076)) == "0–0.76 %"
    assert seconds(3_254_000) == "3.25 s"
    assert seconds(None) == "–"
    assert (p_words(0.0312), p_words(1e-9), p_words(1.0)) == ("0.031", "< 0.001", "1")


def test_only_a_simulated_run_is_said_to_come_back_byte_for_byte(run_page: Path, tmp_path: Path) -> None:
    real = history()
    real.meta["world"] = "docker"

    pages = [page.read_text(encoding="utf-8") for page in (run_page, render_run(plan(), real, verdict(), tmp_path))]

    assert ["byte for byte" in page for page in pages] == [True, False]
    assert ["--world docker" in page for page in pages] == [False, True]


@pytest.mark.parametrize(
    ("meta", "first", "says"),
    [
        ({"variant": "kafka-2.7", "replicas": {}}, "Simulated models", "No real broker took part"),
        ({"variant": "kafka-2.7", "world": "docker"}, "Own brokers", "No broker of Apache Kafka took part"),
        (
            {"variant": "kafka-2.7", "world": "docker", "system": "kafka:3.9.1"},
            "Real brokers",
            "Apache Kafka 3.9.1 ran",
        ),
        (
            {"variant": "kafka-4.0", "world": "docker", "system": "kafka:4.4.0+0123456789ab@4.4"},
            "Real brokers",
            "Apache Kafka 4.4.0@4.4, as somebody built it (digest 0123456789ab), ran",
        ),
        ({"system": "redpanda"}, "A real system", "redpanda ran"),
        ({}, "Somebody's own history", "Tidemark ran nothing here"),
        ({"variant": "my-system", "replicas": {}}, "Somebody's own history", "Tidemark ran nothing here"),
        ({"variant": "kafka-2.7"}, "Somebody's own history", "Tidemark ran nothing here"),
    ],
)
def test_a_page_says_whether_brokers_were_real(meta: dict[str, Any], first: str, says: str) -> None:
    ran = what_ran_of(meta)
    assert ran[0] == first
    assert says in ran[1]


def test_every_clause_is_explained_where_it_is_read(tmp_path: Path) -> None:
    shrank = Anomaly("hw-regression", PERMITTED, 10, "t-0", "It shrank.", clause="across-leaderships")
    again = replace(shrank, message="It shrank again.")
    given = Verdict("valid", "documented", (shrank, again), None, {"acked": 1})
    text = render_run(plan(), history(), given, tmp_path).read_text(encoding="utf-8")
    assert text.count("a new leader knows no more than it had heard as a follower") == 1
    assert text.count("A leader&#39;s high watermark moved back.") == 1


def test_numbers_that_nearly_agree_say_why() -> None:
    both = comparison()
    old = both.variants[0]
    least = replace(old.loss, hits=old.loss.hits - 3)
    first = answers(replace(both, variants=(replace(old, promises={"documented": least}), both.variants[1])))[
        0
    ].sentence
    assert first.startswith(f"lost acknowledged records against a promise in {old.loss.hits} of {old.loss.runs} runs (")
    assert (
        f"): {old.loss.hits - 3} against its own, “documented”, and 3 only against “durable”, which forbids a loss even after all "
        "brokers were down, where none has lost its log" in first
    )
    told = nearly_agreeing(replace(both, variants=(replace(old, promises={"documented": least}), both.variants[1])))
    (sentence,) = told
    assert sentence == (
        f"kafka-0.10 lost acked records in {old.loss.hits} runs, {old.loss.hits - 3} of them against “documented” alone: in 3 runs "
        "every in-sync replica had been down at one moment, so “documented” promised nothing any more; but no log was lost, so "
        "“durable” forbade it."
    )


@pytest.mark.parametrize(
    ("own", "means", "beside"),
    [
        (
            "kip-966",
            ("documented", "kip-966", "durable"),
            " only against “documented” or “durable”, by which losses are judged, too.",
        ),
        ("majority", ("majority", "durable"), " only against “durable”, by which losses are judged, too."),
        ("durable", ("durable",), None),
    ],
)
def test_losses_against_another_promise_are_told_by_its_name(
    own: str, means: tuple[str, ...], beside: str | None
) -> None:
    both = comparison()
    old = both.variants[0]
    promises = {name: replace(old.loss, hits=34 if name == own else 37) for name in means}

    told = answers(replace(both, variants=(replace(old, contracts=(own,), promises=promises),)))[0].sentence

    if beside is None:
        assert told.startswith(f"lost acknowledged records against what “{own}” promises in 37 of 500 runs")
        assert told.endswith("10.0 %).")
    else:
        assert f": 34 against its own, “{own}”, and 3{beside}" in told


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


def test_when_a_record_that_is_gone_counts_as_lost() -> None:
    both = comparison()
    lost = (
        "Lost: an acknowledged record is gone although an in-sync replica was alive at every moment (“documented”), or although no "
        "broker had lost its log by power, disk or damage (“durable”)."
    )
    gone = "Lost: an acknowledged record is gone. No broker lost its log here, so nothing excuses that (promise “durable”)."
    assert promised(both) == gone
    assert promised(replace(both, profile="destructive")) == lost
    old, new = both.variants
    some_may_go = replace(both, variants=(replace(old, acked_lost_permitted=1), new))
    assert promised(some_may_go) == f"{lost} Here no broker lost its log."
    assert promised(replace(both, contract="documented")) == f"{lost.partition(', or ')[0]}."
    assert "Lost: a committed record is gone" in promised(replace(both, cluster=dict(both.cluster) | {"acks": "1"}))
    with_elr = replace(both, profile="destructive", variants=(replace(old, contracts=("kip-966",)),))
    assert promised(with_elr).startswith(
        "Lost: an acknowledged record is gone although fewer than min ISR (2) of the replicas that held it shut down uncleanly "
        "(“kip-966”), although an in-sync replica was alive at every moment (“documented”), or although no broker had"
    )  # which counts beside every other
    asked = replace(both, variants=(replace(old, contracts=("durable",)),), contract="durable", profile="destructive")
    assert promised(asked) == (
        "Lost: an acknowledged record is gone although fewer than min ISR (2) of the replicas that held it lost their logs by "
        "power, disk or damage (“durable”)."
    )
    imported = replace(both, world="imported", cluster={}, profile="", variants=(replace(old, contracts=("kip-966",)),))
    assert "fewer than min ISR of the replicas" in promised(imported)
    assert promised(replace(both, variants=(replace(old, contracts=("mine",)),))) == ""


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


def test_the_set_up_says_what_its_settings_mean() -> None:
    both = comparison()
    acknowledged = (
        "a record is acknowledged once it is committed, that is once all in-sync replicas have it, at least 2"
    )
    assert set_up(both) == f"3 brokers; {acknowledged} (acks=all, min ISR 2)"
    assert set_up(replace(both, cluster=dict(both.cluster) | {"brokers": 5})).startswith(
        "5 brokers, 3 replicas; a record"
    )
    assert set_up(replace(both, cluster=dict(both.cluster) | {"acks": "1"})) == "acks=1, 3 brokers, min ISR 2"
    by_votes = tuple(replace(one, contracts=("majority",)) for one in both.variants)
    assert set_up(replace(both, variants=by_votes)) == "acks=all, 3 brokers, min ISR 2"
    assert set_up(replace(both, world="imported")) == ""


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


def test_presets_say_in_what_they_differ_besides_the_rule() -> None:
    one, two, three, four = besides(["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7"])
    assert one.topics == (
        "epoch cached on becoming leader (KAFKA-7415)",
        "refetch on every epoch (KAFKA-7164)",
        "log start (KIP-107)",
    )
    assert (one.rule_alone, three.rule_alone) == ("kafka-0.11,kafka-0.11+truncation=hw", "")
    assert "out of range (KAFKA-7414)" in two.topics
    assert three.topics[0] == "fence: fetch"
    assert "bounce detection (KIP-380)" in four.topics
    assert besides(["kafka-2.1", "kafka-2.1+truncation=hw", "raft", "nobody's"]) == []


def test_facts_are_told_as_sentences() -> None:
    facts = (
        "the later leader had cut it from its log (to high watermark)",
        "which was elected from the ISR",
        "it was committed late",
    )
    assert Why((), facts).in_sentences == (
        "The later leader had cut the record from its log (to high watermark). That leader was elected from the ISR. "
        "The record was committed late."
    )
    assert Why(("Broker 2 has not been told anything.",)).in_sentences == "Broker 2 has not been told anything."


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
