"""Where a re-check keeps what it found, beside the campaign's tables, which it leaves alone.

    <folder>/rechecks/<key>/recheck.json
    <folder>/rechecks/<key>/<table>/campaign=<name>/variant=<variant>/chunk-00017.parquet
    <folder>/rechecks/<key>/chunks/campaign=<name>/variant=<variant>/chunk-00017.json

The key names the code that judged, and what it was asked. The same question to the same code goes on where it was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.record import ChunkRecord, RecordError, Written, write_whole
from tidemark.pipeline.folder.tables import ANOMALIES, RUNS, STATS, record_file

RECHECK: Final = "recheck.json"

_TAKEN: Final = ("plan", "digest", "valid", "contract", "violations", "permitted", *STATS, "unknown_because", "error")

REJUDGED: Final = pa.schema(
    [
        *(RUNS.field(name) for name in _TAKEN),
        pa.field("source", pa.string(), nullable=False),  # stored | evidence | again (made again from plan and seed)
    ]
)
"""The table `runs` of a re-check: a row for each run that was judged again."""

CHANGES: Final = pa.schema(
    [
        pa.field("plan", pa.int32(), nullable=False),
        (
            "anomaly",
            pa.string(),
        ),  # null: the row is about the run's own verdict; each changed run has one such row, the first
        pa.field(
            "then", pa.string(), nullable=False
        ),  # valid | invalid | unknown; of an anomaly "violation ×2, permitted"
        pa.field("now", pa.string(), nullable=False),
    ]
)
"""The table `changes` of a re-check."""

RECHECK_SCHEMAS: Final = {"runs": REJUDGED, "anomalies": ANOMALIES, "changes": CHANGES}
"""By table, in the order in which a chunk writes them."""


NUMBERS: Final = ("valid", "invalid", "unknown", "was", "changed", "missing", "other")
"""Of a `RecheckSummary`, those that add up."""


@dataclass(frozen=True, slots=True)
class RecheckSummary:
    """What judging a chunk's runs again came to, in numbers of runs.

    Attributes:
        valid, invalid, unknown: of those that were judged. was: how many of these were invalid then.
        changed: those whose verdict, or one of whose anomalies, is another.
        missing: those whose history is not stored, and was not made again.
        other: those that today's code does not give again.
        kinds: anomaly → what became of it → runs; the anomaly is empty for the run's own verdict.
    """

    variant: str
    number: int
    valid: int = 0
    invalid: int = 0
    unknown: int = 0
    was: int = 0
    changed: int = 0
    missing: int = 0
    other: int = 0
    kinds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """The runs that were judged."""
        return self.valid + self.invalid + self.unknown


@dataclass(frozen=True, slots=True)
class RecheckRecord:
    """A chunk whose runs were judged again. `of` has the digests of the campaign's files that were read."""

    chunk: Chunk
    of: Mapping[str, str]
    summary: RecheckSummary
    files: Mapping[str, Written]

    def write(self, place: Path, campaign: str) -> None:
        """Put it beside the tables; last."""
        path = record_file(place, campaign, self.chunk.variant, self.chunk.number)
        write_whole((json.dumps(asdict(self)) + "\n").encode(), path)

    @classmethod
    def read(cls, path: Path) -> RecheckRecord | None:
        """Read what `write` wrote; None if it did not."""
        try:
            data: dict[str, Any] = json.loads(path.read_bytes())
            return cls(
                Chunk(**data["chunk"]),
                data["of"],
                RecheckSummary(**data["summary"]),
                {table: Written(**written) for table, written in data["files"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            return None


def read_record(folder: Path, campaign: str, chunk: Chunk) -> ChunkRecord:
    """The campaign's record of a chunk.

    Raises:
        RecordError: There is none, or it is another's.
    """
    record = ChunkRecord.read(record_file(folder, campaign, chunk.variant, chunk.number))
    if record.chunk != chunk:
        raise RecordError("its record is another chunk's")
    return record
