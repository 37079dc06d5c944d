"""A campaign in a store, for whoever reads it: its working copy, with what the store has by now."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tidemark.pipeline.folder.campaign_list import DEEPEST, NOT_ENTERED, ListedCampaign, listed
from tidemark.pipeline.folder.finished_chunks import Damage, take_stock
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest, locked
from tidemark.pipeline.folder.tables import MANIFEST, SCHEMAS
from tidemark.pipeline.store.object_store import ObjectStore
from tidemark.pipeline.store.store_exchange import exchange
from tidemark.pipeline.store.store_place import StoreError, StorePlace
from tidemark.pipeline.store.stored_campaign import StoredCampaign

READERS: Final = ".readers"
"""Beside a working copy; whoever fetches holds its lock."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A working copy; `chunks` of it came just now, and those that are `damaged` in the store did not."""

    folder: Path
    chunks: int
    damaged: tuple[Damage, ...]


def fetch(place: StorePlace, tables: tuple[str, ...] = tuple(SCHEMAS)) -> Fetched:
    """Fetch what the working copy lacks of these tables; nothing is written to the store.

    While a campaign is run from the working copy, that is ahead of the store, and is left as it is. Readers fetch one after the
    other.

    Raises:
        StoreError: There is no campaign, or the store cannot be read.
        CampaignRefusedError: It cannot be understood.
        OSError: The working copy cannot be written.
    """
    folder = place.working_copy()
    with ExitStack() as held:
        held.enter_context(_in_turn(folder))
        try:
            held.enter_context(locked(folder))
        except CampaignRefusedError:
            return Fetched(folder, 0, ())
        campaign = StoredCampaign(place)
        there, manifest = campaign.begin(folder), Manifest.read(folder)
        if not there and manifest is not None:
            raise StoreError(
                f"There is no campaign in {place.uri} any more. What this machine had of it is in {folder}: ask that, or give the "
                "command that ran it again, which uploads it."
            )
        if manifest is None:
            ObjectStore(place, quick=True).names()  # says so if there is no bucket
            raise StoreError(
                f"There is no campaign in {place.uri}: tidemark list s3://{place.bucket} says where there are some."
            )
        stock = take_stock(folder, manifest, tables)
        found = exchange(campaign, folder, manifest, stock, tables=tables, only_fetch=True)
        damaged = tuple(one for one in found.damaged if (one.variant, one.number) not in stock.finished)
        return Fetched(folder, len(found.fetched), damaged)


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """Wait until no other process fetches into a working copy. Who runs the campaign does not wait, and is not waited for."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / READERS).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def campaigns_below(place: StorePlace) -> Iterator[tuple[StorePlace, ListedCampaign | str]]:
    """The campaigns at a place and below it, by path, with what could not be read of one; only records are fetched.

    Raises:
        StoreError: The store cannot be read.
    """
    for one in _places(place, 0):
        try:
            got = fetch(one, ())
            manifest = Manifest.read(got.folder)
        except CampaignRefusedError as error:
            yield one, str(error)
            continue
        if manifest is not None:
            trouble = got.damaged[0].words() if got.damaged else None
            yield one, listed(got.folder, manifest, trouble=trouble)


def _places(place: StorePlace, depth: int) -> Iterator[StorePlace]:
    """Where there is a manifest."""
    objects, below = ObjectStore(place, quick=True).names()
    if MANIFEST in objects:
        yield place
    if depth < DEEPEST:
        for name in below:
            if name not in NOT_ENTERED and not name.startswith("."):
                yield from _places(place.below(name), depth + 1)
