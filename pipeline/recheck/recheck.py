"""Judge a campaign's stored histories again, by the checkers of today, and tell which verdicts changed.

There is one definition of each anomaly: what is spread over Spark is `tidemark.checkers.check` itself, chunk by chunk. The
verdicts of then stay where they are; those of now lie beside them (`tidemark.pipeline.folder.recheck_tables`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow.parquet as pq
from rich.console import Console

from tidemark.checkers.own_checkers import Checker
from tidemark.pipeline.campaign.bar import bar_of
from tidemark.pipeline.campaign.campaign import CampaignFailedError, simulator
from tidemark.pipeline.chunks.chunk import Task
from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.engines.reason import is_full_disk, reason
from tidemark.pipeline.folder.code_digest import code_digest, judging_parts
from tidemark.pipeline.folder.imported_from import imported_from
from tidemark.pipeline.folder.manifest import RECHECKS, Manifest
from tidemark.pipeline.folder.recheck_tables import NUMBERS, RECHECK, RecheckSummary
from tidemark.pipeline.folder.record import write_whole
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.recheck.recheck_chunk import DamagedChunk, RecheckTask, recheck_chunk
from tidemark.pipeline.recheck.recheck_work import RecheckWork
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.pipeline.folder.layout import Chunk
    from tidemark.pipeline.runs.simulate import Simulate

FEW_ROWS: Final = 250_000
"""So many rows are judged here before a JVM has started."""
MOST_JUDGED_WITHOUT_SPARK: Final = 100
"""And so many runs made again."""
POLL_SECONDS: Final = 0.25
KEY_DIGITS: Final = 12
Told: TypeAlias = RecheckSummary | DamagedChunk


class NothingToRecheckError(RefusalError, ValueError):
    """The folder holds no campaign that can be judged again; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class RecheckOutcome:
    """How a re-check ended.

    Attributes:
        folder: the campaign's. place: where the verdicts are.
        code: the digest of what judged.
        chunks: those that were judged, as they are now.
        variants: the sums of each variant.
        damaged: chunks that were not judged, in words.
        already: whether all of it had been judged before by this code.
        interrupted: whether somebody stopped it.
    """

    folder: Path
    place: Path
    code: str
    chunks: tuple[Chunk, ...]
    variants: tuple[RecheckSummary, ...]
    damaged: tuple[str, ...]
    already: bool = False
    interrupted: bool = False

    def total(self, name: str) -> int:
        """The sum of one number over the variants."""
        return sum(getattr(summary, name) for summary in self.variants)

    @property
    def verdicts(self) -> set[str]:
        """The verdicts that were given; one that could not be given although it was asked for is unknown."""
        given = {name for name in ("valid", "invalid", "unknown") if self.total(name)}
        return given | ({"unknown"} if self.damaged or self.total("other") or not self.total("judged") else set())


@dataclass(frozen=True, slots=True)
class ChangedRun:
    """A run whose verdict is another: `anomalies` has (name, then, now) of those that are judged otherwise."""

    variant: str
    plan: int
    then: str
    now: str
    anomalies: tuple[tuple[str, str, str], ...]
    command: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        told = [{"name": name, "then": then, "now": now} for name, then, now in self.anomalies]
        return asdict(self) | {"anomalies": told}


@dataclass(frozen=True, slots=True)
class Question:
    """What a re-check is asked.

    Attributes:
        contract: the promise to judge by; the runs' own if None.
        checkers: of one's own, by name.
        again: histories that are not stored are made again.
        variants: only these; all if empty.
    """

    contract: str | None = None
    checkers: Mapping[str, Checker] = field(default_factory=dict)
    again: bool = False
    variants: tuple[str, ...] = ()


