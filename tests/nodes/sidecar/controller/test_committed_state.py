"""What one of several controllers reads: what is committed, and nothing that may be truncated."""

import json
import time

import pytest

from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller.committed_state import CommittedControllerLog
from tidemark.nodes.sidecar.controller.find_log import open_committed_log


def segment(folder, base=0):
    return folder / f"{base:020}.log"


class Reader:
    def __init__(self, folder, told=0):
        self.hw = 0
        self.log = CommittedControllerLog(folder, ["t-0"], lambda: self.hw, told)

    def read(self, hw=None):
        self.hw = self.hw if hw is None else hw
        return [(one.offset, one.place, one.event[0]) for one in self.log.poll_committed()]


def beginning(metadata):
    return metadata.batch(0, metadata.topic(), metadata.partition())


def test_what_is_not_committed_is_not_read(tmp_path, metadata):
    segment(tmp_path).write_bytes(beginning(metadata) + metadata.batch(2, metadata.change(isr=(1, 2))))
    reader = Reader(tmp_path)

    assert reader.read() == []
    assert reader.read(hw=2) == [(1, 0, "elect")]
    assert reader.log.next == 2
    assert reader.log.partitions["t-0"]["isr"] == (1, 2, 3)
    assert reader.read(hw=3) == [(2, 0, "isr-change")]


def test_what_a_deposed_controller_wrote_is_never_told(tmp_path, metadata):
    committed = beginning(metadata)
    segment(tmp_path).write_bytes(committed + metadata.batch(2, metadata.change(leader=2)))
    reader = Reader(tmp_path)
    assert reader.read(hw=2) == [(1, 0, "elect")]

    segment(tmp_path).write_bytes(committed + metadata.batch(2, metadata.change(isr=(1, 3))))

    assert reader.read(hw=3) == [(2, 0, "isr-change")]
    assert reader.log.partitions["t-0"]["leader"] == 1


def test_the_next_segment_waits_for_what_is_before_it(tmp_path, metadata):
    segment(tmp_path).write_bytes(beginning(metadata))
    segment(tmp_path, 2).write_bytes(metadata.batch(2, metadata.change(isr=(1, 2))))
    reader = Reader(tmp_path)

    assert reader.read(hw=0) == []
    assert reader.read(hw=3) == [(1, 0, "elect"), (2, 0, "isr-change")]


def test_a_snapshot_is_a_state_and_no_decision(tmp_path, metadata):
    (tmp_path / f"{9:020}-{4:010}.checkpoint").write_bytes(
        metadata.batch(0, metadata.topic(), metadata.partition(isr=(2,), leader=2, leader_epoch=5, epoch=8))
    )
    segment(tmp_path, 9).write_bytes(metadata.batch(9, metadata.change(isr=(2, 3))))
    reader = Reader(tmp_path)

    assert reader.read(hw=10) == [(9, 0, "isr-change")]
    assert (reader.log.partitions["t-0"]["leader"], reader.log.partitions["t-0"]["partition_epoch"]) == (2, 9)


@pytest.mark.parametrize("seen_gone", [1, 2, 3])
def test_a_log_that_a_snapshot_replaces_while_it_is_looked_at(tmp_path, metadata, monkeypatch, seen_gone):
    segment(tmp_path).write_bytes(beginning(metadata))
    reader = Reader(tmp_path)
    reader.read(hw=2)
    looks, files = [], reader.log._log._files.files

    def replaced():
        """At this look at the folder."""
        looks.append(1)
        if len(looks) == seen_gone:
            segment(tmp_path).unlink()
            snapshot = metadata.topic(), metadata.partition(isr=(2,), leader=2, leader_epoch=5, epoch=8)
            (tmp_path / f"{9:020}-{4:010}.checkpoint").write_bytes(metadata.batch(0, *snapshot))
            segment(tmp_path, 9).write_bytes(metadata.batch(9, metadata.change(leader=3)))
        return files()

    monkeypatch.setattr(reader.log._log._files, "files", replaced)
    told = reader.read(hw=10) + reader.read() + reader.read()

    assert told == [(9, 0, "elect")]
    assert (reader.log.partitions["t-0"]["leader_epoch"], reader.log.next) == (6, 10)


def test_when_a_record_came_is_known_though_it_was_committed_later(tmp_path, metadata):
    segment(tmp_path).write_bytes(beginning(metadata))
    reader = Reader(tmp_path)
    reader.read(hw=2)
    with segment(tmp_path).open("ab") as file:
        file.write(metadata.batch(2, metadata.change(isr=(1, 2))))
    before_us = time.monotonic_ns() // 1000
    reader.read()
    seen_us = time.monotonic_ns() // 1000
    time.sleep(0.02)
    reader.hw = 3
    (change,) = reader.log.poll_committed()

    assert change.seen_us[0] <= before_us <= change.seen_us[1] <= seen_us


def test_what_an_earlier_sidecar_told_is_not_told_again_but_for_the_last_offset(tmp_path, metadata):
    folder = tmp_path / "kafka" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    segment(folder).write_bytes(beginning(metadata) + metadata.batch(2, metadata.change(isr=(1, 2))))
    told = [[5, 0, "quorum-decided", "t-0", 1, 0, "elect", []], [6, 0, "quorum-decided", "t-0", 2, 0, "isr-change", []]]
    (tmp_path / "trace").write_text("".join(json.dumps(one) + "\n" for one in told) + '[7,0,"quo')
    given = {
        "node": 0, "incarnation": 2, "version": "4.3.1", "role": "kraft-controller", "properties": {}, "heap": "1m",
        "libs": "/libs", "partitions": {"t-0": [1, 2, 3]}, "kafka": "127.0.0.1:1", "controls": "127.0.0.1:1", "quorum": True,
        "admin": "127.0.0.1:2", "data": str(tmp_path / "kafka"), "trace": str(tmp_path / "trace"),
        "process": str(tmp_path / "pid"),
    }  # fmt: skip
    log = open_committed_log(SidecarConfig.from_json(given), lambda: 3)

    assert [one.offset for one in log.poll_committed()] == [2]
