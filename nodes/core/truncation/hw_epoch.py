"""KIP-279's first alternative for clean elections only: ask where the epoch of the own high watermark ends."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Question, Step, TruncationRule


class HighWatermarkEpochRule(TruncationRule):
    """One round, about the epoch of the last record below the high watermark; later epochs go whole.

    It takes that "HW does not move back crossing the leader_epoch boundary", so that the high watermark is forced to disk at
    every change of leaders. A follower's high watermark lags its leader's, though: what was committed in an epoch in which it has
    not moved yet goes too, and comes again from the leader, if that lives.
    """

    name = "hw-epoch"
    title = "KIP-279's alternative for clean elections: the epoch of the high watermark"
    writes_hw_on_election = True

    def on_new_leader(self, view: LogView) -> Step:
        """A follower asks where the epoch of its high watermark ends; if nothing lies below that, it cuts to it."""
        if _epoch_of_hw(view) == UNDEFINED:
            return Step(cut=view.hw, why="no epoch below the high watermark: to it")
        return Step(ask=True)

    def question(self, view: LogView) -> Question:
        """A follower asks where the epoch of the last record below its high watermark ends."""
        return Question(_epoch_of_hw(view))

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower drops all epochs above that of its high watermark, and of that one what lies beyond the leader's end of it.

        An undefined answer sends it to its high watermark.
        """
        if answer.offset == UNDEFINED:
            return Step(cut=view.hw, why="leader does not know the epoch: to high watermark")
        own = view.end_offset_for(_epoch_of_hw(view))
        return Step(
            cut=min(own.offset, answer.offset, view.leo), why=f"to the end of the high watermark's epoch {own.epoch}"
        )


def _epoch_of_hw(view: LogView) -> int:
    return max((epoch for epoch, start in view.epochs if start < view.hw), default=UNDEFINED)
