"""Where in an object store a campaign lies: `s3://bucket/path`, or `s3a://`, as Hadoop writes the same."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tidemark.pipeline.engines.java import cache_folder

OPTIONS = ("endpoint_override", "scheme", "region")
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGION = "us-east-1"
"""Of a server of one's own, which has none, but has to be told one."""
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class StoreError(OSError):
    """A store does not do what it is asked; the text is one sentence."""


class StoreAddressError(ValueError):
    """An address that names no place in a store; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class StorePlace:
    """A place in a bucket.

    Attributes:
        bucket: its name. path: below it, without slashes at its ends; empty is the bucket itself.
        endpoint: the server's URL; None: Amazon's. region: None: as the SDK finds it.
    """

    bucket: str
    path: str
    endpoint: str | None = None
    region: str | None = None

    @classmethod
    def of(cls, address: str, *, whole_bucket: bool = False) -> StorePlace:
        """Read an address. What it leaves open is taken from the environment (`ENDPOINTS`, `REGIONS`).

        Args:
            address: `s3://bucket/path`, with `?endpoint_override=HOST:PORT&scheme=http&region=NAME` behind it or without.
            whole_bucket: Whether the path may be empty.

        Raises:
            StoreAddressError: See there.
        """
        try:
            parts = urlsplit(address)
        except ValueError:  # brackets, as of an IPv6 address
            parts = urlsplit("")
        if parts.scheme not in ("s3", "s3a") or not _BUCKET.fullmatch(parts.netloc):
            raise StoreAddressError(f"{address} names no bucket: write s3://BUCKET/PATH.")
        path = parts.path.strip("/")
        if not path and not whole_bucket:
            raise StoreAddressError(f"{address} names a bucket and no place in it: write s3://{parts.netloc}/PATH.")
        names = path.split("/") if path else []
        if "%" in path or parts.fragment or any(name in ("", ".", "..") for name in names):
            raise StoreAddressError(f"{address}: a path in a store is names with one / between them, without % and #.")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        unknown = [name for name in query if name not in OPTIONS]
        if unknown or query.get("scheme", "http") not in ("http", "https"):
            raise StoreAddressError(
                f"{address}: behind the question mark may stand endpoint_override=HOST:PORT, scheme=http or https, and "
                "region=NAME, with & between."
            )
        return cls(parts.netloc, path, _endpoint(query), query.get("region") or _first(REGIONS))

    @property
    def uri(self) -> str:
        """The address without what is behind the question mark."""
        return f"s3://{self.bucket}/{self.path}".rstrip("/")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def server(self) -> str:
        """Who keeps it, for a person."""
        return self.endpoint or "Amazon S3"

    def below(self, name: str) -> StorePlace:
        """A place in this one."""
        return StorePlace(self.bucket, f"{self.path}/{name}".lstrip("/"), self.endpoint, self.region)

    def working_copy(self) -> Path:
        """The folder of this machine where the campaign is worked on and read. It has the campaign's name."""
        digest = sha256(f"{self.endpoint or ''} {self.bucket} {self.path}".encode()).hexdigest()[:16]
        return (cache_folder() / "stores" / digest).resolve() / self.name


def _endpoint(query: dict[str, str]) -> str | None:
    endpoint = query.get("endpoint_override")
    if endpoint is None:
        return _first(ENDPOINTS)
    return endpoint if "://" in endpoint else f"{query.get('scheme', 'https')}://{endpoint}"


def _first(names: tuple[str, ...]) -> str | None:
    """The first of these environment variables that says something."""
    return next((value for name in names if (value := os.environ.get(name))), None)
