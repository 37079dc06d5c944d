"""A folder with what brokers left: logs, log directories, archives of both. Which file is whose."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final, cast

from tidemark.nodes.formats.checkpoints import EPOCHS, HIGH_WATERMARKS, LOG_STARTS
from tidemark.nodes.formats.partition_files import is_internal, is_partition
from tidemark.nodes.formats.segment import base_of

ARCHIVES: Final = (".tar.gz", ".tgz", ".tar")
_LOG: Final = re.compile(r".*\.(log|out|txt)([.-][\w.-]+)?(\.gz)?", re.IGNORECASE)
META: Final = "meta.properties"
CLEANER: Final = "cleaner-offset-checkpoint"
_ID: Final = re.compile(r"^(?:node|broker)\.id\s*=\s*(\d+)", re.MULTILINE)
_KNOWN: Final = frozenset({EPOCHS, HIGH_WATERMARKS, LOG_STARTS, CLEANER, META})

Open = Callable[[], IO[bytes]]


class BrokersFolderError(ValueError):
    """What cannot be scanned; the message says why."""


@dataclass(slots=True)
class Replica:
    """The files of one replica: segments by their base offset, and its leader epochs, if they are there."""

    directory: str
    segments: dict[int, Open] = field(default_factory=dict)
    epochs: Open | None = None


@dataclass(slots=True)
class LogDirectory:
    """One log directory of one broker (``log.dirs``).

    Attributes:
        name: its path below the folder. broker: its id, or where that is not said the path.
        files: name → file, of those that say something of all replicas.
    """

    name: str
    broker: str
    replicas: dict[str, Replica] = field(default_factory=dict)
    files: dict[str, Open] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """What a file holds; nothing if it is not there."""
        opened = self.files.get(name)
        if opened is None:
            return ""
        with opened() as file:
            return file.read().decode(errors="replace")


@dataclass(slots=True)
class BrokersFolder:
    """All there is: text files by their path, and log directories."""

    texts: dict[str, Open]
    directories: list[LogDirectory]


def look_into(folder: Path) -> BrokersFolder:
    """Find out what is there; archives are looked into, and nothing is unpacked.

    Raises:
        BrokersFolderError: it is no folder, or an archive is damaged.
    """
    if not folder.is_dir():
        raise BrokersFolderError(f"{folder} is no folder: name one with brokers' logs")
    texts: dict[str, Open] = {}
    logs: dict[str, dict[str, Replica]] = defaultdict(dict)
    beside: dict[str, dict[str, Open]] = defaultdict(dict)
    for path, opened in _files(folder):
        place = PurePosixPath(path)
        parent = place.parent
        if is_partition(parent.name) and (base_of(place.name) is not None or place.name == EPOCHS):
            if is_internal(parent.name):
                continue
            replica = logs[str(parent.parent)].setdefault(parent.name, Replica(str(parent)))
            if place.name == EPOCHS:
                replica.epochs = opened
            else:
                replica.segments[base_of(place.name) or 0] = opened
        elif place.name in _KNOWN:
            beside[str(parent)][place.name] = opened
        elif _LOG.fullmatch(place.name) and base_of(place.name) is None:
            texts[path] = opened
    directories = [_directory(name, replicas, beside[name]) for name, replicas in sorted(logs.items())]
    return BrokersFolder(dict(sorted(texts.items())), directories)


def _directory(name: str, replicas: dict[str, Replica], files: Mapping[str, Open]) -> LogDirectory:
    found = LogDirectory(name, name, dict(sorted(replicas.items())), dict(files))
    said = _ID.search(found.text(META))
    found.broker = said[1] if said else name
    return found


def _files(folder: Path) -> Iterator[tuple[str, Open]]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        if name.endswith(ARCHIVES):
            yield from _archived(path, name)
        else:
            yield name, lambda path=path: _opened(path)  # type: ignore[misc]  # mypy takes no default for what is asked for


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def _archived(path: Path, name: str) -> Iterator[tuple[str, Open]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() or member.islnk() else None
                if content is not None:
                    data = content.read()
                    yield f"{name}/{member.name.lstrip('/')}", lambda data=data: io.BytesIO(data)  # type: ignore[misc]
    except (tarfile.TarError, OSError, EOFError, KeyError) as error:
        why = str(error).partition("\n")[0].rstrip(":")  # all that was tried stands behind it
        raise BrokersFolderError(f"{path} is a damaged archive ({why}): fetch it again, or take it away") from None