def recheck_campaign(
    folder: Path,
    question: Question,
    *,
    master: str | None = None,
    fresh: bool = False,
    console: Console | None = None,
    simulate: Simulate | None = None,
    few_rows: int = FEW_ROWS,
) -> RecheckOutcome:
    """Judge what is stored of a campaign, or of a campaign that runs so far; Ctrl-C ends it, and the same again goes on.

    Args:
        folder: The campaign's.
        question: What is asked.
        master: Spark's master URL; without one this machine's cores, and no Spark at all for little work.
        fresh: Judge again what this code has judged already.
        console: Where the progress is shown, standard error unless told.
        simulate: How a run is made again; the simulator unless told.
        few_rows: What is little work.

    Raises:
        NothingToRecheckError: See there.
        CampaignRefusedError: The manifest cannot be read.
        CampaignFailedError: Spark gave up, or the disk is full.
        JavaNotFoundError: There is no Java for Spark.
    """
    as_asked, folder = folder, folder.resolve()
    manifest = Manifest.read(folder)
    if manifest is None:
        raise NothingToRecheckError(f"{as_asked} holds no campaign.")
    spec = manifest.spec
    if manifest.format == 1:
        raise NothingToRecheckError(
            f"The campaign in {as_asked} was written by an earlier version (format 1), which stored no history whole: run it again."
        )
    if question.again and spec.world == IMPORTED:
        raise NothingToRecheckError(
            f"The histories in {as_asked} were imported, and all of them are stored: leave --again out, nothing can be run again."
        )
    for variant in question.variants:
        if variant not in spec.variants:
            raise NothingToRecheckError(f"{variant} is none of the campaign's variants: {', '.join(spec.variants)}.")
    code = code_digest(judging_parts())
    place = folder / RECHECKS / _key(manifest.identity, code, question)
    _begin(place, manifest, code, question)
    task = RecheckTask(
        Task(spec, folder, manifest.identity, simulate or simulator()),
        place,
        question.contract,
        dict(question.checkers),
        question.again,
    )
    work = RecheckWork(task, manifest, question.variants or spec.variants, fresh=fresh)
    here = master is None and work.rows <= few_rows and not (question.again and work.runs > MOST_JUDGED_WITHOUT_SPARK)
    damaged: list[DamagedChunk] = []
    complete = True
    try:
        if work.todo:
            complete = _here(work, console, damaged) if here else _on_spark(work, master, console, damaged)
    except OSError as error:
        raise CampaignFailedError(_why(error, folder)) from error
    work.spoilt = {(one.variant, one.number) for one in damaged}
    judged = list(work.judged())
    summaries = [
        _sum_of(variant, (one.summary for one in judged if one.chunk.variant == variant)) for variant in work.variants
    ]
    return RecheckOutcome(
        folder=as_asked,
        place=as_asked / RECHECKS / place.name,
        code=code,
        chunks=tuple(one.chunk for one in judged),
        variants=tuple(summaries),
        damaged=(*work.damaged, *(one.words() for one in damaged)),
        already=bool(work.finished) and not work.todo,
        interrupted=not complete,
    )


def changed_runs(outcome: RecheckOutcome) -> Iterator[ChangedRun]:
    """The runs whose verdict is another than then, by variant and plan, read one chunk at a time."""
    manifest = Manifest.read(outcome.folder)
    if manifest is None:
        return
    spec = manifest.spec
    order = {one.variant: place for place, one in enumerate(outcome.variants)}
    for chunk in sorted(outcome.chunks, key=lambda chunk: (order[chunk.variant], chunk.number)):
        file = chunk_file(outcome.place, "changes", spec.name, chunk.variant, chunk.number)
        rows = pq.read_table(file, partitioning=None).to_pylist()
        runs = chunk_file(outcome.folder, "runs", spec.name, chunk.variant, chunk.number)
        sources = imported_from(runs) if rows and spec.world == IMPORTED else {}
        for plan, mine in groupby(rows, key=lambda row: int(row["plan"])):
            run, *anomalies = mine
            yield ChangedRun(
                chunk.variant,
                plan,
                run["then"],
                run["now"],
                tuple((row["anomaly"], row["then"], row["now"]) for row in anomalies),
                replay_command(spec, outcome.folder, chunk.variant, plan, sources.get(plan)),
            )


@contextmanager
def _shown(work: RecheckWork, console: Console | None) -> Iterator[Callable[[Sequence[Told]], None]]:
    """A progress bar over the chunks; to be given all that was told so far."""
    bar = bar_of(console or Console(stderr=True))
    task = bar.add_task("chunks", total=len(work.todo), found="")

    def show(told: Sequence[Told]) -> None:
        judged = [one for one in told if isinstance(one, RecheckSummary)]
        found = f"{sum(one.judged for one in judged)} runs judged, {sum(one.changed for one in judged)} changed"
        bar.update(task, completed=len(told), found=found)

    with bar:
        yield show


