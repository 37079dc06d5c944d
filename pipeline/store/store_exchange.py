"""Hold a campaign's working copy against its store, chunk by chunk: fetch what the one lacks, upload what the other lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from tidemark.pipeline.folder.finished_chunks import Damage, Stock
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.record import ChunkRecord, Finished, RecordError, write_whole
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file, record_file
from tidemark.pipeline.store.stored_campaign import StoredCampaign, file_key, record_key

THREADS: Final = 16

Place: TypeAlias = tuple[str, int]
"""A chunk's variant and number."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What came of it.

    Attributes:
        fetched: chunks that the working copy has now. uploaded: chunks that the store has now.
        damaged: chunks of the store that were not what their records say, or without a record that can be read.
    """

    fetched: Finished
    uploaded: tuple[Place, ...]
    damaged: tuple[Damage, ...]


def exchange(
    campaign: StoredCampaign,
    folder: Path,
    manifest: Manifest,
    stock: Stock,
    *,
    tables: Sequence[str] = tuple(SCHEMAS),
    only_fetch: bool = False,
) -> Exchanged:
    """Fetch the finished chunks that the working copy lacks, and upload those that the store lacks.

    What is fetched is held against its record, byte for byte; of the rest the sizes of the store's files are compared. A chunk that
    the store has not as its record says is uploaded again. Where the working copy has it not either, it is missing in both then.

    Args:
        campaign: In the store.
        folder: The working copy.
        manifest: Its campaign's.
        stock: What is finished in it.
        tables: Fetch the files of these.
        only_fetch: Leave the store as it is.

    Raises:
        StoreError: The store does not do what it is asked.
        OSError: The working copy cannot be written.
    """
    layout = manifest.layout
    places = [(variant, number) for variant in layout.variants for number in range(layout.chunks)]
    work = _Exchange(campaign, folder, manifest, stock, campaign.store.sizes(), tuple(tables), only_fetch=only_fetch)
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work.settle, places))
    return Exchanged(
        work.fetched, tuple(work.uploaded), tuple(sorted(work.damaged, key=lambda one: (one.variant, one.number)))
    )


class _Exchange:
    def __init__(
        self,
        campaign: StoredCampaign,
        folder: Path,
        manifest: Manifest,
        stock: Stock,
        listing: Mapping[str, int],
        tables: tuple[str, ...],
        *,
        only_fetch: bool,
    ) -> None:
        self._campaign, self._store = campaign, campaign.store
        self._folder, self._manifest, self._name = folder, manifest, manifest.spec.name
        self._stock, self._listing, self._tables, self._only_fetch = stock, listing, tables, only_fetch
        self.fetched: Finished = {}
        self.uploaded: list[Place] = []
        self.damaged: list[Damage] = []

    def settle(self, place: Place) -> None:
        """Have one chunk in both, or in neither."""
        key = record_key(self._name, *place)
        mine = record_file(self._folder, self._name, *place)
        ours = mine.read_bytes() if place in self._stock.finished else None
        there = key in self._listing
        if there:
            why = self._take(place, self._campaign.known.get(place) or self._store.read(key) or b"", ours)
            if why is None:
                return
            self.damaged.append(Damage(*place, why))
        if self._only_fetch:
            return
        if there:
            self._campaign.forget([place], self._name)
        if ours is not None:
            self._upload(ChunkRecord.of(ours))
            self.uploaded.append(place)

    def _take(self, place: Place, theirs: bytes, ours: bytes | None) -> str | None:
        """Have the store's chunk here as well; or say what is wrong with it."""
        found = self._understood(theirs, place)
        if isinstance(found, str):
            return found
        why = self._sizes_differ(found)
        if why is not None:
            return why
        if theirs != ours:
            why = self._fetch(found, theirs)
            if why is not None:
                return why
            self.fetched[place] = found.summary
        self._campaign.known[place] = theirs
        return None

    def _understood(self, content: bytes, place: Place) -> ChunkRecord | str:
        """The record, or what is wrong with it."""
        try:
            record = ChunkRecord.of(content)
        except RecordError as error:
            return str(error)
        if record.identity != self._manifest.identity or record.chunk != self._manifest.layout.chunk(*place):
            return "its record is another chunk's"
        if set(record.files) != set(SCHEMAS):
            return "its record names other tables"
        return record

    def _sizes_differ(self, record: ChunkRecord) -> str | None:
        """What is wrong with the store's files, by their sizes. The listing may be older than the record, so it is asked again."""
        for table, written in record.files.items():
            key = file_key(self._name, table, record.chunk.variant, record.chunk.number)
            if self._listing.get(key) != written.size and (size := self._store.size(key)) != written.size:
                return f"its file of `{table}` {'is missing' if size is None else 'has another size'}"
        return None

    def _fetch(self, record: ChunkRecord, content_of_record: bytes) -> str | None:
        """Bring the files that are not here yet, and then the record; or say what is wrong with them."""
        chunk = record.chunk
        contents = {}
        for table in self._tables:
            if record.fault(self._folder, self._name, table) is None:
                continue
            content = self._store.read(file_key(self._name, table, chunk.variant, chunk.number))
            if content is None or sha256(content).hexdigest() != record.files[table].digest:
                return f"its file of `{table}` {'is missing' if content is None else 'has other bytes'}"
            contents[table] = content
        mine = record_file(self._folder, self._name, chunk.variant, chunk.number)
        mine.unlink(missing_ok=True)
        for table, content in contents.items():
            write_whole(content, chunk_file(self._folder, table, self._name, chunk.variant, chunk.number))
        write_whole(content_of_record, mine)
        return None

    def _upload(self, record: ChunkRecord) -> None:
        chunk = record.chunk
        files = {
            table: chunk_file(self._folder, table, self._name, chunk.variant, chunk.number).read_bytes()
            for table in record.files
        }
        self._campaign.upload(record, files, self._name)
