"""Cache and state lie where the desktop's conventions say."""

from pathlib import Path

import pytest

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.folders import cache_folder, state_folder


def test_folders_follow_the_variables_if_these_hold_absolute_paths(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")

    assert cache_folder() == tmp_path / "cache" / "tidemark"
    assert state_folder() == tmp_path / "home" / ".local" / "state" / "tidemark"
    assert state_folder().is_dir()


def test_a_folder_that_cannot_be_made_is_named_with_the_variable_that_helps(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(ContainerWorldError) as error:
        cache_folder()

    assert str(error.value) == (
        f"cannot make {Path(tmp_path) / 'file' / 'tidemark'}: Not a directory; "
        "set XDG_CACHE_HOME to a folder that can be written"
    )
