"""What a sidecar's status takes from the disk."""

from tidemark.nodes.formats.checkpoints import HIGH_WATERMARKS, LOG_STARTS
from tidemark.nodes.formats.log_directories import LogDirectories
from tidemark.nodes.formats.partition_files import log_start_of
from tidemark.nodes.sidecar.replica_status import ReplicaStatus
from tidemark.nodes.sidecar.status import epochs_on_disk, offsets_of_all, offsets_on_disk, replica_status


def test_files_that_are_not_there_yet_or_empty(tmp_path):
    assert epochs_on_disk(tmp_path) == ()
    assert offsets_on_disk(tmp_path, HIGH_WATERMARKS) == offsets_on_disk(tmp_path, LOG_STARTS) == {}
    (tmp_path / "leader-epoch-checkpoint").touch()
    (tmp_path / "log-start-offset-checkpoint").touch()
    (tmp_path / "replication-offset-checkpoint").touch()
    assert epochs_on_disk(tmp_path) == ()
    assert offsets_on_disk(tmp_path, HIGH_WATERMARKS) == offsets_on_disk(tmp_path, LOG_STARTS) == {}


def test_a_leader_and_a_follower(tmp_path):
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n3 7\n")
    (tmp_path / "replication-offset-checkpoint").write_text("0\n2\nt 0 5\nu 1 6\n")
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    checkpointed = offsets_on_disk(tmp_path, HIGH_WATERMARKS)
    assert checkpointed == {"t-0": 5, "u-1": 6}
    state = ReplicaStatus(role="leader", leader=1, leader_epoch=3, leo=9, hw=8, isr=(1, 2), maximal=(1, 2, 3))
    state.start = 4
    leader = replica_status("t-0", state, tmp_path / "t-0", checkpointed, offsets_on_disk(tmp_path, LOG_STARTS))
    assert (leader["isr"], leader["maximal"], leader["epochs"]) == ((1, 2), (1, 2, 3), ((0, 0), (3, 7)))
    assert (leader["leo"], leader["hw"], leader["checkpointed_hw"]) == (9, 8, 5)
    assert (leader["start"], leader["checkpointed_start"]) == (4, 3)
    state.role = "follower"
    assert replica_status("t-0", state, tmp_path, {}, {})["isr"] == []


def test_of_two_log_directories_the_checkpoint_counts_that_lies_beside_the_log(tmp_path):
    for name, offsets, log in (("first", "t 0 5\nu 1 6\n", "u-1"), ("second", "t 0 9\nu 1 2\n", "t-0")):
        (tmp_path / name / log).mkdir(parents=True)
        (tmp_path / name / "replication-offset-checkpoint").write_text(f"0\n2\n{offsets}")
    logs = LogDirectories((tmp_path / "first", tmp_path / "second"))

    assert offsets_of_all(logs, HIGH_WATERMARKS) == {"t-0": 9, "u-1": 6}


def test_a_log_start_that_no_checkpoint_tells_is_where_the_first_segment_begins(tmp_path):
    directory = tmp_path / "t-0"
    assert log_start_of(directory, 0) == 0
    directory.mkdir()
    for name in ("00000000000000000007.log", "00000000000000000012.log", "leader-epoch-checkpoint"):
        (directory / name).touch()
    assert [log_start_of(directory, checkpointed) for checkpointed in (0, 7, 9)] == [7, 7, 9]
