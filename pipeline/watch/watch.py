"""Follow a campaign while it runs, until it ends: rates, pace, the newest violations.

The end is believed when all chunks that are finished have been counted as they are. Chunks that were done again meanwhile, because
they were damaged, or raised and are tried again, have all be counted anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.spark_or_not import does_without_spark
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.lock_held import begun_at, is_at_work
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.folder.tables import RECORDS
from tidemark.pipeline.runs.campaign_spec import IMPORTED
from tidemark.pipeline.watch.watch_small import ChunkLook
from tidemark.pipeline.watch.watch_tally import Batch, NewViolation, Tally, WatchedVariant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.pipeline.watch.watch_stream import ChunkStream

QUIET_S: Final = 10.0
"""If nobody holds the campaign's lock, and no chunk comes for so long, it was interrupted."""
POLL_S: Final = 0.25
MASTER: Final = "local[1]"
"""The cores are the campaign's."""

Status = Literal["waiting", "starting", "running", "finished", "interrupted"]


class WatchFailedError(RefusalError):
    """The campaign cannot be followed; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One of the newest violations, with the command that has the run again."""

    run: NewViolation
    command: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        run = self.run
        return {
            "variant": run.variant,
            "plan": run.plan,
            "anomalies": list(run.anomalies),
            "first_violation_us": run.first_us,
            "command": self.command,
        }


@dataclass(frozen=True, slots=True)
class Watched:
    """A campaign at one moment.

    Attributes:
        status: of the campaign; ``waiting``: there is none yet, ``starting``: nothing of it has been counted yet.
        folder: the campaign's, as it was asked for. name: the campaign's.
        runs, expected: how many are done, and are to be.
        runs_a_second: None if nobody can tell. seconds_left: the same.
        variants: in the campaign's order.
        newest: violations, the newest first.
    """

    status: Status
    folder: Path
    name: str = ""
    runs: int = 0
    expected: int = 0
    runs_a_second: float | None = None
    seconds_left: float | None = None
    variants: tuple[WatchedVariant, ...] = ()
    newest: tuple[Violation, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("finished", "interrupted")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "status": self.status,
            "campaign": str(self.folder),
            "runs": self.runs,
            "expected": self.expected,
            "runs_a_second": self.runs_a_second,
            "seconds_left": self.seconds_left,
            "variants": [variant.to_json() for variant in self.variants],
            "newest": [violation.to_json() for violation in self.newest],
        }


def watch_campaign(
    folder: Path, *, master: str | None = None, seconds: float = 2.0, quiet: float = QUIET_S
) -> Generator[Watched]:
    """Follow the campaign in a folder, which need not be there yet; the last thing told is how it ended.

    It tells several times a second, whether anything changed or not: it is for the caller to show what is new. Closing the iterator
    ends it.

    Args:
        folder: The campaign's.
        master: Spark's master URL. Unless told, a campaign of few runs is followed without Spark, and others by `MASTER`.
        seconds: How often new chunks are looked for.
        quiet: How long nothing may come from a campaign on which nobody of this machine works.

    Raises:
        WatchFailedError: See there.
        CampaignRefusedError: The manifest cannot be read.
        JavaNotFoundError: There is no Java for Spark.
    """
    as_asked, folder = folder, folder.resolve()
    while (manifest := Manifest.read(folder)) is None:
        yield Watched("waiting", as_asked)
        time.sleep(POLL_S)
    if manifest.format == 1:
        raise WatchFailedError(
            f"The campaign in {as_asked} was written by an earlier version (format 1): tidemark report tells of it."
        )
    if manifest.spec.world == IMPORTED:
        raise WatchFailedError(
            f"The histories in {as_asked} were imported, and nothing runs there: tidemark list tells of them."
        )
    session: _Session | None = None
    watching: _Watching | None = None
    idle = _Idle(folder, quiet)
    try:
        while True:
            manifest = Manifest.read(folder) or manifest
            if watching is not None and watching.identity != manifest.identity:  # it was begun anew
                watching.stop()
                watching = None
            there = (folder / RECORDS).is_dir()
            if watching is None and there:
                small = does_without_spark(master, manifest.spec.plans * len(manifest.spec.variants))
                session = session or (None if small else _Session(master or MASTER, folder))
                if session is None or session.spark is not None:
                    spark = None if session is None else session.spark
                    watching, idle = _Watching(spark, folder, manifest, seconds), _Idle(folder, quiet)
            told = _told(as_asked, manifest, watching, "running")
            if there and not told.runs:
                told = replace(told, status="starting")
            at_work, given_up = idle.look(told.runs)
            if watching is None:
                ended = given_up and not there
            else:
                ended = not at_work and (told.runs >= told.expected or (given_up and not watching.is_busy))
                if ended and not watching.is_right(manifest):
                    ended = False
                    watching.stop()
                    watching = None
            if ended:
                yield _told(as_asked, manifest, watching, "interrupted" if told.runs < told.expected else "finished")
                return
            yield told
            time.sleep(POLL_S)
    finally:
        if watching is not None:
            watching.stop()


