"""Read a log file that was collected from a node."""

from __future__ import annotations

from tidemark.nodes.formats.record_batch import values_of
from tidemark.nodes.formats.segment import scan


def read_segment(data: bytes) -> list[tuple[int, int, tuple[int, ...]]]:
    """The batches of a segment file: base offset, leader epoch, values.

    What follows the last sound batch (a torn one, after a power loss) is left out, as a broker's recovery would.

    Raises:
        BadBatchError: the records of a sound batch cannot be read, e.g. for want of a decompressor.
    """
    return [
        (found.header.base_offset, found.header.leader_epoch, values_of(found.raw))
        for found in scan(lambda position, size: data[position : position + size], len(data))
        if found.sound and found.header is not None
    ]
