"""What ``tidemark compare --fail-on-violation`` is told."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tidemark.cli.campaign_report import exit_code_of
from tidemark.cli.compare import compare_command
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


def variant(judged=10, violating=0, errors=0):
    return SimpleNamespace(judged=judged, errors=errors, violating=SimpleNamespace(hits=violating))


@pytest.mark.parametrize(
    ("variants", "code"),
    [
        ([variant(), variant()], 0),
        ([variant(), variant(judged=0)], 2),
        ([variant(), variant(judged=9, errors=1)], 255),
        ([variant(judged=0, errors=10)], 255),
        ([variant(judged=0, errors=10), variant(violating=1)], 1),
    ],
)
def test_a_violation_comes_first_then_what_raised_then_what_nobody_judged(variants, code):
    assert exit_code_of(SimpleNamespace(variants=variants)) == code


def test_one_plan_under_each_variant(tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(generate_plan(1, 30, "intact", ClusterSpec()).to_text())
    words = ["--plan", str(plan), "--variants", "kafka-0.10,kafka-2.7", "--fail-on-violation"]

    result = CliRunner().invoke(compare_command, [*words, "--json"], standalone_mode=False)

    old, new = map(json.loads, result.output.splitlines())
    assert (old["variant"], new["variant"], new["verdict"]["valid"]) == ("kafka-0.10", "kafka-2.7", "valid")
    assert result.return_value == (old["verdict"]["valid"] == "invalid")


@pytest.mark.parametrize("more", [["--plans", "3"], ["--seed", "2"], ["--brokers", "5"], ["--report"]])
def test_options_of_a_campaign_are_refused_with_one_plan(more, tmp_path):
    result = CliRunner().invoke(compare_command, ["--plan", str(tmp_path / "plan.json"), *more])

    assert result.exit_code == 2
    assert more[0] in result.output
