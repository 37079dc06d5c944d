"""What lies on a broker's disk: laid out before its first start, and looked at while it runs or is down."""

from __future__ import annotations

import tarfile
from base64 import b64decode
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.evidence.journals import records_of
from tidemark.harness.runs.temporary_folder import temporary_folder
from tidemark.nodes.formats import checkpoints, journal
from tidemark.nodes.formats.read_log import read_segment
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.formats.segment import SEGMENT, base_of, segment_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.harness.machines.node_control import NodeControl

Batches = list[tuple[int, int, tuple[int, ...]]]
"""(base offset, leader epoch, values)."""


class Disk(NamedTuple):
    """One partition on one broker's disk.

    `hw` is the checkpointed high watermark, 0 if there is none; `start` the log start, by its checkpoint and the first file's name.
    """

    batches: Batches
    epochs: tuple[tuple[int, int], ...]
    hw: int
    start: int = 0


def lay_out(control: NodeControl, partition: str, disk: Disk) -> None:
    """Write a disk, all of it fsynced, for a process that has not started yet.

    Raises:
        NodeError: it could not be written.
    """
    with temporary_folder() as folder:
        data = Path(folder)
        logs = data / partition
        logs.mkdir()
        batches = [build(values, base, epoch) for base, epoch, values in disk.batches]
        (logs / SEGMENT).write_bytes(b"".join(batches))
        checkpoints.write_epochs(logs, disk.epochs)
        checkpoints.write_offsets(data / checkpoints.HIGH_WATERMARKS, {partition: disk.hw})
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(data, arcname=".")
    target = quote(control.places.data)
    control.machine.shell.run(
        f"mkdir -p {target} && tar -C {target} --no-same-owner -xf - && sync {target}", stdin=packed.getvalue()
    )


def read_disk(control: NodeControl, partition: str) -> Disk:
    """What a process that starts now would find; of one that runs, what it has written.

    Raises:
        NodeError: it cannot be read.
    """
    with _files_of(control) as (data, volatile):
        segment = _segment(data, volatile, partition)
        base = base_of(segment.name) or 0 if segment is not None else 0
        return Disk(
            read_segment(segment.read_bytes()) if segment is not None else [],
            checkpoints.read_epochs(data / partition),
            checkpoints.read_offsets(data / checkpoints.HIGH_WATERMARKS).get(partition, 0),
            max(checkpoints.read_offsets(data / checkpoints.LOG_STARTS).get(partition, 0), base),
        )


def read_journal(control: NodeControl, partition: str) -> Batches:
    """The records in a bookie's journal (:func:`tidemark.harness.evidence.journals.records_of`).

    Raises:
        NodeError: it cannot be read. BadBatchError: it holds what is no record of a journal.
    """
    with _files_of(control) as (data, volatile):
        segment = _segment(data, volatile, journal.directory_of(partition))
        return records_of(segment.read_bytes()) if segment is not None else []


def _segment(data: Path, volatile: Path, directory: str) -> Path | None:
    return segment_in(volatile / directory) or segment_in(data / directory)


@contextmanager
def _files_of(control: NodeControl) -> Iterator[tuple[Path, Path]]:
    """What was fsynced, and what was written, unpacked here for as long as it lasts."""
    script = "".join(
        f"{{ tar -C {quote(directory)} -cf - . || :; }} 2>/dev/null | base64 -w0; echo\n"
        for directory in (control.places.data, control.places.volatile)
    )
    with temporary_folder() as folder:
        data, volatile = Path(folder, "data"), Path(folder, "volatile")
        for directory, line in zip((data, volatile), control.run(script).split("\n"), strict=False):
            _unpack(b64decode(line), directory)
        yield data, volatile


def read_memory(control: NodeControl, partition: str) -> Batches:
    """The log that a process has in memory, where it lies in no file.

    Raises:
        NodeError: the process does not answer.
    """
    told = control.admin.ask("log", partition=partition, values=True)["batches"]
    return [(base, epoch, tuple(values)) for base, epoch, values in told]


def _unpack(packed: bytes, directory: Path) -> None:
    directory.mkdir()
    if packed:
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(directory, members=_files(archive), filter="data")


def _files(archive: tarfile.TarFile) -> Iterable[tarfile.TarInfo]:
    return [member for member in archive if member.isreg() or member.isdir()]
