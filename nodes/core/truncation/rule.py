"""What a truncation rule sees and says."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from nodes.core.epoch_cache import EpochEnd


class LogView(Protocol):
    """The follower's log as a rule may see it."""

    @property
    def leo(self) -> int:
        """Log end offset."""

    @property
    def hw(self) -> int:
        """High watermark, as last learned or read from the checkpoint."""

    @property
    def latest_epoch(self) -> int:
        """Latest epoch in the epoch cache, −1 if it is empty."""

    def end_offset_for(self, epoch: int) -> EpochEnd:
        """The same lookup a leader makes, in this log."""


class Step(NamedTuple):
    """What to do next: cut the log to offset ``cut`` (unless None); then ask for the own latest epoch, or else fetch."""

    cut: int | None = None
    ask: bool = False
    why: str = ""


class TruncationRule(Protocol):
    """A follower's way to make its log a prefix of its leader's."""

    epoch_in_fetch: bool
    """Whether fetches carry the last fetched epoch, so that the leader finds the divergence."""

    def on_new_leader(self, view: LogView) -> Step:
        """The follower has just learned of a leader in a new leader epoch."""

    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """The leader answered the question (or a fetch found divergence) with this epoch and end offset."""
