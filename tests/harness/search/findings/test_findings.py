"""Anomalies that are known to be a finding, by their cause."""

import json
from pathlib import Path

import pytest

from tidemark.harness.scenario import find, read_scenario, run_scenario
from tidemark.harness.search.corpus.kept_plan import read_kept
from tidemark.harness.search.findings import FINDINGS, known, recognised
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.harness.simulator.execute import execute
from tidemark.harness.why import why_of
from tidemark.nemesis import Plan, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import PRESETS, parse_variant

ROOT = Path(__file__).parents[4]
KEPT = ROOT / "results/published/corpus"
WITH_PAGE = {
    "kafka-2.7-lost-committed-write": "late-leadership-after-removal",
    "kafka-4.0+no-whole-target-reassignment": "reassignment-replaced",
    "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew-lost-committed-write": "stale-log-start",
    "kafka-4.0-lost-committed-write": "missed-reign",
    "kafka-4.0-reassignment": "reassignment-replaced",
    "kafka-4.0-divergence": "truncation-taken-back",
    "kafka-4.0-strong-isr": "missed-reign",
}


def pages(variant, plan):
    """The page of every violation's cause, None among them if one is not known."""
    run = execute(plan, variant)
    violations = [one for one in run.verdict.anomalies if one.verdict == "violation"]
    found = [known(variant, cause) for one in violations for cause in causes_of(one, run.verdict, run.history)]
    return {None if one is None else Path(one.page).stem for one in found}


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_of_all_kept_plans_those_of_a_finding_are_known_and_no_others(path):
    kept = read_kept(path)
    found = known(kept.variant, kept.cause)
    assert (found and Path(found.page).stem) == WITH_PAGE.get(path.stem.rpartition("-")[0])


@pytest.mark.parametrize(
    ("seed", "index", "expected"),
    [(1, 292, {"cut-at-a-log-start"}), (7, 84, {"cut-at-a-log-start", "forgotten-log-start"})],
)
def test_what_random_plans_show_of_findings_is_known(seed, index, expected):
    assert pages("kafka-4.0", generate_plan(seed, index, "retention", ClusterSpec())) <= expected


@pytest.mark.parametrize(
    ("name", "page"),
    [
        *(
            (name, name)
            for name in ("unheard-shrink", "back-below-its-log-start", "min-isr-unheard", "eligibility-forgotten")
        ),
        *((name, "elr-switched") for name in ("elr-switched-off", "elr-switched-on", "elr-last-leader")),
    ],
)
def test_what_a_finding_s_own_script_shows_is_known(name, page):
    played = run_scenario(find(name), "kafka-4.0")
    losses = [one for one in played.verdict.anomalies if one.verdict == "violation"]
    found = [known("kafka-4.0", cause) for one in losses for cause in causes_of(one, played.verdict, played.history)]

    assert found
    assert {Path(one.page).stem for one in found} == {page}


@pytest.mark.parametrize(
    ("script", "variant", "shown"),
    [
        ("back-later", "kafka-4.0", {"lost-committed-write", "lost-write", "leader-completeness"}),
        ("back-later", "kafka-4.0+keep-last-epoch", set()),
        ("forgotten-log-start-met-before", "kafka-4.0", {"divergence", "log-matching"}),
        ("forgotten-log-start-met-before", "kafka-4.0+log-start-first", set()),
        (
            "forgotten-log-start-not-heard",
            "kafka-4.0",
            {"lost-committed-write", "truncated-under-consumer", "leader-completeness"},
        ),
    ],
)
def test_what_a_page_s_own_script_shows_and_its_repair_does_not(script, variant, shown):
    played = run_scenario(read_scenario(ROOT / f"docs/findings/{script}.scenario"), variant)

    assert {one.name for one in played.verdict.anomalies if one.verdict == "violation"} == shown


def test_a_run_says_what_of_it_is_known():
    run = execute(generate_plan(7, 84, "retention", ClusterSpec()), "kafka-4.0")
    told = [one.to_json() for one in recognised("kafka-4.0", run.verdict, run.history)]

    assert [(one["title"], one["repair"], one["anomalies"]) for one in told] == [
        ("the forgotten log start", "rebuild-epochs", ["divergence", "stuck"]),
    ]


def test_the_page_of_a_run_says_it_too():
    plan = generate_plan(1, 292, "retention", ClusterSpec())
    run = execute(plan, "kafka-4.0")
    why = why_of(plan, "kafka-4.0", None, run.history, run.verdict, again=False)

    (sentence,) = why.known
    assert sentence.startswith("stuck: a cut at a log start: ")
    assert "docs/findings/cut-at-a-log-start.md" in sentence


def test_where_the_repair_is_in_nothing_is_known():
    kept = read_kept(next(KEPT.glob("kafka-4.0-lost-committed-write-*.json")))
    assert known(kept.variant, kept.cause).repair == "forget-log-ends"
    assert known(f"{kept.variant}+forget-log-ends", kept.cause) is None


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda one: one.title)
def test_every_finding_has_its_page_and_its_repair_is_a_variant(finding):
    assert (ROOT / finding.page).exists()
    if finding.repair:
        has_it = next(name for name in reversed(PRESETS) if known(name, _cause(finding)) is finding)
        assert known(f"{has_it}+{finding.repair}", _cause(finding)) is not finding


def _cause(finding):
    return Cause((*finding.names, "stuck")[0], "violation", None, (finding.decisive,))


def test_who_led_before_its_replica_was_removed_and_leads_again_by_a_late_word_is_known():
    """It lacks what was committed before, so it counts as a loss: hunts told of it as something new."""
    plan = Plan.from_json(
        {
            "index": 0,
            "seed": 0,
            "noise_seed": 0,
            "profile": "reassignments",
            "faults_end_us": 600_000,
            "fixed_delay_us": 1_000,
            "cluster": ClusterSpec(replication_factor=2).to_json(),
            "workload": {**WorkloadSpec(producers=1, consumers=0).to_json(), "sends": [{"at_us": 500_000}]},
            "faults": [
                {"kind": "crash", "at_us": 510_000},
                {"kind": "forced-election", "at_us": 510_000, "target": "follower"},
                {"kind": "late-leadership", "at_us": 600_000, "lasts_us": 50_000, "amount": 500_000},
                {"kind": "reassignment", "at_us": 600_000},
            ],
        }
    )

    assert pages("kafka-2.7+forget-log-ends", plan) == {"late-leadership-after-removal"}


PLANS = ROOT / "docs/findings"


def test_the_plan_of_a_finding_shows_it_and_its_control_does_not():
    """Partition 0 has one replica in the one and three in the other."""
    plan, control = (
        Plan.from_json(json.loads((PLANS / f"{name}.plan.json").read_text()))
        for name in ("min-isr-by-partition-0", "min-isr-by-partition-0-control")
    )

    assert pages("kafka-4.0", plan) == {"min-isr-by-partition-0"}
    assert execute(plan, "kafka-4.0").verdict.named("lost-committed-write")
    assert pages("kafka-4.0+own-replicas-bound-min-isr", plan) == set()
    assert pages("kafka-4.0", control) == set()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_repaired_preset_has_nothing_that_a_page_tells_how_to_repair(preset):
    repaired = parse_variant(f"{preset}+repaired")

    assert [one.words for one in FINDINGS if one.repair and one.of(repaired)] == []
