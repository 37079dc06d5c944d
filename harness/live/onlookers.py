"""What is seen, while a run goes on, of a system that traces nothing: each node is asked again and again how it stands."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

EVERY_S, SHARE = 0.4, 0.2
"""A node is asked so often, and less often if an answer takes long: for this share of the time at most."""


class Onlookers:
    """A thread for each node.

    Args:
        nodes: their numbers.
        look: how a node stands with each log, as a status has it; nothing of a log, or at all, if it does not say.
        tell: adds an event to the trace: time in µs unless it is now, node, event, log, fields.
    """

    def __init__(
        self,
        nodes: Iterable[int],
        look: Callable[[int], Mapping[str, Mapping[str, Any]]],
        tell: Callable[..., None],
    ) -> None:
        self._look, self._tell = look, tell
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, args=(node,), name=f"onlooker of node {node}", daemon=True)
            for node in nodes
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Look no more; ends when nobody does."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _watch(self, node: int) -> None:
        last: dict[str, tuple[Any, ...]] = {}
        while not self._over.is_set():
            began = time.monotonic()
            for log, status in self._look(node).items():
                seen = (
                    status["role"] == "leader",
                    status["leader_epoch"],
                    status["leo"],
                    status["hw"],
                    status["leader"],
                )
                if last.get(log) != seen:
                    last[log] = seen
                    self._tell(node, "seen", log, *seen)
            took = time.monotonic() - began
            self._over.wait(max(EVERY_S, took / SHARE) - took)
