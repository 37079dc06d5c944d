"""The runs of a campaign, one by one: which anomalies each showed, when first, and the command that has it again.

Read off the tables' files, one chunk at a time and without Spark: a list begins at once, and needs no more memory for ten million
runs than for ten.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidemark.checkers.verdict.verdict import GRAVITY, times_in
from tidemark.harness.report.comparison import LOST
from tidemark.pipeline.folder.campaign_parts import several_parts
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.imported_from import imported_from
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.folder.tables import ANOMALIES, RUNS, chunk_file
from tidemark.pipeline.runs.campaign_spec import IMPORTED

_LOST = {"violation": "acked_lost_violation", "permitted": "acked_lost_permitted"}
"""Verdict → column with how many acked records a run lost so, which counts beside the anomalies, by the name `LOST`."""
_OF_RUNS = ["plan", "faults", "valid", "first_violation_us", "marks", "unknown_because", "error", *_LOST.values()]


class NoCampaignError(RefusalError, ValueError):
    """The folder holds no campaign, or not what was asked for; the text is one sentence."""


class UnreadableTableError(RefusalError, ValueError):
    """A file of the campaign's tables is damaged or missing; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs to list; None: whichever.

    Attributes:
        variant: of this variant.
        anomaly: with at least one of this name, judged as `verdict` says.
        verdict: ``violation``, ``permitted``, ``near-miss`` or ``informational``.
        mark: that came to this mark.
        unknown: that ended ``unknown``, or raised.
    """

    variant: str | None = None
    anomaly: str | None = None
    verdict: str | None = None
    mark: str | None = None
    unknown: bool = False

    @property
    def by_verdict(self) -> str | None:
        """The verdict that all wanted runs have, if their verdict is all that is asked for."""
        if self.unknown:
            return "unknown"
        return "invalid" if self.anomaly is None and self.verdict is None and self.mark is None else None


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run. `anomalies` has (name, verdict, how often), the gravest first; `first_violation_us` is None without violation.

    In a campaign of several parts `part` has profile, world and system, and `part_title` the same in words; else they are empty.
    """

    variant: str
    plan: int
    faults: int | None
    valid: str
    anomalies: tuple[tuple[str, str, int], ...]
    first_violation_us: int | None
    marks: tuple[str, ...]
    because: str | None
    command: str
    part: Mapping[str, str] = field(default_factory=dict)
    part_title: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **self.part,
            "variant": self.variant,
            "plan": self.plan,
            "faults": self.faults,
            "valid": self.valid,
            "anomalies": [
                {"name": name, "verdict": verdict, "count": count} for name, verdict, count in self.anomalies
            ],
            "first_violation_us": self.first_violation_us,
            "marks": list(self.marks),
            "because": self.because,
            "command": self.command,
        }


def list_runs_of_all_parts(folder: Path, wanted: Wanted) -> Iterator[ListedRun]:
    """`list_runs` of a campaign, and of one of several parts those of each.

    Raises:
        NoCampaignError: as there.
        UnreadableTableError: as there.
        CampaignRefusedError: a part's manifest cannot be read.
    """
    parts = several_parts(folder)
    if not parts:
        yield from list_runs(folder, wanted)
        return
    known = dict.fromkeys(variant for part in parts for variant in part.spec.variants)
    if wanted.variant is not None and wanted.variant not in known:
        raise NoCampaignError(f"{wanted.variant} is none of the campaign's variants: {', '.join(known)}.")
    for part in parts:
        if wanted.variant is None or wanted.variant in part.spec.variants:
            for run in list_runs(part.folder, wanted):
                yield replace(run, part=part.apart, part_title=part.title)


