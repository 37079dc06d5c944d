"""The folder of a run: what is written is what is read."""

import json

import pytest

from checkers import HistoryFormatError, check
from harness.runs.folder import load_history, store_history, store_verdict
from harness.simulator import simulate
from nemesis import generate_plan, read_plan
from nodes.core.cluster import ClusterSpec
from nodes.core.variant import parse_variant


@pytest.fixture(scope="module")
def plan():
    return generate_plan(1, 3, "destructive", ClusterSpec())


@pytest.fixture(scope="module")
def run(plan):
    return simulate(plan, parse_variant("kafka-2.7"))


@pytest.fixture
def folder(tmp_path, plan, run):
    """A stored run, in a folder that was made for it."""
    folder = tmp_path / "runs" / "one"
    store_history(folder, plan, run.history)
    return folder


def test_plan_and_history_are_there_before_the_verdict(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["history.jsonl", "plan.json"]


def test_the_plan_is_the_plan(folder, plan):
    assert read_plan(folder / "plan.json") == plan


def test_the_history_is_the_history(folder, run):
    assert load_history(folder) == load_history(folder / "history.jsonl")
    assert check(load_history(folder)).to_json() == check(run.history).to_json()
    assert len(load_history(folder).trace) == len(run.history.trace)


def test_the_verdict_is_stored_with_the_digest(folder, run):
    verdict = check(run.history)
    store_verdict(folder, verdict, run.digest)

    assert json.loads((folder / "verdict.json").read_text()) == {**verdict.to_json(), "digest": run.digest}


def test_a_history_from_elsewhere_has_no_digest(folder, run):
    store_verdict(folder, check(run.history))

    assert "digest" not in json.loads((folder / "verdict.json").read_text())


def test_a_last_line_that_was_cut_off_is_left_out(folder):
    path = folder / "history.jsonl"
    whole = load_history(folder)
    path.write_bytes(path.read_bytes()[:-10])
    cut = load_history(folder)

    assert len(cut.trace) == len(whole.trace) - 1


def test_a_file_that_is_no_history_is_an_error(tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"kind": "shopping-list"}\n{"kind": "meta"}\n')
    with pytest.raises(HistoryFormatError):
        load_history(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_history(tmp_path / "nothing.jsonl")


def test_storing_again_replaces(folder, plan, run):
    before = (folder / "history.jsonl").read_bytes()
    store_history(folder, plan, run.history)

    assert (folder / "history.jsonl").read_bytes() == before
