"""``tidemark soak``, with the simulator in place of real brokers."""

import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tidemark.checkers import check
from tidemark.cli import soak as module
from tidemark.cli.soak import soak_command
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import EngineError
from tidemark.harness.machines.interrupts import terminated_like_interrupted
from tidemark.harness.runs.folder import store_history
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis.plan import read_plan

SOME = ("--systems", "kafka:2.8.2@0.10.2,kafka:4.1.1", "--profiles", "intact,destructive", "--plans", "2")
"""Eight runs."""


class Simulated:
    """A session in which the simulator runs the plans."""

    def __init__(self, run):
        self._run = run

    def open(self):
        pass

    def execute(self, plan, variant, contract=None, *, folder):
        self._run.ran += 1
        self._run.before()
        found = execute(plan, variant.name)
        store_history(folder, plan, found.history)
        return found


@pytest.fixture
def run(monkeypatch, tmp_path):
    @contextmanager
    def open_session(system, brokers, tell, *, go_on):
        run.opened.append((system.name, brokers))
        run.going_on.append(go_on)
        try:
            yield Simulated(run)
        finally:
            run.closed.append(system.name)

    def run(*arguments):
        run.opened, run.closed, run.going_on, run.ran = [], [], [], 0
        return CliRunner().invoke(
            soak_command, ["--out", str(run.folder), "--jobs", "1", *arguments], standalone_mode=False
        )

    monkeypatch.setattr(module, "open_session", open_session)
    run.opened, run.closed, run.folder, run.before = [], [], tmp_path / "soak", lambda: None
    return run


@pytest.fixture
def ctrl_c_interrupts():
    """As in a terminal; a shell starts what it puts in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_every_system_under_every_profile(run):
    told = run(*SOME, "--json")
    cells = json.loads(told.stdout)["cells"]

    assert told.return_value == 0
    assert [(one["system"], one["profile"], one["runs"]) for one in cells] == [
        (system, profile, 2)
        for system in ("kafka:2.8.2@0.10.2", "kafka:4.1.1")
        for profile in ("intact", "destructive")
    ]
    assert run.opened == [("kafka:2.8.2@0.10.2", 3), ("kafka:4.1.1", 3)]
    assert run.closed == ["kafka:2.8.2@0.10.2", "kafka:4.1.1"]
    assert len(list(run.folder.glob("*/*/*/history.jsonl"))) == 8


def test_the_same_command_again_runs_nothing_and_says_the_same(run):
    first, second = run(*SOME), run(*SOME)

    assert (run.ran, run.opened) == (0, [])
    assert first.stdout == second.stdout
    assert "8 of 8 runs are done" in second.stdout


def test_more_plans_are_run_on_top(run):
    run(*SOME)
    run(*SOME[:-1], "3")

    assert run.ran == 4


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_and_goes_on(run, how, ctrl_c_interrupts):
    def end():
        if run.ran == 6:
            os.kill(os.getpid(), how)

    run.before = end
    with terminated_like_interrupted():
        told = run(*SOME)

    assert told.return_value == 130
    assert run.closed == ["kafka:2.8.2@0.10.2", "kafka:4.1.1"]
    assert "5 of 8 runs are done" in told.stderr
    assert f"Give the same command again to go on in {run.folder}." in told.stderr

    run.before = lambda: None
    assert run(*SOME).return_value == 0
    assert run.ran == 3


def test_a_run_that_breaks_off_is_told_and_the_others_go_on(run):
    def fail():
        if run.ran == 2:
            raise RunError("b1 is gone")

    run.before = fail
    told = run(*SOME)

    assert told.return_value == 0
    assert "2 of 8: kafka:2.8.2@0.10.2, intact, plan 1: unknown: b1 is gone" in told.stderr
    assert "1 unknown" in told.stdout


def test_without_an_engine_it_is_one_sentence(run):
    def gone():
        raise EngineError("there is no engine")

    run.before = gone
    told = run(*SOME)

    assert told.exception.format_message() == f"there is no engine; what was run is kept in {run.folder}"
    assert run.ran == 1


def test_nothing_is_run_where_only_the_state_is_asked_for(run):
    told = run(*SOME, "--no-run")

    assert (told.return_value, run.opened) == (0, [])
    assert "0 of 8 runs are done" in told.stdout
    assert list(run.folder.iterdir()) == []


def test_what_is_kept_is_judged_again(run, monkeypatch):
    run(*SOME)
    monkeypatch.setattr(
        "tidemark.harness.soak.judge_again.check", lambda history: replace(check(history), valid="unknown")
    )
    told = run(*SOME, "--no-run", "--judge-again")

    assert run.ran == 0
    assert "0 valid, 0 violated, 8 unknown" in told.stdout
    assert "kafka:4.1.1, intact, plan 0: unknown now, " in told.stderr
    assert "8 unknown" in run(*SOME, "--no-run").stdout


def test_the_page_is_written(run, tmp_path):
    page = tmp_path / "pages" / "soak.md"
    run(*SOME, "--page", str(page))
    text = page.read_text(encoding="utf-8")

    assert "8 runs in" in text
    assert f"    tidemark soak {' '.join(SOME)} --out {run.folder} --page {page}\n" in text
    assert text.count("| kafka:4.1.1 | `") >= 2

    page.unlink()
    run(*SOME, "--no-run", "--json", "--page", str(page))
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--systems", "kafka:2.8"), "is not a whole version of Kafka"),
        (("--systems", ","), "--systems names none"),
        (("--systems", "moon"), "there is no system 'moon'"),
        (("--profiles", "gentle"), "'gentle' is no profile and no kind of fault: it takes one of intact, destructive"),
        (("--profiles", ","), "'' is no profile and no kind of fault"),
        (("--brokers", "2", "--replication-factor", "3"), "impossible cluster"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(run, arguments, words):
    told = run(*arguments)

    assert words in told.exception.format_message()
    assert run.opened == []


def test_faults_and_clients_are_as_was_asked_and_make_other_runs(run):
    one = ("--systems", "tidemark", "--profiles", "intact", "--plans", "1")
    asked = (*one, "--intensity", "6", "--producers", "5", "--rate", "20", "--batch", "2", "--duration", "1.5")
    run(*one)
    run(*asked)
    plain, busy = sorted(
        (read_plan(path) for path in run.folder.glob("*/*/*/plan.json")), key=lambda it: len(it.faults)
    )

    assert run.ran == 1
    assert len(busy.faults) > len(plain.faults)
    assert (busy.workload.producers, busy.workload.interval_us, busy.workload.batch) == (5, 50_000, 2)
    assert busy.faults_end_us == 1_500_000
    run(*asked, "--page", str(run.folder / "page.md"))
    assert run.ran == 0
    assert (
        " --intensity 6.0 --producers 5 --rate 20.0 --batch 2 --duration 1.5 " in (run.folder / "page.md").read_text()
    )


def test_nodes_go_on_unless_they_are_to_be_fresh(run):
    run("--systems", "tidemark", "--profiles", "intact", "--plans", "1")
    assert run.going_on == [True]
    run("--systems", "tidemark", "--profiles", "intact", "--plans", "2", "--fresh")
    assert run.going_on == [False]
