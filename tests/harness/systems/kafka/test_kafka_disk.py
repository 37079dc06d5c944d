"""What lies on a broker's disk, fetched from its machine."""

from pathlib import Path

import pytest

from tidemark.harness.evidence.partition_disk import Disk
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.kafka.disk import read_disk
from tidemark.nodes.formats.record_batch import build

FIRST, SECOND = "00000000000000000000.log", "00000000000000000002.log"


@pytest.fixture
def lay(control):
    """Puts files into the broker's log directory."""

    def lay(**files):
        for path, content in files.items():
            where = Path(control.places.data, path)
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(content)

    lay(
        **{
            f"t-0/{FIRST}": build([7, 8], 0, 3),
            f"t-0/{SECOND}": build([9], 2, 4),
            "t-0/00000000000000000000.index": b"\xff" * 100,
            "t-0/leader-epoch-checkpoint": b"0\n2\n3 0\n4 2\n",
            f"t-1/{FIRST}": b"not looked at",
            "replication-offset-checkpoint": b"0\n2\nt 0 2\nt 1 5\n",
        }
    )
    return lay


def test_all_segments_epochs_and_the_high_watermark(control, lay):
    assert read_disk(control, "t-0") == Disk([(0, 3, (7, 8)), (2, 4, (9,))], ((3, 0), (4, 2)), 2)


def test_a_log_start_is_in_its_checkpoint_or_in_the_first_segments_name(control, lay):
    lay(**{"log-start-offset-checkpoint": b"0\n1\nt 0 1\n"})
    assert read_disk(control, "t-0").start == 1
    Path(control.places.data, f"t-0/{FIRST}").unlink()
    found = read_disk(control, "t-0")

    assert (found.batches, found.start) == ([(2, 4, (9,))], 2)


def test_of_two_log_directories_it_is_in_either(control, lay):
    lay(
        **{
            f"first/t-8.0123-delete/{FIRST}": b"whatever",
            "first/replication-offset-checkpoint": b"0\n1\nt 8 9\n",
            f"second/t-8/{FIRST}": build([7, 8], 0, 3),
            "second/t-8/leader-epoch-checkpoint": b"0\n1\n3 0\n",
            "second/replication-offset-checkpoint": b"0\n1\nt 8 2\n",
        }
    )
    assert read_disk(control, "t-8") == Disk([(0, 3, (7, 8))], ((3, 0),), 2)


def test_a_partition_that_is_not_there_is_empty(control, lay):
    assert read_disk(control, "t-7") == Disk([], (), 0)


def test_a_disk_that_was_lost_is_empty(control):
    assert read_disk(control, "t-0") == Disk([], (), 0)


def test_a_batch_that_is_being_written_is_left_out(control, lay):
    lay(**{f"t-0/{SECOND}": build([9], 2, 4) + build([10], 3, 4)[:30]})

    assert read_disk(control, "t-0").batches == [(0, 3, (7, 8)), (2, 4, (9,))]


def test_a_checkpoint_that_was_begun_and_not_filled_says_nothing(control, lay):
    empty = ("t-0/leader-epoch-checkpoint", "replication-offset-checkpoint", "log-start-offset-checkpoint")
    lay(**dict.fromkeys(empty, b""))

    assert read_disk(control, "t-0") == Disk([(0, 3, (7, 8)), (2, 4, (9,))], (), 0)


def test_a_log_that_stays_damaged_is_an_error_that_names_the_broker(control, lay):
    lay(**{f"t-0/{FIRST}": b"\0" * 200})

    with pytest.raises(NodeError, match=r"^b1: the log of t-0 cannot be read: "):
        read_disk(control, "t-0")


def test_a_file_that_was_cut_while_it_was_read_is_read_again(control, lay, monkeypatch):
    shell, looks = control.machine.shell, []

    def run(command, **options):
        looks.append(command)
        lay(**{f"t-0/{FIRST}": b"\0" * 200 if len(looks) == 1 else build([7, 8], 0, 3)})
        return type(shell).run(shell, command, **options)

    monkeypatch.setattr(shell, "run", run)

    assert read_disk(control, "t-0").batches[0] == (0, 3, (7, 8))
    assert len(looks) == 2


def test_no_path_leads_out_of_the_folder_it_is_unpacked_in(control, lay, tmp_path):
    """A broker's files are data: a link to somewhere else is not followed."""
    (tmp_path / "secret").write_bytes(build([1], 0, 0))
    Path(control.places.data, "t-5").mkdir()
    Path(control.places.data, "t-5", FIRST).symlink_to(tmp_path / "secret")

    with pytest.raises(NodeError, match="cannot be read"):
        read_disk(control, "t-5")
