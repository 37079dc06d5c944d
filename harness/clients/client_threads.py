"""The clients of a run as threads: begun one by one, stopped together, and none that ended before its time is overlooked."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tidemark.harness.clients.errors import ClientsError

if TYPE_CHECKING:
    from collections.abc import Callable

STOP_S = 60.0


def threads_of_a_system() -> ClientThreads:
    """Of clients that somebody else wrote."""
    return ClientThreads(stuck=f"did not end its operation within {STOP_S:g} s: give it a time-out")


class ClientThreads:
    """A thread for each client.

    Args:
        who: they are, in words, for one that ended before its time.
        patience_s: so long one that is stopped may still take.
        stuck: what is said of one that took longer.

    Attributes:
        stopping: set when they are to end; what a client rests on.
    """

    def __init__(
        self,
        who: str = "A client",
        patience_s: float = STOP_S,
        stuck: str = "did not stop: throw this run away and start Tidemark anew",
    ) -> None:
        self.stopping = threading.Event()
        self._who, self._patience_s, self._stuck = who, patience_s, stuck
        self._threads: list[threading.Thread] = []
        self._failures: list[Exception] = []

    def begin(self, name: str, work: Callable[[], None]) -> None:
        """Let a client work."""

        def run() -> None:
            try:
                work()
            except Exception as raised:  # noqa: BLE001 - told when they are stopped
                self._failures.append(raised)

        self._threads.append(threading.Thread(target=run, name=name, daemon=True))
        self._threads[-1].start()

    def stop(self) -> None:
        """End all; those with an operation finish it.

        Raises:
            ClientsError: one did not end, or had ended before its time.
        """
        self.stopping.set()
        for thread in self._threads:
            thread.join(self._patience_s)
            if thread.is_alive():
                raise ClientsError(f"Client {thread.name} {self._stuck}.")
        if self._failures and isinstance(self._failures[0], ClientsError):
            raise self._failures[0]
        if self._failures:
            raise ClientsError(
                f"{self._who} ended before its time ({self._failures[0]!r}): throw this run away."
            ) from self._failures[0]
