"""What a broker flushes is noted before it is told that it is flushed."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tidemark.nodes.sidecar.jvm import Jvm
from tidemark.nodes.sidecar.synced_segments import NOTE, SyncedSegments, flushes, synced_sizes

BROKER = """
import os, sys
data = sys.argv[1]
def append(path, text, sync):
    file = os.open(f"{data}/{path}", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.write(file, text)
    sync(file)
    os.close(file)
append("t-0/00000000000000000000.log", b"one", os.fsync)
append("t-0/00000000000000000000.log", b"two", os.fdatasync)
append("t-0/00000000000000000000.log", b"three", lambda file: None)
append("t-1/00000000000000000007.log", b"four", os.fsync)
append("t-0/leader-epoch-checkpoint", b"0", os.fsync)
append("../00000000000000000000.log", b"elsewhere", os.fsync)
"""


@pytest.fixture
def data(tmp_path):
    logs = tmp_path / "logs"
    for name in ("t-0", "t-1"):
        (logs / name).mkdir(parents=True)
    return logs


def run(data, program=BROKER, syncs=None):
    async def until_it_ended():
        jvm = Jvm([sys.executable, "-c", program, str(data)], os.environ, asyncio.get_running_loop(), syncs)
        code = await jvm.ended
        os.close(jvm.output)
        return code

    return asyncio.run(until_it_ended())


def test_every_sync_of_a_segment_is_noted_with_what_was_written_by_then(data):
    assert run(data, syncs=SyncedSegments(data)) == 0

    assert synced_sizes(data) == {
        data / "t-0" / "00000000000000000000.log": 6,
        data / "t-1" / "00000000000000000007.log": 4,
    }


def test_the_note_is_written_before_the_sync_is_over(data):
    program = BROKER.replace('append("t-1', 'assert "6 t-0/" in open(f"{data}/' + NOTE + '").read()\nappend("t-1')

    assert run(data, program, SyncedSegments(data)) == 0


def test_without_one_nothing_is_noted(data):
    assert run(data) == 0

    assert synced_sizes(data) == {}


def test_a_program_that_is_not_there_leaves_nothing_open(data):
    before = len([*Path("/proc/self/fd").iterdir()])

    async def start():
        with pytest.raises(FileNotFoundError):
            Jvm(["/nowhere/java"], {}, asyncio.get_running_loop(), SyncedSegments(data))

    asyncio.run(start())

    assert len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.parametrize(
    ("properties", "does"),
    [
        ({"broker.id": "1"}, False),
        ({"log.flush.interval.messages": "1"}, True),
        ({"log.flush.interval.ms": "100"}, True),
        ({"log.flush.offset.checkpoint.interval.ms": "100"}, False),
    ],
)
def test_a_broker_as_it_comes_leaves_flushing_to_the_operating_system(properties, does):
    assert flushes(properties) is does
