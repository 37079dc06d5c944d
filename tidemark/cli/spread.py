"""Where work is spread: over this machine's cores, or over Spark's."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from tidemark.cli.extras import need
from tidemark.cli.options import POSITIVE, SparkMaster
from tidemark.cli.refused import refused
from tidemark.harness.machines.interrupts import hear_them, kept_from_new_processes
from tidemark.harness.runs.own_rules import Knowing, known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")

CHEAP = 4
"""So many pieces of cheap work travel to a process together."""


class Spread(Protocol):
    """Does a piece of work for each item; the results are in the items' order, and each is there as soon as it can be."""

    def __call__(self, work: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """``work`` and the items must travel to other processes."""


jobs_option = click.option("--jobs", type=POSITIVE, help="Processes on this machine.  [default: one for each core]")
master_option = click.option(
    "--master",
    type=SparkMaster(),
    metavar="URL",
    help="Spark master to spread over instead, such as local[4] or spark://host:7077.",
)


@contextmanager
def spread_over(jobs: int | None, master: str | None = None, *, dear: bool = False) -> Iterator[Spread]:
    """Processes of this machine, or a Spark session's, while it lasts.

    Args:
        jobs: how many processes; None for one for each core.
        master: Spark's master URL, if it is to be Spark.
        dear: whether an item takes seconds rather than milliseconds.

    Raises:
        click.UsageError: both are given.
        click.ClickException: there is no Spark or no Java, or Spark gave up; or one of the processes was killed.
    """
    if master is not None:
        if jobs is not None:
            raise click.UsageError("--jobs is for this machine's processes: with --master Spark decides")
        with _spark(master, dear=dear) as spread:
            yield spread
        return
    count, rules = jobs or os.cpu_count() or 1, known()
    if count == 1:
        yield map
        return
    try:
        with ProcessPoolExecutor(count, initializer=_end_with_the_command) as pool:
            with kept_from_new_processes():
                pool.submit(int)  # the first task begins them

            def over_processes(work: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
                return pool.map(Knowing(work, rules) if rules else work, items, chunksize=1 if dear else CHEAP)

            yield over_processes
    except BrokenProcessPool:
        raise click.ClickException(
            f"one of the {count} processes that did the work was ended from outside, as a machine does that has no memory left: "
            "give the command again with fewer --jobs"
        ) from None


def _end_with_the_command() -> None:
    """Have this process of a pool end when the command is killed; else it would wait for work for ever, and hold the locks of the
    command, which it has inherited. Ctrl-C reaches all processes of a terminal; what it means is the
    command's to say, which lets this one finish the piece at which it is.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hear_them()
    command = parent_process()

    def follow() -> None:
        if command is not None:
            command.join()
            os._exit(1)

    Thread(target=follow, name="end with the command", daemon=True).start()


@contextmanager
def _spark(master: str, *, dear: bool) -> Iterator[Spread]:
    need(campaign=True, spark=True)
    from tidemark.pipeline.engines.spread import SparkSpread

    rules = known()
    with refused(), SparkSpread(master) as spark:
        spread = spark.one_by_one if dear else spark.together
        yield lambda work, items: spread(Knowing(work, rules) if rules else work, items)
