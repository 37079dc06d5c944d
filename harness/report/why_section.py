"""Why a run failed, as a page tells it: what decided, what a repaired rule does instead, and both runs of the plan side by side."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.harness.report.lanes import Lane
from tidemark.harness.report.needed_faults_text import DecidingFaults
from tidemark.nodes.core.describe import Difference


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that a node did: when, µs, and as a sentence; `decided`: it is a fault that decided, as it strikes."""

    time: int
    sentence: str
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two runs of a plan do different things.

    Attributes:
        node: who does, 0 for the controller, −1 for a client.
        failing, repaired: what it does in either run; None where it does nothing of that sort any more.
        instead: what it does in the repaired run at about the time of the step, as sentences; may be empty.
    """

    node: int
    failing: Deed | None
    repaired: Deed | None
    instead: str = ""

    @property
    def time(self) -> int:
        """When, µs: in the run in which it comes first."""
        return min(deed.time for deed in (self.failing, self.repaired) if deed is not None)


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first event that two runs of a plan do not share.

    Attributes:
        time: of it, µs. same: so many events before it are the same in both.
        failing, repaired: the next event of either run; None where it has no more.
    """

    time: int
    same: int
    failing: Deed | None
    repaired: Deed | None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A row of both stories: the same in both, or a step of one of them, or two steps that stand for each other."""

    failing: Deed | None
    repaired: Deed | None
    parts: bool = False  # here they part

    @property
    def same(self) -> bool:
        """Whether both do the same at the same time."""
        return self.failing == self.repaired

    @property
    def decided(self) -> bool:
        """Whether a fault that decided strikes here, in either run."""
        return any(deed is not None and deed.decided for deed in (self.failing, self.repaired))


@dataclass(frozen=True, slots=True)
class NotEnough:
    """A variant under which the same plan is not valid either.

    Attributes:
        variant: its name. title: what it repairs, or what it is.
        valid: ``invalid`` or ``unknown``.
    """

    variant: str
    title: str
    valid: str


@dataclass(frozen=True, slots=True)
class Repair:
    """The same plan under a variant that gets through it.

    Attributes:
        variant: its name. title: the bug that it is without, or what it is. wrong: what goes wrong with the bug, in sentences.
        differences: what the two variants do otherwise: topic, what the failing one does, what the repaired one does.
        parting: None if neither trace shows where.
        rows: both stories.
        valid: the variants that were valid, of those that were tried.
        tried: how many were tried that have one thing repaired, and how many that are another version as a whole.
        command: has the repaired run.
        whole: it is another version as a whole, with other changes too.
        never_written: the record that the failing run lost was never written in this one.
        first: where the two traces first differ.
        pairs: how many were tried that have two things repaired, as none of those with one was valid.
        lanes: what each broker went through in the failing run, and in the repaired one.
    """

    variant: str
    title: str
    wrong: str
    differences: tuple[Difference, ...]
    parting: Parting | None
    rows: tuple[SideBySide, ...]
    valid: tuple[str, ...]
    tried: tuple[int, int]
    command: str
    whole: bool = False
    never_written: bool = False
    first: FirstDifference | None = None
    pairs: int = 0
    lanes: tuple[tuple[Lane, ...], tuple[Lane, ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class Why:
    """What is known of why one run failed.

    Attributes:
        conditions: what decided, each in a sentence, from the history alone.
        cause: the same in short, as facts.
        repair: None where the run cannot be had again, or nothing that was tried gets through the plan.
        not_enough: what was tried without success, whether or not there is a repair.
        deciding: the faults that it takes; None where the run cannot be had again, or after too many tries.
        known: findings that it shows, each in a sentence that names its page.
    """

    conditions: tuple[str, ...]
    cause: tuple[str, ...] = ()
    repair: Repair | None = None
    not_enough: tuple[NotEnough, ...] = ()
    deciding: DecidingFaults | None = None
    known: tuple[str, ...] = ()

    @property
    def in_sentences(self) -> str:
        """The cause, or else the conditions."""
        return " ".join(map(_sentence, self.cause or self.conditions))

    @property
    def tells(self) -> bool:
        """Whether there is anything to show of it."""
        return any((self.conditions, self.known, self.repair, self.not_enough, self.deciding))


_SUBJECTS = {
    "which was elected": "That leader was elected",
    "it was committed": "The record was committed",
    "it was acknowledged": "The record was acknowledged",
    "it gave up": "The broker gave up",
    "it has no record": "The follower has no record",
    "the later leader had cut it": "The later leader had cut the record",
}
"""How a fact begins among others → how it begins as a sentence of its own."""


def _sentence(fact: str) -> str:
    for begins, alone in _SUBJECTS.items():
        if fact.startswith(begins):
            fact = f"{alone}{fact.removeprefix(begins)}"
    return f"{fact[:1].upper()}{fact[1:].rstrip('.')}."
