"""SSH keys of clusters played by hand: files in the state folder, so that any later command reaches the cluster."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import ClusterError
from tidemark.harness.machines.folders import place_of_state, state_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.harness.machines.ssh_keys import KeyPair

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


def key_file(cluster: str) -> Path:
    """Where the key of a cluster lies; nothing is made.

    Raises:
        ClusterError: no such name is possible.
    """
    if not _NAME.fullmatch(cluster):
        raise ClusterError(f"{cluster!r} cannot name a cluster; use letters, digits, '-' and '_'")
    return place_of_state() / cluster / "key"


def keep_key(cluster: str, keys: KeyPair) -> None:
    """Write the private key of a cluster.

    Raises:
        ContainerWorldError: the state folder cannot be made.
    """
    state_folder()
    key = key_file(cluster)
    key.parent.mkdir(exist_ok=True, mode=0o700)
    keys.save(key)


def forget_key(cluster: str) -> None:
    """Delete the key of a cluster that is gone, if it has one."""
    if not _NAME.fullmatch(cluster):
        return
    key = key_file(cluster)
    key.unlink(missing_ok=True)
    with suppress(OSError):
        key.parent.rmdir()
