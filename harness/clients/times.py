"""The clients' times in milliseconds, compressed with the cluster's: Kafka's defaults are made for runs of hours."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.nodes.core.settings import Settings

MOST_FETCH_WAIT_MS = 100
LEAST_MS = 10


class Times(NamedTuple):
    """Derived from the settings, so that they scale with them.

    Attributes:
        produce: how long a producer tries a batch (``message.timeout.ms``, ``delivery.timeout.ms``).
        retry, most_retry: pause before a request is repeated, and what it grows to.
        metadata: a client asks anew who leads at least this often.
        fetch_wait: how long a broker holds a consumer's fetch.
    """

    produce: int
    retry: int
    most_retry: int
    metadata: int
    fetch_wait: int

    @staticmethod
    def of(settings: Settings) -> Times:
        """In proportion to ``produce_timeout_us``, ``request_timeout_us`` and ``fetch_wait_us``."""
        request = settings.request_timeout_us // 1000
        return Times(
            produce=max(LEAST_MS, settings.produce_timeout_us // 1000),
            retry=max(LEAST_MS, request // 10),
            most_retry=max(LEAST_MS, request // 2),
            metadata=max(LEAST_MS, request),
            fetch_wait=max(1, min(MOST_FETCH_WAIT_MS, settings.fetch_wait_us // 1000)),
        )
