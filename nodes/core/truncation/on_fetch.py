"""Truncation on fetch: every fetch names the last fetched epoch, and the leader answers where it diverges (2.7 on; KIP-595)."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.kip279 import Kip279Rule
from tidemark.nodes.core.truncation.rule import LogView, Step


class OnFetchRule(Kip279Rule):
    """No state of its own: the follower just fetches, and cuts when a response carries a diverging epoch.

    The cut is KIP-279's (3) to (5), but instead of asking again it fetches again ("Stay in fetching state").
    """

    name = "fetch"
    title = "on fetch, KIP-595 (2.7 on)"
    asks = False
    epoch_in_fetch = True

    def on_new_leader(self, view: LogView) -> Step:
        """A follower fetches at once; each fetch names the epoch of its last record, and the leader says if its log differs.

        Without epochs it first cuts to its high watermark (``AbstractFetcherThread.partitionFetchState``, 2.7).
        """
        if view.latest_epoch == UNDEFINED:
            return Step(cut=view.hw, why="no epochs known: to high watermark")
        return Step()

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower told of a diverging epoch cuts to the largest offset that both may share, and fetches on from there."""
        return super().on_answer(view, answer)._replace(ask=False)
