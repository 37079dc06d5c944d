"""Which commit made a result, and whether the code was as it was committed."""

import subprocess

import pytest

from tidemark.harness.runs.code_version import BUILT_FROM, UNKNOWN, commit_of_code


@pytest.fixture
def git(tmp_path):
    """A checkout with one commit."""

    def git(*arguments):
        told = subprocess.run(
            ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments],
            check=True,
            capture_output=True,
            text=True,
        )
        return told.stdout.strip()

    git("init", "-q")
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "code.py").write_text("1\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    return git


def test_a_checkout_names_its_commit(git, tmp_path):
    commit = commit_of_code(tmp_path)

    assert git("rev-parse", "HEAD").startswith(commit)
    assert len(commit) == 12


@pytest.mark.parametrize(
    ("file", "mark"),
    [("harness/code.py", "+"), ("harness/new.py", "+"), ("results/conform/one.json", ""), ("page.md", "")],
)
def test_code_that_is_not_as_it_was_committed_is_marked(git, tmp_path, file, mark):
    clean = commit_of_code(tmp_path)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("2\n")

    assert commit_of_code(tmp_path) == clean + mark


def test_a_git_that_the_environment_names_is_not_asked(git, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of-another-checkout"))

    assert commit_of_code(tmp_path) == git("--git-dir", tmp_path / ".git", "rev-parse", "--short=12", "HEAD")


def test_a_wheel_knows_what_it_was_built_from(tmp_path):
    (tmp_path / BUILT_FROM).write_text("0123456789ab\n")

    assert commit_of_code(tmp_path) == "0123456789ab"


def test_without_git_nobody_knows(git, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert commit_of_code(tmp_path) == UNKNOWN


def test_without_a_checkout_nobody_knows(git, tmp_path):
    below = tmp_path / "site-packages"
    below.mkdir()

    assert commit_of_code(below) == UNKNOWN
    assert commit_of_code(tmp_path / "nowhere") == UNKNOWN
