"""KIP-279: the reply names the epoch too, and the follower walks back until both know it (2.0 to 2.6)."""

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.truncation.rule import LogView, Step, TruncationRule


class Kip279Rule(TruncationRule):
    """``OffsetForLeaderEpoch`` v1, as many rounds as it takes; the steps (1) to (5) are those of docs/protocol.md."""

    name = "kip279"
    title = "KIP-279 (2.0 to 2.6)"

    def on_new_leader(self, view: LogView) -> Step:
        """A follower asks the leader where its own latest epoch ends; without epochs it cuts to its high watermark."""
        return self.ask_or_cut_to_hw(view)

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower cuts back one epoch a round and asks again, until both know the epoch; then to the lower of both its ends.

        KIP-279: "converge to the largest common epoch, and then to the largest common offset in that epoch".
        """
        if answer.offset == UNDEFINED:  # (1)
            return Step(cut=view.hw, why="leader does not know the epoch: to high watermark")
        if answer.epoch == UNDEFINED:  # (2) a leader that speaks version 0
            return Step(cut=min(answer.offset, view.leo), why=f"to the leader's offset {answer.offset}")
        local = view.end_offset_for(answer.epoch)
        if local.offset == UNDEFINED:  # (3)
            return Step(cut=min(answer.offset, view.leo), why=f"to the leader's offset {answer.offset}")
        if local.epoch != answer.epoch:  # (4)
            return Step(cut=min(local.offset, view.leo), ask=True, why=f"to the end of local epoch {local.epoch}")
        cut = min(local.offset, answer.offset, view.leo)  # (5)
        return Step(cut=cut, why=f"to the end of common epoch {answer.epoch}")
