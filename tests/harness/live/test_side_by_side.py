"""Several processes at the same work, and who watches them: what they tell, and how each ends."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidemark.harness.live.most_jobs import jobs_that_fit
from tidemark.harness.live.side_by_side import SideBySide
from tidemark.harness.machines.errors import ClusterError
from tidemark.harness.machines.interrupts import held_interrupts, terminated_like_interrupted
from tidemark.harness.machines.needs import MachineNeeds


@pytest.fixture(autouse=True)
def no_python_in_the_garbage_collector():
    """Hypothesis has a callback there, and an interrupt that is raised in one is ignored: the process would not hear it."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


def told(jobs, work):
    with SideBySide(jobs, work) as processes:
        return [message for message in processes.heard() if message is not None]


def last_until_ended():
    """Not by ``signal.pause()``, which sleeps on if the signal comes just before it."""
    while True:
        time.sleep(0.02)


def test_each_process_does_the_work_and_all_are_heard_to_the_end():
    found = told(3, lambda job: [job.tell((job.number, os.getpid(), one)) for one in range(2)])

    assert sorted((number, one) for number, _, one in found) == [(n, one) for n in range(3) for one in range(2)]
    assert len({pid for _, pid, _ in found} | {os.getpid()}) == 4


def test_what_a_process_is_doing_is_known():
    def work(job):
        job.now = lambda: f"work of {job.number}"
        last_until_ended()

    with SideBySide(2, work) as processes:
        for _ in processes.heard():
            if all(processes.doing):
                break
        assert processes.doing == ["work of 0", "work of 1"]


def waits(folder):
    """Work that lasts until it is ended, and takes its machines away then; a second interrupt would come between."""

    def work(job):
        machines = folder / str(job.number)
        try:
            machines.write_text(str(os.getpid()))
            job.tell("up")
            last_until_ended()
        finally:
            with held_interrupts():
                time.sleep(0.05)
                machines.unlink()

    return work


def test_who_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr("tidemark.harness.live.side_by_side.LAST_S", 0.2)

    def work(job):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        job.tell(os.getpid())
        last_until_ended()

    with SideBySide(1, work) as processes:
        deaf = next(message for message in processes.heard() if message is not None)

    for child in multiprocessing.active_children():
        child.join(10)
    with pytest.raises(ProcessLookupError):
        os.kill(deaf, 0)


def test_what_one_raises_is_raised_and_the_others_clean_up(tmp_path):
    def work(job):
        if job.number:
            waits(tmp_path)(job)
        while not list(tmp_path.iterdir()):
            os.sched_yield()
        raise ClusterError("no machines are to be had")

    with pytest.raises(ClusterError, match=r"^no machines are to be had$"):
        told(3, work)
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_travel_is_told_in_words():
    class LocalError(Exception):
        """Nobody else can make one."""

    def work(job):
        raise LocalError("here only")

    with pytest.raises(RuntimeError, match="LocalError: here only"):
        told(1, work)


def test_a_process_that_was_killed_is_missed(tmp_path):
    def work(job):
        if job.number == 0:
            (tmp_path / "0").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        waits(tmp_path)(job)

    with pytest.raises(ClusterError, match="one of the 2 processes that did the work was ended from outside"):
        told(2, work)
    assert [path.name for path in tmp_path.iterdir()] == ["0"]  # who was killed could not


COMMAND = """
import os, signal, sys
from pathlib import Path
from tidemark.harness.live.side_by_side import SideBySide
from tidemark.harness.machines.interrupts import terminated_like_interrupted
sys.path.insert(0, {here!r})
from test_side_by_side import waits
with terminated_like_interrupted():
    try:
        with SideBySide(3, waits(Path({folder!r}))) as processes:
            up = 0
            for message in processes.heard():
                up += message == "up"
                if up == 3 and message == "up":
                    print("up", flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(
    ("numbers", "code"),
    [((signal.SIGINT,), 130), ((signal.SIGTERM,), 130), ((signal.SIGINT,) * 3, 130), ((signal.SIGKILL,), -9)],
)
def test_whatever_ends_the_command_its_processes_take_their_machines_away(tmp_path, numbers, code):
    code_of_command = COMMAND.format(here=str(Path(__file__).parent), folder=str(tmp_path))
    command = subprocess.Popen(
        [sys.executable, "-c", code_of_command], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert command.stdout is not None
    with command.stdout:
        assert command.stdout.readline() == "up\n"
        assert len(list(tmp_path.iterdir())) == 3
        for number in numbers:
            os.killpg(command.pid, number)
        assert command.wait() == code
        command.stdout.read()  # to the end: all its processes have closed it
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_before_they_are_asked_to_end_leaves_no_process_that_works_on(tmp_path):
    interrupted = "def end(self, *error): raise KeyboardInterrupt\nSideBySide.__exit__ = end\nwith terminated"
    code = COMMAND.format(here=str(Path(__file__).parent), folder=str(tmp_path)).replace("with terminated", interrupted)
    command = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert command.stdout is not None
    with command.stdout:
        assert command.stdout.readline() == "up\n"
        os.kill(command.pid, signal.SIGINT)
        command.stdout.read()
        assert command.wait() == 130
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_before_all_have_begun_is_not_lost(tmp_path):
    def work(job):
        if job.number == 0:
            os.kill(os.getppid(), signal.SIGTERM)
        waits(tmp_path)(job)

    with terminated_like_interrupted(), pytest.raises(KeyboardInterrupt):
        told(4, work)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("cores", "gigabytes", "jobs"), [(2, 24, 3), (8, 64, 12), (8, 8, 7), (1, 2, 1), (2, 0, 1)])
def test_as_many_clusters_as_cores_and_memory_bear(cores, gigabytes, jobs):
    needs = MachineNeeds(usual_memory=256 << 20)

    assert jobs_that_fit(4, needs, cores=cores, memory=gigabytes << 30) == jobs
    assert jobs_that_fit(4, needs) >= 1
