"""What ``tidemark doctor`` finds."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.cli.extras import EXTRAS, Extra, mend, missing, version_of


class Finding(NamedTuple):
    """One thing looked at.

    Attributes:
        what: was looked at. well: whether it is as it should be. found: what is there.
        advice: what to do if it is not well.
        optional: the simulator does without it.
    """

    what: str
    well: bool
    found: str
    advice: str = ""
    optional: bool = False


def extra_finding(extra: Extra) -> Finding:
    """What is there of an extra, with versions, or what is not; nothing is imported."""
    absent = missing(extra)
    if absent:
        found = "not installed" if len(absent) == len(EXTRAS[extra]) else f"without {', '.join(absent)}"
        return Finding(extra, well=False, found=found, advice=f"run: {mend([extra])}", optional=True)
    return Finding(
        extra, well=True, found=", ".join(f"{name} {version_of(name)}" for name in EXTRAS[extra]), optional=True
    )
