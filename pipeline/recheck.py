"""Judge a campaign's stored histories again, by the checkers of today, and tell which verdicts changed.

There is one definition of each anomaly: what is spread over Spark is `checkers.check` itself, chunk by chunk. The verdicts of then
stay where they are; those of now lie beside them (`pipeline.recheck_tables`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from checkers.own_checkers import OwnChecker
from pipeline.campaign import CampaignFailedError, simulator
from pipeline.chunk import Task
from pipeline.code import code_digest, judging_parts
from pipeline.java import JavaNotFoundError
from pipeline.manifest import RECHECKS, Manifest
from pipeline.reason import is_full_disk, reason
from pipeline.recheck_chunk import DamagedChunk, RecheckTask, recheck_chunk
from pipeline.recheck_tables import NUMBERS, RECHECK, RecheckRecord, RecheckSummary, read_record
from pipeline.record import RecordError, write_whole
from pipeline.replay_command import replay_command
from pipeline.stock import take_stock
from pipeline.tables import chunk_file, record_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.layout import Chunk
    from pipeline.simulate import Simulate

FEW_ROWS: Final = 250_000
"""So many rows are judged here before a JVM has started."""
FEW_RUNS: Final = 100
"""And so many runs made again."""
RUN_ROWS: Final = 10_000
"""A run that is made again is about as much work as judging so many rows."""
TASKS_A_CORE: Final = 6
TASK_ROWS: Final = 100_000
"""A task has at least so many rows, where there are: it costs some 10 ms itself."""
POLL_SECONDS: Final = 0.25
KEY_DIGITS: Final = 12


class NothingToRecheckError(ValueError):
    """The folder holds no campaign that can be judged again; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class RecheckOutcome:
    """How a re-check ended.

    Attributes:
        folder: the campaign's. place: where the verdicts are.
        code: the digest of what judged.
        variants: the sums of each variant.
        damaged: chunks that were not judged, in words.
        already: whether all of it had been judged before by this code.
        interrupted: whether somebody stopped it.
    """

    folder: Path
    place: Path
    code: str
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
        return {
            "variant": self.variant,
            "plan": self.plan,
            "then": self.then,
            "now": self.now,
            "anomalies": [{"name": name, "then": then, "now": now} for name, then, now in self.anomalies],
            "command": self.command,
        }


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
    checkers: Mapping[str, OwnChecker] = field(default_factory=dict)
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
    work = _Work(task, manifest, question.variants or spec.variants, fresh=fresh)
    here = master is None and work.rows <= few_rows and not (question.again and work.runs > FEW_RUNS)
    damaged: list[DamagedChunk] = []
    complete = True
    try:
        if work.todo:
            complete = _here(work, console, damaged) if here else _on_spark(work, master, console, damaged)
    except OSError as error:
        raise CampaignFailedError(_why(error, folder)) from error
    summaries = [_sum_of(variant, work.summaries(variant)) for variant in work.variants]
    return RecheckOutcome(
        folder=as_asked,
        place=as_asked / RECHECKS / place.name,
        code=code,
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
    for summary in outcome.variants:
        for number in range(manifest.layout.chunks):
            file = chunk_file(outcome.place, "changes", spec.name, summary.variant, number)
            if not file.is_file():
                continue
            rows = pq.read_table(file, partitioning=None).to_pylist()
            for plan, mine in groupby(rows, key=lambda row: int(row["plan"])):
                run, *anomalies = mine
                yield ChangedRun(
                    summary.variant,
                    plan,
                    run["then"],
                    run["now"],
                    tuple((row["anomaly"], row["then"], row["now"]) for row in anomalies),
                    replay_command(spec, outcome.folder, summary.variant, plan),
                )


class _Work:
    """The chunks to judge: those that are finished, and not judged yet as they are now.

    Attributes:
        finished: all of them. todo: those that are left, with their rows.
        rows: of what is left. runs: that are left.
    """

    def __init__(self, task: RecheckTask, manifest: Manifest, variants: tuple[str, ...], *, fresh: bool) -> None:
        self.task, self.variants = task, variants
        self._campaign = task.campaign.spec.name
        stock = take_stock(task.campaign.folder, manifest, ())  # whoever reads a file holds it against its record
        self.damaged = tuple(damage.words() for damage in stock.damaged if damage.variant in variants)
        places = [place for place in stock.finished if place[0] in variants]
        places.sort(key=lambda place: (place[1], variants.index(place[0])))
        self.finished = [manifest.layout.chunk(*place) for place in places]
        with_rows = ((chunk, self._rows(chunk, fresh=fresh)) for chunk in self.finished)
        self.todo = [(chunk, rows) for chunk, rows in with_rows if rows is not None]
        self.rows = sum(rows for _, rows in self.todo)
        self.runs = sum(chunk.stop - chunk.first for chunk, _ in self.todo)

    def _rows(self, chunk: Chunk, *, fresh: bool) -> int | None:
        """How much there is to read of a chunk, None if it was judged already."""
        try:
            record = read_record(self.task.campaign.folder, self._campaign, chunk)
        except RecordError:
            return 0  # it has changed just now, and the worker will say what is wrong with it
        digests = {table: written.digest for table, written in record.files.items()}
        judged = None if fresh else RecheckRecord.read(self._record_of(chunk))
        if judged is not None and judged.chunk == chunk and judged.of == digests:
            return None
        made_again = RUN_ROWS * (chunk.stop - chunk.first) if self.task.again else 0
        return record.files["ops"].rows + record.files["trace"].rows + made_again

    def _record_of(self, chunk: Chunk) -> Path:
        return record_file(self.task.place, self._campaign, chunk.variant, chunk.number)

    def summaries(self, variant: str) -> Iterator[RecheckSummary]:
        """What was found in the chunks of one variant."""
        for chunk in self.finished:
            if chunk.variant == variant and (record := RecheckRecord.read(self._record_of(chunk))) is not None:
                yield record.summary

    def tasks(self, cores: int) -> list[list[Chunk]]:
        """The chunks that are left, cut into tasks of about the same work."""
        size = max(TASK_ROWS, self.rows // (cores * TASKS_A_CORE))
        tasks: list[list[Chunk]] = [[]]
        room = size
        for chunk, rows in self.todo:
            if tasks[-1] and rows > room:
                tasks.append([])
                room = size
            tasks[-1].append(chunk)
            room -= rows
        return [task for task in tasks if task]


class _Shown:
    """A progress bar over the chunks."""

    def __init__(self, work: _Work, console: Console | None) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}"),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console or Console(stderr=True),
        )
        self._task = self._progress.add_task("chunks", total=len(work.todo), found="")
        self._runs = self._changed = self._seen = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, told: Sequence[RecheckSummary | DamagedChunk]) -> None:
        """All that was told so far; each time the same, and more behind it."""
        for one in told[self._seen :]:
            self._seen += 1
            if isinstance(one, RecheckSummary):
                self._runs += one.judged
                self._changed += one.changed
        found = f"{self._runs} runs judged, {self._changed} changed"
        self._progress.update(self._task, completed=self._seen, found=found)


