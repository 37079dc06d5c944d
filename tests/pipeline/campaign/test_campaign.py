"""The whole way of a campaign, through Spark and without it, with a world small enough to know by heart (see conftest)."""

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from tidemark.checkers.marks import by_mark
from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.harness.report.answer import answers
from tidemark.harness.report.comparison import ANY, LOST, Between
from tidemark.harness.report.words import compared
from tidemark.nodes.families import parse_variant
from tidemark.pipeline.campaign import campaign
from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.compare.across_campaigns import compare_campaigns, differences
from tidemark.pipeline.compare.compare import NothingToCompareError, compare
from tidemark.pipeline.compare.compare_table import print_comparison
from tidemark.pipeline.compare.examples import RunChangedError, choose_examples
from tidemark.pipeline.compare.quantiles import QUANTILES, Quantiles
from tidemark.pipeline.compare.statistics import holm
from tidemark.pipeline.engines.engine import Engine
from tidemark.pipeline.engines.query import QueryError, ask
from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.folder import manifest
from tidemark.pipeline.folder.run_list import NoCampaignError, UnreadableTableError, Wanted, list_runs
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"

SPARK = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(params=["here", pytest.param("spark", marks=SPARK)])
def master(request: pytest.FixtureRequest) -> str | None:
    """A campaign's runs are few: who names no master has them done by this machine's processes."""
    if request.param == "here":
        return None
    request.getfixturevalue("spark")
    return "local[2,3]"


@pytest.fixture(params=["here", pytest.param("spark", marks=SPARK)])
def asked(request: pytest.FixtureRequest) -> Engine:
    return SmallEngine() if request.param == "here" else SparkEngine(request.getfixturevalue("spark"))


def quiet() -> Console:
    return Console(file=io.StringIO())


def tables(folder: Path) -> dict[str, list[str]]:
    found = {}
    for name in ("runs", "anomalies", "ops", "trace"):
        table = pq.read_table(folder / name)
        rows = table.drop_columns([one for one in ("wall_us",) if one in table.column_names]).to_pylist()
        found[name] = sorted(json.dumps(row, default=str) for row in rows)
    return found


