"""Judge the runs of one chunk again, from the histories that the campaign stored, by the checkers of today.

Plain Python, without Spark, and as idempotent as the chunk itself. The campaign's files are read and never written.
"""

from __future__ import annotations

import re
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checkers import HistoryFormatError, check
from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.own_checkers import Checker, and_checked_by
from tidemark.checkers.verdict.verdict import GRAVITY, Verdict
from tidemark.harness.runs.folder import load_history
from tidemark.pipeline.chunks.chunk import Task, parquet
from tidemark.pipeline.chunks.rows import anomaly_rows, run_row
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.recheck_tables import RECHECK_SCHEMAS, RecheckRecord, RecheckSummary, read_record
from tidemark.pipeline.folder.record import RecordError, Written, write_whole
from tidemark.pipeline.folder.run_list import anomalies_in
from tidemark.pipeline.folder.stored_history import stored_histories
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file
from tidemark.pipeline.runs.campaign_spec import CONTAINERS, SIMULATOR

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History

STORED, EVIDENCE, AGAIN = "stored", "evidence", "again"
NONE: Final = "–"
_TIMES: Final = re.compile(r" ×\d+")
_OF_RUNS: Final = ("plan", "digest", "valid", "kept", "error", "meta")


@dataclass(frozen=True, slots=True)
class RecheckTask:
    """All that a worker needs to know of a re-check, whichever chunk it works on.

    Attributes:
        campaign: what the campaign's own tasks know.
        place: the re-check's folder.
        contract: the promise to judge by; the runs' own if None.
        checkers: of one's own, by name.
        again: histories that are not stored are made again.
    """

    campaign: Task
    place: Path
    contract: str | None = None
    checkers: Mapping[str, Checker] = field(default_factory=dict)
    again: bool = False


@dataclass(frozen=True, slots=True)
class DamagedChunk:
    """A chunk whose files are not what its record says, so that nothing in it was judged."""

    variant: str
    number: int
    why: str

    def words(self) -> str:
        """For a person."""
        return f"chunk {self.number} of {self.variant}: {self.why}"


def recheck_chunk(task: RecheckTask, chunk: Chunk) -> RecheckSummary | DamagedChunk:
    """Judge what is stored of the chunk's runs, and write the verdicts, with what changed, into the re-check's folder.

    A checker that raises costs its run, which is unknown then, and no other.

    Raises:
        OSError: The files cannot be written.
    """
    folder, campaign = task.campaign.folder, task.campaign.spec.name
    try:
        record = read_record(folder, campaign, chunk)
        fault = next((found for table in SCHEMAS if (found := record.fault(folder, campaign, table))), None)
    except RecordError as error:
        fault = str(error)
    if fault is not None:
        return DamagedChunk(chunk.variant, chunk.number, fault)
    with collector_paused():
        rejudged = _Rejudged(task, chunk)
    files = {}
    for name, schema in RECHECK_SCHEMAS.items():
        content = parquet(pa.Table.from_pylist(rejudged.tables[name], schema=schema))
        write_whole(content, chunk_file(task.place, name, campaign, chunk.variant, chunk.number))
        files[name] = Written(len(rejudged.tables[name]), len(content), sha256(content).hexdigest())
    digests = {table: written.digest for table, written in record.files.items()}
    RecheckRecord(chunk, digests, rejudged.summary, files).write(task.place, campaign)
    return rejudged.summary


