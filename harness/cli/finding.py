"""What ``tidemark doctor`` finds."""

from __future__ import annotations

from typing import NamedTuple


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
