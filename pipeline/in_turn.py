"""Run a campaign's chunks one after the other on this machine: a real world has one cluster, which cannot be spread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.chunk import Chunk, Finished, finished, run_chunk

if TYPE_CHECKING:
    from pipeline.campaign_spec import CampaignSpec
    from pipeline.progress import CampaignProgress
    from pipeline.simulate import Simulate

POLL_SECONDS = 0.25


def run_in_turn(
    spec: CampaignSpec,
    chunks: list[Chunk],
    folder: Path,
    simulate: Simulate,
    progress: CampaignProgress,
    now_running: Callable[[], str],
) -> None:
    """Run the chunks; what is finished is kept whatever happens. ``now_running`` says what the run under way is doing.

    The runs have a thread of their own, so that the screen goes on while one of them waits. Ctrl-C leaves the run under way to
    its world, which ends it when it is closed.

    Raises:
        KeyboardInterrupt: the person stopped it.
        Exception: whatever a chunk raised.
    """
    failure: list[BaseException] = []
    enough = threading.Event()

    def work() -> None:
        try:
            for chunk in chunks:
                if enough.is_set():
                    return
                run_chunk(spec, chunk, folder, simulate)
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    done: Finished = {}
    thread = threading.Thread(target=work, name="campaign", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            done = finished(folder, spec.name, spec.variants, done)
            progress.show(done.values(), now_running())
    except KeyboardInterrupt:
        enough.set()
        raise
    if failure:
        raise failure[0]
