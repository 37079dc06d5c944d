"""Whole objects in and out of a store that speaks S3, by Arrow's own client: no Hadoop, no jars.

An object is there whole or not at all: S3 shows an upload when it has ended. What goes wrong is one sentence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import fs

from tidemark.pipeline.store.store_place import REGION, StoreError, StorePlace

ATTEMPTS: Final = 6
"""At each request, with pauses that grow."""
SILENT_S: Final = 20.0
"""So long a request waits without a byte."""
QUICK_ATTEMPTS: Final = 2
QUICK_SILENT_S: Final = 5.0
"""Of somebody who wants to know whether the store is there at all."""
CONNECT_S: Final = 3.0

REFUSED = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "INVALID_CLIENT_TOKEN_ID",
    "EXPIRED_TOKEN",
)
CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Any of these says where credentials are; so does the file that `aws configure` writes."""
_CODE = re.compile(r"AWS Error (\w+) during (\w+) operation: (.*)", re.DOTALL)


class ObjectStore:
    """The objects at a place. A key is what follows the place's path, without a slash in front.

    Args:
        place: Where.
        quick: Do not try for long.

    Raises:
        StoreError: The store does not do what it is asked; so of every method.
    """

    def __init__(self, place: StorePlace, *, quick: bool = False) -> None:
        self.place = place
        region = place.region or (REGION if place.endpoint else None)
        options: dict[str, Any] = {} if region is None else {"region": region}
        if place.endpoint:
            options["endpoint_override"] = place.endpoint
        with self._told("use"):
            self._files = fs.S3FileSystem(
                **options,
                connect_timeout=CONNECT_S,
                request_timeout=QUICK_SILENT_S if quick else SILENT_S,
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=QUICK_ATTEMPTS if quick else ATTEMPTS),
                allow_delayed_open=True,  # one request for a small object, not three
            )
        self._root = f"{place.bucket}/{place.path}".rstrip("/")

    def write(self, key: str, content: bytes) -> None:
        """Put an object there, in place of what had its key."""
        kind = guess_type(key)[0] or "application/octet-stream"
        with (
            self._told("write to"),
            self._files.open_output_stream(f"{self._root}/{key}", metadata={"Content-Type": kind}) as to,
        ):
            to.write(content)

    def read(self, key: str) -> bytes | None:
        """An object; None if there is none, or no bucket."""
        with self._told("read"):
            try:
                with self._files.open_input_stream(f"{self._root}/{key}") as source:
                    content: bytes = source.read()
            except FileNotFoundError:
                return None
            return content

    def delete(self, key: str) -> None:
        """Remove an object, if it is there."""
        with self._told("delete in"):
            try:
                self._files.delete_file(f"{self._root}/{key}")
            except FileNotFoundError:
                return

    def sizes(self) -> dict[str, int]:
        """Every object at the place and below it: key → bytes. None where there is no bucket."""
        with self._told("list"):
            found = self._files.get_file_info(fs.FileSelector(self._root, recursive=True, allow_not_found=True))
        return {one.path[len(self._root) + 1 :]: one.size for one in found if one.type == fs.FileType.File}

    def size(self, key: str) -> int | None:
        """An object's bytes; None if there is none."""
        with self._told("read"):
            found = self._files.get_file_info(f"{self._root}/{key}")
        return found.size if found.type == fs.FileType.File else None

    def modified(self, key: str) -> float | None:
        """When an object was written, by the store's clock, seconds since 1970; None if there is none."""
        with self._told("read"):
            found = self._files.get_file_info(f"{self._root}/{key}")
        return found.mtime_ns / 1e9 if found.type == fs.FileType.File else None

    def names(self) -> tuple[list[str], list[str]]:
        """What is directly at the place: objects, and names below which there are more. It must have the bucket."""
        with self._told("list"):
            try:
                found = self._files.get_file_info(fs.FileSelector(self._root))
            except FileNotFoundError:
                found = self._files.get_file_info(fs.FileSelector(self.place.bucket))[:0]
        return (
            sorted(one.base_name for one in found if one.type == fs.FileType.File),
            sorted(one.base_name for one in found if one.type == fs.FileType.Directory),
        )

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Arrow's errors as sentences."""
        try:
            yield
        except (StoreError, FileNotFoundError):
            raise
        except (OSError, pa.ArrowException) as error:
            raise StoreError(_sentence(self.place, what, str(error))) from error


def _sentence(place: StorePlace, what: str, text: str) -> str:
    found = _CODE.search(text)
    code, why = (found[1], found[3]) if found else ("", text)
    why = re.sub(r"\s*\(Request ID: [^)]*\)", "", why).strip().splitlines()
    words = why[0].rstrip(".") if why and why[0] else "it does not say why"
    if code == "NO_SUCH_BUCKET":
        return f"{place.server} has no bucket {place.bucket}: make it first, or name another."
    if code == "NETWORK_CONNECTION":
        reached = words.partition("; Details: ")[2] or words
        return (
            f"{place.uri} cannot be reached at {place.server} ({reached}): look at AWS_ENDPOINT_URL, or endpoint_override in the "
            "address, and whether the server runs."
        )
    if not _has_credentials():
        return (
            f"{place.server} does not let us {what} {place.uri}, and no credentials are set: set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        )
    if code in REFUSED or "HTTP status 403" in text:
        said = "" if words.startswith("No response body") else f" ({words})"
        return (
            f"{place.server} does not let us {what} {place.uri}{said}: the credentials must be right and may list the bucket, and "
            "read, write and delete there."
        )
    return f"{place.server} does not let us {what} {place.uri} ({words}); is AWS_REGION the bucket's?"


def _has_credentials() -> bool:
    """Whether there are any that we know of; those of a machine at Amazon's, which are asked for by network, are not seen."""
    if any(os.environ.get(name) for name in CREDENTIALS):
        return True
    return Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path.home() / ".aws" / "credentials").is_file()
