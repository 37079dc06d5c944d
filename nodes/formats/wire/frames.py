"""Frames: every request and response on a connection is preceded by its length, four bytes, big endian."""

from __future__ import annotations

from io import BytesIO
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.formats.wire.codec import Writer

MAX_REQUEST_BYTES = 16 << 20
"""Longest request that a node takes. Kafka's ``socket.request.max.bytes`` is 100 MiB; its records are no larger than 1 MiB."""

MAX_RESPONSE_BYTES = 64 << 20
"""Longest response that a node takes from a peer."""

_LENGTH = Struct(">i")
_CORRELATION = Struct(">i")
_REQUEST_HEADER = Struct(">hhi")


class FrameError(Exception):
    """What came is no frame that this node takes; the connection cannot be used any more."""


class FrameReader:
    """Cuts what arrives on a connection into frames.

    Args:
        limit: longest frame in bytes. A longer one is refused when its length is read, before its body is kept.
    """

    __slots__ = ("_kept", "_limit", "_need")

    def __init__(self, limit: int = MAX_REQUEST_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._need = 4
        """Bytes that must be there before it is worth looking again."""

    def feed(self, data: bytes) -> list[bytes]:
        """The frames (without their length) that ``data`` completes.

        Raises:
            FrameError: a length is negative or above the limit.
        """
        kept = self._kept
        if kept or len(data) < 4:
            kept += data
            if len(kept) < self._need:
                return []
            data = bytes(kept)
            kept.clear()
        frames = []
        at, end = 0, len(data)
        self._need = 4
        while end - at >= 4:
            (size,) = _LENGTH.unpack_from(data, at)
            if not 0 <= size <= self._limit:
                raise FrameError(f"a frame of {size} bytes, where 0 to {self._limit} are taken")
            if end - at - 4 < size:
                self._need = 4 + size
                break
            frames.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        if at < end:
            kept += memoryview(data)[at:]
        return frames


def response_frame(correlation_id: int, header_version: int, write: Writer, body: object) -> bytes:
    """A whole response frame: length, response header of that version (0 or 1, without tags), body."""
    out = BytesIO()
    out.write(b"\0\0\0\0")
    out.write(_CORRELATION.pack(correlation_id))
    if header_version:
        out.write(b"\0")
    write(out, body)
    return finish(out)


def request_frame(key: int, version: int, correlation_id: int, client_id: bytes, *, flexible: bool) -> BytesIO:
    """The beginning of a request frame, up to the body; :func:`finish` completes it."""
    out = BytesIO()
    out.write(b"\0\0\0\0")
    out.write(_REQUEST_HEADER.pack(key, version, correlation_id))
    out.write(len(client_id).to_bytes(2, "big"))
    out.write(client_id)
    if flexible:
        out.write(b"\0")
    return out


def finish(out: BytesIO) -> bytes:
    """The frame that was begun with :func:`request_frame`, its length set."""
    size = out.tell() - 4
    with out.getbuffer() as view:
        _LENGTH.pack_into(view, 0, size)
    return out.getvalue()
