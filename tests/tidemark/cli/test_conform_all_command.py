"""``tidemark conform --all``, with simulated targets in place of Kafka's brokers."""

import json
import os
import signal
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from tidemark.cli import conform_all as module
from tidemark.cli.conform import conform_command
from tidemark.harness.conform.players import MachinePlayer
from tidemark.harness.machines.errors import EngineError
from tidemark.harness.machines.interrupts import terminated_like_interrupted
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import ScriptError
from tidemark.nodes.core.variant import parse_variant

SOME = ("--systems", "kafka:2.8.2@1.1,kafka:4.1.1", "--scripts", "kip-101-*divergence,divergence-case-a")
"""Four pairs that can be played, and two that cannot."""


class LowHighWatermark(SimulatedTarget):
    """Says of the second broker that its high watermark is lower by one."""

    def state(self, broker):
        seen = super().state(broker)
        return seen._replace(hw=seen.hw - 1) if broker == 2 else seen


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs the command; `run.opened` names the systems that were brought up, `run.target` makes the targets."""

    models = {}

    @contextmanager
    def open_kafka(system, brokers, time_scale, folders):
        models[system.default_variant] = system.model(system.default_variant)[0]
        run.opened.append((system.name, brokers, time_scale))
        try:
            yield MachinePlayer("kafka", lambda: played, lambda: None, real=True)
        finally:
            run.closed.append(system.name)

    def played(scenario, variant):
        run.played += 1
        return run.target(scenario, parse_variant(models[variant.name]))

    def run(*arguments, out=tmp_path / "results"):
        run.opened, run.closed, run.played = [], [], 0
        return CliRunner().invoke(conform_command, ["--all", "--out", str(out), *arguments], standalone_mode=False)

    monkeypatch.setattr(module, "open_kafka", open_kafka)
    run.opened, run.closed, run.target, run.folder = [], [], SimulatedTarget, tmp_path / "results"
    return run


@pytest.fixture
def ctrl_c_interrupts():
    """As in a terminal; a shell starts what it puts in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def standings(told):
    return [one["standing"] for one in json.loads(told.stdout)["pairs"]]


def test_what_some_scripts_come_to_on_some_systems(run):
    told = run(*SOME, "--json")

    assert told.return_value == 0
    assert standings(told) == ["cannot be played", "equal", "equal"] * 2
    assert run.opened == [("kafka:2.8.2@1.1", 2, 1.0), ("kafka:4.1.1", 2, 1.0)]
    assert run.closed == ["kafka:2.8.2@1.1", "kafka:4.1.1"]
    assert json.loads(told.stdout)["totals"] == {
        "pairs": 4,
        "played": 4,
        "equal": 4,
        "explained": 0,
        "unexplained": 0,
        "failed": 0,
        "missing": 0,
        "cannot": 2,
        "tries": 4,
    }


def test_the_same_command_again_plays_nothing_and_says_the_same(run):
    first, second = run(*SOME), run(*SOME)

    assert (run.played, run.opened) == (0, [])
    assert first.stdout == second.stdout
    assert "4 of 4 pairs played: 4 equal, 0 explained, 0 unexplained; 2 cannot be played" in second.stdout


def test_more_tries_are_played_on_top(run):
    run(*SOME)
    told = run(*SOME, "--tries", "3", "--json")

    assert run.played == 8
    assert {one["tries"] for one in json.loads(told.stdout)["pairs"]} == {0, 3}


def test_an_unexplained_difference_is_an_exit_code(run):
    run.target = LowHighWatermark
    told = run(*SOME)

    assert told.return_value == 1
    assert "0 equal, 0 explained, 4 unexplained" in told.stdout
    assert "unexplained: kip-101-divergence on kafka:2.8.2@1.1: HW of B: the model has 2, Kafka 1" in told.stdout


