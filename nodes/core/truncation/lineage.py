"""KIP-279's rejected alternative 2: the follower sends its epochs with their ends, and the leader says where the logs part."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Question, Step, TruncationRule

NONE_KNOWN = EpochEnd(-2, UNDEFINED)
"""The leader has epochs, and none of those that it was sent (the page's ``UNKNOWN_OFFSET_FOR_LEADER_EPOCH``)."""


class LineageRule(TruncationRule):
    """One round between high watermark and log end; a second one with all epochs if the leader knows none of the first.

    The page leaves open how many epochs a second round sends ("we would need to tune this"); here it is all of them.
    """

    name = "lineage"
    title = "KIP-279's rejected alternative 2"
    sends_lineage = True
    counts_answers = True

    def on_new_leader(self, view: LogView) -> Step:
        """A follower sends the leader its epochs that end at or above its high watermark, each with its end offset.

        Without epochs it cuts to its high watermark.
        """
        return self.ask_or_cut_to_hw(view)

    def question(self, view: LogView) -> Question:
        """The epochs that end at or above the high watermark; after an answer that was of no help all epochs."""
        lineage = tuple(view.end_offset_for(epoch) for epoch, _ in view.epochs)
        if not view.answers:
            lineage = tuple(end for end in lineage if end.offset >= view.hw)
        return Question(view.latest_epoch, lineage)

    def leaders_answer(self, view: LogView, question: Question) -> EpochEnd:
        """Sent epochs, a leader names the latest of them that it knows, and the lower of both ends of that one.

        Who sends none, a client, is answered as ever.
        """
        if not question.lineage:
            return view.end_offset_for(question.epoch)
        if not view.epochs:
            return EpochEnd(UNDEFINED, UNDEFINED)
        known = {epoch for epoch, _ in view.epochs}
        for theirs in reversed(question.lineage):
            if theirs.epoch in known:
                return EpochEnd(theirs.epoch, min(view.end_offset_for(theirs.epoch).offset, theirs.offset))
        return NONE_KNOWN

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower cuts to the offset it is told. If the leader knows none of the epochs, it sends all; then it cuts to its mark.

        The page has the follower end at its high watermark "since it exhausted all epochs", though nothing below need be the same.
        """
        if answer == NONE_KNOWN and view.answers == 1:
            return Step(ask=True)
        if answer.offset == UNDEFINED:
            return Step(cut=view.hw, why="leader knows none of the epochs: to high watermark")
        return Step(cut=min(answer.offset, view.leo), why=f"to where the logs part in epoch {answer.epoch}")
