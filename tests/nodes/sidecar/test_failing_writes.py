"""What a process has open in a log directory that has failed: each write is EIO until it has noticed; others work."""

import asyncio
import os
import shutil
import subprocess
import sys

import pytest
from missing import needs

from tidemark.nodes.formats.log_directories import aside
from tidemark.nodes.sidecar.failing_writes import FailingWrites
from tidemark.nodes.sidecar.strace import tracers


def can_trace():
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return tried.returncode == 0


pytestmark = needs("strace", also=can_trace(), what="leave for strace to trace")

SEGMENT = "00000000000000000000.log"
WRITER = """
import os, sys
files = [os.open(path, os.O_CREAT | os.O_RDWR) for path in sys.argv[1:]]
for line in sys.stdin:
    try:
        os.write(files[int(line)], b"x")
    except OSError as error:
        print(error.errno, flush=True)
    else:
        print(0, flush=True)
"""


class Writer:
    def __init__(self, process):
        self.process = process
        self.pid = process.pid

    def write(self, which):
        """The error of a write to one of the files; 0 if there is none."""
        self.process.stdin.write(f"{which}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def both(tmp_path):
    both = (tmp_path / "first", tmp_path / "second")
    for one in both:
        (one / "t-0").mkdir(parents=True)
    return both


@pytest.fixture
def writer(both):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, *(str(one / "t-0" / SEGMENT) for one in both)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    writer = Writer(process)
    assert [writer.write(0), writer.write(1)] == [0, 0]
    yield writer
    process.kill()
    process.communicate()


def fails(directory):
    directory.rename(aside(directory))
    directory.touch()


def test_writes_to_it_are_i_o_errors_until_the_process_has_noticed(both, writer):
    async def deed():
        failing = FailingWrites(both)
        files = await failing.begin(writer.pid)
        while_it_fails = [writer.write(0), writer.write(1), writer.write(0)]
        failing.noticed()
        await failing.close()
        assert tracers(writer.pid) == [0]
        return files, while_it_fails

    fails(both[0])

    assert asyncio.run(deed()) == (1, [5, 0, 5])
    assert (aside(both[0]) / "t-0" / SEGMENT).read_text() == "x"
    assert os.strerror(5) == "Input/output error"


def test_where_none_has_failed_or_the_process_knows_there_is_nothing_to_do(both, writer):
    async def deed():
        failing = FailingWrites(both)
        none = await failing.begin(writer.pid)
        fails(both[0])
        failing.noticed()
        return none, await failing.begin(writer.pid), tracers(writer.pid)

    assert asyncio.run(deed()) == (0, 0, [0])


def test_whoever_ends_it_leaves_nothing(both, writer):
    async def deed():
        failing = FailingWrites(both)
        await failing.begin(writer.pid)
        await failing.close()
        return tracers(writer.pid)

    fails(both[1])

    assert asyncio.run(deed()) == [0]
    assert writer.write(1) == 0
