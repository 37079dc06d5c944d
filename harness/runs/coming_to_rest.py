"""How long a run may take to come to rest after its faults, before it counts as stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.core.settings import Settings

LEAST_US = 15_000_000


def converge_us(settings: Settings) -> int:
    """The bound for coming to rest, in µs: ten times the longest time-out that anything waits for, and never less than 15 s."""
    longest = max(
        settings.lag_time_us, settings.produce_timeout_us, settings.session_us, settings.request_timeout_us,
        settings.fetch_wait_us + settings.tick_us,
    )  # fmt: skip
    return max(LEAST_US, 10 * longest)
