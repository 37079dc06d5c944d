"""KIP-101: ask the leader where the own latest epoch ends, once (0.11 to 1.1)."""

from nodes.core.epoch_cache import UNDEFINED, EpochEnd
from nodes.core.truncation.rule import LogView, Step


class Kip101Rule:
    """One round of ``OffsetForLeaderEpoch`` v0, whose reply carries an offset and no epoch.

    The offset may belong to an epoch this follower never saw; comparing it with the own log end is the flaw that KIP-279
    describes: "the follower received the offset for the epoch it does not know about".
    """

    epoch_in_fetch = False

    def on_new_leader(self, view: LogView) -> Step:
        """Ask for the latest epoch of the own log."""
        if view.latest_epoch == UNDEFINED:
            return Step(cut=view.hw, why="no epochs known: to high watermark")
        return Step(ask=True)

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """Cut to the offset if it lies inside the log; undefined falls back to the high watermark."""
        if answer.offset == UNDEFINED:
            return Step(cut=view.hw, why="leader does not know the epoch: to high watermark")
        if answer.offset >= view.leo:
            return Step()
        return Step(cut=answer.offset, why=f"to the leader's offset {answer.offset}")
