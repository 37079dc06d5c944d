"""Options for how busy clients are take the place of what a random plan draws."""

import json

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.run import run_command


def run(tmp_path, *words):
    result = CliRunner().invoke(run_command, [*words, "--out", str(tmp_path / "r")], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return json.loads((tmp_path / "r" / "plan.json").read_text())


def test_they_change_the_workload_and_spread_the_same_faults_over_the_time(tmp_path):
    drawn = run(tmp_path)
    asked = run(tmp_path, "--producers", "5", "--rate", "40", "--batch", "7", "--duration", "2.5")

    assert (asked["workload"]["producers"], asked["workload"]["batch"]) == (5, 7)
    assert (asked["workload"]["interval_us"], asked["faults_end_us"]) == (25_000, 2_500_000)
    assert [fault["kind"] for fault in asked["faults"]] == [fault["kind"] for fault in drawn["faults"]]
    share = 2_500_000 / drawn["faults_end_us"]
    assert asked["faults"][0]["at_us"] == int(drawn["faults"][0]["at_us"] * share)
    assert {key: asked[key] for key in ("seed", "index", "noise_seed")} == {
        key: drawn[key] for key in ("seed", "index", "noise_seed")
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--workload transactions", "the simulator has no transactions: run this plan with --system kafka:VERSION"),
        ("--workload transactions --world docker", "tidemark has no transactions: --workload transactions runs on"),
        ("--workload transactions --system kafka:2.8.2@0.10.2", "the message format of kafka:2.8.2@0.10.2 has no"),
        ("--workload transactions --system etcd:3.5.1", "etcd:3.5.1 has no clients for the workload transactions"),
        ("--workload transactions --system kafka:4.3.1 --clients aiokafka", "aiokafka sends no transactions here"),
        ("--system kafka:4.3.1 --clients java", "--clients java is for --workload transactions"),
        ("--workload share-group", "the simulator has no share groups: run this plan with --system kafka:VERSION"),
        ("--workload share-group --world docker", "tidemark has no share groups: --workload share-group runs on"),
        (
            "--workload share-group --system kafka:3.9.2",
            "kafka:3.9.2 has no share groups: --workload share-group runs on",
        ),
        ("--workload share-group --system etcd:3.5.1", "etcd:3.5.1 has no clients for the workload share-group"),
    ],
)
def test_transactions_and_share_groups_are_refused_where_there_are_none(tmp_path, words, told):
    with pytest.raises(click.ClickException, match=told):
        run(tmp_path, *words.split())


def test_a_plan_file_says_it_by_itself(tmp_path):
    (tmp_path / "plan.json").write_text("{}")

    with pytest.raises(click.UsageError, match="--rate cannot be given with --plan"):
        run(tmp_path, "--plan", str(tmp_path / "plan.json"), "--rate", "5")
