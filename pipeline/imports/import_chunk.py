"""Judge some histories of others and make a chunk's rows of them. Plain Python, without Spark, and touches no campaign."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checkers import History, HistoryFormatError, check
from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.marks import exercised
from tidemark.harness.runs.folder import load_file
from tidemark.pipeline.chunks.chunk import FinishedChunk, parquet, summary_of
from tidemark.pipeline.chunks.rows import anomaly_rows, meta_json, run_row
from tidemark.pipeline.folder.history_tables import UnstorableError, ops_table, trace_table
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.record import ChunkRecord, Written
from tidemark.pipeline.folder.stored_history import IMPORTED_FROM, NUMBERED_PROCESSES, OUR_OWN
from tidemark.pipeline.folder.tables import SCHEMAS, escaped
from tidemark.pipeline.imports.sources import Source

SEED = 0
"""Of all imported runs: nothing was drawn."""
LONGEST_NAME = 200
"""Of a variant, as it stands in a path."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is no history, or none that can be stored, and why; `why` is a few words."""

    source: Source
    why: str


@dataclass(frozen=True, slots=True)
class JudgedSources:
    """What came of the sources of one variant: rows by table, with plans numbered from 0, and what could not be read."""

    variant: str
    tables: Mapping[str, pa.Table]
    runs: list[dict[str, Any]]
    unread: tuple[Unread, ...]

    def as_chunk(self, identity: str, number: int, first: int) -> FinishedChunk:
        """The same as a campaign's chunk, with plans numbered from `first`."""
        chunk = Chunk(self.variant, number, first, first + len(self.runs))
        contents, files = {}, {}
        for name, table in self.tables.items():
            plans = pc.add(table["plan"], pa.scalar(first, pa.int32()))
            numbered = table.set_column(0, SCHEMAS[name].field(0), plans)
            contents[name] = parquet(numbered).to_pybytes()
            files[name] = Written(len(numbered), len(contents[name]), sha256(contents[name]).hexdigest())
        return FinishedChunk(ChunkRecord(identity, chunk, summary_of(chunk, self.runs), files), contents)


@dataclass(frozen=True, slots=True)
class JudgeSources:
    """Reads and judges sources of one variant; travels to other processes. `contract`: the promise, the histories' own if None."""

    contract: str | None = None

    def __call__(self, sources: list[Source]) -> JudgedSources:
        """What came of them. A checker that raises costs its run, which is unknown then, and no other."""
        rows = _Rows()
        unread = []
        for source in sources:
            try:
                rows.add(source, self.contract)
            except OSError as error:
                unread.append(Unread(source, f"cannot be read ({error.strerror})"))
            except (HistoryFormatError, UnstorableError) as error:
                unread.append(Unread(source, str(error)))
        return JudgedSources(sources[0].variant, rows.tables(), rows.runs, tuple(unread))


@dataclass(slots=True)
class _Rows:
    runs: list[dict[str, Any]] = field(default_factory=list)
    anomalies: list[dict[str, Any]] = field(default_factory=list)
    ops: list[pa.Table] = field(default_factory=list)
    trace: list[pa.Table] = field(default_factory=list)

    def add(self, source: Source, contract: str | None) -> None:
        """One history, or nothing of it."""
        if not source.variant.isprintable() or len(escaped(source.variant)) > LONGEST_NAME:
            raise UnstorableError("its variant's name cannot be a folder's; choose another with --as")
        plan = len(self.runs)
        with collector_paused():
            history = load_file(source.file)
            ops, trace = ops_table(plan, history), trace_table(plan, history)
            run: dict[str, Any] = {"plan": plan, "seed": SEED, "violations": 0, "permitted": 0, "kept": True}
            run |= _of_history(source, history)
            found: list[dict[str, Any]] = []
            try:
                verdict = check(history, contract)
                run["marks"] = list(exercised(history.trace, history.meta)) if history.trace else None
            except ValueError as error:
                raise UnstorableError(str(error)) from None
            except Exception:  # noqa: BLE001  a checker that stumbles over one history must not cost the others
                run |= {"valid": "unknown", "error": traceback.format_exc(limit=-8)}
            else:
                run |= run_row(verdict)
                found = anomaly_rows(plan, verdict)
        self.runs.append(run)
        self.anomalies += found
        self.ops.append(ops)
        self.trace.append(trace)

    def tables(self) -> dict[str, pa.Table]:
        """By name, in the order in which a chunk has them."""
        found = {
            "ops": _together(self.ops, SCHEMAS["ops"]),
            "trace": _together(self.trace, SCHEMAS["trace"]),
            "anomalies": pa.Table.from_pylist(self.anomalies, schema=SCHEMAS["anomalies"]),
            "runs": pa.Table.from_pylist(self.runs, schema=SCHEMAS["runs"]),
        }
        return {name: found[name] for name in SCHEMAS}


def _together(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _of_history(source: Source, history: History) -> dict[str, Any]:
    """What a run's row has of its history and not of its verdict."""
    faults = history.meta.get("faults")
    meta = {name: value for name, value in history.meta.items() if name not in OUR_OWN}
    told = {IMPORTED_FROM: str(source.name)} | ({NUMBERED_PROCESSES: True} if _are_numbered(history) else {})
    return {
        "plan_digest": source.digest,
        "digest": source.digest,
        "faults": faults if type(faults) is int and 0 <= faults < 1 << 31 else None,
        "events": len(history.trace) or None,
        "virtual_us": _end_us(history),
        "meta": meta_json(replace(history, meta=meta | told)),
    }


def _are_numbered(history: History) -> bool:
    """Whether the clients' processes are integers, all of them.

    Raises:
        UnstorableError: One is an integer, and another the same as text.
    """
    columns = history.columns
    processes: set[object] = {op.process for op in history.ops} if columns is None else set(columns.processes)
    numbers = [process for process in processes if type(process) is int]
    for number in numbers:
        if str(number) in processes:
            raise UnstorableError(
                f'it has the processes {number} and "{number}", which the tables could not tell apart'
            )
    return bool(numbers) and len(numbers) == len(processes)


def _end_us(history: History) -> int:
    """When the last thing happened."""
    ended = [op.time for op in history.ops[-1:]] + [event[0] for event in history.trace[-1:]]
    ended += [one[0] for one in history.nemesis[-1:]]
    if history.columns is not None and len(history.columns):
        ended.append(int(history.columns.time[-1]))
    return max(ended, default=0)
