"""Scenarios: the worked examples of the literature as scripts, acted out and compared with what must come out.

A script (``harness/scenario/scripts/*.scenario``, see ``docs/scenarios.md``) tells an example step by step: who writes what, which
message is late, who crashes. Then it says, per variant, how it ends: the anomalies, the truncations, and every replica's log,
high watermark and leader epochs, worked out by hand. The nodes are the protocol core itself, the judges the checkers themselves.

>>> from tidemark.harness.scenario import find, run_scenario
>>> run_scenario(find("kip-101-data-loss"), "kafka-0.10").matched
True
"""

from __future__ import annotations

from tidemark.harness.scenario.library import UnknownScenarioError, all_scenarios, find
from tidemark.harness.scenario.model import Scenario, ScenarioError
from tidemark.harness.scenario.parser import parse_scenario, read_scenario
from tidemark.harness.scenario.play import ScenarioOutcome, Scene, run_scenario, variants_of

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
