"""A truncation rule of one's own, for ``--rule``, that asks the leader once, as KIP-101 has it (docs/for-students.md)."""  # noqa: INP001 - a file for ``--rule`` belongs to no package

from tidemark import EpochEnd, LogView, Step, TruncationRule


class AskOnce(TruncationRule):
    """It believes an answer of which it does not know whose epoch it is about: the flaw that KIP-279 describes."""

    name = "ask-once"
    title = "KIP-101's rule"

    def on_new_leader(self, view: LogView) -> Step:
        """A follower asks where its latest epoch ends; without epochs it cuts to its high watermark."""
        return Step(ask=True) if view.latest_epoch >= 0 else Step(cut=view.hw)

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """A follower cuts to the offset that it is told; to its high watermark if the leader does not know."""
        return Step(cut=view.hw if answer.offset < 0 else min(answer.offset, view.leo))
