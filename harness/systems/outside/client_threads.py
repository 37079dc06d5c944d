"""The clients of a run as threads: begun one by one, stopped together, and none that ended before its time is overlooked."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tidemark.harness.clients.errors import ClientsError

if TYPE_CHECKING:
    from collections.abc import Callable

STOP_S = 60.0


class ClientThreads:
    """A thread for each client.

    Attributes:
        stopping: set when they are to end; what a client rests on.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
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
            thread.join(STOP_S)
            if thread.is_alive():
                raise ClientsError(
                    f"Client {thread.name} did not end its operation within {STOP_S:g} s: give it a time-out."
                )
        if self._failures and isinstance(self._failures[0], ClientsError):
            raise self._failures[0]
        if self._failures:
            raise ClientsError(f"A client ended before its time ({self._failures[0]!r}): throw this run away.")
