"""``tidemark shrink``."""

import json
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tidemark.cli import shrink as module
from tidemark.cli.shrink import shrink_command
from tidemark.harness.runs.folder import store_history, store_verdict
from tidemark.harness.scenario import read_scenario, run_scenario
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, generate_plan, read_plan
from tidemark.nodes.core.cluster import ClusterSpec

PLANS = Path(__file__).parents[2] / "harness" / "search" / "script" / "plans"
LOST = generate_plan(1, 3, "intact", ClusterSpec())
"""Loses a record under kafka-0.10, and none under kafka-2.7."""


@pytest.fixture
def shrink(tmp_path, monkeypatch):
    """Run the command in an empty folder; gives its exit code and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def shrink(*words):
        found = CliRunner().invoke(shrink_command, [*map(str, words)], standalone_mode=False)
        if found.exception is not None:
            raise found.exception
        return found.return_value, found.stdout

    return shrink


@pytest.fixture
def stored(tmp_path):
    """A run's folder: LOST under a variant, told as if it had happened in some world, with a plan of one's own if wanted."""

    def stored(name="run", plan=LOST, variant="kafka-0.10", **meta):
        run = execute(LOST, variant)
        history = replace(run.history, meta={**run.history.meta, **meta})
        store_history(tmp_path / name, plan, history)
        store_verdict(tmp_path / name, run.verdict)
        return tmp_path / name

    return stored


def test_a_random_plan_is_shrunk_written_and_told(shrink, tmp_path):
    code, told = shrink("--variant", "kafka-0.10", "--index", 3)
    assert code == 1
    plan = read_plan(tmp_path / "results" / "shrunk" / "kafka-0.10-1-3.json")
    assert [fault.kind for fault in plan.faults] == ["fast-failover"]
    assert "lost-committed-write, because the later leader had cut it from its log (to high watermark)" in told
    assert "before: 13 faults, records as drawn, 3 brokers, 148 acknowledged" in told
    assert "after:  1 fault, 1 record, 3 brokers, 1 acknowledged" in told
    assert "0.500 s  producer p1 sends 1 record" in told
    assert "tidemark run --plan results/shrunk/kafka-0.10-1-3.json --variant kafka-0.10" in told


def test_the_plan_that_it_names_loses_a_record_when_it_is_run(shrink, tmp_path):
    shrink("--variant", "kafka-0.10", "--index", 3, "--out", tmp_path / "small.json")
    verdict = execute(read_plan(tmp_path / "small.json"), "kafka-0.10").verdict
    assert verdict.named("lost-committed-write")


def test_json_says_all_of_it(shrink):
    code, told = shrink("--variant", "kafka-0.10", "--index", 3, "--json")
    found = json.loads(told)
    assert code == 1
    assert found["cause"]["name"] == found["anomaly"]["name"] == "lost-committed-write"
    assert found["before"] == {"faults": 13, "records_sent": None, "records_acked": 148, "brokers": 3, "partitions": 1}
    assert found["after"] == {"faults": 1, "records_sent": 1, "records_acked": 1, "brokers": 3, "partitions": 1}
    assert found["shown_under_other_noises"][0] <= found["shown_under_other_noises"][1]


def test_another_anomaly_can_be_asked_for(shrink):
    _, told = shrink("--variant", "kafka-0.10", "--index", 3, "--anomaly", "truncated-under-consumer", "--json")
    found = json.loads(told)
    assert found["anomaly"]["name"] == "truncated-under-consumer"
    assert found["after"]["faults"] == 1


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ("--variant", "kafka-2.7", "--index", 3),
            0,
            "This plan shows no violation under kafka-2.7: there is nothing to shrink.\n",
        ),
        (
            ("--variant", "kafka-0.10", "--index", 3, "--anomaly", "two-leaders"),
            2,
            "This plan shows no two-leaders under kafka-0.10: there is nothing to shrink.\n",
        ),
    ],
)
def test_nothing_to_shrink(shrink, words, code, sentence):
    assert shrink(*words) == (code, sentence)


def test_no_replay_is_left_to_begin_with(shrink):
    code, told = shrink("--variant", "kafka-0.10", "--index", 3, "--seconds", 0.000001)
    assert code == 2
    assert told.startswith("No replay was left to show this again: lost-committed-write: ")


def test_the_promise_that_it_was_judged_by_is_named(shrink):
    _, told = shrink("--variant", "kafka-0.10", "--index", 3, "--contract", "durable", "--json")
    assert json.loads(told)["replay"].endswith(" --variant kafka-0.10 --contract durable")


def test_replays_end(shrink):
    code, told = shrink("--variant", "kafka-0.10", "--index", 3, "--replays", 9, "--json")
    assert (code, json.loads(told)["ended"], json.loads(told)["replays"]) == (1, "the budget is spent", 9)


def test_the_best_so_far_is_kept_when_it_is_interrupted(shrink, monkeypatch, tmp_path):
    left = [20]

    def interrupted(*arguments):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return execute(*arguments)

    monkeypatch.setattr(module, "execute", interrupted)
    code, told = shrink("--variant", "kafka-0.10", "--index", 3, "--out", tmp_path / "best.json")
    assert code == 130
    assert "interrupted" in told
    assert len(read_plan(tmp_path / "best.json").faults) < len(LOST.faults)


def test_a_stored_run_is_shrunk_under_its_own_variant(shrink, stored):
    code, told = shrink(stored("kafka-0.10-1-3"), "--json")
    found = json.loads(told)
    assert (code, found["variant"], found["plan"]) == (1, "kafka-0.10", "results/shrunk/kafka-0.10-1-3.json")
    assert found["after"]["faults"] == 1


def test_a_run_of_a_real_world_is_looked_for_in_the_model(shrink, stored):
    code, told = shrink(stored(world="docker", variant="kafka-0.10"), "--json")
    assert code == 1
    assert json.loads(told)["after"]["faults"] == 1


def test_what_the_model_never_shows_is_said_in_a_sentence(shrink, stored):
    code, told = shrink(stored(world="docker"), "--variant", "kafka-2.7", "--noises", 1)
    assert code == 2
    assert told == (
        "The model, kafka-2.7, shows no lost-committed-write with this plan or with what this run did, in any of 18 replays under "
        "other noises and delays.\n"
    )


def test_what_only_machines_can_do_is_left_out_and_told(shrink, stored):
    full = replace(LOST, faults=(Fault("disk-full", 1_000_000), *LOST.faults))
    _, told = shrink(stored(plan=full, world="docker"), "--json")
    assert json.loads(told)["notes"] == ["left out, for the simulator cannot do them: disk-full"]


def test_a_stored_run_without_violation(shrink, stored):
    code, told = shrink(stored(variant="kafka-2.7"))
    assert (code, told) == (0, "The stored run shows no violation: there is nothing to shrink.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seed", 3), "--seed cannot be given with a stored run: its plan says it"),
        (("--plan", "x.json"), "--plan cannot be given with a stored run"),
        (("--brokers", 5), "--brokers cannot be given with a stored run"),
    ],
)
def test_a_stored_run_says_what_its_plan_is(shrink, stored, words, sentence):
    with pytest.raises(click.UsageError, match=sentence):
        shrink(stored(), *words)


def test_a_folder_that_is_no_runs_is_refused(shrink, tmp_path):
    with pytest.raises(click.ClickException, match=r"plan\.json: cannot be read"):
        shrink(tmp_path)


def test_a_variant_that_is_none_of_the_models_is_asked_for(shrink, stored):
    folder = stored()
    text = (folder / "history.jsonl").read_text(encoding="utf-8")
    (folder / "history.jsonl").write_text(text.replace('"variant":"kafka-0.10"', '"variant":"my-log-3"', 1))
    with pytest.raises(click.UsageError, match="none of the model's"):
        shrink(folder)


def by_hand(tmp_path, name):
    """A shrunk plan of the tests of scripts, in a file."""
    data = json.loads((PLANS / f"{name}.json").read_text())
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps(data["plan"]))
    return "--plan", file, "--variant", data["variant"], "--anomaly", data["anomaly"], "--out", tmp_path / "shrunk.json"


@pytest.mark.systems
def test_what_is_left_is_written_as_a_script_that_comes_out_as_it_says(shrink, tmp_path):
    script = tmp_path / "my fork.scenario"
    words = (*by_hand(tmp_path, "kip-279-divergence"), "--replays", 60, "--script", script)
    code, told = shrink(*words)

    assert code == 1
    assert f"tidemark scenario '{script}'" in told
    assert "shown by that script, and in 8 of 8 simulated worlds" in told
    scenario = read_scenario(script)
    assert scenario.name == "my-fork"
    assert run_scenario(scenario, "kafka-0.11").mismatches == []


def test_json_says_where_the_script_is_or_why_there_is_none(shrink, tmp_path):
    words = (*by_hand(tmp_path, "no-script"), "--replays", 1, "--script", tmp_path / "no.scenario", "--json")
    code, told = shrink(*words)

    found = json.loads(told)
    assert code == 1
    assert (found["script"], found["script_shown_in_hard_worlds"]) == (None, None)
    assert "scripts shows it again" in found["no_script"]
    assert not (tmp_path / "no.scenario").exists()


@pytest.mark.systems
def test_a_script_that_cannot_be_written_is_a_sentence(shrink, tmp_path):
    words = (*by_hand(tmp_path, "kip-279-divergence"), "--replays", 1, "--script", tmp_path / "none" / "x.scenario")
    with pytest.raises(click.ClickException, match=r"cannot write .*choose another with --script"):
        shrink(*words)
