"""A temporary folder says whose it is, so that those of a process that is gone can go, and no others."""

import os
from pathlib import Path

import pytest

from tidemark.harness.runs.process_start import started
from tidemark.harness.runs.temporary_folder import remove_folders_of, temporary_folder


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_it_goes_when_it_is_closed(place):
    with temporary_folder() as folder:
        assert Path(folder).parent == place
    assert list(place.iterdir()) == []


def test_those_of_one_process_are_removed_with_what_is_in_them_and_those_of_others_are_left(place):
    pid, start = str(os.getpid()), started(os.getpid())
    others = [place / f"tidemark-{pid}-{start}0-x", place / f"tidemark-{pid}0-{start}-x", place / "tidemark-java-x"]
    for other in others:
        other.mkdir()
    folders = [temporary_folder() for _ in range(2)]
    for folder in folders:
        Path(folder.name, "deep").mkdir()
        Path(folder.name, "deep", "file").write_text("words")

    remove_folders_of(pid, start)

    assert sorted(place.iterdir()) == sorted(others)
    for folder in folders:
        folder.cleanup()  # nothing to do, and no error
