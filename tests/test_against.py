"""Two trees that do the same work in turn (`bench/against.py`)."""

import io
import subprocess
import sys

import pytest

from bench import against
from bench.against import AgainstError, as_installed, asked_for, checked_out, pair, ratio, served
from bench.works import edn_lines, json_lines
from tidemark.checkers import check, read_stream


@pytest.fixture
def repository(tmp_path):
    """One with a commit, in which there is a package without anything."""
    root = tmp_path / "repository"
    (root / "tidemark").mkdir(parents=True)
    (root / "tidemark" / "__init__.py").write_text("")
    for room in against.ROOMS:
        (root / room).mkdir()
        (root / room / "__init__.py").write_text("")
    for command in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", "-C", root, *command], check=True)
    return root


def test_the_ratio_is_the_median_of_pairs_and_says_where_all_of_them_lie():
    assert ratio([(1.0, 2.0), (3.0, 2.0), (2.0, 2.0)]) == (1.0, 0.5, 1.5)


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        ([(3.0, 2.0), (2.5, 2.0)], "1.375 times (1.250 … 1.500): slower"),
        ([(1.0, 2.0), (1.5, 2.0)], "0.625 times (0.500 … 0.750): quicker"),
        ([(1.0, 2.0), (3.0, 2.0)], "1.000 times (0.500 … 1.500): no difference to be seen"),
    ],
)
def test_a_difference_is_told_only_if_every_pair_shows_it(spent, words):
    assert ratio(spent).in_words() == words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("HEAD",), "names are simulator, checking"),
        (("HEAD", "simulation"), "no work 'simulation' to compare by; there are simulator, checking"),
        (("no-such", "simulator"), "no revision 'no-such' here"),
        (("--all", "simulator"), "no revision '--all' here"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(repository, arguments, sentence):
    with pytest.raises(AgainstError, match=sentence):
        asked_for(repository, arguments[0], arguments[1:])


def test_the_command_ends_with_254_and_the_sentence(capsys):
    assert against.main("HEAD", "simulation") == 254
    assert capsys.readouterr().err.startswith("no work 'simulation'")


def test_a_revision_without_what_is_measured_is_a_sentence(repository, tmp_path):
    commit = asked_for(repository, "HEAD", ("foreign-json",))
    tree = as_installed(checked_out(repository, commit, tmp_path / "tree"), tmp_path / "theirs")

    with (
        pytest.raises(
            AgainstError, match=r"HEAD does not have what 'foreign-json' measures: cannot import name 'read_stream'"
        ),
        served(tree, sys.executable, "foreign-json", "HEAD"),
    ):
        pass


def test_both_do_the_work_in_turn_in_processes_of_their_own(repository, tmp_path):
    (repository / "checkers" / "__init__.py").write_text(
        "def read_stream(file):\n"
        f"    with open({str(tmp_path / 'turns')!r}, 'a') as turns:\n"
        "        turns.write(__file__ + chr(10))\n"
    )
    trees = [as_installed(repository, tmp_path / name) for name in ("a", "b")]

    here, there = pair(trees[0], sys.executable, trees[1], sys.executable, "foreign-json", "b", first=1)

    assert 0 <= here < 60
    assert 0 <= there < 60
    turns = [line.split("/tidemark/")[0][-1] for line in (tmp_path / "turns").read_text().splitlines()]
    assert turns == ["a", "b", "b", "a", "a", "b", "b", "a"]  # each once for nothing first


@pytest.mark.parametrize("lines", [json_lines, edn_lines])
def test_the_histories_to_read_are_correct(lines):
    history = read_stream(io.BytesIO("\n".join(lines(80)).encode()))

    assert check(history).valid == "valid"
    assert check(history).stats["acked"] == 40
