"""What the lines of a node's log have said of a quorum of controllers so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class QuorumPlace:
    """One node's place.

    Attributes:
        epoch: the latest, −1 before the first. leads: whether it is the active controller, as far as it knows.
        hw: so far the metadata log is committed, as far as it has heard. What a deposed controller wrote and others did not take is
            never below that.
    """

    epoch: int = -1
    leads: bool = False
    hw: int = 0
