import json
import re

import click
import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark as command
from tidemark.harness.search.explore import search
from tidemark.harness.search.explore.processes import ProcessEndedError

TWO = ("--brokers", "2", "--records", "2")
DIVERGES = ("--variant", "kafka-2.0+truncation=kip101", *TWO, "--leadership", "late", "--invariant", "LogMatchingHw")


@pytest.fixture
def tidemark():
    """Run a command; gives exit code, output, and what was said on standard error or is said of what was refused."""

    def run(*words):
        result = CliRunner(env={"COLUMNS": "400"}).invoke(command, words, standalone_mode=False)
        if isinstance(result.exception, click.ClickException):
            return 254, result.stdout, result.exception.format_message()
        return result.return_value, result.stdout, result.stderr

    return run


def test_it_holds(tidemark):
    code, out, _ = tidemark("explore", "--variant", "kafka-2.1", *TWO)

    assert code == 0
    assert "holds within these bounds: 2 brokers, 2 records, 3 epochs, leadership late or lost" in out


def test_a_counterexample_is_told_step_by_step(tidemark):
    code, out, _ = tidemark("explore", *DIVERGES)

    assert code == 1
    assert re.search(r"^1\. A producer's record reaches broker 1", out, re.MULTILINE)
    assert "LogMatchingHw is broken after 10 moves, and no fewer" in out


@pytest.mark.systems
def test_it_ends_on_a_bug_of_ones_own_where_known_ones_are_passed_over(tidemark):
    ask = (
        "explore",
        "--variant",
        "kafka-2.7+no-fetch-fence",
        "--invariant",
        "StrongIsr",
        "--records",
        "1",
        "--jobs",
        "1",
    )
    _, out, _ = tidemark(*ask)
    assert "StrongIsr is broken after 11 moves" in out

    code, out, _ = tidemark(*ask, "--pass-over", "known")

    assert code == 1
    assert "passed over: missed-reign (+forget-log-ends)" in out
    assert "StrongIsr is broken after 12 moves" in out


def test_it_gives_up(tidemark):
    code, out, _ = tidemark("explore", *TWO, "--max-states", "10")

    assert code == 2
    assert out.splitlines()[-1].startswith("not finished: ")


def test_processes_tell_the_same_but_for_the_time(tidemark):
    one, two = (tidemark("explore", *DIVERGES, "--jobs", jobs) for jobs in ("1", "2"))

    assert one[0] == two[0] == 1
    assert one[1].rpartition(", ")[0] == two[1].rpartition(", ")[0]


def test_a_process_that_is_ended_is_told_in_a_sentence(tidemark, monkeypatch):
    def ended(*_, **__):
        raise ProcessEndedError("one of the 2 processes was ended from outside")

    monkeypatch.setattr(search, "in_step", ended)
    code, _, err = tidemark("explore", *TWO)

    assert code == 254
    assert err == "one of the 2 processes was ended from outside: give the command again with fewer --jobs"


def test_as_json(tidemark):
    code, out, _ = tidemark("explore", *DIVERGES, "--json")
    told = json.loads(out)

    assert code == 1
    assert told["outcome"] == "broken"
    assert told["invariant"] == "LogMatchingHw"
    assert told["steps"][0].startswith("0. ")


def test_a_script_that_it_writes_plays(tidemark, tmp_path):
    file = tmp_path / "found.scenario"

    code, _, err = tidemark("explore", *DIVERGES, "--script", str(file))
    assert code == 1
    assert "the checkers find: " in err
    assert "log-matching" in err
    assert tidemark("scenario", str(file))[0] == 0

    code, _, err = tidemark("explore", *DIVERGES, "--script", str(file))
    assert code == 254
    assert "is there already" in err


def test_cells_of_the_truth_table(tidemark):
    code, out, _ = tidemark("explore", "--cell", "hw, StrongIsr")

    assert code == 0
    assert out.startswith("hw, StrongIsr, 3/2/3 (kafka-2.1+truncation=hw+forget-log-ends): broken in 7 moves; ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--invariant", "Nothing"), "there is no invariant 'Nothing'"),
        (("--brokers", "9"), "brokers must be 1 to 5"),
        (("--variant", "kafka-9"), "unknown variant"),
        (("--cell", "no such cell"), "no cell's name has"),
        (("--master", "local[1]"), "a search is for the processes of one machine"),
        (("--walks", "5", "--jobs", "2"), "walks are one process"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(tidemark, arguments, words):
    code, _, err = tidemark("explore", *arguments)

    assert code == 254
    assert words in err
