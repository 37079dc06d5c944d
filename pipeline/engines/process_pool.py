"""A small campaign on this machine's cores, without Spark: a pool of processes has done it before a JVM has started."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.harness.machines.interrupts import hear_them, kept_from_new_processes
from tidemark.pipeline.chunks.chunk import FinishedChunk, Task, work_out
from tidemark.pipeline.engines.delivery import Delivery

if TYPE_CHECKING:
    from tidemark.pipeline.folder.layout import Chunk, Layout
    from tidemark.pipeline.folder.record import ChunkSummary

POLL_SECONDS: Final = 0.1
_PR_SET_PDEATHSIG: Final = 1

_task: Task | None = None
"""What a process of the pool works on; it has it from its birth, so that it need not travel."""


def run_on_pool(
    task: Task,
    layout: Layout,
    numbers: Sequence[int],
    told: list[ChunkSummary],
    go_on: Callable[[], bool],
    keep: Callable[[FinishedChunk], object] | None = None,
) -> None:
    """Run chunks and store them as they come. A process that ends under its work costs nothing but time: what is left then is done
    again with each run in a process of its own, and the one that ends it becomes a row with an error.

    Args:
        task: What is the same for all chunks.
        layout: How a chunk follows from its number.
        numbers: Of the layout's tasks.
        told: Gets the summary of each chunk that is stored.
        go_on: Asked several times a second; what is under way when it says no is dropped.
        keep: See `Delivery`.

    Raises:
        KeyboardInterrupt: The person stopped it; what was finished is stored.
        OSError: A chunk cannot be stored or kept.
    """
    failed: list[bool] = []
    expendable = replace(task, limits=replace(task.limits, expendable=True))
    with Delivery(task.folder, task.spec.name, told, give_up=lambda: failed.append(True), keep=keep) as delivery:

        def still() -> bool:
            return go_on() and not failed

        left = _attempt(expendable, layout, numbers, delivery, still)
        if left:
            _attempt(replace(expendable, one_by_one=True), layout, left, delivery, still)


def _attempt(
    task: Task, layout: Layout, numbers: Sequence[int], delivery: Delivery, still: Callable[[], bool]
) -> list[int]:
    """The chunks that are not done because a process ended."""
    lost = []
    with _pool(task, len(numbers)) as pool:
        with kept_from_new_processes():  # the first task begins them
            futures: dict[Future[FinishedChunk], int] = {
                pool.submit(_work_out, layout.task(number)): number for number in numbers
            }
        waiting = set(futures)
        while waiting and still():
            done, waiting = wait(waiting, POLL_SECONDS)
            for future in done:
                try:
                    delivery.take([future.result()])
                except BrokenProcessPool:
                    lost.append(futures[future])
    return sorted(lost, key=numbers.index)


@contextmanager
def _pool(task: Task, most: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, whatever they are at."""
    size = max(1, min(len(os.sched_getaffinity(0)), most))
    fork = multiprocessing.get_context("fork")  # they have all that is loaded
    pool = ProcessPoolExecutor(size, mp_context=fork, initializer=_begin, initargs=(task, os.getpid()))
    try:
        yield pool
    finally:
        processes = list((pool._processes or {}).values())  # noqa: SLF001  there is no other way to their ends
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def _begin(task: Task, driver: int) -> None:
    """Ctrl-C is the driver's to act on, and nobody outlives it."""
    global _task  # noqa: PLW0603  one for each process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    hear_them()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != driver:
        os._exit(1)
    _task = task


def _work_out(chunk: Chunk) -> FinishedChunk:
    assert _task is not None  # noqa: S101  _begin was called
    return work_out(_task, chunk)
