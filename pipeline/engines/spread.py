"""Do the same to many things as Spark tasks, whatever it is: a hunt's plans, a table's cells."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, TypeVar

from rich.console import Console

from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.session import is_local, spark_session
from tidemark.pipeline.engines.workers import WorkersUnfitError, check_workers
from tidemark.pipeline.folder.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

TASKS_A_CORE = 2
"""At most, so that a core that was given short runs helps with the long ones."""
WORTH_A_TASK = 16
"""So many items make it worth while to have more tasks than cores: each costs some 10 ms."""
MOST_JOBS = 64
"""At a time, where each item is a job of its own."""


class SparkFailedError(RefusalError):
    """Spark cannot be had, or gave up; the text is one sentence."""


class SparkSpread:
    """This process's Spark session, asked from other threads than the main one, where Ctrl-C would strike amid its protocol.

    Work and items travel pickled, and whatever is of our packages by name. The results are in the order of the items, whoever
    did what.

    Args:
        master: Spark's master URL, `None` for this machine's cores.
    """

    def __init__(self, master: str | None) -> None:
        self._master = master
        self._threads = ThreadPoolExecutor(MOST_JOBS, thread_name_prefix="spread")

    def __enter__(self) -> Self:
        """Start Spark, which takes seconds.

        Raises:
            SparkFailedError: it does not start, or its workers cannot do our work. JavaNotFoundError: there is no Java for it.
        """
        try:
            self._spark: SparkSession = self._done(self._threads.submit(self._start))
        except BaseException:
            self._threads.shutdown(wait=False)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let the session be, for whoever asks next; end it where a person wants no more."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._spark.sparkContext.cancelAllJobs()
            self._spark.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def together(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """All as one job of a few tasks: for many items, each of which costs little.

        Raises:
            SparkFailedError: a task failed as often as it may.
        """
        return self._done(self._threads.submit(self._job, work, list(items)))

    def one_by_one(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Each as a job of its own, given out in order: for dear items, whose results are wanted as soon as they are there.

        Raises:
            SparkFailedError: a task failed as often as it may.
        """
        jobs = [self._threads.submit(self._job, work, [item]) for item in items]
        return (self._done(job)[0] for job in jobs)

    def _start(self) -> SparkSession:
        session = spark_session(self._master)
        if self._master is not None and not is_local(self._master):
            console = Console(stderr=True, highlight=False, markup=False)
            check_workers(session.sparkContext, console.print)
        return session

    def _job(self, work: Callable[[T], R], items: list[T]) -> list[R]:
        context = self._spark.sparkContext
        cores = context.defaultParallelism
        tasks = max(cores, min(TASKS_A_CORE * cores, len(items) // WORTH_A_TASK))
        return context.parallelize(items, min(tasks, len(items))).map(work).collect()

    def _done(self, job: Future[R]) -> R:
        try:
            return job.result()
        except JavaNotFoundError:
            raise
        except WorkersUnfitError as error:
            raise SparkFailedError(str(error)) from error
        except Exception as error:
            raise SparkFailedError(f"Spark gave up: {reason(error)}") from error
