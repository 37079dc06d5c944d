"""ZooKeeper's transaction log: files ``log.ZXID`` (hexadecimal, of the first transaction in it) in ``dataDir/version-2``.

A file begins with ``ZKLG``, a version and a database id (16 bytes). Each transaction is a checksum (Adler-32 in 8 bytes), a length
(4 bytes), a header of 32 bytes, a body, and the byte ``B``. Files are extended with zeros ahead of what is written to them.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from struct import Struct, error
from typing import NamedTuple

from tidemark.nodes.sidecar.controller.growing_files import GrowingFiles, Used

CREATE, DELETE, SET_DATA, CREATE_SESSION, CLOSE_SESSION, FAILED = 1, 2, 5, -10, -11, -1
CREATE_2, CREATE_CONTAINER, DELETE_CONTAINER, CREATE_TTL, MULTI = 15, 19, 20, 21, 14

_CREATES = frozenset({CREATE, CREATE_2, CREATE_CONTAINER, CREATE_TTL})
_DELETES = frozenset({DELETE, DELETE_CONTAINER})

_MAGIC = b"ZKLG"
_FILE_HEADER = 16
_PREFIX = Struct(">qi")
_HEADER = Struct(">qiqqi")
_INT = Struct(">i")
_END = 0x42
_PLAUSIBLE = 16 << 20
"""No transaction is longer: ZooKeeper takes 1 MiB."""


class Create(NamedTuple):
    """A node was created; ``owner`` is the session it lives and dies with, 0 if none."""

    path: str
    data: bytes
    owner: int


class SetData(NamedTuple):
    """A node's content changed; ``version`` counts such changes, from 1."""

    path: str
    data: bytes
    version: int


class Delete(NamedTuple):
    """A node was deleted."""

    path: str


class CloseSession(NamedTuple):
    """A session ended, and its nodes with it."""

    session: int


Change = Create | SetData | Delete | CloseSession


class Transaction(NamedTuple):
    """What one transaction changed, all at once.

    Attributes:
        zxid: its number. time_ms: since 1970, by the server's clock.
    """

    zxid: int
    time_ms: int
    changes: tuple[Change, ...]


class ZooKeeperLog:
    """Reads the transactions of a log from its beginning, and on while it grows.

    Args:
        folder: ``dataDir/version-2``; need not be there yet.
    """

    def __init__(self, folder: Path) -> None:
        self._files = GrowingFiles(folder, _first_zxid)
        self._last = 0
        self._found: list[Transaction] = []

    def poll(self) -> list[Transaction]:
        """The transactions since the last call that change anything, in order. One that is written only in part comes later.

        Raises:
            OSError: a file that is there cannot be read.
        """
        self._files.read(self._consume)
        found, self._found = self._found, []
        return found

    def _consume(self, place: int, data: bytes) -> Used:
        at = 0
        if place == 0:
            if len(data) < _FILE_HEADER or data[:4] != _MAGIC:
                return Used(0)
            at = _FILE_HEADER
        while len(data) - at >= _PREFIX.size:
            summed, length = _PREFIX.unpack_from(data, at)
            if not _HEADER.size <= length <= _PLAUSIBLE:
                break
            begin, end = at + _PREFIX.size, at + _PREFIX.size + length
            if end >= len(data):
                return Used(at, end + 1 - at)
            if data[end] != _END or zlib.adler32(data[begin:end]) != summed:
                break
            self._add(data[begin:end])
            at = end + 1
        return Used(at)

    def _add(self, entry: bytes) -> None:
        session, _, zxid, time_ms, kind = _HEADER.unpack_from(entry)
        if zxid <= self._last:
            return
        self._last = zxid
        changes = tuple(_changes(kind, entry[_HEADER.size :], session))
        if changes:
            self._found.append(Transaction(zxid, time_ms, changes))


def _first_zxid(name: str) -> int | None:
    word, _, number = name.partition(".")
    try:
        return int(number, 16) if word == "log" else None
    except ValueError:
        return None


def _changes(kind: int, body: bytes, session: int) -> list[Change]:
    """What a transaction's body says; of a kind that does not concern Kafka's state, nothing."""
    try:
        if kind == MULTI:
            return _parts(body, session)
        if kind == CLOSE_SESSION:
            return [CloseSession(session)]
        if kind in _CREATES:
            path, at = _text(body, 0)
            data, at = _buffer(body, at)
            owned = kind in (CREATE, CREATE_2) and _is_ephemeral(body, at)
            return [Create(path, data, session if owned else 0)]
        if kind in _DELETES:
            return [Delete(_text(body, 0)[0])]
        if kind == SET_DATA:
            path, at = _text(body, 0)
            data, at = _buffer(body, at)
            return [SetData(path, data, _INT.unpack_from(body, at)[0])]
    except (error, UnicodeDecodeError):
        return []
    return []


def _parts(body: bytes, session: int) -> list[Change]:
    (count,) = _INT.unpack_from(body, 0)
    at, found = 4, []
    for _ in range(count):
        (kind,) = _INT.unpack_from(body, at)
        part, at = _buffer(body, at + 4)
        if kind == FAILED:
            return []
        found += _changes(kind, part, session)
    return found


def _is_ephemeral(body: bytes, at: int) -> bool:
    """Reads past the list of (permissions, scheme, id)."""
    (count,) = _INT.unpack_from(body, at)
    at += 4
    for _ in range(count):
        _, at = _buffer(body, at + 4)
        _, at = _buffer(body, at)
    return body[at : at + 1] == b"\1"


def _buffer(body: bytes, at: int) -> tuple[bytes, int]:
    """Bytes with their length before them, −1 for none; and where they end."""
    (length,) = _INT.unpack_from(body, at)
    end = at + 4 + max(length, 0)
    return body[at + 4 : end], end


def _text(body: bytes, at: int) -> tuple[str, int]:
    raw, end = _buffer(body, at)
    return raw.decode(), end
