"""Clusters side by side: the same work in several processes, each with machines of its own, and one that watches them.

A process for each cluster, because then each is what a command of its own would be: a Ctrl-C, a kill and what has to be removed are
its own affair, and it meets the others at the results only.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import TracebackType
from typing import Any, Self

from tidemark.harness.machines.errors import ClusterError
from tidemark.harness.machines.interrupts import (
    hear_them,
    held_interrupts,
    kept_from_new_processes,
    terminated_like_interrupted,
)

LOOK_S = 0.25
"""So often is looked what a process is doing."""
LAST_S = 90.0
"""For all processes to remove their machines, once they were asked to end."""
_PR_SET_PDEATHSIG = 1
_DOING, _TOLD, _FAILED = "doing", "told", "failed"


class Job:
    """The end of a process that works: what it says, and what it is doing.

    Attributes:
        number: of the process, from 0.
        now: asked several times a second for what is being done, in a few words.
    """

    def __init__(self, number: int, pipe: Connection) -> None:
        self.number = number
        self.now: Callable[[], str] = str
        self._pipe = pipe
        self._one_at_a_time = threading.Lock()

    def tell(self, message: object) -> None:
        """Say something to who watches; it must travel to another process."""
        self.send(_TOLD, message)

    def send(self, kind: str, message: object) -> None:
        """As :meth:`tell`, of a kind. Nobody may be there any more: then the process is about to be ended."""
        with self._one_at_a_time:
            try:
                self._pipe.send((kind, message))
            except OSError:
                return

    def say_what(self) -> None:
        """Say what is being done, whenever it changes, for ever."""
        last = ""
        while True:
            time.sleep(LOOK_S)
            words = self.now()
            if words != last:
                self.send(_DOING, words)
                last = words


class SideBySide:
    """Processes that work, from the beginning of a ``with`` to its end; they are forked, so nothing that has threads may run yet.

    Args:
        jobs: how many.
        work: what each does.

    Attributes:
        doing: what each process is doing, in a few words.
    """

    def __init__(self, jobs: int, work: Callable[[Job], None]) -> None:
        self.doing = [""] * jobs
        self._work = work
        self._pipes: dict[Connection, int] = {}
        self._processes: list[ForkProcess] = []

    def __enter__(self) -> Self:
        try:
            for number in range(len(self.doing)):
                self._begin(number)
        except BaseException:
            self._end()
            raise
        return self

    def _begin(self, number: int) -> None:
        fork = multiprocessing.get_context("fork")
        ours, theirs = fork.Pipe(duplex=False)
        with theirs, held_interrupts():
            # A daemon: should an interrupt come just before `_end`, the interpreter asks it to end when it ends itself.
            process = fork.Process(target=_begin, args=(self._work, Job(number, theirs), os.getpid()), daemon=True)
            with kept_from_new_processes():
                process.start()
                self._processes.append(process)
                self._pipes[ours] = number

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """As :meth:`_end`."""
        self._end()

    def _end(self) -> None:
        """Ask those that still work to end, and wait until they have removed their machines."""
        with held_interrupts():
            for process in self._processes:
                if process.is_alive():
                    process.terminate()
            deadline = time.monotonic() + LAST_S
            for process in self._processes:
                process.join(max(0.0, deadline - time.monotonic()))
                if process.is_alive():
                    process.kill()  # or this one would wait for it for ever when it ends
            for pipe in self._pipes:
                pipe.close()

    def heard(self) -> Iterator[Any]:
        """What the processes tell, until all have ended; every :data:`LOOK_S` at least `None`.

        Raises:
            Exception: what one of them raised.
            ClusterError: one was killed.
        """
        left = dict(self._pipes)
        while left:
            ready = wait(list(left), LOOK_S)
            if not ready:
                yield None
            for pipe in ready:
                assert isinstance(pipe, Connection)  # noqa: S101 (nothing else is waited for)
                try:
                    kind, message = pipe.recv()
                except EOFError:
                    self._ended(left.pop(pipe))
                    continue
                if kind == _FAILED:
                    raise message
                if kind == _DOING:
                    self.doing[left[pipe]] = message
                else:
                    yield message

    def _ended(self, number: int) -> None:
        self.doing[number] = ""
        process = self._processes[number]
        process.join()
        if process.exitcode:
            raise ClusterError(
                f"one of the {len(self._processes)} processes that did the work was ended from outside, as a machine does that has "
                "no memory left: give the command again with fewer --jobs"
            )


def _begin(work: Callable[[Job], None], job: Job, watcher: int) -> None:
    """A process's life. It is in a group of its own, so that a Ctrl-C at the terminal reaches it once, through its watcher, and
    it is asked to end when its watcher is killed.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with terminated_like_interrupted():
        try:
            hear_them()
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != watcher:
                return
            threading.Thread(target=job.say_what, name="says what is being done", daemon=True).start()
            work(job)
        except KeyboardInterrupt:
            return
        except Exception as error:  # noqa: BLE001 - raised again where the person waits
            job.send(_FAILED, _that_travels(error))


def _that_travels(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    except Exception:  # noqa: BLE001 - whatever it lacks
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
