"""Plans, made small, by which hunts of half an hour cried wolf: nothing is wrong under the variant that their names begin with."""

from pathlib import Path

import pytest

from tidemark.checkers import check
from tidemark.harness.simulator import simulate
from tidemark.nemesis.plan import read_plan
from tidemark.nodes.families import parse_variant

PLANS = sorted(Path(__file__).with_name("silent").glob("*.json"))


def violations(variant, path):
    history = simulate(read_plan(path), parse_variant(variant)).history
    return {one.name for one in check(history).anomalies if one.verdict == "violation"}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_nothing_is_wrong(path):
    variant, _ = path.stem.split(",")

    assert violations(variant, path) == set()


def test_replicas_differ_after_a_crash_if_log_starts_are_noted_late():
    (path,) = (path for path in PLANS if path.stem == "kafka-4.0+repaired,divergence")

    assert violations("kafka-4.0+rebuild-epochs", path) == {"divergence", "log-matching"}
    assert violations("kafka-4.0+log-start-first", path) == set()
