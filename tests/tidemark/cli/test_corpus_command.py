"""``tidemark run --corpus``, and who puts something there."""

import io
import json
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tidemark.cli import main

LOSES = """{"index": 259, "seed": 1, "fixed_delay_us": 2000, "faults_end_us": 400000,
 "workload": {"producers": 1, "consumers": 0, "sends": [{"at_us": 100000}]},
 "faults": [{"kind": "fast-failover", "at_us": 400000, "target": "follower", "pick": 3}]}"""


@pytest.fixture
def cli(tmp_path, monkeypatch):
    """Run the program in a folder of its own; gives exit code, output and complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def run(*words):
        out, error = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["tidemark", *words])
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        return end.value.code, out.getvalue(), error.getvalue()

    return run


def kept():
    return sorted(Path("results/corpus").glob("*.json"))


def lost(cli, *more, variant="kafka-0.10"):
    """Run a plan that loses a record under KIP-101's rule."""
    Path("lost.json").write_text(LOSES, encoding="utf-8")
    return cli("run", "--variant", variant, "--plan", "lost.json", *more)


def content(path):
    return json.loads(path.read_text(encoding="utf-8"))


def rewritten(path, **changes):
    path.write_text(json.dumps(content(path) | changes), encoding="utf-8")


def test_what_is_hunted_and_shrunk_is_kept_and_played_again(cli):
    ask = (
        "hunt",
        "--variant",
        "kafka-0.10",
        "--for",
        "lost-committed-write",
        "--until-found",
        "--round",
        "1",
        "--jobs",
        "1",
        "--profile",
        "intact",
    )
    code, said, _ = cli(*ask)
    assert code == 1
    (file,) = kept()
    assert "one plan is kept in results/corpus" in said
    origin = content(file)["origin"]
    words, _, number = origin.rpartition(" ")
    assert (
        words
        == "tidemark hunt --variant kafka-0.10 --for lost-committed-write --profile intact --seed 1 --round 1, try"
    )
    faults = len(content(file)["plan"]["faults"])

    command = next(line.split()[1:] for line in said.splitlines() if line.strip().startswith("tidemark shrink"))
    assert cli(*command, "--repaired", "kafka-0.11", "--replays", "40")[0] == 1

    assert kept() == [file]
    entry = content(file)
    assert len(entry["plan"]["faults"]) < faults
    assert entry["repaired"] == "kafka-0.11"
    assert entry["origin"] == f"{origin}; tidemark shrink of lost-committed-write-{number}"
    code, said, _ = cli("run", "--corpus", "--jobs", "1")
    assert code == 0
    assert said.splitlines() == [
        f"✓ {file.stem}: the same; no violation under kafka-0.11",
        "1 plan played again: 1 as it was kept, 0 not, 1 of 1 repairs hold",
    ]


def test_the_same_hunt_again_keeps_nothing_more(cli):
    ask = ("hunt", "--variant", "kafka-0.10", "--tries", "32", "--jobs", "1", "--json")
    new = json.loads(cli(*ask)[1])["kept"]
    before = [path.read_bytes() for path in kept()]

    again = json.loads(cli(*ask)[1])["kept"]

    assert (sorted(new), again) == ([str(path) for path in kept()], [])
    assert [path.read_bytes() for path in kept()] == before


def test_run_keeps_a_violation_or_that_there_is_none(cli):
    assert lost(cli, "--keep")[0] == 1
    assert lost(cli, "--keep", variant="kafka-2.7")[0] == 0

    broken, valid = map(content, kept())
    assert broken["anomaly"]["name"] == "lost-committed-write"
    assert (valid["anomaly"], valid["variant"], valid["plan"]) == (None, "kafka-2.7", broken["plan"])
    assert cli("run", "--corpus", "--jobs", "2")[0] == 0


def test_a_kept_plan_can_be_run(cli):
    lost(cli, "--keep")

    code, said, _ = cli("run", "--variant", "kafka-0.10", "--plan", str(kept()[0]))

    assert (code, "plan 259 of seed 1" in said) == (1, True)


def test_what_is_not_as_it_was_is_told_with_what_it_is_now(cli):
    lost(cli, "--keep")
    (file,) = kept()
    rewritten(file, variant="kafka-2.7", repaired="kafka-0.10")
    Path("results/corpus/notes.json").write_text("{}")

    code, said, _ = cli("run", "--corpus", "results/corpus", "--jobs", "1")

    assert code == 1
    lines = said.splitlines()
    assert lines[0] == f"✗ {file.stem}: gone; NOT without violation under kafka-0.10"
    assert lines[1].startswith("    kept as: lost-committed-write: the later leader had cut it")
    assert lines[2] == "    now:     valid"
    assert lines[3].startswith("    under kafka-0.10: lost-committed-write: ")
    assert "✗ notes: cannot be read" in lines
    assert lines[-1] == "2 plans played again: 0 as they were kept, 2 not, 0 of 1 repairs hold"
    code, said, _ = cli(*shlex.split(lines[4])[1:])
    assert (code, "kafka-2.7, plan 259" in said) == (0, True)


def test_json_says_the_same(cli):
    lost(cli, "--keep")
    rewritten(kept()[0], repaired="kafka-2.7")

    code, said, _ = cli("run", "--corpus", str(kept()[0]), "--json", "--jobs", "1")

    told = json.loads(said)
    (entry,) = told["entries"]
    assert (code, told["plans"], told["differ"]) == (0, 1, 0)
    assert (entry["status"], entry["anomaly"], entry["instead"]) == ("same", "lost-committed-write", None)
    assert entry["repaired"] == {"variant": "kafka-2.7", "holds": True, "instead": None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--corpus"), "there is neither results/corpus nor results/published/corpus here"),
        (("run", "--corpus", "nowhere"), "there is no nowhere"),
        (("run", "--corpus", "."), "no plan is kept in ."),
        (("run", "--corpus", ".", "--variant", "kafka-2.1"), "--variant cannot be given with --corpus"),
        (("run", "--jobs", "2"), "--jobs is for --corpus"),
        (("run", "--keep", "--world", "docker"), "--keep is for the simulator"),
        (("hunt", "--jobs", "2", "--master", "local[2]"), "--jobs is for this machine's processes"),
        (("explore", "--master", "local[2]"), "--master is for --truth-table"),
    ],
)
def test_what_does_not_go_together_is_a_sentence(cli, arguments, words):
    code, _, error = cli(*arguments)

    assert code == 254
    assert words in error


def test_that_nothing_can_be_kept_is_told_and_hides_nothing(cli):
    lost(cli, "--keep")
    (file,) = kept()
    file.write_text("{")

    code, said, error = cli("hunt", "--variant", "kafka-0.10", "--tries", "32", "--jobs", "1", "--corpus", "lost.json")
    assert (code, "lost-committed-write" in said) == (254, False)
    code, said, error = lost(cli, "--keep")

    assert (code, "✗" in said) == (1, True)
    assert f"not kept: {file} cannot be read (not JSON)" in error
