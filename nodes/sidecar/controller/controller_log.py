"""The controller's decisions as its log grows, whichever log that is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any

from tidemark.nodes.admin.controller_status import partitions_told, sessions_told
from tidemark.nodes.sidecar.controller.decisions import Decision, Decisions, Event


class ControllerLog(ABC):
    """Reads what a controller logged, from the beginning, as far as it is there.

    Args:
        partitions: those that count; None: all.
        told: so many events were given to somebody by an earlier reader of the same log, and are not given again.

    Attributes:
        told: so many were given by now, by whichever reader.
    """

    def __init__(self, partitions: Collection[str] | None = None, told: int = 0) -> None:
        self._decisions = Decisions(partitions)
        self._to_skip = told
        self.told = 0

    def poll(self) -> list[Event]:
        """What was decided since the last call: ``(event, partition, *fields)`` of docs/history.md, in order.

        Raises:
            OSError: a file that is there cannot be read.
        """
        return [decision.event for decision in self.poll_timed()]

    def poll_timed(self) -> list[Decision]:
        """The same, each with the time at which the controller's machine logged it.

        Raises:
            OSError: as `poll`.
        """
        self._read()
        found = self._decisions.take()
        skipped = min(self._to_skip, len(found))
        self._to_skip -= skipped
        self.told += len(found)
        return found[skipped:]

    def standing(self) -> list[Event]:
        """Who is registered, and live: told once more to somebody who begins to listen."""
        return self._decisions.standing()

    @abstractmethod
    def _read(self) -> None:
        """Tell the decisions what the files say that they did not say before."""

    def expect(self, partition: str, how: str, leader: int) -> None:
        """An operator asks for an election: if this broker becomes leader, the event says so.

        Args:
            partition: such as ``t-0``.
            how: ``preferred``, ``forced`` or ``unclean``.
            leader: who shall lead.
        """
        self._decisions.expect(partition, how, leader)

    def forget(self, partition: str) -> None:
        """That election was refused, or is over."""
        self._decisions.forget(partition)

    @property
    def partitions(self) -> dict[str, dict[str, Any]]:
        """Each partition as ``tidemark.nodes.process.status`` shows it for a controller."""
        return partitions_told(self._decisions.partitions)

    @property
    def sessions(self) -> dict[str, dict[str, Any]]:
        """Each broker, by its number as a text, likewise."""
        return sessions_told(self._decisions.brokers)
