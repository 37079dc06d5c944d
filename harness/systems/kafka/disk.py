"""What lies on the disk of a broker's machine: one partition's log, its leader epochs, its checkpointed offsets."""

from __future__ import annotations

import tarfile
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.evidence.partition_disk import Disk
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.runs.temporary_folder import temporary_folder
from tidemark.nodes.formats import checkpoints
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.log_directories import BOTH
from tidemark.nodes.formats.message_set import read_partition
from tidemark.nodes.formats.partition_files import log_start_of

if TYPE_CHECKING:
    from tidemark.harness.machines.node_control import NodeControl

LOOKS = 3


def read_disk(control: NodeControl, partition: str) -> Disk:
    """The partition as its files have it now; while a broker writes, whole batches only.

    Raises:
        NodeError: the files cannot be fetched or read.
    """
    data = quote(control.places.data)
    checkpointed = f"{checkpoints.HIGH_WATERMARKS} {checkpoints.LOG_STARTS}"
    wanted = f"{quote(partition)}/*.log {quote(partition)}/{checkpoints.EPOCHS} {checkpointed}"
    find = f"for one in {' '.join(BOTH)}; do [ ! -d $one/{quote(partition)} ] || {{ cd $one; break; }}; done"
    script = f"cd {data} && {find} && {{ tar -cf - $(ls -d {wanted} 2>/dev/null) 2>/dev/null || :; }} | base64 -w0"
    error: Exception | None = None
    for _ in range(LOOKS):  # a file may be cut while it is read
        packed = b64decode(control.run(script, to="read its log"))
        try:
            return _unpacked(packed, partition)
        except (BadBatchError, checkpoints.CheckpointError, tarfile.TarError) as found:
            error = found
    raise NodeError(f"{control.name}: the log of {partition} cannot be read: {error}")


def _unpacked(packed: bytes, partition: str) -> Disk:
    with temporary_folder() as folder:
        data = Path(folder)
        if packed:
            with tarfile.open(fileobj=BytesIO(packed)) as archive:
                archive.extractall(data, filter="data")
        directory = data / partition
        for name in (data / checkpoints.HIGH_WATERMARKS, data / checkpoints.LOG_STARTS, directory / checkpoints.EPOCHS):
            if name.exists() and not name.stat().st_size:
                name.unlink()  # a broker that starts makes it empty, and fills it later
        return Disk(
            read_partition(directory) if directory.is_dir() else [],
            checkpoints.read_epochs(directory),
            checkpoints.read_offsets(data / checkpoints.HIGH_WATERMARKS).get(partition, 0),
            log_start_of(directory, checkpoints.read_offsets(data / checkpoints.LOG_STARTS).get(partition, 0)),
        )
