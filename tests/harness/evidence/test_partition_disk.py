"""What is laid out on a disk is found there, by a broker and by us."""

from pathlib import Path

from tidemark.harness.evidence.partition_disk import Disk, lay_out, read_disk
from tidemark.nodes.core.actions import DropBefore
from tidemark.nodes.formats.checkpoints import LOG_STARTS, write_offsets
from tidemark.nodes.process.storage.log_directory import LogDirectory

GIVEN = Disk([(0, 1, (1, 2, 3)), (3, 1, (4,)), (4, 3, (5, 6))], ((1, 0), (3, 4)), 4)


def test_a_broker_finds_what_was_laid_out(control):
    lay_out(control, "t-0", GIVEN)
    directory = LogDirectory(Path(control.places.data), Path(control.places.volatile))
    image = directory.load()
    batches = [(one.batch.base, one.batch.epoch, tuple(one.batch.values)) for one in image.partitions["t-0"].batches]
    directory.close()

    assert batches == GIVEN.batches
    assert image.partitions["t-0"].epochs == GIVEN.epochs
    assert image.high_watermarks == {"t-0": 4}
    assert image.clean_broker_epoch is None


def test_so_do_we(control):
    lay_out(control, "t-0", GIVEN)

    assert read_disk(control, "t-0") == GIVEN


def test_an_empty_machine_has_an_empty_disk(control):
    assert read_disk(control, "t-0") == Disk([], (), 0)


def test_what_was_written_counts_before_what_was_fsynced(control):
    lay_out(control, "t-0", GIVEN)
    fsynced = Path(control.places.data, "t-0")
    written = Path(control.places.volatile, "t-0")
    written.mkdir(parents=True)
    segment = next(fsynced.glob("*.log"))
    (written / segment.name).write_bytes(segment.read_bytes())
    segment.write_bytes(b"")

    assert read_disk(control, "t-0").batches == GIVEN.batches


def test_a_log_start_is_in_its_checkpoint_or_in_the_name_of_the_file(control):
    lay_out(control, "t-0", GIVEN)
    data = Path(control.places.data)
    directory = LogDirectory(data, Path(control.places.volatile))
    directory.load()
    directory.carry_out(DropBefore("t-0", 3))
    directory.close()
    assert read_disk(control, "t-0") == Disk(GIVEN.batches[1:], GIVEN.epochs, 4, 3)
    write_offsets(data / LOG_STARTS, {"t-0": 4})

    assert read_disk(control, "t-0").start == 4
