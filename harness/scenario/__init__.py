"""Scenarios: the worked examples of the literature as scripts, acted out and compared with what must come out.

A script (``harness/scenarios/*.scenario``, see ``docs/scenarios.md``) tells an example step by step: who writes what, which
message is late, who crashes. Then it says, per variant, how it ends: the anomalies, the truncations, and every replica's log,
high watermark and leader epochs, worked out by hand. The nodes are the protocol core itself, the judges the checkers themselves.

>>> from harness.scenario import find, run_scenario
>>> run_scenario(find("kip-101-data-loss"), "kafka-0.10").matched
True
"""

from __future__ import annotations

from harness.scenario.library import UnknownScenarioError, all_scenarios, find
from harness.scenario.model import Scenario, ScenarioError
from harness.scenario.parser import parse_scenario, read_scenario
from harness.scenario.run import ScenarioOutcome, Scene, run_scenario, variants_of

__all__ = [
    "Scenario",
    "ScenarioError",
    "ScenarioOutcome",
    "Scene",
    "UnknownScenarioError",
    "all_scenarios",
    "find",
    "parse_scenario",
    "read_scenario",
    "run_scenario",
    "variants_of",
]
