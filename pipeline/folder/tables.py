"""The campaign's four tables: their columns, and where a chunk's file lies.

    <folder>/<table>/campaign=<name>/variant=<variant>/chunk-00017.parquet

Campaign and variant are Hive partition columns: they stand in the path and not in the files. A chunk is a range of plans under
one variant.

Whoever changes a column, or where a file lies, raises `FORMAT`, and says in `READABLE` what is read all the same. A column that is
only added, and may be null, needs no other format: it is null in tables from before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote

import pyarrow as pa

FORMAT: Final = 2
"""Of the tables and of the manifest."""

READABLE: Final = {
    1: "a chunk is finished if its `runs` file is there, and its summary is in that file's footer; no column `plan_digest`",
    2: "a chunk is finished if its record is there (`tidemark.pipeline.folder.record`)",
}
"""The formats that can be read, and how they differ. Only campaigns of `FORMAT` go on."""

STATS: Final = {
    "acked": pa.int64(),
    "sends": pa.int64(),
    "polls": pa.int64(),
    "elections": pa.int64(),
    "unclean_elections": pa.int64(),
    "truncations": pa.int64(),
    "records_truncated": pa.int64(),
    "epoch_round_trips": pa.int64(),
    "one_round": pa.int64(),
    "two_rounds": pa.int64(),
    "more_rounds": pa.int64(),
    "hw_checkpoints": pa.int64(),  # null: nobody counted
    "acked_lost_violation": pa.int64(),
    "acked_lost_permitted": pa.int64(),
    "first_violation_us": pa.int64(),  # null: none
    "availability": pa.float64(),  # 0..1
    "recovery_us": pa.int64(),  # null: never came to rest (or the run raised)
}
"""The columns of `runs` that are taken from the verdict's stats, under the same name."""

RUNS: Final = pa.schema(
    [
        pa.field("plan", pa.int32(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        ("plan_digest", pa.string()),  # of the plan without its cluster: equal digests, equal faults and workload
        ("faults", pa.int32()),  # in the plan
        ("digest", pa.string()),
        pa.field("valid", pa.string(), nullable=False),  # valid | invalid | unknown
        ("contract", pa.string()),
        pa.field("violations", pa.int32(), nullable=False),
        pa.field("permitted", pa.int32(), nullable=False),
        *STATS.items(),
        ("events", pa.int64()),
        ("virtual_us", pa.int64()),
        ("wall_us", pa.int64()),
        pa.field("kept", pa.bool_(), nullable=False),  # are its ops and trace stored?
        ("unknown_because", pa.string()),
        ("marks", pa.list_(pa.string())),  # what the run exercised, in order; null: nobody looked
        ("error", pa.string()),  # traceback of a run that raised
        ("meta", pa.string()),  # JSON: the meta line of a kept run's history; null: not kept, or by an earlier version
    ]
)

ANOMALIES: Final = pa.schema(
    [
        pa.field("plan", pa.int32(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),  # violation | near-miss | permitted | informational
        ("clause", pa.string()),
        ("breaks", pa.list_(pa.string())),  # promises
        ("time_us", pa.int64()),
        ("partition", pa.string()),
        ("message", pa.string()),
        ("evidence", pa.string()),  # JSON
    ]
)

OPS: Final = pa.schema(
    [
        pa.field("plan", pa.int32(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),  # order within the run
        pa.field("time_us", pa.int64(), nullable=False),
        pa.field("process", pa.string(), nullable=False),  # "nemesis" for the nemesis
        pa.field("type", pa.string(), nullable=False),
        pa.field("f", pa.string(), nullable=False),
        ("value", pa.string()),  # JSON
        ("error", pa.string()),
        ("acks", pa.string()),
        ("final", pa.bool_()),
    ]
)

TRACE: Final = pa.schema(
    [
        pa.field("plan", pa.int32(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),  # order within the run
        pa.field("time_us", pa.int64(), nullable=False),
        pa.field("node", pa.int32(), nullable=False),
        pa.field("event", pa.string(), nullable=False),
        pa.field("partition", pa.string(), nullable=False),
        ("fields", pa.string()),  # JSON list, as docs/history.md orders them
    ]
)

SCHEMAS: Final = {"ops": OPS, "trace": TRACE, "anomalies": ANOMALIES, "runs": RUNS}
"""By table, in the order in which a chunk writes them."""


MANIFEST: Final = "manifest.json"
RECORDS: Final = "chunks"
"""The folder of the records of finished chunks, beside the tables'."""


def escaped(name: str) -> str:
    """A partition value as it stands in a path: all but letters, digits, `-`, `.` and `_` percent-encoded, as Spark reads it."""
    return quote(name, safe="-._")


def variant_folder(folder: Path, table: str, campaign: str, variant: str) -> Path:
    """Where one variant's files of one table lie."""
    return folder / table / f"campaign={escaped(campaign)}" / f"variant={escaped(variant)}"


def chunk_file(folder: Path, table: str, campaign: str, variant: str, number: int) -> Path:
    """Where one chunk's file of one table lies."""
    return variant_folder(folder, table, campaign, variant) / f"chunk-{number:05d}.parquet"


def record_file(folder: Path, campaign: str, variant: str, number: int) -> Path:
    """Where the record of a finished chunk lies."""
    return variant_folder(folder, RECORDS, campaign, variant) / f"chunk-{number:05d}.json"
