"""A campaign's chunks as one Spark job. What travels to a task is its number, and what is the same for all."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext

from tidemark.pipeline.chunks.chunk import FinishedChunk, Task, work_out
from tidemark.pipeline.engines.brought import Brought
from tidemark.pipeline.engines.delivery import Delivery
from tidemark.pipeline.folder.tables import MANIFEST

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext

    from tidemark.pipeline.folder.layout import Layout
    from tidemark.pipeline.folder.record import ChunkSummary


class OtherFolderError(RuntimeError):
    """A worker has not the campaign's folder where the driver has it; the text is one sentence."""


def collected_in(context: SparkContext) -> Accumulator[list[Any]]:
    """To be filled by tasks: Spark brings what they add with the news that one has ended, so nobody need look for files."""
    return context.accumulator([], Brought())


def run_job(
    context: SparkContext,
    task: Task,
    layout: Layout,
    numbers: Sequence[int],
    told: list[ChunkSummary],
    keep: Callable[[FinishedChunk], object] | None = None,
) -> None:
    """Run chunks, one task each, in the given order, and store what they bring; blocks until all have ended.

    A task that Spark tries again has its runs one by one, each in a process of its own: most likely one of them has ended the
    worker that had them before. That run becomes a row with an error.

    Args:
        context: Spark.
        task: What is the same for all chunks.
        layout: How a chunk follows from its number.
        numbers: Of the layout's tasks.
        told: Gets the summary of each chunk that is stored.
        keep: See `Delivery`.

    Raises:
        OSError: A chunk cannot be stored or kept, and the job is given up.
    """
    with Delivery(task.folder, task.spec.name, told, give_up=context.cancelAllJobs, keep=keep) as delivery:
        brought = context.accumulator([], Brought(delivery.take))

        def work(mine: Iterable[int]) -> None:
            attempt = TaskContext.get()
            again = attempt is not None and attempt.attemptNumber() > 0
            here = replace(task, limits=replace(task.limits, expendable=True), one_by_one=again)
            for number in mine:
                brought.add([work_out(here, layout.task(number))])

        context.parallelize(numbers, len(numbers)).foreachPartition(work)


def check_folder(task: Task) -> None:
    """Refuse to work where the campaign's folder is not, or another one of that name.

    Raises:
        OtherFolderError: See there.
    """
    try:
        theirs = task.identity in (task.folder / MANIFEST).read_text(encoding="utf-8")
    except OSError:
        theirs = False
    if not theirs:
        raise OtherFolderError(
            f"The worker on {socket.gethostname()} does not see the campaign in {task.folder}: "
            "every worker must have the driver's folder under the same path."
        )
