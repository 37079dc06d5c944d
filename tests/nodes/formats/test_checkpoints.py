"""Checkpoint files as Kafka writes them."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nodes.formats import checkpoints
from tidemark.nodes.formats.checkpoints import CheckpointError

EPOCHS = "leader-epoch-checkpoint"
HW = "replication-offset-checkpoint"
MARK = ".kafka_cleanshutdown"

NUMBER = st.integers(0, 2**63 - 1)
TOPIC = st.from_regex(r"[a-zA-Z0-9._-]{1,30}", fullmatch=True)


def test_epochs_are_pairs_under_a_version_and_a_count(tmp_path):
    checkpoints.write_epochs(tmp_path, ((0, 0), (2, 17)))

    assert (tmp_path / EPOCHS).read_text() == "0\n2\n0 0\n2 17\n"
    assert checkpoints.read_epochs(tmp_path) == ((0, 0), (2, 17))


def test_high_watermarks_name_topic_and_partition(tmp_path):
    checkpoints.write_offsets(tmp_path / checkpoints.HIGH_WATERMARKS, {"t-0": 5, "my-topic-3": 7})

    assert (tmp_path / HW).read_text() == "0\n2\nt 0 5\nmy-topic 3 7\n"
    assert checkpoints.read_offsets(tmp_path / checkpoints.HIGH_WATERMARKS) == {"t-0": 5, "my-topic-3": 7}


def test_the_clean_shutdown_mark_is_json(tmp_path):
    checkpoints.write_clean_shutdown(tmp_path, 12)

    assert (tmp_path / MARK).read_text() == '{"version":0,"brokerEpoch":12}'
    assert checkpoints.read_clean_shutdown(tmp_path) == 12

    checkpoints.delete_clean_shutdown(tmp_path)
    assert checkpoints.read_clean_shutdown(tmp_path) is None
    checkpoints.delete_clean_shutdown(tmp_path)


def test_a_missing_file_reads_as_empty(tmp_path):
    assert checkpoints.read_epochs(tmp_path / "nowhere") == ()
    assert checkpoints.read_offsets(tmp_path / checkpoints.HIGH_WATERMARKS) == {}
    assert checkpoints.read_clean_shutdown(tmp_path) is None


@given(st.lists(st.tuples(NUMBER, NUMBER), max_size=20))
def test_epochs_come_back(tmp_path_factory, entries):
    directory = tmp_path_factory.mktemp("epochs")
    checkpoints.write_epochs(directory, entries)

    assert checkpoints.read_epochs(directory) == tuple(entries)


@given(st.dictionaries(st.builds("{}-{}".format, TOPIC, st.integers(0, 999)), NUMBER, max_size=10))
def test_high_watermarks_come_back(tmp_path_factory, offsets):
    directory = tmp_path_factory.mktemp("offsets")
    checkpoints.write_offsets(directory / checkpoints.HIGH_WATERMARKS, offsets)

    assert checkpoints.read_offsets(directory / checkpoints.HIGH_WATERMARKS) == offsets


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("0\n", id="no count"),
        pytest.param("1\n1\n0 0\n", id="another version"),
        pytest.param("0\n2\n0 0\n", id="an entry is missing"),
        pytest.param("0\n0\n0 0\n", id="an entry too many"),
        pytest.param("0\nx\n0 0\n", id="no number"),
        pytest.param("0\n1\n0\n", id="half an entry"),
        pytest.param("0\n1\n0 -1\n", id="a negative offset"),
        pytest.param("0\n1\n0 1_0\n", id="no plain number"),
        pytest.param("0\n1\nt 0 1 2\n", id="too many fields"),
        pytest.param("0\n1\n\u0663 0\n", id="not ASCII"),
    ],
)
@pytest.mark.parametrize("name", [EPOCHS, HW])
def test_a_malformed_checkpoint_is_told_in_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    read = checkpoints.read_epochs if name == EPOCHS else lambda directory: checkpoints.read_offsets(directory / HW)

    with pytest.raises(CheckpointError, match=f"{name} lacks .*: restore the file"):
        read(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "x", "{}", "[]", '{"version":1,"brokerEpoch":3}', '{"version":0,"brokerEpoch":"3"}', "\xff"]
)
def test_a_malformed_mark_is_too(tmp_path, text):
    (tmp_path / MARK).write_text(text, encoding="latin-1")

    with pytest.raises(CheckpointError, match="delete it"):
        checkpoints.read_clean_shutdown(tmp_path)


def test_a_file_is_replaced_as_a_whole_and_for_good(tmp_path, monkeypatch):
    checkpoints.write_epochs(tmp_path, ((0, 0),))
    done = []
    fsync, rename = os.fsync, os.replace

    def synced(fd):
        done.append(("fsync", Path(f"/proc/self/fd/{fd}").readlink().name))
        fsync(fd)

    def renamed(old, new, **rest):
        done.append(("rename", Path(new).name))
        assert (tmp_path / EPOCHS).read_text() == "0\n1\n0 0\n"
        rename(old, new, **rest)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    checkpoints.write_epochs(tmp_path, ((0, 0), (1, 4)))

    assert done == [("fsync", EPOCHS + ".tmp"), ("rename", EPOCHS), ("fsync", tmp_path.name)]


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    checkpoints.write_epochs(tmp_path, ((0, 0),))
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda *_: 0)
        with pytest.raises(OSError, match="No space left"):
            checkpoints.write_epochs(tmp_path, ((0, 0), (1, 4)))

    assert checkpoints.read_epochs(tmp_path) == ((0, 0),)


@given(NUMBER, st.integers(-1, 1000))
def test_a_vote_is_read_as_it_was_written(tmp_path_factory, epoch, candidate):
    directory = tmp_path_factory.mktemp("votes")
    assert checkpoints.read_vote(directory) is None
    checkpoints.write_vote(directory, epoch, candidate)
    assert checkpoints.read_vote(directory) == (epoch, candidate)


@pytest.mark.parametrize("content", ["", "{}", '{"data_version":1,"leaderEpoch":1,"votedId":1}', "[1]"])
def test_a_vote_that_cannot_be_read_is_refused(tmp_path, content):
    (tmp_path / "quorum-state").write_text(content)
    with pytest.raises(CheckpointError, match="no quorum state"):
        checkpoints.read_vote(tmp_path)