def test_what_could_not_be_played_is_another(run):
    def fails(scenario, variant):
        raise ScriptError("nobody votes")

    run.target = fails
    told = run(*SOME)

    assert told.return_value == 2
    assert "0 of 4 pairs played: 0 equal, 0 explained, 0 unexplained; 4 could not be carried out" in told.stdout
    assert "kip-101-divergence under kafka-4.0 as kafka:4.1.1@4.1: not carried out: nobody votes" in told.stderr

    run.target = SimulatedTarget
    assert run(*SOME).return_value == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_and_goes_on(run, how, ctrl_c_interrupts):
    def ended(scenario, variant):
        if run.played == 3:
            os.kill(os.getpid(), how)
        return SimulatedTarget(scenario, variant)

    run.target = ended
    with terminated_like_interrupted():
        told = run(*SOME)

    assert told.return_value == 130
    assert run.closed == ["kafka:2.8.2@1.1", "kafka:4.1.1"]
    assert "2 of 4 pairs played" in told.stderr
    assert f"Give the same command again to go on in {run.folder}." in told.stderr

    run.target = SimulatedTarget
    assert run(*SOME).return_value == 0
    assert run.played == 2


def test_without_an_engine_it_is_one_sentence(run):
    def gone(scenario, variant):
        raise EngineError("there is no engine")

    run.target = gone
    told = run(*SOME)

    assert told.exception.format_message() == f"there is no engine; what was played is kept in {run.folder}"


def test_nothing_is_played_where_only_the_state_is_asked_for(run):
    told = run(*SOME, "--no-play", "--json")

    assert (told.return_value, run.opened) == (2, [])
    assert standings(told) == ["cannot be played", "not played", "not played"] * 2
    assert [path.name for path in run.folder.iterdir()] == []

    run("--systems", "kafka:4.1.1", "--scripts", "kip-101-divergence")
    assert standings(run(*SOME, "--no-play", "--json"))[3:] == ["cannot be played", "equal", "not played"]


def test_the_page_is_written_from_what_is_kept(run, tmp_path):
    page = tmp_path / "pages" / "results.md"
    told = run(*SOME, "--page", str(page))
    text = page.read_text(encoding="utf-8")

    assert told.return_value == 0
    assert f"written: {page}" in "".join(told.stderr.splitlines())
    assert "| script | kafka:2.8.2@1.1 | kafka:4.1.1@4.1 |" in text
    assert "| `kip-101-divergence` | equal | equal |" in text

    page.unlink()
    run("--systems", "kafka:4.1.1", "--no-play", "--page", str(page))
    assert page.read_text(encoding="utf-8") == text


def test_nothing_is_played_in_a_folder_that_somebody_holds_alone(run):
    from tidemark.harness.runs.kept_results import KeptResults

    with KeptResults(run.folder).held(alone=True):
        told = run(*SOME)

    assert "another tidemark writes into" in told.exception.format_message()
    assert run.played == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kip-101-divergence",), "give SCENARIO names or --all, not both"),
        (("--worlds", "sim,kafka"), "--worlds cannot be given with --all"),
        (("--html", "x.html"), "--html cannot be given with --all"),
        (("--scripts", "nothing-*"), "no script is called 'nothing-*'"),
        (("--systems", "kafka:2.8"), "is not a whole version of Kafka"),
        (("--systems", "tidemark"), "names no Kafka"),
        (("--systems", ","), "--systems names none"),
        (("--systems", "kafka:3.3.2"), "nothing to play"),
        (("--no-play", "--page", "x.md", "--scripts", "kip-101-*"), "to write a page about"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    told = run(*arguments)

    assert words in told.exception.format_message()
    assert run.opened == []


@pytest.mark.parametrize("option", ["--systems", "--scripts", "--out", "--page"])
def test_what_is_for_all_is_refused_without(option):
    told = CliRunner().invoke(conform_command, [option, "x"], standalone_mode=False)

    assert told.exception.format_message() == f"{option} needs --all"
