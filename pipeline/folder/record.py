"""What a finished chunk left behind: its numbers, and size and digest of each of its files.

The record is written last, so a chunk is finished if and only if its record is there. What lies in the tables' folders can be
held against it: a file that is damaged, missing, overwritten, or that no chunk wrote.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.tables import FORMAT, chunk_file, record_file


class RecordError(ValueError):
    """A record that says nothing usable, or something of another chunk; the text is a few words."""


@dataclass(frozen=True, slots=True)
class ChunkSummary:
    """What a finished chunk found, in numbers of runs; `unknown` includes the runs that raised (`errors`)."""

    variant: str
    number: int
    runs: int
    violating: int
    permitting: int
    unknown: int
    errors: int


Finished: TypeAlias = dict[tuple[str, int], ChunkSummary]
"""Finished chunks by variant and number."""


@dataclass(frozen=True, slots=True)
class Written:
    """One file of a chunk."""

    rows: int
    size: int  # bytes
    digest: str  # SHA-256


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A finished chunk of the campaign called `campaign`, whose manifest has the same `identity`; `files` by table."""

    identity: str
    chunk: Chunk
    summary: ChunkSummary
    files: Mapping[str, Written]

    def content(self) -> bytes:
        """What its file has."""
        return (json.dumps({"format": FORMAT, **asdict(self)}) + "\n").encode()

    def write(self, folder: Path, campaign: str) -> None:
        """Put it beside the tables: from now on the chunk is finished."""
        write_whole(self.content(), record_file(folder, campaign, self.chunk.variant, self.chunk.number))

    @classmethod
    def read(cls, path: Path) -> ChunkRecord:
        """Read what `write` wrote.

        Raises:
            RecordError: It did not.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise RecordError("its record cannot be read") from error
        return cls.of(content)

    @classmethod
    def of(cls, content: bytes) -> ChunkRecord:
        """Understand what `content` gave.

        Raises:
            RecordError: It did not.
        """
        try:
            data: dict[str, Any] = json.loads(content)
            if data["format"] != FORMAT:
                raise RecordError(f"its record has format {data['format']}")
            return cls(
                data["identity"],
                Chunk(**data["chunk"]),
                ChunkSummary(**data["summary"]),
                {table: Written(**written) for table, written in data["files"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError("its record cannot be read") from error

    def fault(self, folder: Path, campaign: str, table: str) -> str | None:
        """What is wrong with the chunk's file of one table, None if it is as it was written."""
        written = self.files[table]
        path = chunk_file(folder, table, campaign, self.chunk.variant, self.chunk.number)
        try:
            if path.stat().st_size != written.size:
                return f"its file of `{table}` has another size"
            if sha256(path.read_bytes()).hexdigest() != written.digest:
                return f"its file of `{table}` has other bytes"
        except FileNotFoundError:
            return f"its file of `{table}` is missing"
        except OSError as error:
            return f"its file of `{table}` cannot be read ({error.strerror})"
        return None


def write_whole(content: bytes, path: Path) -> None:
    """Write under a dot-name that readers skip, sync, rename: the file is there whole or not at all.

    Raises:
        OSError: The disk is full, say; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
