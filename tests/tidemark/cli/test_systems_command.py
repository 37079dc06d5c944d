"""``tidemark systems``, with the simulator in place of real systems."""

import json
import re
from contextlib import contextmanager
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tidemark.cli import systems as module
from tidemark.cli.systems import systems_command
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import EngineError
from tidemark.harness.runs.folder import store_history
from tidemark.harness.simulator.execute import execute
from tidemark.harness.survey.page import anchor

SOME = ("--systems", "kafka:4.3.1,tidemark:raft", "--troubles", "kill,power-all", "--plans", "2")
"""Eight runs."""


class Simulated:
    """A session in which the simulator runs the plans."""

    def __init__(self, run):
        self._run = run

    def open(self):
        pass

    def execute(self, plan, variant, contract=None, *, folder):
        self._run.ran.append((variant.name, plan.profile, plan.index))
        self._run.before()
        found = execute(replace(plan, workload=replace(plan.workload, interval_us=400_000)), variant.name)
        store_history(folder, plan, found.history)
        return found


@pytest.fixture
def run(monkeypatch, tmp_path):
    @contextmanager
    def open_session(system, brokers, tell):
        run.opened.append(system.name)
        yield Simulated(run)

    def run(*arguments):
        run.opened, run.ran = [], []
        return CliRunner().invoke(systems_command, ["--out", str(run.folder), *arguments], standalone_mode=False)

    monkeypatch.setattr(module, "open_session", open_session)
    run.opened, run.ran, run.folder, run.before = [], [], tmp_path / "runs", lambda: None
    return run


def test_every_trouble_on_every_system(run):
    told = run(*SOME, "--json")
    cells = json.loads(told.stdout)["cells"]

    assert told.return_value == 0
    assert [(one["system"], one["trouble"], one["runs"] + one["unknown"]) for one in cells] == [
        (system, trouble, 2) for system in ("kafka:4.3.1", "tidemark:raft") for trouble in ("kill", "power-all")
    ]
    assert run.ran[:4] == [
        ("kafka-4.0", "kill", 0),
        ("kafka-4.0", "power-all", 0),
        ("raft", "kill", 0),
        ("raft", "power-all", 0),
    ]
    assert all(one["acked"] > 0 and len(one["silent_us"]) == one["runs"] for one in cells if one["runs"])


def test_the_same_command_again_runs_nothing_and_says_the_same(run):
    first, second = run(*SOME), run(*SOME)

    assert (run.ran, run.opened) == ([], [])
    assert first.stdout == second.stdout
    assert "0 still to come" in second.stdout


def test_it_can_be_ended_and_goes_on(run):
    def end():
        if len(run.ran) == 3:
            raise KeyboardInterrupt

    run.before = end
    told = run(*SOME)
    assert told.return_value == 130
    assert f"Give the same command again to go on in {run.folder}." in told.stderr

    run.before = lambda: None
    assert run(*SOME).return_value == 0
    assert len(run.ran) == 6


def test_how_it_stands_is_told_without_a_run(run):
    told = run(*SOME, "--no-run")

    assert told.return_value == 0
    assert run.ran == []
    assert "8 still to come" in told.stdout


def test_a_run_that_breaks_off_is_unknown_and_said_to_be(run, tmp_path):
    def fail():
        if len(run.ran) == 1:
            raise RunError("b2 did not start | in time")

    run.before = fail
    run(*SOME, "--page", str(tmp_path / "page.md"))

    page = (tmp_path / "page.md").read_text()
    assert "| kafka:4.3.1 | kill | 1 | b2 did not start \\| in time |" in page


def test_without_an_engine_it_ends_with_a_sentence(run):
    def gone():
        raise EngineError("the Docker engine does not answer")

    run.before = gone
    told = run(*SOME)

    assert told.exception.format_message() == (
        f"the Docker engine does not answer; what was run is kept in {run.folder}"
    )


def test_the_page_leads_to_a_story_of_every_cell(run, tmp_path):
    page = tmp_path / "docs" / "real.md"
    told = run(*SOME, "--page", str(page))
    text, stories = page.read_text(), page.with_name("real-runs.md").read_text()

    assert told.return_value == 0
    assert f"written: {page}" in told.stderr
    links = re.findall(r"\[\d of \d\]\(real-runs\.md#([\w-]+)\)", text)
    headings = re.findall(r"^## (.*)$", stories, re.MULTILINE)
    assert links
    assert sorted(links) == sorted(map(anchor, headings))
    assert "    tidemark systems --systems kafka:4.3.1,tidemark:raft --troubles kill,power-all --plans 2 --out" in text
    assert "tidemark run --world docker --variant raft --plan" in stories


def test_the_same_results_give_the_same_page(run, tmp_path):
    first, second = tmp_path / "a" / "real.md", tmp_path / "b" / "real.md"
    run(*SOME, "--page", str(first))
    run(*SOME, "--page", str(second))

    assert first.read_text().replace("/a/", "/b/") == second.read_text()


@pytest.mark.systems
def test_what_was_lost_is_drawn_where_that_is_asked_for(run):
    cells = json.loads(run(*SOME, "--reports", "--json").stdout)["cells"]
    lossy = [one["told"] for one in cells if one["lost"]]

    assert lossy
    assert sorted(path.parent.relative_to(run.folder).as_posix() for path in run.folder.rglob("report.html")) == sorted(
        lossy
    )
