"""Truncation to the high watermark: Kafka up to 0.10 (the design that KIP-101 replaces)."""

from tidemark.nodes.core.epoch_cache import EpochCache, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Step, TruncationRule


class HighWatermarkRule(TruncationRule):
    """Cut to the own high watermark, whatever the leader has; then fetch from there.

    Seed: "on initialisation of a follower, the follower will truncate its log to the High Watermark it has recorded".
    The HW a follower knows lags by one fetch, so a committed record above it goes, and is lost if this replica leads next.
    """

    name = "hw"
    title = "to the high watermark (up to 0.10)"
    keeps_epochs = False
    asks = False

    def on_new_leader(self, view: LogView) -> Step:
        """A follower cuts to its own high watermark at once, whatever the leader has, and fetches."""
        return Step(cut=view.hw, why="to high watermark")

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower asks nothing, so there is no answer."""
        raise AssertionError(view, answer)

    def epoch_cache(self, entries: tuple[tuple[int, int], ...], *, epoch_on_lead: bool) -> EpochCache:
        """A replica keeps no leader epochs."""
        return EpochCache()
