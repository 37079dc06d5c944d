"""Deletions while others work (KIP-107): each is asked for once, by a client and a process of its own, ``d1``, ``d2`` …"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.client_threads import ClientThreads
from tidemark.harness.clients.journal import Journal

Deed = Callable[[str, str, int], Outcome]
"""Asks with a client of this name to delete the records of a partition below an offset, and waits for the answer."""


class Deletions:
    """Those of one run."""

    def __init__(self, deed: Deed, journal: Journal, patience_s: float) -> None:
        """``patience_s`` is how long a client that is stopped may still take."""
        self._deed = deed
        self._journal = journal
        self._numbers = count(1)
        self._threads = ClientThreads("A client that deletes", patience_s)

    def begin(self, key: str, offset: int) -> None:
        """Ask, in a thread; the history will say what came of it."""
        process = f"d{next(self._numbers)}"
        self._threads.begin(process, partial(self._run, process, key, offset))

    def _run(self, process: str, key: str, offset: int) -> None:
        value = (("delete", key, offset),)
        self._journal.add(process, "invoke", "delete", value)
        answer = self._deed(process, key, offset)
        self._journal.add(process, answer.type, "delete", value, answer.error)

    def stop(self) -> None:
        """Wait for all of them.

        Raises:
            ClientsError: one has no answer, or did not do its work.
        """
        self._threads.stop()
