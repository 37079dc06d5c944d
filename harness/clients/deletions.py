"""Deletions while others work (KIP-107): each is asked for once, by a client and a process of its own, ``d1``, ``d2`` …"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import Journal

Deed = Callable[[str, str, int], Outcome]
"""Asks with a client of this name to delete the records of a partition below an offset, and waits for the answer."""


class Deletions:
    """Those of one run."""

    def __init__(self, deed: Deed, journal: Journal, patience_s: float) -> None:
        """``patience_s`` is how long a client that is stopped may still take."""
        self._deed = deed
        self._journal = journal
        self._patience_s = patience_s
        self._numbers = count(1)
        self._threads: list[threading.Thread] = []
        self._failures: list[Exception] = []

    def begin(self, key: str, offset: int) -> None:
        """Ask, in a thread; the history will say what came of it."""
        process = f"d{next(self._numbers)}"
        thread = threading.Thread(target=self._run, args=(process, key, offset), name=process, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, process: str, key: str, offset: int) -> None:
        value = (("delete", key, offset),)
        self._journal.add(process, "invoke", "delete", value)
        try:
            answer = self._deed(process, key, offset)
        except Exception as raised:  # noqa: BLE001 - told when the clients are stopped
            self._failures.append(raised)
            return
        self._journal.add(process, answer.type, "delete", value, answer.error)

    def stop(self) -> None:
        """Wait for all of them.

        Raises:
            ClientsError: one has no answer, or did not do its work.
        """
        for thread in self._threads:
            thread.join(self._patience_s)
            if thread.is_alive():
                raise ClientsError(f"Client {thread.name} did not stop: throw this run away and start Tidemark anew.")
        if self._failures:
            raise ClientsError(
                f"A client that deletes ended before its time ({self._failures[0]!r}): throw this run away."
            ) from self._failures[0]
