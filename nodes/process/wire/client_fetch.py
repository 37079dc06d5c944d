"""Fetch for consumers: committed batches straight from the log file, or a wait for some.

A fetch that finds too little is parked. It is answered when the high watermark has risen far enough, when its time is over, or
when the leader or its epoch has changed: a consumer that is left waiting through an election would never learn that the log
was cut.

There are no fetch sessions (KIP-227 lets a broker answer session id 0), and no transactions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.nodes.core.messages import OFFSET_OUT_OF_RANGE
from tidemark.nodes.formats.record_batch import Records
from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_answers import reply_by_topic
from tidemark.nodes.process.wire.client_partitions import NO_EPOCH, out_of_range

if TYPE_CHECKING:
    from asyncio import TimerHandle

    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Connection, Request

FETCH_SESSION_ID_NOT_FOUND = "FETCH_SESSION_ID_NOT_FOUND"

MAX_BYTES = 8 << 20
"""Most bytes of records in a response (but for a first batch that is larger), whatever the client allows."""

_KINDS = ("PartitionData", "FetchableTopicResponse", "FetchResponse")
_WITH_SESSIONS = 7
_WITH_EPOCH = 9

_STIRRING = frozenset({"hw", "lead", "follow", "truncate", "removed"})
"""Trace events after which a parked fetch may have an answer."""

_end = attrgetter("end")


class _Asked(NamedTuple):
    """One partition of a request; ``epoch`` is −1 if the client named none."""

    topic: str
    partition: int
    name: str
    offset: int
    epoch: int
    max_bytes: int


class _Found(NamedTuple):
    """What there is for it now; the records still lie in the file."""

    error: str | None
    hw: int
    records: list[Records]
    size: int
    start: int = -1


class _Parked:
    """A fetch that waits."""

    __slots__ = ("asked", "request", "timer")

    def __init__(self, request: Request, asked: list[_Asked]) -> None:
        self.request = request
        self.asked = asked
        self.timer: TimerHandle | None = None


class FetchApi:
    """Answers consumers' fetches, now or later."""

    def __init__(self, driver: ClientDriver, partitions: Partitions) -> None:
        self._driver = driver
        self._partitions = partitions
        self._parked: dict[str, dict[_Parked, None]] = {}
        """Partition → fetches that wait for it, oldest first."""

    def handle(self, request: Request) -> None:
        """Answer, or park."""
        if request.connection.closed:
            return
        body = request.body
        version = request.api_version
        if version >= _WITH_SESSIONS and body.session_epoch > 0:
            self._reply(request, [], [], FETCH_SESSION_ID_NOT_FOUND)
            return
        asked = [
            _Asked(
                topic.topic,
                part.partition,
                partition_name(topic.topic, part.partition),
                part.fetch_offset,
                part.current_leader_epoch if version >= _WITH_EPOCH else NO_EPOCH,
                part.partition_max_bytes,
            )
            for topic in body.topics
            for part in topic.partitions
        ]
        if self._answered(request, asked):
            return
        wait = body.max_wait.total_seconds()
        if wait <= 0:
            self._reply(request, asked, self._find(asked, body.max_bytes))
            return
        parked = _Parked(request, asked)
        parked.timer = self._driver.loop.call_later(wait, self._driver.perform, lambda _now: self._time_is_over(parked))
        for one in asked:
            self._parked.setdefault(one.name, {})[parked] = None

    def after_step(self, traces: Iterable[tuple[object, ...]]) -> None:
        """Look again at what is parked for partitions that something happened to."""
        if not self._parked:
            return
        stirred = {str(trace[3]): None for trace in traces if trace[2] in _STIRRING and trace[3] in self._parked}
        for name in stirred:
            for parked in list(self._parked.get(name, ())):
                if self._answered(parked.request, parked.asked):
                    self._unpark(parked)

    def on_closed(self, connection: Connection) -> None:
        """Nobody waits on this connection any more."""
        gone = {
            parked for waiting in self._parked.values() for parked in waiting if parked.request.connection is connection
        }
        for parked in gone:
            self._unpark(parked)

    def _time_is_over(self, parked: _Parked) -> None:
        if parked.request.answered:
            return
        self._unpark(parked)
        self._reply(parked.request, parked.asked, self._find(parked.asked, parked.request.body.max_bytes))

    def _unpark(self, parked: _Parked) -> None:
        if parked.timer is not None:
            parked.timer.cancel()
        for one in parked.asked:
            waiting = self._parked.get(one.name)
            if waiting is not None:
                waiting.pop(parked, None)
                if not waiting:
                    del self._parked[one.name]

    def _answered(self, request: Request, asked: list[_Asked]) -> bool:
        """Reply if there is enough, or an error, or nothing was asked for."""
        found = self._find(asked, request.body.max_bytes)
        enough = sum(one.size for one in found) >= min(
            request.body.min_bytes, max(request.body.max_bytes, 1), MAX_BYTES
        )
        if not enough and asked and all(one.error is None for one in found):
            return False
        self._reply(request, asked, found)
        return True

    def _find(self, asked: list[_Asked], max_bytes: int) -> list[_Found]:
        left = min(max_bytes, MAX_BYTES)
        found = []
        nothing_yet = True
        for one in asked:
            replica = self._partitions.readable(one.name, one.epoch)
            if isinstance(replica, str):
                found.append(_Found(replica, -1, [], 0))
                continue
            if out_of_range(replica, one.offset):
                found.append(_Found(OFFSET_OUT_OF_RANGE, -1, [], 0))
                continue
            records, size = _committed(replica, one.offset, min(one.max_bytes, left), at_least_one=nothing_yet)
            found.append(_Found(None, replica.hw, records, size, replica.log.start))
            nothing_yet = nothing_yet and not records
            left -= size
        return found

    def _reply(self, request: Request, asked: list[_Asked], found: list[_Found], error: str | None = None) -> None:
        aborted = () if request.body.isolation_level else None
        parts = (
            {
                "error_code": error_code(what.error),
                "high_watermark": what.hw,
                "last_stable_offset": what.hw,
                "log_start_offset": what.start,
                "aborted_transactions": aborted,
                "records": b"".join([records.raw() for records in what.records]),
            }
            for what in found
        )
        places = ((one.topic, one.partition) for one in asked)
        told = zip(places, parts, strict=True)
        reply_by_topic(request, _KINDS, told, error_code=error_code(error), session_id=0)


def _committed(
    replica: Any,  # noqa: ANN401 (of any family)
    offset: int,
    max_bytes: int,
    *,
    at_least_one: bool,
) -> tuple[list[Records], int]:
    """Whole batches from the first that ends behind ``offset`` on, as far as they end at or below the high watermark."""
    if offset >= replica.hw:
        return [], 0
    batches = replica.log.batches
    first = bisect_right(batches, offset, key=_end)
    chosen: list[Records] = []
    size = 0
    for batch in islice(batches, first, None):
        records = batch.values
        if batch.end > replica.hw or not isinstance(records, Records):
            break
        if size + records.size > max_bytes and (chosen or not at_least_one):
            break
        chosen.append(records)
        size += records.size
    return chosen, size
