"""Questions about a log whose entries are records with a generation each, though they lie in batches."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

from tidemark.nodes.core.log import Batch

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Log

NO_GENERATION = -1
_end = attrgetter("end")


def generation_at(log: Log, offset: int) -> int:
    """The generation of the record at an offset; −1 below the log and beyond its end."""
    batches = log.batches
    place = bisect_right(batches, offset, key=_end)
    if place < len(batches) and batches[place].base <= offset:
        return batches[place].epoch
    return NO_GENERATION


def last_generation(log: Log) -> int:
    """The generation of the last record, −1 for an empty log."""
    return log.batches[-1].epoch if log.batches else NO_GENERATION


def first_of_generation(log: Log, offset: int) -> int:
    """Where the records of the same generation begin that the record at ``offset`` is among."""
    batches = log.batches
    place = bisect_right(batches, offset, key=_end)
    generation = batches[place].epoch
    while place and batches[place - 1].epoch == generation:
        place -= 1
    return batches[place].base


def conflict_with(log: Log, batch: Batch) -> int | None:
    """The first offset of a batch at which the log has a record of another generation; None if there is none."""
    for offset in range(batch.base, min(batch.end, log.leo)):
        if generation_at(log, offset) != batch.epoch:
            return offset
    return None


def beyond(batch: Batch, offset: int) -> Batch:
    """What of a batch lies at an offset or beyond; there must be something."""
    return batch if batch.base >= offset else Batch(offset, batch.epoch, batch.values[offset - batch.base :])


def start_of_generation(log: Log, generation: int) -> int:
    """Where the records of a generation, or of newer ones, begin; the log's end if there are none."""
    begin = log.leo
    for batch in reversed(log.batches):
        if batch.epoch < generation:
            break
        begin = batch.base
    return begin


def end_of_generation(log: Log, generation: int) -> int | None:
    """Where the records of a generation end; None if there are none."""
    for batch in reversed(log.batches):
        if batch.epoch <= generation:
            return batch.end if batch.epoch == generation else None
    return None
