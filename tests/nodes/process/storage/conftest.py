"""Logs in temporary directories."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import recover
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.process.storage.log_directory import LogDirectory

T = "t-0"


class Disk:
    """One broker's directories, and the process that has them, if one does."""

    def __init__(self, root):
        self.data = Path(root) / "data"
        self.volatile = Path(root) / "volatile"
        self.directory = None

    def start(self):
        """A process starts: what recovery finds."""
        self.directory = LogDirectory(self.data, self.volatile)
        image = self.directory.load()
        recovered = recover(image)
        self.directory.after_recovery(recovered)
        return recovered

    def start_again(self):
        """The process is killed, and another starts."""
        self.crash()
        return self.start()

    def crash(self):
        """The process is gone; nothing was synced."""
        if self.directory is not None:
            self.directory.close()
            self.directory = None

    @property
    def log(self):
        return self.directory.file(T)

    def append(self, *values, epoch=0, base=None, partition=T):
        """Append one batch behind the last one."""
        base = self.next_base(partition) if base is None else base
        self.directory.append(partition, Batch(base, epoch, Records(build(values))))

    def next_base(self, partition=T):
        ends = self.directory.file(partition)._end_offsets
        return ends[-1] if ends else 0

    def durable(self, partition=T):
        return (self.data / partition / "00000000000000000000.log").read_bytes()

    def written(self, partition=T):
        return (self.volatile / partition / "00000000000000000000.log").read_bytes()


@pytest.fixture
def disk(tmp_path):
    """An empty disk with a process on it."""
    disk = Disk(tmp_path)
    disk.start()
    yield disk
    disk.crash()


@pytest.fixture(scope="session")
def new_disk():
    """For tests that want many disks: ``with new_disk() as disk``."""

    class Temporary(TemporaryDirectory):
        def __enter__(self):
            self.disk = Disk(super().__enter__())
            self.disk.start()
            return self.disk

        def __exit__(self, *problem):
            self.disk.crash()
            super().__exit__(*problem)

    return Temporary


@pytest.fixture(scope="session")
def values_in():
    """The values of recovered batches, one tuple per batch."""

    def values(recovered, partition=T):
        return [tuple(batch.values) for batch in recovered.partitions[partition].batches]

    return values