def list_runs(folder: Path, wanted: Wanted) -> Iterator[ListedRun]:
    """The runs that are wanted, by variant and plan; without any wish those that broke their promise.

    Raises:
        NoCampaignError: see there.
        UnreadableTableError: a file of its tables is damaged.
    """
    manifest = Manifest.read(folder)
    if manifest is None:
        raise NoCampaignError(f"{folder} holds no campaign.")
    spec = manifest.spec
    if wanted.variant is not None and wanted.variant not in spec.variants:
        raise NoCampaignError(f"{wanted.variant} is none of the campaign's variants: {', '.join(spec.variants)}.")
    # Bytes are not compared here, a list begins at once; what cannot be read is told when it is its turn.
    stock = take_stock(folder, manifest, ())
    imported = spec.world == IMPORTED
    for variant in spec.variants if wanted.variant is None else (wanted.variant,):
        for number in sorted(number for of, number in stock.finished if of == variant):
            runs = columns_of(chunk_file(folder, "runs", spec.name, variant, number), _OF_RUNS, RUNS)
            if wanted.by_verdict is not None:  # before rows become objects: most chunks have none
                runs = runs.filter(pc.equal(runs["valid"], wanted.by_verdict))
                if not runs.num_rows:
                    continue
            found = anomalies_in(chunk_file(folder, "anomalies", spec.name, variant, number))
            sources = imported_from(chunk_file(folder, "runs", spec.name, variant, number)) if imported else {}
            for row in runs.to_pylist():
                found[row["plan"]] += Counter({(LOST, verdict): row[column] or 0 for verdict, column in _LOST.items()})
                if _is_wanted(row, found[row["plan"]], wanted):
                    yield ListedRun(
                        variant,
                        row["plan"],
                        row["faults"],
                        row["valid"],
                        _by_gravity(found[row["plan"]]),
                        row["first_violation_us"],
                        tuple(row["marks"] or ()),
                        row["error"].strip().splitlines()[-1] if row["error"] else row["unknown_because"],
                        replay_command(spec, folder, variant, row["plan"], sources.get(row["plan"])),
                    )


def columns_of(file: Path, columns: list[str], schema: pa.Schema) -> pa.Table:
    """Some columns of a chunk's file of one table.

    Raises:
        UnreadableTableError: It is damaged or missing.
    """
    try:
        return pq.read_table(file, columns=columns, schema=schema)
    except (pa.ArrowException, OSError) as error:
        why = str(error).strip().splitlines()[0]
        raise UnreadableTableError(f"{file} cannot be read ({why}).") from None


def anomalies_in(file: Path) -> defaultdict[int, Counter[tuple[str, str]]]:
    """Plan → (name, verdict) → how often, of a chunk's file of anomalies. A row that sums up those that are not listed counts as
    these.

    Raises:
        UnreadableTableError: It is damaged or missing.
    """
    table = columns_of(file, ["plan", "name", "verdict", "evidence"], ANOMALIES)
    sums = pc.fill_null(pc.match_substring(table["evidence"], '"violations"'), fill_value=False)
    table = table.append_column("times", pc.if_else(sums, table["evidence"], "{}"))
    counted = table.group_by(["plan", "name", "verdict", "times"]).aggregate([([], "count_all")])
    found: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in counted.to_pylist():
        found[row["plan"]][row["name"], row["verdict"]] += row["count_all"] * times_in(json.loads(row["times"]))
    return found


def _is_wanted(row: dict[str, Any], anomalies: Counter[tuple[str, str]], wanted: Wanted) -> bool:
    valid: str = row["valid"]
    if wanted.unknown:
        return valid == "unknown"
    if wanted.mark is not None and wanted.mark not in (row["marks"] or ()):
        return False
    if wanted.anomaly is None and wanted.verdict is None:
        return wanted.mark is not None or valid == "invalid"
    return any(wanted.anomaly in (None, name) and wanted.verdict in (None, verdict) for name, verdict in anomalies)


def _by_gravity(anomalies: Counter[tuple[str, str]]) -> tuple[tuple[str, str, int], ...]:
    ordered = sorted(anomalies.items(), key=lambda one: (GRAVITY.index(one[0][1]), -one[1], one[0][0]))
    return tuple((name, verdict, count) for (name, verdict), count in ordered)
