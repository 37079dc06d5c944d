"""What brokers' log lines say of their replicas, by broker and in order of time."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tidemark.harness.scan.brokers_folder import BrokersFolderError, Open
from tidemark.harness.scan.stamped_line import stamped
from tidemark.nodes.sidecar.lines.reader import LineReader

_TELLING: Final = re.compile(
    r" starts at leader epoch | Truncating to | Truncate and start at |Setting high watermark \(offset=| partition change for "
    r"|Incremented log start offset to|Completed load of Log|Created log for partition|Unexpected offset in append to "
    r"|LeaderAndIsr|Deleting all segments because logEndOffset |Reset fetch offset for partition "
)
_BROKER: Final = re.compile(
    r"\[(?:Broker id|ReplicaFetcher replicaId|KafkaServer id|BrokerServer id|QuorumController id)=(\d+)"
)
_PARTITION_OF: Final = re.compile(r"\[Partition \S+ broker=(\d+)\]")
_KAFKA: Final = re.compile(
    r"\((?:kafka|org\.apache\.kafka|state\.change\.logger)|\b(?:kafka|org\.apache\.kafka)\.[\w.]+ - |state\.change\.logger"
)
_LOADED_HW: Final = re.compile(r"Completed load of Log\(.*?topic=([^,]+), partition=(\d+), highWatermark=(\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that says something of a replica."""

    time: str
    broker: str
    file: str
    number: int
    text: str
    message: str


class Told(NamedTuple):
    """An event, as `tidemark.nodes.sidecar.line_events` has it or the bare line, and where it is told."""

    event: Any
    line: Line


@dataclass(slots=True)
class Lines:
    """What was read.

    Attributes:
        by_broker: broker → its telling lines in order of time. unattributed: lines of which nobody can say whose they are.
        files: how many files were logs of Kafka's. read: how many lines they have.
    """

    by_broker: dict[str, list[Line]]
    unattributed: int
    files: int
    read: int


def read_lines(texts: Mapping[str, Open], tell: Callable[[str], None]) -> Lines:
    """The telling lines of all logs; whose a file is, its own lines say, or else those of its folder.

    Args:
        texts: path → file.
        tell: is told which file is read.

    Raises:
        BrokersFolderError: one is packed, and damaged.
        OSError: one cannot be read.
    """
    lines: dict[str, list[tuple[str, Line]]] = {}
    owners: dict[str, set[str]] = {}
    total = 0
    for path, opened in texts.items():
        tell(path)
        try:
            found, ids, count = _of_file(path, opened)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BrokersFolderError(f"{path} is damaged ({error}): fetch it again, or take it away") from None
        if count:
            lines[path], owners[path] = found, ids
            total += count
    folders: dict[str, set[str]] = defaultdict(set)
    for path, ids in owners.items():
        folders[path.rpartition("/")[0]] |= ids
    by_broker: dict[str, list[Line]] = defaultdict(list)
    unattributed = 0
    for path, found in lines.items():
        folder = path.rpartition("/")[0]
        whose = owners[path] or folders[folder]
        of_file = next(iter(whose)) if len(whose) == 1 else "" if whose else folder or path
        for own, line in found:
            broker = own or of_file
            if not broker:
                unattributed += 1
                continue
            by_broker[broker].append(Line(line.time, broker, line.file, line.number, line.text, line.message))
    ordered = {broker: sorted(found, key=lambda line: line.time) for broker, found in sorted(by_broker.items())}
    return Lines(ordered, unattributed, len(lines), total)


def _of_file(path: str, opened: Open) -> tuple[list[tuple[str, Line]], set[str], int]:
    """The telling lines of a file with the broker that each names, all that are named, and how many lines are Kafka's."""
    found: list[tuple[str, Line]] = []
    ids: set[str] = set()
    count, time = 0, ""
    with opened() as file:
        for number, raw in enumerate(file, 1):
            text = raw.decode(errors="replace").rstrip("\r\n")
            named = _BROKER.search(text) or _PARTITION_OF.search(text)
            if named is not None:
                ids.add(named[1])
            count += named is not None or (_KAFKA.search(text) is not None)
            if _TELLING.search(text) is None:
                continue
            parts = stamped(text)
            time = parts.time if parts is not None else time
            message = parts.for_reader() if parts is not None else ""
            found.append((named[1] if named is not None else "", Line(time, "", path, number, text, message)))
    return found, ids, count


def events_of(lines: list[Line]) -> Iterator[Told]:
    """What a broker's lines come to; of a line that no reader knows, the line itself as event."""
    reader = LineReader()
    for line in lines:
        events = reader.read(line.message) if line.message else []
        if not events:
            yield Told(None, line)
        for event in events:
            yield Told(event, line)


def high_watermark_when_loaded(text: str) -> tuple[str, int] | None:
    """Partition and high watermark of a line about a log that was loaded."""
    found = _LOADED_HW.search(text)
    return None if found is None else (f"{found[1]}-{found[2]}", int(found[3]))
