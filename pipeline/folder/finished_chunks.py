"""What is there of a campaign: its finished chunks, those whose files are not what they were, and files that no chunk wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.pipeline.folder.record import ChunkRecord, ChunkSummary, Finished, RecordError
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.tables import RECORDS, SCHEMAS, chunk_file, record_file, variant_folder

if TYPE_CHECKING:
    from tidemark.pipeline.folder.manifest import Manifest

SUMMARY_KEY = b"tidemark.summary"
"""In the footer of a `runs` file of format 1."""
SET_ASIDE = "set-aside"
"""Files that no chunk wrote are moved there, out of the way of whoever reads a table."""
MORE_THREADS = 4  # reading and hashing both let the others go on


class DamagedTableError(RefusalError, ValueError):
    """A file of the campaign's tables is not what was written; the text is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A finished chunk that must be done again, and why."""

    variant: str
    number: int
    why: str

    def words(self) -> str:
        """For a person."""
        return f"chunk {self.number} of {self.variant}: {self.why}"


@dataclass(frozen=True, slots=True)
class Stock:
    """Everything in a campaign's folder."""

    finished: Finished
    damaged: tuple[Damage, ...]
    foreign: tuple[Path, ...]  # Parquet files in the tables' folders that are no chunk's of this campaign

    def files(self, folder: Path, campaign: str, table: str) -> list[Path]:
        """The files of the finished chunks."""
        return [chunk_file(folder, table, campaign, variant, number) for variant, number in sorted(self.finished)]


def take_stock(folder: Path, manifest: Manifest, tables: tuple[str, ...] = tuple(SCHEMAS)) -> Stock:
    """Look at everything, and hold every file of the tables asked for against its chunk's record: each of its bytes is read.

    A campaign of format 1 has no records; of its files it is known only whether they can be opened.
    """
    if manifest.format == 1:
        return _without_records(folder, manifest)
    spec, layout = manifest.spec, manifest.layout
    finished: Finished = {}
    damaged: list[Damage] = []

    def look(place: tuple[str, int]) -> ChunkSummary | Damage:
        variant, number = place
        try:
            record = ChunkRecord.read(record_file(folder, spec.name, variant, number))
        except RecordError as error:
            return Damage(variant, number, str(error))
        if record.identity != manifest.identity or record.chunk != layout.chunk(variant, number):
            return Damage(variant, number, "its record is another chunk's")
        if set(record.files) != set(SCHEMAS):
            return Damage(variant, number, "its record names other tables")
        faults = (record.fault(folder, spec.name, table) for table in tables)
        fault = next((fault for fault in faults if fault is not None), None)
        return record.summary if fault is None else Damage(variant, number, fault)

    places = [
        (variant, number)
        for variant in spec.variants
        for number in sorted(_numbers(variant_folder(folder, RECORDS, spec.name, variant), ".json"))
        if number < layout.chunks
    ]
    with ThreadPoolExecutor(MORE_THREADS) as threads:
        for place, found in zip(places, threads.map(look, places), strict=True):
            if isinstance(found, Damage):
                damaged.append(found)
            else:
                finished[place] = found
    return Stock(finished, tuple(damaged), tuple(_foreign(folder, manifest)))


def whole(folder: Path, manifest: Manifest, tables: tuple[str, ...]) -> Stock:
    """The stock, for somebody who is about to read these tables.

    Raises:
        DamagedTableError: A file is not what was written.
    """
    stock = take_stock(folder, manifest, tables)
    if stock.damaged:
        first, more = stock.damaged[0], len(stock.damaged) - 1
        also = f", and {more} more" if more else ""
        mend = "give the command that ran the campaign again" if manifest.format > 1 else "start over with --fresh"
        raise DamagedTableError(
            f"The campaign in {folder} is damaged ({first.words()}{also}); {mend}, which does that again."
        )
    return stock


def set_right(folder: Path, manifest: Manifest, stock: Stock) -> None:
    """Take the records of damaged chunks away, so that these count as missing, and move foreign files out of the tables."""
    for damage in stock.damaged:
        record_file(folder, manifest.spec.name, damage.variant, damage.number).unlink(missing_ok=True)
    for path in stock.foreign:
        set_aside(folder, path)


def set_aside(folder: Path, path: Path) -> None:
    """Move a file out of a campaign's tables."""
    place = folder / SET_ASIDE / path.relative_to(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)


def _numbers(place: Path, suffix: str) -> Iterator[int]:
    """The numbers of the chunks that have a file there."""
    try:
        names = os.listdir(place)  # noqa: PTH208  a path for each of thousands of names is not wanted
    except FileNotFoundError:
        return
    for name in names:
        number = name.removeprefix("chunk-").removesuffix(suffix)
        if number.isdecimal() and name == f"chunk-{int(number):05d}{suffix}":
            yield int(number)


def _foreign(folder: Path, manifest: Manifest) -> Iterator[Path]:
    """What a reader of a table's folder would read and no chunk of this campaign wrote or is going to write."""
    spec, chunks = manifest.spec, manifest.layout.chunks
    for table in SCHEMAS:
        places = {variant_folder(folder, table, spec.name, variant) for variant in spec.variants}
        for place, _, names in os.walk(folder / table):
            known = {f"chunk-{number:05d}.parquet" for number in range(chunks)} if Path(place) in places else set()
            for name in sorted(names):
                if not name.startswith((".", "_")) and name not in known:
                    yield Path(place) / name


def _without_records(folder: Path, manifest: Manifest) -> Stock:
    spec = manifest.spec
    finished: Finished = {}
    damaged = []
    for variant in spec.variants:
        for number in sorted(_numbers(variant_folder(folder, "runs", spec.name, variant), ".parquet")):
            try:
                metadata = pq.read_schema(chunk_file(folder, "runs", spec.name, variant, number)).metadata
                finished[variant, number] = ChunkSummary(**json.loads(metadata[SUMMARY_KEY]))
                pq.read_schema(chunk_file(folder, "anomalies", spec.name, variant, number))
            except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
                damaged.append(Damage(variant, number, str(error).strip().splitlines()[0]))
    return Stock(finished, tuple(damaged), ())
