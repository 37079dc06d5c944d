import pytest

from tidemark.nodes.sidecar.controller.metadata_log import MetadataLog

CONTROL = 0x20


def segment(folder, base):
    return folder / f"{base:020}.log"


def offsets(log):
    return [record.offset for record in log.poll()]


def test_records_are_numbered_and_timed_and_control_batches_are_not_records(tmp_path, metadata):
    batches = [
        metadata.batch(0, b"leader change", attributes=CONTROL),
        metadata.batch(1, metadata.topic("a"), metadata.topic("b"), time_ms=7000),
        metadata.batch(3, metadata.topic("c"), time_ms=8000),
    ]
    segment(tmp_path, 0).write_bytes(b"".join(batches))
    found = MetadataLog(tmp_path).poll()
    assert [(r.offset, r.time_ms, r.kind, r.version) for r in found] == [
        (1, 7000, 2, 0),
        (2, 7000, 2, 0),
        (3, 8000, 2, 0),
    ]
    assert [r.body.text() for r in found] == ["a", "b", "c"]


def test_a_log_is_read_on_while_it_grows_byte_by_byte(tmp_path, metadata):
    log = MetadataLog(tmp_path / "not there yet")
    assert log.poll() == []
    log = MetadataLog(tmp_path)
    whole = metadata.batch(0, metadata.topic("a")) + metadata.batch(1, metadata.topic("b"))
    seen = []
    for end in range(len(whole) + 1):
        segment(tmp_path, 0).write_bytes(whole[:end])
        seen += offsets(log)
    assert seen == [0, 1]


def test_a_damaged_tail_is_not_read(tmp_path, metadata):
    good, bad = metadata.batch(0, metadata.topic("a")), bytearray(metadata.batch(1, metadata.topic("b")))
    bad[-1] ^= 1
    segment(tmp_path, 0).write_bytes(good + bytes(bad))
    log = MetadataLog(tmp_path)
    assert offsets(log) == [0]
    assert offsets(log) == []


def test_the_log_goes_on_in_the_next_segment(tmp_path, metadata):
    segment(tmp_path, 0).write_bytes(metadata.batch(0, metadata.topic("a")))
    log = MetadataLog(tmp_path)
    assert offsets(log) == [0]
    with segment(tmp_path, 0).open("ab") as file:
        file.write(metadata.batch(1, metadata.topic("b")))
    segment(tmp_path, 2).write_bytes(metadata.batch(2, metadata.topic("c")))
    assert offsets(log) == [1, 2]
    segment(tmp_path, 0).unlink()
    with segment(tmp_path, 2).open("ab") as file:
        file.write(metadata.batch(3, metadata.topic("d")))
    assert offsets(log) == [3]


def test_a_snapshot_stands_for_a_beginning_that_is_gone(tmp_path, metadata):
    snapshot = metadata.batch(0, b"header", attributes=CONTROL) + metadata.batch(
        1, metadata.topic("a"), metadata.topic("b")
    )
    (tmp_path / f"{7:020}-{1:010}.checkpoint").write_bytes(snapshot)
    segment(tmp_path, 5).write_bytes(metadata.batch(5, metadata.topic("in snapshot"), metadata.topic("too")))
    with segment(tmp_path, 5).open("ab") as file:
        file.write(metadata.batch(7, metadata.topic("after")))
    found = MetadataLog(tmp_path).poll()
    assert [(record.offset, record.body.text()) for record in found] == [(7, "a"), (7, "b"), (7, "after")]


def test_a_snapshot_is_not_read_where_the_log_is_whole(tmp_path, metadata):
    segment(tmp_path, 0).write_bytes(metadata.batch(0, metadata.topic("a")))
    (tmp_path / f"{1:020}-{1:010}.checkpoint").write_bytes(metadata.batch(0, metadata.topic("a")))
    (tmp_path / "quorum-state").write_text("{}")
    assert offsets(MetadataLog(tmp_path)) == [0]


@pytest.mark.parametrize("value", [b"", b"\x02\x00\x00", b"\xff"])
def test_a_value_in_another_frame_is_passed_over(tmp_path, metadata, value):
    segment(tmp_path, 0).write_bytes(metadata.batch(0, value, metadata.topic("a")))
    assert offsets(MetadataLog(tmp_path)) == [1]
