"""What a truncation rule sees, says and is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Protocol

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochCache, EpochCache011, EpochEnd


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

    @property
    def epochs(self) -> tuple[tuple[int, int], ...]:
        """All (epoch, start offset) pairs of the epoch cache, oldest first."""

    @property
    def answers(self) -> int:
        """How many of its questions in this leader epoch the leader has answered."""

    def end_offset_for(self, epoch: int) -> EpochEnd:
        """The same lookup a leader makes, in this log."""


class Question(NamedTuple):
    """What a follower asks its leader (``OffsetForLeaderEpoch``): where ``epoch`` ends.

    ``lineage``, of a rule that sends it, are epochs of the follower with their exclusive end offsets, oldest first.
    """

    epoch: int
    lineage: tuple[EpochEnd, ...] = ()


class Step(NamedTuple):
    """What to do next: cut the log to offset ``cut`` (unless None); then ask for the own latest epoch, or else fetch.

    With ``halt`` there is no next: the broker stops, and ``why`` is what it says before it goes. No rule says so; a follower whose
    fetch is out of range may (:meth:`~tidemark.nodes.core.follower.Following.truncate_out_of_range`). A fetch that found a
    diverging epoch leads to another fetch (:mod:`tidemark.nodes.core.roles`).
    """

    cut: int | None = None
    ask: bool = False
    why: str = ""
    halt: bool = False


class TruncationRule(ABC):
    """A follower's way to make its log a prefix of its leader's, and what a leader must know for it.

    Two methods are the rule; most others are Kafka's as it is now, for the rules of its past to override. The first paragraph
    of a method's docstring is what ``tidemark variants`` says of a variant with this rule (:mod:`tidemark.nodes.core.describe`).
    """

    name: ClassVar[str]
    """Its word in a variant: ``truncation=name``."""
    title: ClassVar[str]
    """What people call it, and which versions of Kafka had it."""
    keeps_epochs: ClassVar[bool] = True
    """Whether replicas keep a cache of leader epochs."""
    asks: ClassVar[bool] = True
    """Whether it ever asks the leader where an epoch ends (``OffsetForLeaderEpoch``)."""
    epoch_in_fetch: ClassVar[bool] = False
    """Whether fetches carry the last fetched epoch, so that the leader finds the divergence."""
    writes_hw_on_election: ClassVar[bool] = False
    """Whether the high watermarks are forced to disk whenever a replica hears of a newer leader epoch."""

    hw_at_log_end: ClassVar[bool] = False
    """Whether a follower's high watermark follows its own log end and not its leader's high watermark."""
    sends_lineage: ClassVar[bool] = False
    """Whether its question carries epochs of the follower with their ends; Kafka's questions have no field for them."""
    counts_answers: ClassVar[bool] = False
    """Whether what it does depends on how many answers it has had in this leader epoch."""

    @abstractmethod
    def on_new_leader(self, view: LogView) -> Step:
        """The follower has just learned of a leader in a new leader epoch."""

    @abstractmethod
    def on_answer(self, view: LogView, answer: EpochEnd) -> Step:
        """The leader answered the question (or a fetch found divergence) with this epoch and end offset."""

    def question(self, view: LogView) -> Question:
        """A follower asks where its latest epoch ends."""
        return Question(view.latest_epoch)

    def leaders_answer(self, view: LogView, question: Question) -> EpochEnd:
        """Asked for an epoch, a leader names the largest one it has that is not above it, and where that one ends."""
        return view.end_offset_for(question.epoch)

    def ask_or_cut_to_hw(self, view: LogView) -> Step:
        """Ask; without epochs cut to the high watermark. How most rules that ask begin."""
        if view.latest_epoch == UNDEFINED:
            return Step(cut=view.hw, why="no epochs known: to high watermark")
        return Step(ask=True)

    def epoch_cache(self, entries: tuple[tuple[int, int], ...], *, epoch_on_lead: bool) -> EpochCache:
        """A replica notes where each leader epoch begins; the newest note wins over those it contradicts (KAFKA-7415)."""
        return EpochCache(entries) if epoch_on_lead else EpochCache011(entries)
