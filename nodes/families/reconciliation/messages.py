"""Messages of reconciliation (seed: ``FETCH LATEST`` and its two answers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch

NONE_OF_IT = -1
"""In place of an offset: the leader has nothing of that generation."""


@dataclass(slots=True)
class Leading:
    """A leader makes itself known."""

    source: int
    partition: str
    generation: int


@dataclass(slots=True)
class LatestRequest:
    """FETCH LATEST: "along with its latest offset, it will also pass the latest generation".

    ``offset`` is where the follower's log ends; ``reconciled`` says that it has had an answer of this leader before.
    """

    api_key: ClassVar[int] = 1020
    source: int
    partition: str
    generation: int
    offset: int
    latest: int
    reconciled: bool
    correlation: int


@dataclass(slots=True)
class LatestResponse:
    """Entries from the offset on and the high watermark; or, of a log that differs, where the leader's entries of the follower's
    latest generation end (``NONE_OF_IT``: it has none).
    """

    api_key: ClassVar[int] = 1021
    source: int
    partition: str
    generation: int
    batches: list[Batch]
    hw: int
    diverging: int | None
    correlation: int
