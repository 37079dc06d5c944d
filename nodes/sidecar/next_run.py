"""One run is over and the next begins, and the JVM goes on: nothing of the last run may be left in what is told of this one.

The topic was deleted by then (KIP-4), and another of the same name will be made. Before that, its logs must be gone, and its
offsets in the checkpoint files: a broker that crashes early would give them to the new logs. Kafka takes log starts and recovery
points out when it deletes a log (``LogManager.asyncDelete``). High watermarks it leaves until it writes them the next time, which
it does not while it has no partition at all (``ReplicaManager.checkpointHighWatermarks``): so they are waited for when the new
topic is there (:func:`forgotten`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.formats.checkpoints import HIGH_WATERMARKS, LOG_STARTS
from tidemark.nodes.formats.log_directories import above
from tidemark.nodes.formats.partition_files import RECOVERY_POINTS
from tidemark.nodes.sidecar.status import offsets_of_all
from tidemark.nodes.sidecar.synced_segments import NOTE

if TYPE_CHECKING:
    from tidemark.nodes.sidecar.sidecar import Sidecar

GONE_S = 30.0
LOOK_S = 0.02


async def next_run(sidecar: Sidecar) -> None:
    """Begin a trace and a log anew, as the first life of this node does.

    Raises:
        CommandError: the logs of the last run do not go away.
        OSError: a file cannot be emptied.
    """
    if sidecar.controller is None:
        await _until(lambda: not _left(sidecar), "a log of the last run")
    with suppress(FileNotFoundError):
        (above(sidecar.logs.all) / NOTE).unlink()
    sidecar.config = replace(sidecar.config, incarnation=1)

    def empty_trace() -> None:
        sidecar.trace.begin_again()
        os.ftruncate(sidecar.copy, 0)
        sidecar.note("start", 1)

    if sidecar.controller is not None:
        sidecar.controller.begin_again(empty_trace)
    else:
        empty_trace()
        sidecar.begin_broker_trace_again()


async def forgotten(sidecar: Sidecar) -> None:
    """Ends when the new topic's high watermarks, all 0, stand in the checkpoint instead of the last run's.

    Raises:
        CommandError: they do not.
    """
    await _until(lambda: not any(_checkpointed(sidecar, HIGH_WATERMARKS)), "a high watermark of the last run")


def _left(sidecar: Sidecar) -> bool:
    there = any(sidecar.logs.of(name).exists() for name in sidecar.config.partitions)
    return there or any(offset for name in (LOG_STARTS, RECOVERY_POINTS) for offset in _checkpointed(sidecar, name))


def _checkpointed(sidecar: Sidecar, name: str) -> list[int]:
    found = offsets_of_all(sidecar.logs, name)
    return [found.get(partition, 0) for partition in sidecar.config.partitions]


async def _until(true: Callable[[], bool], what: str) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GONE_S
    while not true():
        if loop.time() > deadline:
            raise CommandError(f"{what} is still there after {GONE_S:g} s")
        await asyncio.sleep(LOOK_S)
