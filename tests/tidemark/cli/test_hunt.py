"""``tidemark hunt`` as its users meet it."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from tidemark.cli import main


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


def test_it_catches_and_says_how_to_see_it_again(cli, tmp_path):
    out = tmp_path / "h"
    code, said, _ = cli(
        "hunt", "--variant", "kafka-2.7+no-bounce-detection", "--until-found", "--jobs", "1", "--out", str(out)
    )

    assert code == 1
    command = next(line.strip() for line in said.splitlines() if line.strip().startswith("tidemark run"))
    code, said, _ = cli(*command.split()[1:], "--out", str(tmp_path / "r"))
    assert code == 1


def test_it_goes_on_and_its_json_says_what_was_exercised(cli, tmp_path):
    ask = (
        "hunt",
        "--variant",
        "kafka-2.7",
        "--profile",
        "intact",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "h"),
        "--json",
    )
    code, said, _ = cli(*ask, "--tries", "32")
    assert (code, json.loads(said)["tries"]) == (0, 32)

    code, said, _ = cli(*ask, "--tries", "64")

    told = json.loads(said)
    assert (code, told["tries"], told["caught"], told["catches"]) == (0, 64, 0, [])
    assert told["exercised"]["leader-stopped"] > 0
    assert told["exercised"]["elected-from-outside"] == 0
    assert "elected-from-outside" not in told["never_reached"]["marks"], "no fault of the profile could bring it about"
    assert told["profiles"].keys() == {"intact"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--for", "divergense"),
            "there is no anomaly 'divergense' to hunt for; there are unasked-election, fenced-leader, false-clean-shutdown, elr-",
        ),
        (("--profile", "machines"), "'machines' is not one of 'intact'"),
        (("--seconds", "0"), "0.0 is not in the range"),
    ],
)
def test_bad_arguments_are_a_sentence(cli, tmp_path, arguments, words):
    code, _, error = cli("hunt", *arguments, "--out", str(tmp_path))

    assert code == 254
    assert words in error


def test_another_hunts_folder_is_refused(cli, tmp_path):
    ask = ("hunt", "--tries", "32", "--jobs", "1", "--out", str(tmp_path / "h"))
    cli(*ask)

    code, _, error = cli(*ask, "--seed", "2")

    assert (code, "holds another hunt (seed differ)" in error) == (254, True)
    assert cli(*ask, "--seed", "2", "--fresh")[0] == 0


def test_a_hunt_with_other_clients_is_another_one_and_its_commands_say_so(cli, tmp_path):
    ask = (
        "hunt",
        "--variant",
        "kafka-0.10",
        "--until-found",
        "--with-known",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "h"),
    )

    code, _, _ = cli(*ask, "--producers", "3", "--corpus", str(tmp_path / "corpus"))
    assert code == 1
    kept = [file.read_text() for file in (tmp_path / "corpus").glob("*.json")]
    assert kept
    assert all("--producers 3" in text for text in kept)

    code, _, complaint = cli(*ask)
    assert code == 254
    assert "holds another hunt (workload differ)" in complaint
