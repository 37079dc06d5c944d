"""How often did librdkafka try to send a batch? Its statistics know; its delivery reports do not say.

A report of ``_MSG_TIMED_OUT`` is the same for a batch that waited for a leader until its time was up and for one that was sent and
never answered. The statistics count produce requests, per broker, and the records that were put into them. A producer with one
operation at a time can tell from two of them what the operation sent.
"""

from __future__ import annotations

import json
import time
from typing import NamedTuple


class Mark(NamedTuple):
    """The counts when an operation began."""

    requests: int
    records: int
    resets: int


class Transmissions:
    """Follows the statistics of one librdkafka instance.

    Attributes:
        measured_at: the latest statistics were measured at this time (`time.monotonic`, seconds) or later.
    """

    def __init__(self) -> None:
        """Create it before the instance: the statistics tell the instance's age."""
        self._created = time.monotonic()
        self.measured_at = 0.0
        self._requests = 0
        self._records = 0
        self._resets = 0
        self._per_broker: dict[str, int] = {}

    def note(self, statistics: str) -> None:
        """Take librdkafka's statistics, a JSON text (``stats_cb``)."""
        found = json.loads(statistics)
        self.measured_at = self._created + found["age"] / 1e6
        per_broker = {name: broker["req"].get("Produce", 0) for name, broker in found["brokers"].items()}
        for name, requests in per_broker.items():
            before = self._per_broker.get(name, 0)
            # A broker that left the metadata is forgotten with its count, and comes back with a new one.
            self._requests += requests - before if requests >= before else requests
        self._per_broker = per_broker
        if found["txmsgs"] < self._records:
            self._resets += 1
        self._records = found["txmsgs"]

    def mark(self) -> Mark:
        """An operation begins. If the latest statistics are old, it will seem to have sent more than it did, never less."""
        return Mark(self._requests, self._records, self._resets)

    def tries_since(self, mark: Mark, records: int) -> int | None:
        """Produce requests made since then for a batch of so many records, at least; `None` if the count was lost.

        Statistics that were `measured_at` a later time than the last delivery report are needed for that.
        """
        if self._resets != mark.resets:
            return None
        requests = self._requests - mark.requests
        copies = -(-(self._records - mark.records) // records)
        return max(requests, copies)
