"""Truncation to the high watermark: Kafka up to 0.10 (the design that KIP-101 replaces)."""

from nodes.core.epoch_cache import EpochCache, EpochEnd
from nodes.core.truncation.rule import LogView, Step, TruncationRule


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

    def on_out_of_range(self, view: LogView, leader_leo: int, *, unclean_election: bool) -> Step:
        """A follower whose log ends after its leader's stops its broker, unless unclean election is enabled.

        It takes this for the data loss that must not happen (``ReplicaFetcherThread.handleOffsetOutOfRange``).
        """
        if unclean_election:
            return super().on_out_of_range(view, leader_leo, unclean_election=unclean_election)
        why = f"leader's log end {leader_leo} is below own {view.leo}, and unclean election is disabled"
        return Step(why=why, halt=True)

    def epoch_cache(self, entries: tuple[tuple[int, int], ...], *, epoch_on_lead: bool) -> EpochCache:
        """A replica keeps no leader epochs."""
        return EpochCache()
