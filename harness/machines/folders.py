"""Folders outside the project: what can be made again (cache), and what must be remembered (state)."""

from __future__ import annotations

import os
from pathlib import Path

from tidemark.harness.machines.errors import ContainerWorldError

_STATE = "XDG_STATE_HOME", ".local/state"


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/tidemark``, else ``~/.cache/tidemark``: base image, the nodes' packages. May be deleted any time.

    Raises:
        ContainerWorldError: it cannot be made.
    """
    return _folder("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """``$XDG_STATE_HOME/tidemark``, else ``~/.local/state/tidemark``: keys of clusters played by hand, an engine's log.

    Raises:
        ContainerWorldError: it cannot be made.
    """
    return _folder(*_STATE)


def place_of_state() -> Path:
    """Where :func:`state_folder` is or would be; nothing is made."""
    return _place(*_STATE)


def _place(variable: str, usual: str) -> Path:
    given = os.environ.get(variable, "")
    return (Path(given) if given.startswith("/") else Path.home() / usual) / "tidemark"


def _folder(variable: str, usual: str) -> Path:
    folder = _place(variable, usual)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ContainerWorldError(
            f"cannot make {folder}: {error.strerror}; set {variable} to a folder that can be written"
        ) from None
    return folder