class _Rejudged:
    """The rows that a chunk gives, and their sums."""

    def __init__(self, task: RecheckTask, chunk: Chunk) -> None:
        self._task, self._chunk = task, chunk
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in RECHECK_SCHEMAS}
        self._counts: Counter[str] = Counter()
        self._kinds: dict[str, Counter[str]] = defaultdict(Counter)
        spec, folder = task.campaign.spec, task.campaign.folder
        there = pq.read_schema(self._file("runs")).names
        read = pq.read_table(
            self._file("runs"), columns=[name for name in _OF_RUNS if name in there], partitioning=None
        )
        self._runs: dict[int, dict[str, Any]] = {row["plan"]: row for row in read.to_pylist()}
        self._then = anomalies_in(self._file("anomalies"))
        left = set(self._runs)
        if spec.world != CONTAINERS:
            metas = {plan: run["meta"] for plan, run in self._runs.items() if run["kept"] and run.get("meta")}
            files = self._file("ops"), self._file("trace")
            for plan, history in stored_histories(*files, metas, rows=bool(task.checkers)):
                self._judge(plan, history, STORED)
            left -= metas.keys()
        else:
            for plan in [plan for plan in sorted(left) if run_folder(folder, chunk.variant, plan).is_dir()]:
                self._judge_evidence(plan, run_folder(folder, chunk.variant, plan))
                left.discard(plan)
        for plan in sorted(left):
            self._without_history(plan)

    @property
    def summary(self) -> RecheckSummary:
        """The sums."""
        kinds = {name: dict(found) for name, found in sorted(self._kinds.items())}
        return RecheckSummary(self._chunk.variant, self._chunk.number, **self._counts, kinds=kinds)

    def _file(self, table: str) -> Path:
        of = self._task.campaign
        return chunk_file(of.folder, table, of.spec.name, self._chunk.variant, self._chunk.number)

    def _without_history(self, plan: int) -> None:
        """Make it again, where that is wanted and the run did not raise."""
        of, run = self._task.campaign, self._runs[plan]
        if not self._task.again or of.spec.world != SIMULATOR or run["error"] is not None:
            self._counts["missing"] += 1
            return
        try:
            result = of.simulate(of.spec, self._chunk.variant, plan)[1]
        except Exception:  # noqa: BLE001  a run that went well then and raises now is not the same run
            result = None
        if result is None or result.digest != run["digest"]:
            self._counts["other"] += 1
        else:
            self._judge(plan, result.history, AGAIN)

    def _judge_evidence(self, plan: int, where: Path) -> None:
        try:
            history = load_history(where)
        except (HistoryFormatError, OSError) as error:
            self._tell(plan, None, EVIDENCE, f"{where}: {error}")
        else:
            self._judge(plan, history, EVIDENCE)

    def _judge(self, plan: int, history: History, source: str) -> None:
        try:
            verdict = check(history, self._task.contract)
            if self._task.checkers:
                verdict = and_checked_by(verdict, history, self._task.checkers)
        except Exception:  # noqa: BLE001  a checker that stumbles over one history must not cost the others
            self._tell(plan, None, source, traceback.format_exc(limit=-8))
        else:
            self._tell(plan, verdict, source)

    def _tell(self, plan: int, verdict: Verdict | None, source: str, error: str | None = None) -> None:
        """The rows of one run; without a verdict it is unknown."""
        before, then = self._runs[plan], self._then[plan]
        now: Counter[tuple[str, str]] = Counter()
        row: dict[str, Any] = {"valid": "unknown", "violations": 0, "permitted": 0, "error": error}
        if verdict is not None:
            row |= run_row(verdict)
            for anomaly in verdict.anomalies:
                now[anomaly.name, anomaly.verdict] += anomaly.times
            self.tables["anomalies"] += anomaly_rows(plan, verdict)
        self.tables["runs"].append({"plan": plan, "digest": before["digest"], "source": source, **row})
        self._counts[row["valid"]] += 1
        self._counts["was"] += before["valid"] == "invalid"
        other = [("", before["valid"], row["valid"])] if before["valid"] != row["valid"] else []
        other += _differences(then, now)
        if not other:
            return
        self._counts["changed"] += 1
        self.tables["changes"].append({"plan": plan, "anomaly": None, "then": before["valid"], "now": row["valid"]})
        for name, was, is_ in other:
            self._kinds[name][_kind(was, is_)] += 1
            if name:
                self.tables["changes"].append({"plan": plan, "anomaly": name, "then": was, "now": is_})


def _differences(then: Counter[tuple[str, str]], now: Counter[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """The anomalies that are judged otherwise, or more or less often, with what was said of each."""
    for name in sorted({name for name, _ in then | now}):
        was, is_ = _words(then, name), _words(now, name)
        if was != is_:
            yield name, was, is_


def _words(found: Counter[tuple[str, str]], name: str) -> str:
    counts = {verdict: found[name, verdict] for verdict in GRAVITY if found[name, verdict]}
    return ", ".join(verdict if count == 1 else f"{verdict} ×{count}" for verdict, count in counts.items()) or NONE


def _kind(was: str, is_: str) -> str:
    """A change without its numbers, of which there are only so many."""
    before, after = (_TIMES.sub("", words) for words in (was, is_))
    return f"{before} → {after}" if before != after else f"{before}, another number"
