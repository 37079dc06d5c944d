"""KIP-101: ask the leader where the own latest epoch ends, once (0.11 to 1.1)."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Question, Step, TruncationRule


class Kip101Rule(TruncationRule):
    """One round of ``OffsetForLeaderEpoch`` v0, whose reply carries an offset and no epoch.

    The offset may belong to an epoch this follower never saw; comparing it with the own log end is the flaw that KIP-279
    describes: "the follower received the offset for the epoch it does not know about".
    """

    name = "kip101"
    title = "KIP-101 (0.11 to 1.1)"

    def on_new_leader(self, view: LogView) -> Step:
        """A follower asks the leader where its own latest epoch ends; without epochs it cuts to its high watermark."""
        return self.ask_or_cut_to_hw(view)

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower cuts to the offset it is told, once, which may lie beyond its log; to its high watermark if undefined."""
        if answer.offset == UNDEFINED:
            return Step(cut=view.hw, why="leader does not know the epoch: to high watermark")
        return Step(cut=min(answer.offset, view.leo), why=f"to the leader's offset {answer.offset}")

    def leaders_answer(self, view: LogView, question: Question) -> EpochEnd:
        """Asked for an epoch, a leader tells an offset and not whose it is (version 0)."""
        return EpochEnd(UNDEFINED, view.end_offset_for(question.epoch).offset)
