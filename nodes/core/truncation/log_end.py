"""Truncation to a high watermark that is the own log's end: Apache Fluss 0.9."""

from tidemark.nodes.core.truncation.high_watermark import HighWatermarkRule
from tidemark.nodes.core.truncation.rule import LogView, Step


class LogEndRule(HighWatermarkRule):
    """Cut to the own high watermark, which a follower moves to its own log end with every answer to a fetch.

    So a follower that becomes a follower again cuts nothing, whatever its new leader has; a leader that is deposed cuts to the
    high watermark that it had as leader, and a replica that starts to that of its checkpoint. Nothing of the old rule's loss is
    left, and nothing tells a follower that its log has a record where the new leader has another one.

    Fluss 0.9.1: ``ReplicaManager.makeFollowers`` and ``truncateToHighWatermark``; what becomes of the high watermark is
    ``ReplicaFetcherThread.processFetchResultFromLocalStorage``'s, whose comment calls it temporary (issue 673).
    """

    name = "log-end"
    title = "to a high watermark that is the own log end (Fluss)"
    hw_at_log_end = True

    def on_new_leader(self, view: LogView) -> Step:
        """A follower cuts to its own high watermark at once, which is its own log's end if it was a follower, and fetches."""
        return Step(cut=view.hw, why="to high watermark")
