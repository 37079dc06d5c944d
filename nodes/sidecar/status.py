"""What a sidecar says of its node: the shape of :mod:`tidemark.nodes.process.status`, and a little more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidemark.nodes.formats.checkpoints import EPOCHS, CheckpointError, read_epochs
from tidemark.nodes.formats.log_directories import LogDirectories
from tidemark.nodes.formats.partition_files import CheckpointFormatError, log_start_of, read_offsets
from tidemark.nodes.sidecar.replica_status import LEADER, ReplicaStatus


def replica_status(
    name: str, state: ReplicaStatus, log: Path, checkpointed: dict[str, int], log_starts: dict[str, int]
) -> dict[str, Any]:
    """One replica. Its epochs are those of the checkpoint file, which a broker replaces whenever they change.

    Args:
        name: of the partition.
        state: what the broker's lines have said.
        log: the directory of its log.
        checkpointed: partition → high watermark in the checkpoint file.
        log_starts: partition → log start in its checkpoint file.
    """
    leads = state.role == LEADER
    return {
        "role": state.role,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "partition_epoch": state.partition_epoch,
        "start": state.start,
        "leo": state.leo,
        "hw": state.hw,
        "isr": state.isr if leads else [],
        "maximal": state.maximal if leads else [],
        "epochs": epochs_on_disk(log),
        "checkpointed_hw": checkpointed.get(name, 0),
        "checkpointed_start": log_start_of(log, log_starts.get(name, 0)),
        "refused": state.refused,
    }


def epochs_on_disk(directory: Path) -> tuple[tuple[int, int], ...]:
    """A partition's (leader epoch, start offset) pairs; none while there is no file, or an empty one, as Kafka first makes it."""
    try:
        if (directory / EPOCHS).stat().st_size == 0:
            return ()
        return read_epochs(directory)
    except (OSError, CheckpointError):
        return ()


def offsets_of_all(logs: LogDirectories, name: str) -> dict[str, int]:
    """Partition → offset in the checkpoint of this name that counts: that of the log directory in which its log lies."""
    found: dict[str, int] = {}
    for directory in logs.all:
        offsets = offsets_on_disk(directory, name)
        found |= {partition: offset for partition, offset in offsets.items() if logs.home(partition) == directory}
    return found


def offsets_on_disk(logs: Path, name: str) -> dict[str, int]:
    """Partition → offset in the checkpoint of this name in one log directory; none while there is no file."""
    try:
        return read_offsets((logs / name).read_text(encoding="ascii"), name)
    except (OSError, ValueError, CheckpointFormatError):
        return {}
