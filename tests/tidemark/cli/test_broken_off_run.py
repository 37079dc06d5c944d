"""``tidemark run`` when the run could not be carried out to its end: unknown, and the folder says why."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from tidemark.cli import main
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live import progress
from tidemark.harness.machines.errors import ClusterError
from tidemark.harness.runs.folder import store_plan

WHY = "the controller's process ended: [ERROR] no space [bold] left"


class BreakingSession:
    """A session of containers in which every run breaks off, after its plan was stored."""

    error = None

    def __init__(self, brokers, **how):
        self.progress = progress.RunProgress()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def execute(self, plan, variant, contract=None, *, folder):
        store_plan(folder, plan)
        raise self.error


@pytest.fixture
def tidemark(monkeypatch, tmp_path):
    """Runs the program in an empty folder; its containers break off with this error."""
    monkeypatch.setattr("tidemark.harness.live.session.ContainerSession", BreakingSession)
    monkeypatch.setattr("tidemark.harness.machines.leftovers.offer_cleanup", lambda console: None)

    def run(*words, error):
        out, complaint = StringIO(), StringIO()
        monkeypatch.setattr(BreakingSession, "error", error)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr(sys, "argv", ["tidemark", "run", *words])
        with redirect_stdout(out), redirect_stderr(complaint), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), complaint.getvalue()

    return run


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (("--world", "docker"), "results/runs/kafka-2.7-1-0-docker"),
        (("--system", "kafka:4.1.1", "--index", "2"), "results/runs/kafka-4.0-1-2-kafka-4.1.1"),
    ],
)
def test_a_run_that_broke_off_is_unknown_and_its_folder_says_why(tidemark, tmp_path, words, folder):
    code, out, _ = tidemark(*words, error=RunError(WHY))

    assert code == 2
    assert out == f"unknown: {WHY}\n  what evidence there is: {folder}\n"  # as it is: no markup, no line breaks
    verdict = json.loads((tmp_path / folder / "verdict.json").read_text())
    assert (verdict["valid"], verdict["unknown_because"], verdict["anomalies"]) == ("unknown", WHY, [])
    assert "digest" not in verdict
    assert (tmp_path / folder / "plan.json").exists()


def test_its_json_says_the_same(tidemark, tmp_path):
    code, out, _ = tidemark("--world", "docker", "--out", "here", "--json", error=RunError(WHY))
    told = json.loads(out)

    assert code == 2
    assert (told["variant"], told["folder"], told["valid"], told["unknown_because"]) == (
        "kafka-2.7",
        "here",
        "unknown",
        WHY,
    )


def test_it_does_not_keep_the_digest_of_an_earlier_run_in_the_same_folder(tidemark, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "verdict.json").write_text('{"valid": "valid", "digest": "of another history"}')
    tidemark("--world", "docker", "--out", "here", error=RunError(WHY))

    assert "digest" not in json.loads((folder / "verdict.json").read_text())


def test_machines_that_cannot_be_had_are_no_run_at_all(tidemark, tmp_path):
    code, out, complaint = tidemark(
        "--world", "docker", "--out", "here", error=ClusterError("cannot bring the containers up")
    )

    assert (code, out) == (254, "")
    assert "cannot bring the containers up" in complaint
    assert not (tmp_path / "here" / "verdict.json").exists()
