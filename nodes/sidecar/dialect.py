"""What a sidecar needs of the reader of a Kafka version's log lines; the real ones are in ``nodes.sidecar.lines``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from nodes.sidecar.events import Event


class LineReader(Protocol):
    """What is needed of :class:`nodes.sidecar.lines`' readers."""

    def read(self, line: str) -> list[Event]:
        """What a line says."""
        ...

    def end(self) -> list[Event]:
        """What the last lines say, now that no more will come."""
        ...


class Dialect(Protocol):
    """What is needed of :mod:`nodes.sidecar.lines`: how one version of Kafka speaks."""

    @property
    def levels(self) -> Mapping[str, str]:
        """Logger → level."""
        ...

    @property
    def understood(self) -> bool:
        """Whether this version's lines are."""
        ...

    @property
    def why(self) -> str:
        """Why they are not."""
        ...

    def reader(self) -> LineReader:
        """For one life of a JVM."""
        ...
