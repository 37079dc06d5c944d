"""Where a campaign is: a folder of this machine, or a place in an object store, of which this machine has a working copy."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.cli.extras import need
from tidemark.cli.refused import refused

if TYPE_CHECKING:
    from tidemark.pipeline.store.store_place import StorePlace

_STORE: Final = re.compile(r"s3a?:/")


class StoreAddress(str):
    """An address in an object store, as somebody typed it."""

    __slots__ = ()


class CampaignPlace(click.Path):
    """A path, or the address of a place in an object store."""

    name = "path or s3://…"

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  as click has it
        """Leave an address as it is, since a path would lose one of its slashes."""
        if isinstance(value, str) and _STORE.match(value):
            return StoreAddress(value)
        return super().convert(value, param, ctx)


CAMPAIGN: Final = CampaignPlace(path_type=Path, file_okay=False)
"""A campaign's folder, or its address."""


def place_of(address: StoreAddress, *, whole_bucket: bool = False) -> StorePlace:
    """The place in the store that an address names.

    Raises:
        click.UsageError: It names none.
    """
    need(campaign=True)
    from tidemark.pipeline.store.store_place import StoreAddressError, StorePlace

    with refused(StoreAddressError, usage=True):
        return StorePlace.of(address, whole_bucket=whole_bucket)


def at_hand(place: Path | StoreAddress, *tables: str) -> Path:
    """The campaign's folder on this machine; what a store has and it lacks is fetched first.

    Args:
        place: Where the campaign is.
        tables: Fetch these alone; all unless told.

    Raises:
        click.ClickException: It cannot be fetched, or is damaged.
    """
    if not isinstance(place, StoreAddress):
        return place
    wanted = place_of(place)
    from tidemark.pipeline.store.working_copy import fetch

    try:
        with refused():
            found = fetch(wanted, tables) if tables else fetch(wanted)
    except OSError as error:
        raise click.ClickException(error_words(error)) from None
    if found.chunks:
        click.echo(f"Finished chunks fetched from {wanted.uri}: {found.chunks}.", err=True)
    if found.damaged:
        first, more = found.damaged[0], len(found.damaged) - 1
        also = f", and {more} more" if more else ""
        raise click.ClickException(
            f"The campaign in {wanted.uri} is damaged ({first.words()}{also}); give the command that ran the campaign again, which "
            "does that again."
        )
    return found.folder


def error_words(error: OSError) -> str:
    """What went wrong with a store, or with the folder of a working copy."""
    from tidemark.pipeline.store.store_place import StoreError

    return str(error) if isinstance(error, StoreError) else f"the working copy cannot be written ({error})"


def keep_pages(place: StorePlace, folder: Path) -> None:
    """Upload the page of a campaign, and what belongs to it, from the working copy to the store.

    Raises:
        click.ClickException: It cannot be done.
    """
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

    try:
        StoredCampaign(place).keep_pages(folder)
    except OSError as error:
        raise click.ClickException(error_words(error)) from None
    click.echo(f"Page and figures are in {place.uri} as well.", err=True)
