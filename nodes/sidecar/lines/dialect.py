"""Which loggers of a Kafka version must say what, and whether we know what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidemark.nodes.sidecar.lines.reader import LineReader

_CLIENT = {"org.apache.kafka.clients.NetworkClient": "debug"}
"""What a follower asks its leader, and what it is answered: two lines for a fetch."""

_ZOOKEEPER = {
    "kafka.log.Log": "trace",
    "state.change.logger": "trace",
    "kafka.server.ZkIsrManager": "debug",
    **_CLIENT,
}
_KRAFT = {
    "kafka.log.UnifiedLog": "trace",
    "org.apache.kafka.storage.internals.log.UnifiedLog": "trace",
    **_CLIENT,
}
"""The log moved to another package with 4.1."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one version's log is turned on and read.

    Attributes:
        levels: logger → level for slf4j-simple (``org.slf4j.simpleLogger.log.<logger>``); all others stay at ``info``.
        read_as: the version whose lines it is read by.
        understood: the version's series was verified on real brokers.
        why: if it was not, a sentence that says so; else empty.
    """

    version: str
    levels: dict[str, str]
    read_as: str
    understood: bool
    why: str

    def reader(self, *, quorum: bool = False) -> LineReader:
        """A reader for one life of a broker, or of one of several controllers."""
        return LineReader(quorum=quorum)


VERIFIED_VERSIONS = {
    (2, 8): ("2.8.2", _ZOOKEEPER),
    (3, 7): ("3.7.2", _KRAFT),
    (3, 9): ("3.9.1", _KRAFT),
    (4, 0): ("4.0.0", _KRAFT),
    (4, 1): ("4.1.1", _KRAFT),
    (4, 2): ("4.2.1", _KRAFT),
    (4, 3): ("4.3.1", _KRAFT),
}


def dialect(version: str) -> Dialect:
    """The dialect of a Kafka version, or the nearest one.

    Args:
        version: such as ``2.8.2``.

    Raises:
        ValueError: that is no version.
    """
    found = re.match(r"(\d+)\.(\d+)(\.|$)", version)
    if found is None:
        raise ValueError(f"A Kafka version looks like 2.8.2, not like {version!r}.")
    series = (int(found[1]), int(found[2]))
    nearest = series if series in VERIFIED_VERSIONS else _nearest(series)
    verified, levels = VERIFIED_VERSIONS[nearest]
    if nearest == series:
        return Dialect(version, dict(levels), verified, understood=True, why="")
    why = (
        f"The log lines of Kafka {version} have not been verified (those of {verified} have, and its dialect is used): "
        f"use {', '.join(name for name, _ in VERIFIED_VERSIONS.values())} for verdicts on replicas."
    )
    return Dialect(version, dict(levels), verified, understood=False, why=why)


def _nearest(series: tuple[int, int]) -> tuple[int, int]:
    """Of the same major version if there is one, else the oldest or the newest of all."""
    major, minor = series
    alike = [verified for verified in VERIFIED_VERSIONS if verified[0] == major]
    if alike:
        return min(alike, key=lambda verified: abs(verified[1] - minor))
    return min(VERIFIED_VERSIONS) if series < min(VERIFIED_VERSIONS) else max(VERIFIED_VERSIONS)
