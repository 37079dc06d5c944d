"""KIP-279's rejected alternative 1: walk back one own epoch a round, until the leader knows the epoch asked for."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Step, TruncationRule


class UnknownEpochRule(TruncationRule):
    """As many rounds of ``OffsetForLeaderEpoch`` as the follower has epochs that the leader never saw.

    The alternative has the leader answer such an epoch with an error. Our leader names the epoch its answer is about; an
    epoch other than the one asked for says the same, and the rest of that answer is not looked at.
    """

    name = "unknown-epoch"
    title = "KIP-279's rejected alternative 1"

    def on_new_leader(self, view: LogView) -> Step:
        """A follower asks the leader where its own latest epoch ends; without epochs it cuts to its high watermark."""
        return self.ask_or_cut_to_hw(view)

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower cuts to the end of the epoch if the leader knows it; else it drops it, and asks for the one before."""
        if answer.offset == UNDEFINED:
            return Step(cut=view.hw, why="leader has no epochs: to high watermark")
        asked = view.latest_epoch
        if answer.epoch != asked:
            start = view.end_offset_for(asked - 1).offset
            return Step(cut=start, ask=True, why=f"leader does not know epoch {asked}: to its start")
        return Step(cut=min(answer.offset, view.leo), why=f"to the end of common epoch {asked}")
