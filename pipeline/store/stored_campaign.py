"""A campaign whose durable place is an object store: what the store has and the working copy lacks is fetched, and the other way.

The store has the same files under the same names, and the same rule: a chunk is finished if and only if its record is there. So the
record is uploaded last, and removed first before anything else of its chunk is written again. The working copy, a folder of this
machine, is where chunks are stored first and where everything is read; it may be empty, or lost, at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.pipeline.chunks.chunk import FinishedChunk
from tidemark.pipeline.folder.manifest import TABLES_OF_A_CAMPAIGN, CampaignRefusedError, Manifest, clear
from tidemark.pipeline.folder.record import ChunkRecord, write_whole
from tidemark.pipeline.folder.tables import MANIFEST, RECORDS, chunk_file, record_file
from tidemark.pipeline.runs.campaign_spec import SIMULATOR
from tidemark.pipeline.store.object_store import ObjectStore
from tidemark.pipeline.store.store_driver import StoreDriver

if TYPE_CHECKING:
    from tidemark.pipeline.store.store_place import StorePlace

THREADS: Final = 16
NOWHERE: Final = Path()
"""The folder of keys: they are the paths of a campaign's files, within its folder."""


def file_key(campaign: str, table: str, variant: str, number: int) -> str:
    """The key of one chunk's file of one table."""
    return chunk_file(NOWHERE, table, campaign, variant, number).as_posix()


def record_key(campaign: str, variant: str, number: int) -> str:
    """The key of the record of a finished chunk."""
    return record_file(NOWHERE, campaign, variant, number).as_posix()


class StoredCampaign:
    """The campaign at a place in a store.

    Args:
        place: Where.

    Raises:
        StoreError: The store does not do what it is asked; so of every method.
    """

    def __init__(self, place: StorePlace) -> None:
        self.place = place
        self._quick = ObjectStore(place, quick=True)
        self.store = ObjectStore(place)
        self._driver: StoreDriver | None = None
        self.known: dict[tuple[str, int], bytes] = {}  # the store's records, as far as they were read or written here

    def driving(self, folder: Path) -> AbstractContextManager[object]:
        """As long as it is entered, this process is the campaign's driver; it says quickly if the store cannot be used.

        Raises:
            StoreError: It cannot, or another driver is at work.
        """
        self._driver = StoreDriver(self._quick, folder)
        return self._driver

    def begin(self, folder: Path, *, fresh: bool = False) -> bool:
        """Give the working copy the store's manifest, or leave it its own if that has grown since; say whether the store has one.

        Args:
            folder: The working copy, whose lock is held. If it holds another campaign than the store, that is thrown away.
            fresh: Throw away what the store holds of a campaign.

        Raises:
            CampaignRefusedError: The store holds no campaign that can be read.
            StoreError: See there.
        """
        content = self._quick.read(MANIFEST)
        if fresh:
            self._clear(content)
            return False
        if content is None:
            first = (key.partition("/")[0] for key in self._quick.sizes())
            if Manifest.read(folder) is None and any(name in TABLES_OF_A_CAMPAIGN for name in first):
                raise CampaignRefusedError(
                    f"{self.place.uri} holds tables without a manifest; start over with --fresh."
                )
            return False
        theirs = Manifest.of(content, f"{self.place.uri}/{MANIFEST}")
        if theirs.format == 1:
            raise CampaignRefusedError(
                f"{self.place.uri} was written by an earlier version (format 1), which knew no stores: copy it to a folder, with "
                "aws s3 sync say, to read it."
            )
        try:
            ours = Manifest.read(folder)
        except CampaignRefusedError:
            ours = None
        if ours is not None and ours.identity != theirs.identity:
            clear(folder)
        elif (
            ours is not None and len(ours.asked) > len(theirs.asked) and ours.asked[: len(theirs.asked)] == theirs.asked
        ):
            return True
        if ours != theirs:
            write_whole(content, folder / MANIFEST)
        return True

    def keep_manifest(self, manifest: Manifest) -> None:
        """Have it in the store, before any chunk."""
        if self.store.read(MANIFEST) != manifest.content():
            self._write(MANIFEST, manifest.content())

    def keep(self, chunk: FinishedChunk, campaign: str) -> None:
        """Upload a chunk that is stored in the working copy; blocks until it is there. Threads may do so at once."""
        self.upload(chunk.record, chunk.files, campaign)

    def forget(self, places: Iterable[tuple[str, int]], campaign: str) -> None:
        """Let the store's chunks count as missing.

        Args:
            places: Their variants and numbers.
            campaign: The campaign's name.
        """
        for variant, number in places:
            self.known.pop((variant, number), None)
            self.store.delete(record_key(campaign, variant, number))

    def keep_pages(self, folder: Path) -> None:
        """Upload what lies in the working copy beside the tables: page, figures, comparison."""
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.name.startswith(".") and path.name != MANIFEST:
                self._write(path.name, path.read_bytes())

    def upload(self, record: ChunkRecord, files: Mapping[str, bytes], campaign: str) -> None:
        """Put a chunk in the store, which must not have a record of it: its files by table, then the record."""
        place = (record.chunk.variant, record.chunk.number)
        for table, content in files.items():
            self._write(file_key(campaign, table, *place), content)
        self._write(record_key(campaign, *place), record.content())
        self.known[place] = record.content()

    def _write(self, key: str, content: bytes) -> None:
        if self._driver is not None:
            self._driver.check()
        self.store.write(key, content)

    def _clear(self, manifest: bytes | None) -> None:
        """Records first, so that nothing counts as finished of which something is missing, and the manifest last."""
        if manifest is not None and not self._can_be_had_again(manifest):
            raise CampaignRefusedError(
                f"{self.place.uri} holds runs that cannot be had again, which --fresh does not delete; choose another place."
            )
        keys = [key for key in self.store.sizes() if key.partition("/")[0] in TABLES_OF_A_CAMPAIGN]
        with ThreadPoolExecutor(THREADS) as threads:
            for of_records in (True, False):
                wanted = [key for key in keys if key.startswith(f"{RECORDS}/") == of_records]
                list(threads.map(self.store.delete, wanted))
        self.store.delete(MANIFEST)
        self.known.clear()

    def _can_be_had_again(self, manifest: bytes) -> bool:
        """Whether it is a campaign of the simulator, as far as anybody can tell."""
        try:
            return Manifest.of(manifest, self.place.uri).spec.world == SIMULATOR
        except CampaignRefusedError:
            return True
