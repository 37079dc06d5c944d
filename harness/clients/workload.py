"""What a live run asks of its clients: the operations that they do meanwhile, and a last read of everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.libraries import Library

if TYPE_CHECKING:
    from tidemark.checkers.history.history import Op
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant


@dataclass(frozen=True, slots=True)
class WorkloadOrder:
    """What a run wants of its clients.

    Attributes:
        plan: how busy they are (``plan.workload``), the partitions (``plan.cluster``), and their noise.
        variant: the protocol.
        addresses: broker → where clients reach it, ``host:port``.
        clock: µs since the run began.
        record: takes every half of an operation, one at a time and in order of time, in whatever thread.
        counters: to count with, for a progress display.
        library: the client library that was asked for, where there is a choice.
        log: where the clients' own words go, if anywhere.
    """

    plan: Plan
    variant: AnyVariant
    addresses: Mapping[int, str]
    clock: Callable[[], int]
    record: Callable[[Op], None]
    counters: Counters
    library: Library
    log: Path | None


@runtime_checkable
class Workload(Protocol):
    """The clients of one run. Started once, stopped once, then `final_read`. Which operations they do is theirs; the checkers judge
    by the operations that they find in the history.
    """

    def start(self) -> None:
        """Begin: nodes may come up later."""

    def delete(self, key: str, offset: int) -> None:
        """Have a client ask for the deletion of a log's records below an offset, and do not wait for it."""

    def stop(self) -> None:
        """End all clients; those with an operation finish it.

        Raises:
            ClientsError: a client did not end, or had ended before its time: the history is not whole.
        """

    def final_read(self, deadline_us: int) -> bool:
        """Read everything once, with new clients.

        Returns:
            Whether that was done when the clock said ``deadline_us``.
        """
        ...


@runtime_checkable
class Tells(Protocol):
    """A workload that knows more of the run than its operations say."""

    def told(self) -> dict[str, Any]:
        """For the meta line, once the clients have stopped (docs/history.md)."""
        ...
