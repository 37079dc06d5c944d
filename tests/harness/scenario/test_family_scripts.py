"""The scripts about families that are not Kafka's come out as their outcomes say."""

from pathlib import Path

import pytest

from tidemark.harness.scenario.parser import read_scenario
from tidemark.harness.scenario.play import run_scenario, variants_of

FOLDER = Path(__file__).parents[3] / "harness" / "scenario" / "scripts" / "families"
SCRIPTS = sorted(FOLDER.glob("*.scenario"))
NOTHING_IS_LOST = {"cut-off-server-returns"}
CASES = [(script, variant) for script in SCRIPTS for variant in variants_of(read_scenario(script))]


@pytest.mark.parametrize(("script", "variant"), CASES, ids=[f"{s.stem}-{v}" for s, v in CASES])
def test_the_outcome_is_the_one_that_is_stated(script, variant):
    assert run_scenario(read_scenario(script), variant).mismatches == []


def test_each_flaw_is_shown_and_is_gone_when_repaired():
    for script in SCRIPTS:
        outcomes = read_scenario(script).outcomes
        verdicts = {variant: outcome.verdict for variant, outcome in outcomes.items()}

        assert "invalid" in verdicts.values() or script.stem in NOTHING_IS_LOST
        assert verdicts.get("quorum-hwm+repaired") != "invalid"
