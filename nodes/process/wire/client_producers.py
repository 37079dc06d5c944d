"""What idempotent producers wrote to a partition, so that a repeated batch is recognised (KIP-98).

Nothing of this is stored: it is read off the log. Whenever it is asked, it takes in the batches that were appended since, by
whichever role; if the log was cut in between, it begins again. So leader, follower and a restarted process know the same, but for
what retention dropped: that is known as long as the process lives (Kafka's has snapshots).

Rules as in Kafka 2.5 and later (``ProducerAppendInfo.checkProducerEpoch``, ``checkSequence``;
``ProducerStateEntry.findDuplicateBatch``): the last five batches of a producer are known by their sequence numbers; a producer of
which nothing is known may begin anywhere (KIP-360); a new producer epoch begins at 0. A batch that the log certainly holds, but
further back than those five, is ``DUPLICATE_SEQUENCE_NUMBER`` (KIP-192), which clients take for success; any other is a gap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from tidemark.nodes.formats.record_batch import Header, Records

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch, Log

OUT_OF_ORDER_SEQUENCE_NUMBER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
DUPLICATE_SEQUENCE_NUMBER = "DUPLICATE_SEQUENCE_NUMBER"
INVALID_PRODUCER_EPOCH = "INVALID_PRODUCER_EPOCH"

KEPT_BATCHES = 5
"""As many as a client may have in flight (``max.in.flight.requests.per.connection``)."""

_base = attrgetter("base")

_WRAP = 0x7FFF_FFFF
"""Sequence numbers are 31 bits wide: 0 follows 2,147,483,647."""


class Written(NamedTuple):
    """A batch of a producer, where it lies in the log: from offset ``base`` to ``end`` (exclusive)."""

    first_sequence: int
    last_sequence: int
    base: int
    end: int


class _Producer:
    """One producer id in its latest epoch.

    Attributes:
        last: sequence number of its last record.
        unbroken: how many records up to that one certainly lie in the log, with consecutive sequence numbers.
        batches: the last five.
    """

    __slots__ = ("batches", "epoch", "last", "unbroken")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.last = -1
        self.unbroken = 0
        self.batches: deque[Written] = deque(maxlen=KEPT_BATCHES)


class PartitionProducers:
    """The idempotent producers of one partition."""

    def __init__(self) -> None:
        self._producers: dict[int, _Producer] = {}
        self._seen = 0
        """So many batches of the log are taken in; the last of them is :attr:`_last`."""
        self._last: Batch | None = None

    def judge(self, log: Log, header: Header) -> Written | str | None:
        """What to do with an idempotent batch: None is append it; where it lies already; or the error that refuses it."""
        self._catch_up(log)
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return None
        first = header.base_sequence
        if header.producer_epoch != producer.epoch:
            if header.producer_epoch < producer.epoch:
                return INVALID_PRODUCER_EPOCH
            return None if first == 0 else OUT_OF_ORDER_SEQUENCE_NUMBER
        if first == _after(producer.last):
            return None
        last = _last_of(header)
        for written in producer.batches:
            if written.first_sequence == first and written.last_sequence == last:
                return written
        back = (producer.last - first) & _WRAP
        if header.count - 1 <= back < producer.unbroken:
            return DUPLICATE_SEQUENCE_NUMBER
        return OUT_OF_ORDER_SEQUENCE_NUMBER

    def note(self, header: Header, log: Log, values: Sequence[int]) -> None:
        """Spare the next :meth:`judge` a look into the file, if the batch just judged was appended: its header is known."""
        if self._seen == len(log.batches) - 1 and log.batches[-1].values is values:
            self._last = log.batches[-1]
            self._seen += 1
            self._take_in(self._last, header)

    def _catch_up(self, log: Log) -> None:
        batches = log.batches
        seen = self._seen
        if seen and (seen > len(batches) or batches[seen - 1] is not self._last):
            seen = self._find_last(log)
        for batch in batches[seen:]:
            if isinstance(batch.values, Records):
                self._take_in(batch, batch.values.header())
        self._seen = len(batches)
        self._last = batches[-1] if batches else None

    def _find_last(self, log: Log) -> int:
        """How many batches of a log that has changed otherwise are taken in; nothing is, if it was cut."""
        last = self._last
        if last is not None and last.end <= log.base:
            return 0
        at = bisect_left(log.batches, last.base, key=_base) if last is not None else 0
        if at < len(log.batches) and log.batches[at] is last:
            return at + 1
        self._producers.clear()
        return 0

    def _take_in(self, batch: Batch, header: Header) -> None:
        if header.producer_id < 0:
            return
        producer = self._producers.get(header.producer_id)
        if producer is None or producer.epoch != header.producer_epoch:
            producer = self._producers[header.producer_id] = _Producer(header.producer_epoch)
        if header.base_sequence != _after(producer.last):
            producer.unbroken = 0
        producer.unbroken = min(producer.unbroken + header.count, _WRAP >> 1)
        producer.last = _last_of(header)
        producer.batches.append(Written(header.base_sequence, producer.last, batch.base, batch.end))


def _after(sequence: int) -> int:
    return (sequence + 1) & _WRAP


def _last_of(header: Header) -> int:
    return (header.base_sequence + header.count - 1) & _WRAP
