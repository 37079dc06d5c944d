"""Run a campaign's chunks one after the other on this machine: a real world has one cluster, which cannot be spread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.pipeline.chunks.chunk import Task, run_chunk

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan
    from tidemark.pipeline.campaign.progress import CampaignProgress
    from tidemark.pipeline.folder.layout import Layout
    from tidemark.pipeline.folder.record import ChunkSummary
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

POLL_SECONDS = 0.25
GRACE_SECONDS = 2.0
"""A run whose processes were stopped with us may fail a moment before we know that we are to stop."""


class _AbandonedError(BaseException):
    """The run under way was cut off by the person; it says nothing, and nothing of it is stored."""


def run_in_turn(
    task: Task,
    layout: Layout,
    numbers: Sequence[int],
    progress: CampaignProgress,
    now_running: Callable[[], str],
    *,
    stop_at_first: bool = False,
) -> None:
    """Run the chunks; what is finished is kept whatever happens. ``now_running`` says what the run under way is doing. With
    ``stop_at_first`` the first chunk with a violation is the last one.

    The runs have a thread of their own, so that the screen goes on while one of them waits. Ctrl-C leaves the run under way to
    its world, which ends it when it is closed; however it ends then, it counts as not run.

    Raises:
        KeyboardInterrupt: the person stopped it.
        Exception: whatever a chunk raised.
    """
    failure: list[BaseException] = []
    enough = threading.Event()
    told: list[ChunkSummary] = []

    def unless_stopped(spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        try:
            found = task.simulate(spec, variant, index)
        except Exception:
            if enough.wait(GRACE_SECONDS):
                raise _AbandonedError from None
            raise
        if enough.is_set():
            raise _AbandonedError
        return found

    here = replace(task, simulate=unless_stopped)

    def work() -> None:
        try:
            for number in numbers:
                if enough.is_set():
                    return
                told.append(run_chunk(here, layout.task(number)))
                if stop_at_first and told[-1].violating:
                    return
        except _AbandonedError:
            return
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    thread = threading.Thread(target=work, name="campaign", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            progress.show(told, now_running())
    except KeyboardInterrupt:
        enough.set()
        raise
    if failure:
        raise failure[0]
