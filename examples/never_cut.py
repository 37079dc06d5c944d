"""A truncation rule of one's own, for ``--rule``: a follower that never cuts its log (docs/api.md)."""  # noqa: INP001 - a file for ``--rule`` belongs to no package

from tidemark import EpochEnd, LogView, Step, TruncationRule


class NeverCut(TruncationRule):
    """It trusts its log, whoever leads."""

    name = "never-cut"
    title = "no truncation at all"
    asks = False

    def on_new_leader(self, view: LogView) -> Step:
        """A follower fetches on from the end of its log."""
        return Step()

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """It never asks where an epoch ends."""
        return Step()
