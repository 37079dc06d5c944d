"""What a JVM prints."""

import os
import time
from pathlib import Path

import pytest

from tidemark.nodes.sidecar.log_pipe import LogPipe


@pytest.fixture
def ends():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return reading, writing


@pytest.fixture
def pipe(ends, tmp_path):
    with (tmp_path / "log").open("wb") as copy:
        found = LogPipe(ends[0], copy.fileno(), "zookeeper ")
        yield found
        found.close()


def test_whole_lines_with_their_time(ends, pipe, tmp_path):
    before = time.monotonic_ns() // 1000
    assert pipe.read() == []
    os.write(ends[1], "one\ntwo µs\nthr".encode())
    first, second = pipe.read()
    assert (first.text, second.text) == ("one", "two µs")
    assert before <= first.arrived_us == second.arrived_us <= time.monotonic_ns() // 1000
    os.write(ends[1], b"ee\n")
    (third,) = pipe.read()
    assert third.text == "three"
    at, _, rest = (tmp_path / "log").read_text().splitlines()[2].partition(" ")
    assert int(at) == third.arrived_us
    assert rest == "zookeeper three"
    os.close(ends[1])


def test_the_end(ends, pipe, tmp_path):
    os.write(ends[1], b"one\ntorn")
    assert [line.text for line in pipe.read()] == ["one"]
    os.close(ends[1])
    assert not pipe.ended.is_set()
    assert pipe.read() == []
    assert pipe.ended.is_set()
    assert [line.text for line in pipe.last] == ["one", "torn"]
    assert "torn" in (tmp_path / "log").read_text()


def test_bytes_that_are_no_text(ends, pipe):
    os.write(ends[1], b"\xff\n")
    assert [line.text for line in pipe.read()] == ["\ufffd"]
    os.close(ends[1])


def test_more_than_fits(ends, pipe):
    lines = [f"line {i}" for i in range(3000)]
    os.write(ends[1], "".join(f"{line}\n" for line in lines).encode())
    os.close(ends[1])
    found = []
    while not pipe.ended.is_set():
        found += pipe.read()
    assert [line.text for line in found] == lines
    assert len(pipe.last) == 400


def test_a_log_that_cannot_be_written(ends):
    with Path("/dev/full").open("wb", buffering=0) as full:
        pipe = LogPipe(ends[0], full.fileno())
        os.write(ends[1], b"one\n")
        assert [line.text for line in pipe.read()] == ["one"]
    pipe.close()
    pipe.close()
    os.close(ends[1])
