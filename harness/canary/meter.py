"""How a canary fares, a minute at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.checkers.history.history import Op


@dataclass(frozen=True, slots=True)
class Interval:
    """What came since the last look: numbers of records, and times in µs.

    Attributes:
        sent, acknowledged, failed, in_doubt: of the producers.
        read: of the consumer that is furthest.
        lag: acknowledged offsets that this consumer had not read at the end.
        silence_us: the longest time without an acknowledgement.
    """

    sent: int
    acknowledged: int
    failed: int
    in_doubt: int
    read: int
    lag: int
    silence_us: int

    def told(self) -> str:
        """As a line."""
        return (
            f"sent {self.sent:,}, acknowledged {self.acknowledged:,}, failed {self.failed:,}, in doubt {self.in_doubt:,}, "
            f"read {self.read:,}, lag {self.lag:,}, longest without an acknowledgement {self.silence_us / 1e6:.1f} s"
        )


class Meter:
    """Takes every half of an operation, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(("invoke", "ok", "fail", "info", "read"), 0)
        self._ends: dict[str, int] = {}
        self._positions: dict[str, int] = {}
        self._last_us = 0
        self._silence_us = 0

    def note(self, op: Op) -> None:
        """An operation begins or ends."""
        with self._lock:
            if op.f == "send":
                self._counts[op.type] += len(op.value)
                if op.type == "ok":
                    self._acknowledged(op)
            elif op.f == "poll" and op.type == "ok" and not op.final:
                self._read(op)

    def _acknowledged(self, op: Op) -> None:
        self._silence_us = max(self._silence_us, op.time - self._last_us)
        self._last_us = op.time
        for _, key, (offset, _) in op.value:
            if offset is not None:
                self._ends[key] = max(self._ends.get(key, 0), offset + 1)

    def _read(self, op: Op) -> None:
        for _, records in op.value:
            for key, pairs in records.items():
                end = max((offset for offset, _ in pairs), default=-1) + 1
                if end > self._positions.get(key, 0):
                    self._counts["read"] += sum(offset >= self._positions.get(key, 0) for offset, _ in pairs)
                    self._positions[key] = end

    def take(self, now_us: int) -> Interval:
        """What came since this was asked last."""
        with self._lock:
            silence = max(self._silence_us, now_us - self._last_us)
            lag = sum(max(end - self._positions.get(key, 0), 0) for key, end in self._ends.items())
            counts = dict(self._counts)
            self._counts = dict.fromkeys(self._counts, 0)
            self._silence_us = 0
        return Interval(counts["invoke"], counts["ok"], counts["fail"], counts["info"], counts["read"], lag, silence)