class _Idle:
    """Whether anybody works on a campaign, or for how long nobody has."""

    def __init__(self, folder: Path, quiet: float) -> None:
        self._folder, self._quiet = folder, quiet
        self._runs = 0
        self._since = time.monotonic()

    def look(self, runs: int) -> tuple[bool, bool]:
        """Whether somebody is at work now, and whether nobody has been for so long that nothing is to be expected."""
        at_work = is_at_work(self._folder)
        if at_work or runs != self._runs:
            self._runs, self._since = runs, time.monotonic()
        return at_work, time.monotonic() - self._since > self._quiet


class _Session:
    """Spark, which starts in a thread of its own: in the main thread Ctrl-C would strike in the middle of its protocol."""

    def __init__(self, master: str, folder: Path) -> None:
        self._spark: SparkSession | None = None
        self._failure: Exception | None = None
        threading.Thread(target=self._start, args=(master, folder), name="watch", daemon=True).start()

    def _start(self, master: str, folder: Path) -> None:
        try:
            from tidemark.pipeline.engines.session import QUICK_START
            from tidemark.pipeline.engines.spark_or_not import reading_session

            self._spark = reading_session(master, folder, java_options=QUICK_START)
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            self._failure = error

    @property
    def spark(self) -> SparkSession | None:
        """None while it starts.

        Raises:
            WatchFailedError, JavaNotFoundError, ModuleNotFoundError: It does not.
        """
        if isinstance(self._failure, JavaNotFoundError | ModuleNotFoundError):
            raise self._failure
        if self._failure is not None:
            raise WatchFailedError(f"Spark does not start: {reason(self._failure)}") from self._failure
        return self._spark


class _Watching:
    """A stream of chunks, and their tally."""

    def __init__(self, spark: SparkSession | None, folder: Path, manifest: Manifest, seconds: float) -> None:
        self.identity = manifest.identity
        self._folder = folder
        self._tally = Tally()
        self._lock = threading.Lock()
        self._stream: ChunkStream | ChunkLook
        if spark is None:
            self._stream = ChunkLook(folder, manifest, self._hear, seconds)
        else:
            from tidemark.pipeline.watch.watch_stream import ChunkStream

            self._stream = ChunkStream(spark, folder, manifest, self._hear, seconds)
        self._stream.__enter__()
        self._stopped = False

    def _hear(self, batch: Batch) -> None:
        with self._lock:
            self._tally.add(batch)

    def seen(self, manifest: Manifest, as_asked: Path) -> dict[str, Any]:
        """The numbers of now.

        Raises:
            WatchFailedError: Chunks could not be counted.
        """
        broken = self._stream.failure
        if broken is not None:
            if isinstance(broken, RefusalError):
                raise broken
            raise WatchFailedError(f"The chunks of {as_asked} could not be counted: {reason(broken)}") from broken
        spec = manifest.spec
        expected = spec.plans * len(spec.variants)
        with self._lock:
            pace = self._tally.runs_a_second(time.time(), begun_at(self._folder))
            return {
                "runs": self._tally.runs,
                "runs_a_second": pace,
                "seconds_left": (expected - self._tally.runs) / pace if pace else None,
                "variants": tuple(self._tally.variant(name, spec.plans) for name in spec.variants),
                "newest": tuple(
                    Violation(run, replay_command(spec, as_asked, run.variant, run.plan)) for run in self._tally.newest
                ),
            }

    @property
    def is_busy(self) -> bool:
        """Whether more may be told in a moment."""
        return self._stream.is_busy

    def is_right(self, manifest: Manifest) -> bool:
        """Whether what was counted is what is there."""
        there = take_stock(self._folder, manifest, ()).finished
        with self._lock:
            return there == self._tally.chunks

    def stop(self) -> None:
        """Listen no more."""
        if not self._stopped:
            self._stopped = True
            self._stream.__exit__()


def _told(as_asked: Path, manifest: Manifest, watching: _Watching | None, status: Status) -> Watched:
    spec = manifest.spec
    seen = watching.seen(manifest, as_asked) if watching is not None else {}
    told = Watched(status, as_asked, spec.name, expected=spec.plans * len(spec.variants))
    told = replace(told, **seen)
    return replace(told, runs_a_second=None, seconds_left=None) if told.ended else told