def _here(work: RecheckWork, console: Console | None, damaged: list[DamagedChunk]) -> bool:
    """Judge in this process; false if the person stopped it."""
    told: list[Told] = []
    try:
        with _shown(work, console) as show:
            for chunk, _ in work.todo:
                told.append(recheck_chunk(work.task, chunk))
                show(told)
    except KeyboardInterrupt:
        return False
    finally:
        damaged += [one for one in told if isinstance(one, DamagedChunk)]
    return True


def _on_spark(work: RecheckWork, master: str | None, console: Console | None, damaged: list[DamagedChunk]) -> bool:
    """Judge as Spark tasks; false if the person stopped it. Spark is used by a thread of its own, as a campaign does."""
    failure: list[Exception] = []
    sessions: list[SparkSession] = []
    told: list[list[Told]] = []
    enough = threading.Event()

    def job() -> None:
        try:
            from tidemark.pipeline.engines.job import check_folder, collected_in
            from tidemark.pipeline.engines.spark_or_not import reading_session

            sessions.append(reading_session(master, work.task.campaign.folder))
            context = sessions[0].sparkContext
            found = collected_in(context)
            told.append(found.value)
            task = work.task

            def judge(mine: Iterable[list[Chunk]]) -> None:
                check_folder(task.campaign)
                for chunks in mine:
                    for chunk in chunks:
                        found.add([recheck_chunk(task, chunk)])

            tasks = work.tasks(context.defaultParallelism)
            if tasks and not enough.is_set():
                context.parallelize(tasks, len(tasks)).foreachPartition(judge)
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    thread = threading.Thread(target=job, name="recheck", daemon=True)
    with _shown(work, console) as show:
        try:
            thread.start()
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                show(told[0] if told else ())
        except KeyboardInterrupt:
            enough.set()
            for spark in sessions:
                spark.sparkContext.cancelAllJobs()
                spark.stop()
            return False
    damaged += [one for one in (told[0] if told else ()) if isinstance(one, DamagedChunk)]
    if failure and isinstance(failure[0], JavaNotFoundError | ModuleNotFoundError):
        raise failure[0]
    if failure:
        raise CampaignFailedError(_why(failure[0], work.task.campaign.folder)) from failure[0]
    return True


def _key(identity: str, code: str, question: Question) -> str:
    """Names the question and who answers it; not the variants, so that more of them go into the same place."""
    asked = {
        "identity": identity,
        "code": code,
        "contract": question.contract,
        "again": question.again,
        "checkers": {name: _source_of(checker) for name, checker in question.checkers.items()},
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]


def _source_of(checker: Checker) -> str:
    """The digest of the file that a checker of one's own is from."""
    try:
        file = inspect.getsourcefile(checker)
    except TypeError:
        file = None
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else repr(checker)


def _begin(place: Path, manifest: Manifest, code: str, question: Question) -> None:
    """Say in the folder what it answers."""
    if (place / RECHECK).is_file():
        return
    told = {
        "campaign": manifest.identity,
        "begun": datetime.now(UTC).date().isoformat(),
        "code": code,
        "contract": question.contract,
        "made_again": question.again,
        "checkers": sorted(question.checkers),
    }
    write_whole((json.dumps(told, indent=1) + "\n").encode(), place / RECHECK)


def _sum_of(variant: str, summaries: Iterable[RecheckSummary]) -> RecheckSummary:
    total = RecheckSummary(variant, 0)
    kinds: dict[str, Counter[str]] = {}
    for one in summaries:
        total = replace(total, **{name: getattr(total, name) + getattr(one, name) for name in NUMBERS})
        for name, found in one.kinds.items():
            kinds.setdefault(name, Counter()).update(found)
    return replace(total, kinds={name: dict(found) for name, found in sorted(kinds.items())})


def _why(error: Exception, folder: Path) -> str:
    if is_full_disk(error):
        return f"The disk is full ({reason(error)}): make room, and give the same command again to go on in {folder}."
    return f"Spark gave up: {reason(error)}"
