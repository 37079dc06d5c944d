"""A slow disk, for a process that writes as a broker does."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from missing import needs

from tidemark.nodes.sidecar.slow_disk import SlowDisk, SlowDiskError
from tidemark.nodes.sidecar.strace import tracers as tracers_of

DELAY_US = 200_000

WRITER = """
import os, sys, threading, time
log = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
other = os.open(sys.argv[2], os.O_CREAT | os.O_RDWR)
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
for line in sys.stdin:
    fd = log if line.strip() == "log" else other
    began = time.monotonic_ns()
    os.write(fd, b"x")
    os.fsync(fd)
    print((time.monotonic_ns() - began) // 1000, flush=True)
"""


def can_trace():
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return tried.returncode == 0


pytestmark = needs("strace", also=can_trace(), what="leave for strace to trace")


async def until(seen):
    async with asyncio.timeout(60):
        while not seen():  # noqa: ASYNC110 (what is seen lies outside this program)
            await asyncio.sleep(0.05)


class Writer:
    def __init__(self, process):
        self.process = process
        self.pid = process.pid

    def took_us(self, which):
        """How long one write and one sync took."""
        self.process.stdin.write(f"{which}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def data(tmp_path):
    (tmp_path / "t-0").mkdir()
    return tmp_path


@pytest.fixture
def writer(data):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(data / "t-0" / "00000000000000000000.log"), str(data / "other")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    writer = Writer(process)
    writer.took_us("log")
    yield writer
    process.kill()
    process.communicate()


def slowly(data, deed):
    """Do something with a slow disk that is healed in the end."""

    async def go():
        disk = SlowDisk((data,))
        try:
            return await deed(disk)
        finally:
            await disk.close()

    return asyncio.run(go())


def test_writes_and_syncs_of_the_log_take_longer_until_it_is_healed(data, writer):
    async def deed(disk):
        await disk.set(writer.pid, DELAY_US)
        slow, said, tracers = writer.took_us("log"), disk.delay_us, tracers_of(writer.pid)
        await disk.set(writer.pid, 0)
        return slow, said, tracers, disk.delay_us

    slow, said, tracers, healed = slowly(data, deed)

    assert slow >= 2 * DELAY_US
    assert (said, healed) == (DELAY_US, 0)
    assert len(tracers) == 2
    assert 0 not in tracers
    assert tracers_of(writer.pid) == [0, 0]


def test_another_delay_takes_the_place_of_the_first(data, writer):
    async def deed(disk):
        await disk.set(writer.pid, 10 * DELAY_US)
        first = set(tracers_of(writer.pid))
        await disk.set(writer.pid, DELAY_US)
        return disk.delay_us, first, set(tracers_of(writer.pid))

    delay_us, first, second = slowly(data, deed)

    assert delay_us == DELAY_US
    assert len(first) == len(second) == 1
    assert first != second


def test_a_paused_process_stays_paused(data, writer):
    def state():
        return Path(f"/proc/{writer.pid}/stat").read_text().rpartition(")")[2].split()[0]

    async def deed(disk):
        os.kill(writer.pid, signal.SIGSTOP)
        await until(lambda: state() == "T")
        await disk.set(writer.pid, DELAY_US)
        while_slow = state()
        await disk.set(writer.pid, 0)
        # A tracer that leaves stops the process again; the process may be seen between the two.
        await until(lambda: state() == "T")
        os.kill(writer.pid, signal.SIGCONT)
        return while_slow

    assert slowly(data, deed) == "t"
    assert writer.took_us("log") >= 0


def test_a_process_that_ends_takes_the_fault_with_it(data, writer):
    async def deed(disk):
        await disk.set(writer.pid, DELAY_US)
        writer.process.kill()
        writer.process.wait()
        await until(lambda: not disk.delay_us)
        await disk.set(writer.pid, 0)
        with pytest.raises(SlowDiskError):
            await disk.set(writer.pid, DELAY_US)
        return disk.delay_us

    assert slowly(data, deed) == 0


def test_a_segment_that_is_begun_later_is_slow_too(data):
    late = data / "t-0" / "00000000000000000007.log"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(late), str(data / "other")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    writer = Writer(process)

    async def deed(disk):
        await disk.set(writer.pid, DELAY_US)
        await until(lambda: writer.took_us("log") >= 2 * DELAY_US)

    try:
        slowly(data, deed)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("delay_us", [-1, 60_000_001])
def test_an_impossible_delay_is_refused(data, writer, delay_us):
    with pytest.raises(SlowDiskError, match="0 µs to a minute"):
        slowly(data, lambda disk: disk.set(writer.pid, delay_us))


def test_a_tracer_that_leaves_a_child_with_our_pipe_is_refused_all_the_same(data, writer, monkeypatch, tmp_path):
    """As strace does when it ends while it tries ptrace on a child of its own."""
    left = tmp_path / "left"
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "strace"
    fake.write_text(f"#!/bin/sh\nsleep 1000 & echo $! >{left}\necho no ptrace here >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")

    async def deed(disk):
        async with asyncio.timeout(60):
            with pytest.raises(SlowDiskError, match="no ptrace here"):
                await disk.set(writer.pid, DELAY_US)
        await until(lambda: _is_gone(int(left.read_text())))

    slowly(data, deed)


def _is_gone(pid):
    """Or a zombie, if nobody waits for orphans here."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_without_strace_it_is_refused(data, writer, monkeypatch):
    monkeypatch.setenv("PATH", str(data))

    with pytest.raises(SlowDiskError, match="strace is not installed"):
        slowly(data, lambda disk: disk.set(writer.pid, DELAY_US))
