"""The compressed records of a batch. The node never looks into them; only who wants the values does."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from importlib import import_module
from struct import Struct
from typing import Any

from tidemark.nodes.formats.bad_batch import BadBatchError

NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
"""By the lowest three bits of a batch's attributes."""

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
"""Bytes before the first block: the magic and two version numbers."""

_BLOCK_SIZE = Struct(">i")


def decompress(codec: int, section: bytes) -> bytes:
    """The records behind a batch's header, as they were before compression.

    gzip needs nothing; snappy, lz4 and zstd need the package ``cramjam`` (aiokafka's choice too).

    Raises:
        BadBatchError: damaged, or a codec that is unknown or not installed.
    """
    if codec == 0:
        return section
    if codec == 1:
        return _gunzip(section)
    if codec >= len(NAMES):
        raise BadBatchError(
            "UNSUPPORTED_COMPRESSION_TYPE", f"The batch says it is compressed with codec {codec}: none is known."
        )
    name = NAMES[codec]
    try:
        cramjam: Any = import_module("cramjam")
    except ImportError:
        raise BadBatchError(
            "UNSUPPORTED_COMPRESSION_TYPE",
            f"The batch is compressed with {name}: install the package cramjam to read it, or let producers use gzip or none.",
        ) from None
    try:
        if name == "snappy":
            return _unsnap(cramjam.snappy.decompress_raw, section)
        return bytes(getattr(cramjam, name).decompress(section))
    except cramjam.DecompressionError as problem:
        raise _damaged(name) from problem


def _gunzip(section: bytes) -> bytes:
    try:
        return gzip.decompress(section)
    except (OSError, EOFError, zlib.error) as problem:
        raise _damaged("gzip") from problem


def _unsnap(raw: Callable[[bytes], Any], section: bytes) -> bytes:
    """Snappy as librdkafka writes it (one raw block), or as Java does (xerial's stream of blocks)."""
    if not section.startswith(_XERIAL_MAGIC):
        return bytes(raw(section))
    out = bytearray()
    at = _XERIAL_HEADER
    while at < len(section):
        block = at + _BLOCK_SIZE.size
        if block > len(section):
            raise _damaged("snappy")
        (size,) = _BLOCK_SIZE.unpack_from(section, at)
        at = block + size
        if size < 0 or at > len(section):
            raise _damaged("snappy")
        out += raw(section[block:at])
    return bytes(out)


def _damaged(name: str) -> BadBatchError:
    return BadBatchError("CORRUPT_MESSAGE", f"The batch's records do not decompress as {name}.")
