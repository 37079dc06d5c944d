"""What the brokers of a share group are told (KIP-932), and its members go by."""

from __future__ import annotations

from tidemark.nodes.core.settings import MS, Settings

DELIVERIES = 10
"""``group.share.delivery.count.limit``, the largest that Kafka takes: a record that was given so often is archived."""
LEAST_LOCK_MS = 1_000


def lock_ms(settings: Settings) -> int:
    """``group.share.record.lock.duration.ms``: two requests long, and at least what Kafka takes."""
    return max(LEAST_LOCK_MS, 2 * settings.request_timeout_us // MS)
