"""Every worked example gives what was worked out by hand, under every variant that its script speaks about."""

import re
from pathlib import Path

import pytest

from tidemark.harness.scenario import (
    UnknownScenarioError,
    all_scenarios,
    find,
    parse_scenario,
    run_scenario,
    variants_of,
)
from tidemark.nodes.core.variant import PRESETS

SCENARIOS = all_scenarios()
PAIRS = [(scenario.name, variant) for scenario in SCENARIOS for variant in variants_of(scenario)]
PAGE = Path(__file__).parents[3] / "docs" / "scenarios.md"


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_the_outcome_is_the_one_worked_out_by_hand(name, variant):
    outcome = run_scenario(find(name), variant)

    assert outcome.mismatches == []
    assert outcome.matched


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_script_speaks_about_every_preset(scenario):
    assert set(PRESETS) <= set(variants_of(scenario))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_script_is_named_like_its_file(scenario):
    assert scenario.file == f"{scenario.name}.scenario"


def test_the_worked_examples_are_there():
    assert [scenario.name for scenario in SCENARIOS] == [
        "added-replica-fails",
        "back-below-its-log-start",
        "bounce-behind-a-failover",
        "cut-at-a-log-start-inside-a-batch",
        "divergence-case-a",
        "divergence-case-b",
        "divergence-case-c",
        "divergence-case-d",
        "divergence-case-e",
        "divergence-case-f",
        "divergence-case-g",
        "eligibility-forgotten",
        "eligible-but-no-replica",
        "elr-last-leader",
        "elr-switched-off",
        "elr-switched-on",
        "fluss-high-watermark",
        "forgotten-log-start",
        "high-water-mark",
        "hole-behind-a-cut",
        "kafka-10432-epoch-0",
        "kafka-10706-asking-never-ends",
        "kafka-12686-never-sent",
        "kafka-13091-nobody-looks",
        "kafka-13173-two-fail-at-once",
        "kafka-13198-removed-replica-goes-on",
        "kafka-1382-lost-answer",
        "kafka-14424-taken-back",
        "kafka-15021-shrinking-costs-an-epoch",
        "kafka-15586-unclean-and-eligible",
        "kafka-15665-leader-moved",
        "kafka-5634-retention-above-the-high-watermark",
        "kafka-6880-zombie-follower",
        "kafka-6975-deletion-inside-a-batch",
        "kafka-7128-isr-expansion",
        "kafka-7128-min-isr",
        "kafka-7164-missed-epoch",
        "kafka-7786-late-answer",
        "kafka-8306-log-ends-below-its-start",
        "kafka-9491-elected-below-log-start",
        "kip-101-batch-midpoint",
        "kip-101-data-loss-new-leader",
        "kip-101-data-loss",
        "kip-101-divergence",
        "kip-101-shortest-divergence",
        "kip-279-error-to-high-watermark",
        "kip-279-scenario-1-n-20",
        "kip-279-scenario-1-n-above-20",
        "kip-279-scenario-1-n-below-20",
        "kip-279-scenario-2",
        "kip-279-scenario-3",
        "kip-279-two-rounds",
        "lagging-by-two-epochs",
        "last-replica-standing-killed",
        "last-replica-standing-stopped",
        "log-divergence",
        "min-isr-unheard",
        "missed-reign-controller-fails",
        "missed-reign-shortest",
        "missed-reign",
        "reads-stop-at-the-mark",
        "reassignment-never-ends",
        "reassignment-replaced",
        "replication-reconciliation",
        "sole-isr-member-comes-back-empty",
        "stale-log-start",
        "unclean-allowed-for-a-while",
        "unclean-election-elect",
        "unclean-election-wait",
        "unheard-shrink",
        "who-is-first-to-come-back",
    ]


WORDS = {
    ("violation", "lost-committed-write"): "loses",
    ("permitted", "lost-committed-write"): "may lose",
    ("violation", "divergence"): "diverges",
    ("violation", "broker-stopped"): "stops",
    ("violation", "reassignment"): "disobeys",
    ("violation", "stuck"): "stuck",
}


def in_words(expected):
    told = {(anomaly.verdict, anomaly.name) for anomaly in expected.anomalies}
    return ", ".join(words for place, words in WORDS.items() if place in told) or "–"


def test_the_page_tells_the_outcome_of_every_scenario():
    """Its tables are written by hand; this keeps them true."""
    page = PAGE.read_text(encoding="utf-8").partition("## What there is")[2]
    rows = re.findall(r"^\| `([\w.-]+)` \| (.+) \|$", page, re.MULTILINE)
    outcomes = {name: cells.split(" | ") for name, cells in rows if cells.count(" | ") == len(PRESETS)}
    sources = {name for name, cells in rows if cells.count(" | ") == 1}

    assert set(outcomes) == sources == {scenario.name for scenario in SCENARIOS}
    for scenario in SCENARIOS:
        presets = [in_words(scenario.outcomes[preset]) for preset in PRESETS]
        others = [
            f"`{variant}`: {in_words(scenario.outcomes[variant])}"
            for variant in variants_of(scenario)
            if variant not in PRESETS
        ]
        assert outcomes[scenario.name] == [*presets, "; ".join(others) or "–"], scenario.name


def test_the_script_on_the_page_does_what_the_page_says():
    script = parse_scenario(re.findall(r"```\n(name: .+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])

    assert [variant for variant in variants_of(script) if not run_scenario(script, variant).matched] == ["kafka-0.11"]
    assert run_scenario(script, "kafka-0.11").mismatches == [
        "line 30: in the end the epochs of S2 should be 1@0 2@1, but are 1@0"
    ]


def test_names_are_found_whatever_their_case():
    assert find("KIP-101-Data-Loss").name == "kip-101-data-loss"


def test_a_wrong_name_is_answered_with_those_that_come_close():
    with pytest.raises(UnknownScenarioError, match=r"there is no scenario 'divergence-case-h'.*divergence-case-"):
        find("divergence-case-h")


def test_a_name_like_no_other_is_answered_with_all():
    with pytest.raises(UnknownScenarioError, match=r"kip-279-scenario-2.*unclean-election-wait"):
        find("0")
