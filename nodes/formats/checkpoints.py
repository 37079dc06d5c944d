"""A broker's checkpoint files, in Kafka's formats. They are durable at once, and a missing one reads as empty."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tidemark.nodes.formats.durable_files import replace, sync_directory

EPOCHS = "leader-epoch-checkpoint"
"""In a partition's directory (KIP-101)."""

HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
"""There only while no broker runs, and only if the last one flushed all its logs; a broker that starts deletes it first. With the
broker epoch, as JSON, since Kafka 3.7 (KIP-966).
"""

QUORUM_STATE = "quorum-state"
"""In a partition's directory: the newest epoch known, and whom this server voted for in it (KIP-595)."""

_EPOCH = re.compile(r"([0-9]+) ([0-9]+)")
_OFFSET = re.compile(r"(\S+) ([0-9]+) ([0-9]+)")
_VERSION = "0"


class CheckpointError(ValueError):
    """A checkpoint file that is not what it should be."""


def read_epochs(directory: Path) -> tuple[tuple[int, int], ...]:
    """A partition's (leader epoch, start offset) pairs.

    Raises:
        CheckpointError: the file is malformed.
        OSError: it cannot be read.
    """
    found = _read(directory / EPOCHS, _EPOCH)
    return tuple((int(epoch), int(offset)) for epoch, offset in found)


def write_epochs(directory: Path, entries: Iterable[tuple[int, int]]) -> None:
    """Replace a partition's leader-epoch checkpoint.

    Raises:
        OSError: it is as it was before.
    """
    _write(directory / EPOCHS, [f"{epoch} {offset}" for epoch, offset in entries])


def read_offsets(path: Path) -> dict[str, int]:
    """High watermarks, or log starts, by partition name, such as ``t-0``.

    Raises:
        CheckpointError: the file is malformed.
        OSError: it cannot be read.
    """
    return {f"{topic}-{int(partition)}": int(offset) for topic, partition, offset in _read(path, _OFFSET)}


def write_offsets(path: Path, offsets: dict[str, int]) -> None:
    """Replace a checkpoint of offsets by partition name.

    Raises:
        OSError: it is as it was before.
    """
    named = [(*name.rsplit("-", 1), offset) for name, offset in offsets.items()]
    _write(path, [f"{topic} {partition} {offset}" for topic, partition, offset in named])


def read_clean_shutdown(directory: Path) -> int | None:
    """The broker epoch in the clean-shutdown mark, None if there is no mark.

    Raises:
        CheckpointError: the file is malformed.
        OSError: it cannot be read.
    """
    path = directory / CLEAN_SHUTDOWN
    if not path.exists():
        return None
    match _content(path):
        case {"version": 0, "brokerEpoch": int(epoch)}:
            return epoch
        case _:
            raise CheckpointError(
                f"{path} is not a clean-shutdown mark of version 0: delete it, and the logs will be recovered."
            )


def write_clean_shutdown(directory: Path, broker_epoch: int) -> None:
    """Leave the mark.

    Raises:
        OSError: there is none.
    """
    replace(directory / CLEAN_SHUTDOWN, json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")))


def delete_clean_shutdown(directory: Path) -> None:
    """Take the mark away, for good.

    Raises:
        OSError: it is still there.
    """
    path = directory / CLEAN_SHUTDOWN
    if path.exists():
        path.unlink()
        sync_directory(directory)


def read_vote(directory: Path) -> tuple[int, int] | None:
    """The newest epoch that a partition's server knew, and whom it voted for in it (−1: nobody); None if it never knew any.

    Raises:
        CheckpointError: the file is malformed.
        OSError: it cannot be read.
    """
    path = directory / QUORUM_STATE
    if not path.exists():
        return None
    match _content(path):
        case {"data_version": 0, "leaderEpoch": int(epoch), "votedId": int(candidate)}:
            return epoch, candidate
        case _:
            raise CheckpointError(
                f"{path} is no quorum state of version 0: restore the file, or delete the broker's data."
            )


def write_vote(directory: Path, epoch: int, candidate: int) -> None:
    """Replace a partition's quorum state, as Kafka's version 0 has it. Who leads is found out anew after a restart.

    Raises:
        OSError: it is as it was before.
    """
    state = {
        "clusterId": "",
        "leaderId": -1,
        "leaderEpoch": epoch,
        "votedId": candidate,
        "appliedOffset": 0,
        "currentVoters": [],
        "data_version": 0,
    }
    replace(directory / QUORUM_STATE, json.dumps(state, separators=(",", ":")))


def _read(path: Path, entry: re.Pattern[str]) -> list[tuple[str, ...]]:
    """The entries of a file: a version, their number, and one a line."""
    try:
        version, count, *lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return []
    except ValueError:
        raise _malformed(path, "its version and the number of its entries") from None
    if version != _VERSION:
        raise _malformed(path, f"version {_VERSION} in line 1")
    if count != str(len(lines)):
        raise _malformed(path, f"the number of its entries ({len(lines)}) in line 2")
    entries = []
    for number, line in enumerate(lines, 3):
        found = entry.fullmatch(line)
        if found is None:
            raise _malformed(path, f"an entry in line {number}")
        entries.append(found.groups())
    return entries


def _write(path: Path, lines: list[str]) -> None:
    replace(path, "".join(f"{line}\n" for line in (_VERSION, len(lines), *lines)))


def _malformed(path: Path, expected: str) -> CheckpointError:
    return CheckpointError(f"{path} lacks {expected}: restore the file, or delete the broker's data.")


def _content(path: Path) -> Any:  # noqa: ANN401 (whatever JSON may be)
    """What a file holds; None if that is no JSON."""
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        return None
