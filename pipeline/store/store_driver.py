"""One driver at a time for a campaign in a store: an object names it, and is written again as long as it lives.

A store has no locks that go with the process that held them. So a driver is believed to be dead when its object has not been
written for a while, by the store's own clock. Who holds the lock of the working copy needs not wait for a dead driver of the same
copy.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from tidemark.pipeline.store.object_store import ObjectStore
from tidemark.pipeline.store.store_place import StoreError

DRIVER: Final = ".driver.json"
WRITTEN_EVERY_S: Final = 10.0
DEAD_AFTER_S: Final = 40.0
"""By the store's clock, which may count whole seconds."""


class StoreDriver:
    """This process as the driver of a campaign; to be entered as a context, which also finds out whether the store can be used.

    Args:
        store: The campaign's place; should not try for long.
        folder: The working copy, whose lock this process holds.
    """

    def __init__(self, store: ObjectStore, folder: Path) -> None:
        self._store = store
        self._me = {"id": uuid.uuid4().hex, "host": socket.gethostname(), "pid": os.getpid(), "folder": str(folder)}
        self._ended = threading.Event()
        self._other: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._go_on, name="store driver", daemon=True)

    def __enter__(self) -> Self:
        """Begin.

        Raises:
            StoreError: The store cannot be used, or another driver is at work.
        """
        probe = f".probe-{self._me['id']}"
        self._store.write(probe, probe.encode())
        if self._store.read(probe) != probe.encode():
            raise StoreError(f"{self._store.place.server} gives back other bytes than it got; it keeps no campaign.")
        now = self._store.modified(probe) or 0.0
        self._store.delete(probe)
        self._store.names()
        other, written = self._read(), self._store.modified(DRIVER)
        if other is not None and written is not None and not self._is_our_copys(other) and now - written < DEAD_AFTER_S:
            raise StoreError(
                f"Another driver works on {self._store.place.uri} ({_words(other)}, heard of {max(0, now - written):.0f} s ago): "
                f"wait until it has ended; if it was killed, the same command goes on {DEAD_AFTER_S:.0f} s after that."
            )
        self._write()
        if self._is_anothers():
            raise StoreError(self._why_not())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Make room."""
        self._ended.set()
        self._thread.join()
        if self._other is None:
            with suppress(StoreError):
                self._store.delete(DRIVER)

    def check(self) -> None:
        """To be asked before something is written.

        Raises:
            StoreError: Another driver has taken the place.
        """
        if self._other is not None:
            raise StoreError(self._why_not())

    def _go_on(self) -> None:
        while not self._ended.wait(WRITTEN_EVERY_S):
            with suppress(StoreError):  # who uploads will tell
                if self._is_anothers():
                    return
                self._write()

    def _is_anothers(self) -> bool:
        now = self._read()
        if now is not None and now["id"] != self._me["id"]:
            self._other = now
        return self._other is not None

    def _is_our_copys(self, other: dict[str, Any]) -> bool:
        return all(other.get(name) == self._me[name] for name in ("host", "folder"))

    def _why_not(self) -> str:
        return (
            f"Another driver ({_words(self._other or {})}) has taken {self._store.place.uri}: two at once would do the same work; "
            "the same command goes on when that one has ended."
        )

    def _write(self) -> None:
        self._store.write(DRIVER, json.dumps(self._me).encode())

    def _read(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._store.read(DRIVER) or b"")
        except ValueError:
            return None
        return found if isinstance(found, dict) and "id" in found else None


def _words(driver: dict[str, Any]) -> str:
    return f"process {driver.get('pid')} on {driver.get('host')}"
