"""Which faults of a plan a failure takes, found by leaving faults out; in words, and for the marks of its story."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checkers.history.history import History
from tidemark.harness.report.faults import whom_it_hit
from tidemark.harness.report.words import listed, seconds


@dataclass(frozen=True, slots=True)
class DecidingFaults:
    """What became of the failure when faults were left out of its plan.

    Attributes:
        enough: places in the plan of the faults with which alone the same comes about; none of them can be left out of these.
        needed: those of them without which, all other faults of the plan being there, it does not come about.
        noises: under so many noises each shorter plan was tried (delays and think times fall otherwise when a fault is gone).
    """

    enough: tuple[int, ...]
    needed: tuple[int, ...]
    noises: int

    def in_words(self, history: History) -> str:
        """A sentence or two, with what each fault was and whom it hit."""
        if not self.enough:
            return "No fault decided: the same comes about without any."
        told = _described(history)
        numbers = [str(place + 1) for place in self.enough]
        one = len(numbers) == 1
        which = f"Fault{'' if one else 's'} {listed(numbers)}"
        what = "; ".join(told.get(place, "it never struck") for place in self.enough)
        if self.needed == self.enough:
            without = "it" if one else "either of them" if len(numbers) == 2 else "any one of them"
            alone = "it alone" if one else "these alone"
            return (
                f"{which} decided: {what}. The plan was run again with fewer faults: not without {without}, but "
                f"with {alone} it fails in the same way."
            )
        needed = [str(place + 1) for place in self.needed]
        but = f" Without fault {listed(needed)} it does not come to this at all." if needed else ""
        alone = "with it alone" if one else "with these alone"
        return (
            f"{which} decided: {what}. The plan was run again with fewer faults: it comes to this {alone}; another fault of the "
            f"plan can take the place of {'it' if one else 'one' if not needed else 'the others'}.{but}"
        )


def _described(history: History) -> dict[int, str]:
    """Place in the plan → what struck whom, and when first."""
    found: dict[int, str] = {}
    for time, action, index, kind, detail in history.nemesis:
        if action == "strike":
            found.setdefault(index, f"at {seconds(time, 3)} {kind} on {whom_it_hit(detail)}")
    return found
