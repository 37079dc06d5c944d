"""What happens to real processes happens to the scripts here: commands take effect late, messages take different times,
brokers start one after the other, and slowly. A script that depends on none of that comes out as in the best of worlds.
"""

import pytest

from tidemark.harness.scenario import all_scenarios, run_scenario, variants_of
from tidemark.harness.scenario.simulated.slow_hand import SlowHand

PAIRS = [(scenario, variant) for scenario in all_scenarios() for variant in variants_of(scenario)]


@pytest.mark.parametrize("reaction_ms", [pytest.param(10, marks=pytest.mark.systems), 60, 300])
@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=lambda value: getattr(value, "name", value))
def test_a_script_does_not_depend_on_exact_moments(scenario, variant, reaction_ms, monkeypatch):
    monkeypatch.setattr(SlowHand, "reaction_us", reaction_ms * 1_000)

    assert run_scenario(scenario, variant, SlowHand).mismatches == []