def _here(work: _Work, console: Console | None, damaged: list[DamagedChunk]) -> bool:
    """Judge in this process; false if the person stopped it."""
    told: list[RecheckSummary | DamagedChunk] = []
    try:
        with _Shown(work, console) as shown:
            for chunk, _ in work.todo:
                told.append(recheck_chunk(work.task, chunk))
                shown.show(told)
    except KeyboardInterrupt:
        return False
    finally:
        damaged += [one for one in told if isinstance(one, DamagedChunk)]
    return True


def _on_spark(work: _Work, master: str | None, console: Console | None, damaged: list[DamagedChunk]) -> bool:
    """Judge as Spark tasks; false if the person stopped it. Spark is used by a thread of its own, as a campaign does."""
    failure: list[Exception] = []
    sessions: list[SparkSession] = []
    told: list[list[RecheckSummary | DamagedChunk]] = []
    enough = threading.Event()

    def job() -> None:
        try:
            from pipeline.job import check_folder, collected_in
            from pipeline.reading import reading_session

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
    with _Shown(work, console) as shown:
        try:
            thread.start()
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                shown.show(told[0] if told else ())
        except KeyboardInterrupt:
            enough.set()
            for spark in sessions:
                spark.sparkContext.cancelAllJobs()
                spark.stop()
            return False
    damaged += [one for one in (told[0] if told else ()) if isinstance(one, DamagedChunk)]
    if failure and isinstance(failure[0], JavaNotFoundError):
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


def _source_of(checker: OwnChecker) -> str:
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
