"""A signature that was found, with the line or file that shows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

MISSED_REIGN: Final = "missed-reign"
CUT_BELOW_HW: Final = "cut-below-high-watermark"
UNCLEAN_ELECTION: Final = "unclean-election"
LOG_START_TAKEN_BACK: Final = "log-start-taken-back"
STALE_LOG_START: Final = "stale-log-start"
BACK_BELOW_LOG_START: Final = "back-below-log-start"
LAST_KNOWN_BEHIND: Final = "last-known-leader-behind"
CUT_AT_LOG_START: Final = "cut-at-log-start"
EPOCHS_CONTRADICT: Final = "epochs-contradict-segments"
REPLICAS_DIFFER: Final = "replicas-differ"
HOLE: Final = "hole"

PAGES: Final = {
    MISSED_REIGN: "docs/findings/missed-reign.md",
    CUT_BELOW_HW: "docs/findings/missed-reign.md",
    UNCLEAN_ELECTION: "docs/for-operators.md#what-you-may-lose",
    LOG_START_TAKEN_BACK: "docs/findings/forgotten-log-start.md",
    STALE_LOG_START: "docs/findings/stale-log-start.md",
    BACK_BELOW_LOG_START: "docs/findings/back-below-its-log-start.md",
    LAST_KNOWN_BEHIND: "docs/findings/unheard-shrink.md",
    CUT_AT_LOG_START: "docs/findings/cut-at-a-log-start.md",
    EPOCHS_CONTRADICT: "docs/findings/forgotten-log-start.md",
    REPLICAS_DIFFER: "docs/findings/forgotten-log-start.md",
    HOLE: "docs/findings/hole-behind-a-cut.md",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One of them.

    Attributes:
        name: of the signature, one of `PAGES`.
        time: as the line has it, in the broker's own time; empty where a file shows it.
        partition: such as ``t-0``. broker: its id, or the name of its folder.
        file: below the folder that was scanned. number: of the line in it, 0 if it is no text.
        line: the line itself, or what the file holds.
        meaning: a sentence.
        times: how often the same was found of this replica; this is the first.
    """

    name: str
    time: str
    partition: str
    broker: str
    file: str
    number: int
    line: str
    meaning: str
    times: int = 1

    @property
    def page(self) -> str:
        """Where it is told."""
        return PAGES[self.name]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "page": self.page}
