"""Truncation on fetch: every fetch names the last fetched epoch, and the leader answers where it diverges (2.7 on; KIP-595)."""

from nodes.core.epoch_cache import EpochEnd
from nodes.core.truncation.kip279 import Kip279Rule
from nodes.core.truncation.rule import LogView, Step


class OnFetchRule(Kip279Rule):
    """No state of its own: the follower just fetches, and cuts when a response carries a diverging epoch.

    The cut is KIP-279's (3) to (5), but instead of asking again it fetches again ("Stay in fetching state").
    """

    epoch_in_fetch = True

    def on_new_leader(self, view: LogView) -> Step:
        """Fetch; the leader will say if the logs differ."""
        return Step()

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """Cut to the largest common offset known so far; the next fetch goes on from there."""
        return super().on_answer(view, answer)._replace(ask=False)