def test_a_campaign_stopped_anywhere_resumes_to_the_same_tables(
    master: str | None, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    outcome = run_campaign(spec, whole, chunk_size=5, master=master, console=quiet(), simulate=simulate)
    run_campaign(spec, stopped, chunk_size=5, master=master, console=quiet(), simulate=simulate)
    variant = "campaign=demo/variant=kafka-0.10"
    # Killed before the record was written, and while a file was written.
    (stopped / "chunks" / variant / "chunk-00001.json").unlink()
    (stopped / "chunks" / variant / "chunk-00002.json").unlink()
    (stopped / "runs" / variant / ".chunk-00002.parquet.77.tmp").write_bytes(b"PAR1")
    (stopped / "ops" / variant / "chunk-00002.parquet").unlink()
    untouched = stopped / "runs" / variant / "chunk-00000.parquet"
    before = untouched.stat().st_mtime_ns

    again = run_campaign(spec, stopped, master=master, console=quiet(), simulate=simulate)

    assert again == outcome
    assert (again.status, again.runs, again.expected) == ("finished", 24, 24)
    assert (again.violating, again.unknown, again.errors) == ({OLD: 3, NEW: 1}, 3, 1)
    assert tables(stopped) == tables(whole)
    assert untouched.stat().st_mtime_ns == before
    assert not list(stopped.rglob("*.tmp"))
    assert "1 of them because the run raised" in again.sentences()


def test_a_plan_that_ends_its_worker_costs_itself_only(
    master: str | None, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    def deadly(spec: CampaignSpec, variant: str, index: int) -> Any:
        if index == 7 and variant == OLD:
            os._exit(1)
        return simulate(spec, variant, index)

    outcome = run_campaign(spec, tmp_path, chunk_size=6, master=master, console=quiet(), simulate=deadly)

    assert (outcome.runs, outcome.errors) == (24, 2)  # one raises under the other variant
    (broken,) = [run for run in list_runs(tmp_path, Wanted(OLD, unknown=True)) if run.plan == 7]
    assert broken.because == "The run's process ended with status 1."

    again = run_campaign(spec, tmp_path, retry_errors=True, master=master, console=quiet(), simulate=simulate)
    assert (again.runs, again.errors) == (24, 1)


def test_a_campaign_grows_to_what_it_would_have_been(
    master: str | None, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    at_once, grown = tmp_path / "demo", tmp_path / "a name [with] brackets"
    run_campaign(replace(spec, plans=30), at_once, chunk_size=10, master=master, console=quiet(), simulate=simulate)
    run_campaign(
        replace(spec, variants=(OLD,), plans=10),
        grown,
        chunk_size=10,
        master=master,
        console=quiet(),
        simulate=simulate,
    )
    before = {path: path.stat().st_mtime_ns for path in grown.rglob("*.parquet")}
    run_campaign(replace(spec, plans=30), grown, chunk_size=20, master=master, console=quiet(), simulate=simulate)

    assert tables(grown) == tables(at_once)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    whole, parts = (compare(SmallEngine(), folder) for folder in (at_once, grown))
    # What was settled before anything ran was one variant, which is compared with none.
    assert (whole.primary, parts.primary) == (NEW, None)
    assert [variant.loss for variant in parts.variants] == [variant.loss for variant in whole.variants]
    assert [variant.recovery for variant in parts.variants] == [variant.recovery for variant in whole.variants]


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(
    master: str | None,
    spec: CampaignSpec,
    simulate: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped: list[str] = []

    class Impatient(campaign.CampaignProgress):
        def show(self, chunks: Any) -> None:
            if not stopped:
                stopped.append("once")
                raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "CampaignProgress", Impatient)
    monkeypatch.setattr(SparkSession, "stop", lambda self: None)  # the session serves the other tests too

    outcome = run_campaign(spec, tmp_path, chunk_size=1, master=master, console=quiet(), simulate=simulate)

    assert outcome.status == "interrupted"
    assert outcome.sentences().endswith(f"Give the same command again to go on in {tmp_path}.")
    assert run_campaign(spec, tmp_path, master=master, console=quiet(), simulate=simulate).runs == 24


def test_it_stops_at_the_first_violation_and_goes_on_from_there(
    master: str | None,
    spec: CampaignSpec,
    simulate: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SparkSession, "stop", lambda self: None)  # the session serves the other tests too
    many = replace(spec, plans=400)

    outcome = run_campaign(
        many, tmp_path, chunk_size=1, master=master, console=quiet(), simulate=simulate, stop_at_first=True
    )

    assert outcome.status == "stopped"
    assert sum(outcome.violating.values()) > 0
    assert outcome.runs < 800


def test_the_comparison_counts_by_hand(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate)

    comparison = compare(asked, tmp_path)

    old, new = comparison.variants
    assert "with acks=all, 3 brokers, replication factor 3 and min ISR 2" in compared(comparison)
    assert (comparison.baseline, comparison.watched_us) == (OLD, 5_000_000)
    assert (old.runs, old.judged, old.unknown, old.errors) == (12, 11, 1, 0)
    assert (new.runs, new.judged, new.unknown, new.errors) == (12, 10, 2, 1)
    assert (old.loss.hits, old.loss.runs, new.loss.hits, new.loss.runs) == (3, 11, 1, 10)
    assert (old.permitted_loss.hits, new.permitted_loss.hits) == (6, 6)
    # Plans 0, 2, 4, 6, 8, 10 lose a record under both; under OLD three of them against the promise as well, under NEW one.
    assert (old.any_loss.hits, old.any_loss.runs, new.any_loss.hits, new.any_loss.runs) == (6, 11, 6, 10)
    # Of 12 runs each, 3 and 1 are hit; 1 and 2 more if every unknown run were.
    assert (old.loss.unknown, old.loss.least, old.loss.most) == (1, 0.25, pytest.approx(4 / 12))
    assert (new.loss.unknown, new.loss.least, new.loss.most) == (2, pytest.approx(1 / 12), 0.25)
    assert {name: rate.hits for name, rate in old.promises.items()} == {"documented": 3, "kip-966": 0, "durable": 6}
    assert {name: rate.hits for name, rate in new.promises.items()} == {"documented": 1, "kip-966": 0, "durable": 6}
    lost = new.count("lost-committed-write")
    assert lost is not None
    assert lost.paired is not None
    # Plans 0 and 8 hit the old one only; 4 hits both; 3 and 5 are no pairs.
    assert (lost.paired.pairs, lost.paired.only_here, lost.paired.only_baseline) == (10, 0, 2)
    assert lost.paired.p_value == pytest.approx(0.5)
    told = new.count(LOST)
    assert told is not None
    assert (told.violation, told.permitted, told.paired) == (lost.violation, lost.permitted, lost.paired)
    # The primary comparison is any violation of the last variant; two other p-values are left to correct, by 2.
    any_violation = new.anomalies[0].paired
    assert any_violation is not None
    assert (comparison.primary, any_violation.primary, lost.paired.primary) == (NEW, True, False)
    assert (any_violation.p_adjusted, lost.paired.p_adjusted) == (pytest.approx(0.5), 1.0)
    # Tango without pairs on this side: the near limit is Wilson's of 2 in 10, which is 0.0567 to 0.5098 (Newcombe 1998).
    assert lost.paired.low == pytest.approx(-0.5098, abs=5e-5)
    assert lost.paired.high > 0
    assert old.violating == old.loss
    assert old.count("lost-committed-write").paired is None  # type: ignore[union-attr]
    assert (old.first_violation.runs, old.first_violation.p50) == (3, 1_004_000)
    assert [time for time, _ in old.hit_curve] == [1_000_000, 1_004_000, 1_008_000]
    assert old.hit_curve[-1][1] == pytest.approx(3 / 11)
    # NEW: plan 3 raised, 0, 1, 2, 4, 5 came to rest, six plans did not.
    assert (old.recovery.never.hits, old.recovery.never.runs) == (0, 12)
    assert (new.recovery.never.hits, new.recovery.never.runs, new.recovery.never.unknown) == (6, 11, 1)
    assert (old.recovery.p50, old.recovery.p95) == (2_000_000, 2_000_000)
    assert (new.recovery.p25, new.recovery.p50, new.recovery.p95) == (2_000_000, None, None)
    assert (old.acked, old.elections, old.epoch_round_trips, old.records_truncated) == (1200, 48, 96, 66)
    assert (old.one_round, old.two_rounds, old.more_rounds, old.hw_checkpoints) == (72, 12, 0, 240)
    assert json.loads(json.dumps(comparison.to_json()))["variants"][0]["loss"]["hits"] == 3


def test_marks_are_counted_by_runs_and_those_that_none_came_to_are_told(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate)

    comparison = compare(asked, tmp_path)

    old, new = comparison.variants
    assert (old.exercised["follower-paused"], new.exercised["follower-paused"]) == (2, 0)
    assert comparison.never_exercised == [name for name in by_mark({}) if name != "follower-paused"]
    out = io.StringIO()
    print_comparison(comparison, Console(file=out, width=4_000))
    assert f"no run exercised: {', '.join(comparison.never_exercised)}" in out.getvalue()


def test_another_baseline_turns_the_pairs_round(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    turned = compare(asked, tmp_path, NEW)
    pair = turned.variants[0].count("lost-committed-write")

    assert turned.primary is None
    assert pair is not None
    assert pair.paired is not None
    assert (pair.paired.baseline, pair.paired.only_here, pair.paired.only_baseline) == (NEW, 2, 0)
    # Somebody chose it after the campaign had begun, so nothing is primary, and all three p-values are corrected.
    assert (pair.paired.primary, pair.paired.p_value, pair.paired.p_adjusted) == (False, pytest.approx(0.5), 1.0)
    with pytest.raises(NothingToCompareError, match="kafka-9 is none of"):
        compare(asked, tmp_path, "kafka-9")


def test_the_terminal_shows_violations_and_permitted_apart(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)
    out = io.StringIO()

    print_comparison(compare(asked, tmp_path), Console(file=out, width=160))

    text = out.getvalue()
    words = " ".join(text.split())
    assert (
        "kafka-0.10 lost acknowledged records against what “documented” promises in 3 of 11 runs (27.3 %; 95 % interval "
        "9.7–56.6 %); in 3 more runs it lost some as it may"
    ) in words
    assert "min ISR 2" in text
    assert "9.7–56.6 %" in text
    assert "25.0–33.3 %" in text
    assert "8.3–25.0 %" in text
    assert re.search(re.escape(NEW) + r" +0 +2 +-20.0 \(-51.0 to .+\) +0.5 \(primary\)", text)
    assert "permitted: runs hit" in text


def test_an_example_is_the_violating_run_with_the_fewest_faults(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    old, new = choose_examples(asked, tmp_path, simulate)

    # Plan 0 has one fault, 4 has two, 8 has three; the new variant violates in 4 only.
    assert (old.variant, old.plan_index, old.plan["faults"]) == (OLD, 0, ["crash"])
    assert (new.variant, new.plan_index, old.verdict.valid) == (NEW, 4, "invalid")


def test_an_example_of_a_loss_is_one_that_somebody_relied_on(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    def first_unacked(spec: CampaignSpec, variant: str, index: int) -> Any:
        plan, result = simulate(spec, variant, index)
        if index == 0:
            anomalies = tuple(replace(one, evidence={}) for one in result.verdict.anomalies)
            result = replace(result, verdict=replace(result.verdict, anomalies=anomalies))
        return plan, result

    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=first_unacked)

    old, _ = choose_examples(asked, tmp_path, first_unacked)

    assert (old.variant, old.plan_index) == (OLD, 4)  # plan 0 has fewer faults, and its record was never acknowledged


def test_each_two_variants_are_held_against_each_other_on_the_same_plans(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(replace(spec, variants=(NEW, OLD)), tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    # Plans 0 and 8 hit OLD only, 4 both; 3 and 5 are no pairs.
    found = compare(asked, tmp_path)
    corrected = pytest.approx(1.0)  # of two tests
    assert found.between[0] == Between(NEW, OLD, LOST, 10, 0, 2, pytest.approx(0.5), corrected)
    assert found.two(OLD, NEW, LOST) == Between(OLD, NEW, LOST, 10, 2, 0, pytest.approx(0.5), corrected)
    assert [(two.one, two.other, two.name) for two in found.between] == [(NEW, OLD, LOST), (NEW, OLD, ANY)]


def test_of_variants_next_to_each_other_all_p_values_are_corrected_together(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    names = (NEW, OLD, "kafka-2.7")
    run_campaign(replace(spec, variants=names), tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    between = compare(asked, tmp_path).between
    beside = [two for two in between if (two.one, two.other) != (NEW, "kafka-2.7")]
    assert (len(between), len(beside)) == (6, 4)
    assert [two.p_adjusted for two in beside] == pytest.approx(holm([two.p_value for two in beside]))
    assert [two.p_adjusted for two in between if two not in beside] == [None, None]


def test_losses_that_clients_alone_saw_are_against_their_own_promise(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    def clients_alone(spec: CampaignSpec, variant: str, index: int) -> Any:
        plan, result = simulate(spec, variant, index)
        seen = tuple(
            replace(one, name="lost-write", breaks=("durable",), evidence={})
            for one in result.verdict.anomalies
            if one.name == "lost-committed-write" and one.verdict == VIOLATION
        )
        return plan, replace(result, verdict=replace(result.verdict, contract="durable", anomalies=seen))

    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=clients_alone)

    found = compare(asked, tmp_path)
    old = found.variants[0]
    assert (old.loss.hits, old.promises["durable"].hits, old.promises["documented"].hits) == (3, 3, 0)
    assert answers(found)[0].sentence.startswith(
        "lost acknowledged records against what “durable” promises in 3 of 11 runs ("
    )


def test_the_run_list_is_that_of_the_comparison(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate)

    found = compare(asked, tmp_path)
    listed = list(list_runs(tmp_path, Wanted()))

    for variant in found.variants:
        of_variant = [run for run in listed if run.variant == variant.variant]
        assert len(of_variant) == variant.violating.hits
        for row in variant.anomalies[1:]:
            with_it = [run.plan for run in of_variant if (row.name, "violation") in {one[:2] for one in run.anomalies}]
            assert (len(with_it), tuple(with_it)) == (row.violation.hits, row.plans)
    assert listed[0].command == "tidemark run --variant kafka-0.10 --seed 7 --index 0 --profile intact"
    assert {run.valid for run in list_runs(tmp_path, Wanted(unknown=True))} == {"unknown"}
    marked = list(list_runs(tmp_path, Wanted(mark="follower-paused")))
    assert [run.variant for run in marked] == [OLD] * found.variants[0].exercised["follower-paused"]
    assert all("follower-paused" in run.marks for run in marked)


def test_a_list_of_what_is_not_there_is_refused(tmp_path: Path, spec: CampaignSpec) -> None:
    with pytest.raises(NoCampaignError, match="holds no campaign"):
        list(list_runs(tmp_path, Wanted()))
    manifest.open_campaign(tmp_path, spec, chunk_size=1, fresh=False)
    with pytest.raises(NoCampaignError, match="kafka-9 is none of the campaign's variants"):
        list(list_runs(tmp_path, Wanted(variant="kafka-9")))


def test_a_damaged_file_is_named(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)
    file = chunk_file(tmp_path, "runs", spec.name, OLD, 0)
    file.write_bytes(file.read_bytes()[:200])

    with pytest.raises(UnreadableTableError, match=r"chunk-00000\.parquet cannot be read"):
        list(list_runs(tmp_path, Wanted()))


def test_an_example_that_runs_differently_now_is_not_shown(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    def other(spec: CampaignSpec, variant: str, index: int) -> Any:
        plan, result = simulate(spec, variant, index)
        return plan, replace(result, digest="other")

    with pytest.raises(RunChangedError, match=r"Plan 0 under kafka-0\.10"):
        choose_examples(asked, tmp_path, other)


def test_an_example_of_a_variant_that_this_version_does_not_know_is_a_sentence(
    asked: Engine, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)

    def forgotten(spec: CampaignSpec, variant: str, index: int) -> Any:
        return parse_variant("of-another-branch")

    with pytest.raises(
        RunChangedError, match=r"cannot be run again by this version: unknown variant 'of-another-branch'"
    ):
        choose_examples(asked, tmp_path, forgotten)


def test_a_folder_without_a_finished_chunk_has_nothing_to_compare(
    asked: Engine, spec: CampaignSpec, tmp_path: Path
) -> None:
    with pytest.raises(NothingToCompareError, match="holds no campaign"):
        compare(asked, tmp_path)
    manifest.open_campaign(tmp_path, spec, chunk_size=1, fresh=False)
    with pytest.raises(NothingToCompareError, match="no finished chunk"):
        compare(asked, tmp_path)


@pytest.mark.spark
@pytest.mark.slow
def test_campaigns_are_held_against_each_other_where_their_plans_are_the_same(
    spark: SparkSession, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    def other_from_8_on(spec: CampaignSpec, variant: str, index: int) -> Any:
        plan, result = simulate(spec, OLD, index)
        return replace(plan, faults=(*plan.faults, "pause") if index >= 8 else plan.faults), result

    one, two = tmp_path / "one", tmp_path / "two"
    run_campaign(replace(spec, variants=(NEW,)), one, chunk_size=12, console=quiet(), simulate=simulate)
    run_campaign(replace(spec, variants=(OLD,)), two, chunk_size=12, console=quiet(), simulate=other_from_8_on)

    found = compare_campaigns(spark, (one, two))

    new, old = found.variants
    assert (new.variant, old.variant, found.baseline, found.primary) == (
        f"one: {NEW}",
        f"two: {OLD}",
        f"one: {NEW}",
        None,
    )
    pair = old.anomalies[0].paired
    # Of plans 0 to 7, 3 raised here and 5 is unknown; 0 hits the old one only, 4 both; what 8 does is another plan's.
    assert (pair.pairs, pair.only_here, pair.only_baseline) == (6, 1, 0)
    assert (new.loss.hits, old.loss.hits) == (1, 3)
    assert differences((one, two)) == []

    answer = ask(spark, two, "SELECT plan, mark FROM marks ORDER BY plan", 1)
    assert (answer.columns, answer.rows, answer.more) == (("plan", "mark"), ((6, "follower-paused"),), True)
    with pytest.raises(QueryError, match=r"^Spark does not answer: \[UNRESOLVED_COLUMN"):
        ask(spark, two, "SELECT nonsense FROM runs", 1)


def test_the_slowest_percentiles_are_of_runs_that_never_recovered(asked: Engine) -> None:
    rows = [("a", 1_000_000)] * 49 + [("a", None)] * 51 + [("b", time) for time in (30, 20, 20, 10, None)]
    shares = [0.1, 0.2, 0.4] + [None] * 102
    table = [(variant, time, share, 9) for (variant, time), share in zip(rows, shares, strict=True)]
    table += [("without a trace", None, None, None)]
    values = ", ".join(f"({', '.join('NULL' if one is None else repr(one) for one in row)})" for row in table)
    asked.name(
        "runs",
        "SELECT variant, CAST(recovery_us AS BIGINT) AS recovery_us, CAST(NULL AS BIGINT) AS first_violation_us, "
        "CAST(availability AS DOUBLE) AS availability, CAST(NULL AS STRING) AS error, events "
        f"FROM VALUES {values} AS rows(variant, recovery_us, availability, events)",
    )

    found = Quantiles(asked.rows(QUANTILES))

    a, b = found.recovery("a", 0), found.recovery("b", 0)
    # Of 100 runs 49 are at rest after 1 s and 51 never: the median run never is.
    assert (a.p5, a.p25, a.p50, a.p95, a.never.hits, a.never.runs) == (1_000_000, 1_000_000, None, None, 51, 100)
    # In order: 10, 20, 20, 30, never. 1 of 5 runs is 20 %, 3 are 60 %, 4 are 80 %.
    assert (b.p5, b.p25, b.p50, b.p75, b.p95) == (10, 20, 20, 30, None)
    share = found.spread("a", "availability")
    # Between the values it is interpolated: 5 % is a tenth of the way from the first to the second.
    assert (share.runs, share.p5, share.p50, share.p95) == (3, pytest.approx(0.11), 0.2, pytest.approx(0.38))
    assert found.spread("a", "first_violation").p50 is None
    assert found.recovery("c", 2).never.runs == 0
    assert found.recovery("without a trace", 0).never.runs == 0
