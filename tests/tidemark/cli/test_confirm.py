"""``tidemark hunt --script`` and ``--confirm``, with simulated targets in place of containers."""

import io
import json
import re
import shutil
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest
from click import ClickException

from tidemark.cli import confirm, main
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario import read_scenario, run_scenario
from tidemark.harness.scenario.live.target_factory import LiveTargets
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.target import CannotPlayError, ScriptError
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nodes.core.variant import parse_variant

HUNT = ("hunt", "--variant", "kafka-0.11", "--for", "divergence", "--seed", "2", "--jobs", "1")
FIND = "results/hunts/kafka-0.11-intact-2/confirmed"


@pytest.fixture(scope="module")
def hunted(tmp_path_factory):
    """A folder with a hunt that has its script."""
    folder = tmp_path_factory.mktemp("hunted")
    with pytest.MonkeyPatch.context() as patch:
        code, said, _ = _run(patch, folder, *HUNT, "--script")
    assert code == 1, said
    return folder


def _run(patch, folder, *words):
    out, error = io.StringIO(), io.StringIO()
    patch.chdir(folder)
    patch.setenv("COLUMNS", "300")
    patch.setattr(sys, "argv", ["tidemark", *words])
    with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
        main()
    return end.value.code, out.getvalue(), error.getvalue()


@pytest.fixture
def cli(hunted, tmp_path, monkeypatch):
    """Runs the program beside a copy of the hunt; `plays` are the tries, which `become` may replace, `closed` the machines."""
    shutil.copytree(hunted, tmp_path, dirs_exist_ok=True)
    plays, closed = [], []

    @contextmanager
    def containers(brokers, system, **_):
        yield SimpleNamespace(open=lambda: SimpleNamespace(machines={}), close=lambda: closed.append(brokers))

    @contextmanager
    def engine():
        yield None

    def target(self, scenario, variant):
        plays.append(variant.name)
        return run.becomes(scenario, variant)

    monkeypatch.setattr(confirm, "containers", containers)
    monkeypatch.setattr("tidemark.cli.docker_client.engine", engine)
    monkeypatch.setattr(TidemarkSystem, "install", lambda self, client, tell: "image")
    monkeypatch.setattr(LiveTargets, "target", target)

    def run(*words):
        return _run(monkeypatch, tmp_path, *HUNT, *words)

    run.becomes = SimulatedTarget
    run.plays, run.closed = plays, closed
    run.found = next((tmp_path / FIND).iterdir())
    return run


@pytest.mark.systems
def test_what_was_caught_becomes_a_script_that_can_be_played(hunted):
    (script,) = hunted.glob(f"{FIND}/*/found.scenario")

    played = run_scenario(read_scenario(script), "kafka-0.11")

    assert played.mismatches == []
    assert "divergence" in [anomaly.name for anomaly in played.verdict.anomalies]


def test_it_is_played_so_often_and_a_page_says_what_came_of_it(cli):
    code, said, told = cli("--confirm", "containers", "--times", "2")

    assert code == 1
    assert cli.plays == ["kafka-0.11", "kafka-0.11"]
    assert "divergence seen in 2 of 2 tries on containers" in said
    assert "try 1 of 2 on containers: seen (invalid" in told
    page = (cli.found / "containers" / "confirmed.html").read_text()
    assert "divergence seen in 2 of 2 tries on containers." in page
    assert "nothing about how often it happens in practice" in page
    assert "&gt; until " in page
    assert not re.search(r"<th[^>]*></th>", page)  # a screen reader would read nothing
    summary = (cli.found / "containers" / "confirmed.md").read_text()
    assert summary.startswith("# divergence on containers")
    assert "| 2 | seen (invalid" in summary
    assert "--world docker --times 2" in summary


def test_json_has_all_of_it(cli):
    code, said, _ = cli("--confirm", "containers", "--times", "1", "--json")

    found = json.loads(said)["confirmed"]
    assert code == 1
    assert (found["system"], found["seen"], found["wanted"]) == ("containers", 1, 1)
    assert [one["seen"] for one in found["tries"]] == [True]
    assert found["model"]["anomaly"] == "divergence"
    assert found["model"]["outcome"]["verdict"]["valid"] == "invalid"


def test_the_same_command_makes_only_the_tries_that_are_missing(cli):
    cli("--confirm", "containers", "--times", "2")
    cli.plays.clear()

    code, said, _ = cli("--confirm", "containers", "--times", "3")

    assert (code, len(cli.plays)) == (1, 1)
    assert "seen in 3 of 3 tries" in said


def test_what_is_not_seen_on_the_brokers_is_said_and_is_unknown(cli):
    cli.becomes = lambda scenario, variant: SimulatedTarget(scenario, parse_variant("kafka-2.7"))

    code, said, _ = cli("--confirm", "containers", "--times", "2")

    assert code == 2
    assert "divergence seen in 0 of 2 tries on containers" in said
    assert "not seen" in (cli.found / "containers" / "confirmed.html").read_text()


