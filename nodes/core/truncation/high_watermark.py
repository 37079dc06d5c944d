"""Truncation to the high watermark: Kafka up to 0.10 (the design that KIP-101 replaces)."""

from nodes.core.epoch_cache import EpochEnd
from nodes.core.truncation.rule import LogView, Step


class HighWatermarkRule:
    """Cut to the own high watermark, whatever the leader has; then fetch from there.

    Seed: "on initialisation of a follower, the follower will truncate its log to the High Watermark it has recorded".
    The HW a follower knows lags by one fetch, so a committed record above it goes, and is lost if this replica leads next.
    """

    epoch_in_fetch = False

    def on_new_leader(self, view: LogView) -> Step:
        """Cut at once."""
        return Step(cut=view.hw, why="to high watermark")

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """Never asked."""
        raise AssertionError(view, answer)
