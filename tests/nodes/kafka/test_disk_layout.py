"""Given logs, as a broker finds them."""

import pytest

from nodes.kafka.disk_layout import GivenLog, files_of, write
from nodes.kafka.message_set import read_partition
from nodes.kafka.partition_files import recovery_points
from nodes.kafka.power_loss import lose_power
from nodes.process.storage.checkpoints import read_epochs, read_high_watermarks

LOG = GivenLog([(0, 1, (10, 11)), (2, 4, (12,))], ((1, 0), (4, 2)), 2)


@pytest.mark.parametrize(
    ("magic", "found"), [(2, [(0, 1, (10, 11)), (2, 4, (12,))]), (1, [(0, -1, (10,)), (1, -1, (11,)), (2, -1, (12,))])]
)
def test_the_log_is_read_back(tmp_path, magic, found):
    write(tmp_path, files_of({"t-0": LOG}, magic=magic))

    assert read_partition(tmp_path / "t-0") == found


def test_checkpoints_are_as_given(tmp_path):
    write(tmp_path, files_of({"t-0": LOG, "a-b-1": GivenLog([])}))

    assert read_epochs(tmp_path / "t-0") == ((1, 0), (4, 2))
    assert read_epochs(tmp_path / "a-b-1") == ()
    assert read_high_watermarks(tmp_path) == {"t-0": 2, "a-b-1": 0}


def test_an_old_format_has_no_leader_epochs(tmp_path):
    assert not [name for name in files_of({"t-0": LOG}, magic=1) if "leader-epoch" in name]


def test_all_of_it_is_flushed(tmp_path):
    write(tmp_path, files_of({"t-0": LOG}))
    (tmp_path / ".kafka_cleanshutdown").unlink()  # as the broker does when it starts

    assert recovery_points(tmp_path) == {"t-0": 3}
    assert lose_power(tmp_path, seed=1)["t-0"]["records"] == {"kept": 3, "lost": 0}


def test_a_broker_has_nothing_to_recover():
    files = files_of({"t-0": LOG})

    assert files[".kafka_cleanshutdown"] == b""
    assert files["t-0/00000000000000000000.index"] == files["t-0/00000000000000000000.timeindex"] == b""


def test_a_gap_is_refused():
    with pytest.raises(ValueError, match="offset 1 is followed by 2"):
        files_of({"t-0": GivenLog([(0, 1, (1,)), (2, 1, (2,))])})


def test_an_unknown_magic_is_refused():
    with pytest.raises(ValueError, match="not 3"):
        files_of({"t-0": LOG}, magic=3)