def test_ctrl_c_keeps_the_tries_that_were_made(cli):
    def second_is_ended(scenario, variant):
        if len(cli.plays) == 2:
            raise KeyboardInterrupt
        return SimulatedTarget(scenario, variant)

    cli.becomes = second_is_ended
    code, said, _ = cli("--confirm", "containers", "--times", "3")
    assert code == 130
    assert "the same command goes on" in said
    assert "2 of 3 not made yet" in (cli.found / "containers" / "confirmed.md").read_text()

    cli.becomes = SimulatedTarget
    cli.plays.clear()
    code, said, _ = cli("--confirm", "containers", "--times", "3")
    assert (code, len(cli.plays)) == (1, 2)


def test_a_try_that_could_not_be_carried_out_is_told_and_made_again(cli):
    def first_fails(scenario, variant):
        if len(cli.plays) == 1:
            raise NodeError("broker 2 does not answer")
        return SimulatedTarget(scenario, variant)

    cli.becomes = first_fails
    code, said, told = cli("--confirm", "containers", "--times", "2")
    assert code == 1
    assert "seen in 1 of 2 tries on containers (1 could not be carried out)" in said
    assert "try 1 of 2 on containers: not carried out: broker 2 does not answer" in told
    assert len(cli.closed) == 1

    code, said, _ = cli("--confirm", "containers", "--times", "2")
    assert "seen in 2 of 2 tries on containers" in said


def test_machines_that_always_fail_end_it(cli):
    def fails(scenario, variant):
        raise NodeError("no route")

    cli.becomes = fails
    code, _, told = cli("--confirm", "containers", "--times", "9")

    assert code == 254
    assert len(cli.plays) == 3
    assert "3 tries in a row could not be carried out: no route" in told


def test_a_script_that_a_system_cannot_play_is_a_sentence(cli):
    def cannot(scenario, variant):
        raise CannotPlayError("retention cannot be had there")

    cli.becomes = cannot
    code, said, told = cli("--confirm", "containers", "--times", "2", "--until-found", "--tries", "32")

    assert code == 2
    words = "found.scenario cannot be played on containers: retention cannot be had there"
    assert f"{words}; the next that was caught is tried" in told
    assert "no script: " in said
    assert words in said


def stops_in(cli, *tries):
    """Targets that do not come to the script's end in these tries."""

    class Stops(SimulatedTarget):
        def boot(self):
            raise ScriptError("B does not start")

    def target(scenario, variant):
        return (Stops if len(cli.plays) in tries else SimulatedTarget)(scenario, variant)

    return target


def test_a_script_that_does_not_come_to_its_end_twice_makes_way_for_the_next(cli):
    cli.becomes = stops_in(cli, *range(9))
    code, _, told = cli("--confirm", "containers", "--times", "5", "--until-found", "--tries", "32")

    assert code == 2
    assert len(cli.plays) == 2
    assert "try 4 of 5" not in told
    assert "2 of 2 tries of " in told
    assert "did not come to its end: line 0: B does not start; the next that was caught is tried" in told


def test_where_no_script_is_better_it_is_played_on(cli):
    cli.becomes = stops_in(cli, 1, 3)
    code, said, told = cli("--confirm", "containers", "--times", "5", "--until-found", "--tries", "32")

    assert code == 1
    assert "2 of 3 tries of " in told
    assert "no script is better: " in told
    assert "seen in 3 of 5 tries on containers (2 did not come to the script's end)" in said


def test_one_try_in_ten_may_stop(cli):
    cli.becomes = stops_in(cli, 2)
    code, said, _ = cli("--confirm", "containers", "--times", "4")

    assert code == 1
    assert "seen in 3 of 4 tries on containers (1 did not come to the script's end)" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--times", "2"), "--times needs --confirm"),
        (("--confirm", "rabbit"), "rabbit"),
        (("--confirm", "kafka:4.3.1"), "kafka-0.11"),
        (("--confirm", "containers", "--times", "0"), "0 is not in the range"),
        (("--confirm", "containers", "--partitions", "2"), "scripts speak about one partition"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anybody_searches(cli, words, sentence):
    code, said, told = cli(*words)

    assert (code, said) == (254, "")
    assert sentence in told


def test_without_an_engine_nobody_searches(cli, monkeypatch):
    @contextmanager
    def engine():
        raise ClickException("there is no Docker engine: start one")
        yield

    monkeypatch.setattr("tidemark.cli.docker_client.engine", engine)
    code, said, told = cli("--confirm", "containers", "--fresh")

    assert (code, said) == (254, "")
    assert "there is no Docker engine" in told
    assert cli.found.exists()


def test_fresh_forgets_scripts_and_tries(cli):
    cli("--confirm", "containers", "--times", "1")

    code, _, _ = cli("--profile", "intact", "--fresh", "--tries", "1")

    assert not cli.found.exists()
    assert code in (0, 1)
