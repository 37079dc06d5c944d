"""The folder of a run: what is written is what is read."""

import json
from random import Random

import pytest

from tidemark.checkers import HistoryFormatError, check, parse_history
from tidemark.harness.runs.folder import load_history, store_history, store_verdict, store_verdict_again
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan, read_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant


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


def test_the_verdict_of_a_whole_history_keeps_the_digest(folder, run):
    store_verdict(folder, check(run.history), run.digest)
    history = load_history(folder)
    store_verdict_again(folder, check(history), history)

    assert json.loads((folder / "verdict.json").read_text())["digest"] == run.digest


def test_the_verdict_of_a_part_of_it_does_not(folder, run):
    store_verdict(folder, check(run.history), run.digest)
    path = folder / "history.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-7]))
    history = load_history(folder)
    store_verdict_again(folder, check(history), history)

    assert "digest" not in json.loads((folder / "verdict.json").read_text())


def test_a_last_line_that_was_cut_off_is_left_out(folder):
    path = folder / "history.jsonl"
    whole = load_history(folder)
    path.write_bytes(path.read_bytes()[:-10])
    cut = load_history(folder)

    assert len(cut.trace) == len(whole.trace) - 1
    assert cut.cut_off.startswith("the history ends after ")


# Lines that are taken away

LOSING = generate_plan(0, 2, "destructive", ClusterSpec())


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The file of a run in which kafka-0.10 loses acknowledged records."""
    folder = tmp_path_factory.mktemp("losing")
    store_history(folder, LOSING, simulate(LOSING, parse_variant("kafka-0.10")).history)
    lines = (folder / "history.jsonl").read_text().splitlines(keepends=True)
    assert judged(lines) == "invalid"
    return lines


def judged(lines):
    return check(parse_history(lines, allow_torn_tail=True)).valid


@pytest.mark.parametrize("part", range(25))
def test_a_part_from_the_beginning_is_never_valid(lines, part):
    assert judged(lines[: len(lines) * part // 25]) in {"unknown", "invalid"}


@pytest.mark.parametrize("part", range(1, 25))
def test_a_part_up_to_the_end_is_unknown(lines, part):
    assert judged(lines[len(lines) * part // 25 :]) == "unknown"


@pytest.mark.parametrize("kind", ["meta", "op", "trace", "nemesis"])
def test_all_lines_of_a_kind_and_none_but_those(lines, kind):
    this = f'{{"kind":"{kind}"'
    kept = [line for line in lines if not line.startswith(this)]

    assert len(kept) < len(lines)
    assert judged(kept) == judged([line for line in lines if line.startswith(this)]) == "unknown"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_taken_away_nothing_is_proven(lines, seed):
    random = Random(seed)
    share = random.choice([0.001, 0.01, 0.3, 0.99])
    kept = [line for line in lines if random.random() >= share]

    assert judged(kept) == ("unknown" if len(kept) < len(lines) else "invalid")


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
