"""A small client of Kafka's wire protocol: one record batch in one Produce request to exactly one broker, plain fetches, deletions.

Clients made for work look for the leader, batch, and try again; a script says itself which broker gets which batch, once.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple, Self

from kio.schema.delete_records.v1.request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v4.request import FetchPartition, FetchRequest, FetchTopic
from kio.schema.list_offsets.v1.request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kio.schema.produce.v7.request import PartitionProduceData, ProduceRequest, TopicProduceData
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import Records, i16, i32, i32Timedelta, i64

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.message_set import scan
from tidemark.nodes.formats.record_batch import is_control
from tidemark.nodes.formats.wire.codec import FETCH, UNREADABLE, codec
from tidemark.nodes.formats.wire.frames import MAX_RESPONSE_BYTES, FrameError, FrameReader, finish, request_frame

PRODUCE, LIST_OFFSETS, DELETE_RECORDS = 0, 2, 21
_EARLIEST = -2
_ACKS = {"all": -1, "1": 1, "0": 0}
_MAX_BYTES = 1 << 20
_CORRELATION = struct.Struct(">i")

Address = tuple[str, int]


class NoAnswerError(Exception):
    """There was no connection, or it ended before the answer, or what came cannot be read; the outcome is unknown."""


class RefusedError(Exception):
    """The broker answered with an error; `name` is Kafka's name of it, such as ``NOT_LEADER_OR_FOLLOWER``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class FetchAnswer(NamedTuple):
    """Records below the high watermark as (offset, value), that high watermark, and where a consumer goes on."""

    records: list[tuple[int, int]]
    hw: int
    position: int = -1


class BrokerConnection:
    """One connection to one broker, with one request at a time.

    Attributes:
        versions: API key → the version that is spoken.

    `close` may be called by another thread; a wait for an answer then ends with `NoAnswerError`.
    """

    versions: Mapping[int, int] = {PRODUCE: 7, FETCH: 4, LIST_OFFSETS: 1, DELETE_RECORDS: 1}

    def __init__(self, address: Address, timeout_s: float) -> None:
        """Connect.

        Args:
            address: host and port.
            timeout_s: for connecting, and for each answer.

        Raises:
            NoAnswerError: nobody listens there.
        """
        self._reader = FrameReader(MAX_RESPONSE_BYTES)
        self._correlation = 0
        try:
            self._socket = socket.create_connection(address, timeout_s)
        except OSError as error:
            raise NoAnswerError(f"no connection to {address[0]}:{address[1]}: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        with suppress(OSError):  # the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def wait_for_ever(self) -> None:
        """From now on an answer may take its time; `close` ends the wait."""
        self._socket.settimeout(None)

    def produce(self, partition: str, batch: bytes, acks: str, timeout_ms: int) -> int | None:
        """Send one batch; its base offset, or `None` with acks=0, which is not answered.

        Args:
            partition: such as ``t-0``.
            batch: as `tidemark.nodes.formats.record_batch.build` makes it.
            acks: ``all``, ``1`` or ``0``.
            timeout_ms: how long the broker may wait for its followers.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic, index = split_name(partition)
        data = PartitionProduceData(index=i32(index), records=Records(batch))
        request = ProduceRequest(
            acks=i16(_ACKS[acks]),
            timeout=milliseconds(timeout_ms),
            topic_data=(TopicProduceData(name=topic, partition_data=(data,)),),
        )
        self._send(PRODUCE, request)
        if acks == "0":
            return None
        (answer,) = self._only(self._receive(PRODUCE).responses).partition_responses
        check(answer.error_code)
        return int(answer.base_offset)

    def fetch(self, partition: str, offset: int) -> FetchAnswer:
        """What lies from an offset on below the high watermark, as much as the broker likes to send at once.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic, index = split_name(partition)
        wanted = FetchPartition(partition=i32(index), fetch_offset=i64(offset), partition_max_bytes=i32(_MAX_BYTES))
        request = FetchRequest(
            max_wait=milliseconds(0), min_bytes=i32(0), topics=(FetchTopic(topic=topic, partitions=(wanted,)),)
        )
        self._send(FETCH, request)
        (answer,) = self._only(self._receive(FETCH).responses).partitions
        check(answer.error_code)
        hw = int(answer.high_watermark)
        try:
            fetched = bytes(answer.records or b"")
            entries = list(scan(lambda position, size: fetched[position : position + size], len(fetched)))
            records = [
                (at, value)
                for entry in entries
                if not (entry.magic == 2 and is_control(entry.raw))
                for at, value in enumerate(entry.values, entry.base)
                if offset <= at < hw
            ]
        except BadBatchError as error:
            raise NoAnswerError(f"the fetched records cannot be read: {error}") from None
        if fetched and not entries:
            raise NoAnswerError("the fetched records cannot be read: there is no whole batch among them")
        position = max([offset, *(min(entry.next, hw) for entry in entries)])
        return FetchAnswer(records, hw, position)

    def log_start(self, partition: str) -> int:
        """The earliest offset that there is for consumers.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic, index = split_name(partition)
        wanted = ListOffsetsPartition(partition_index=i32(index), timestamp=i64(_EARLIEST))
        topics = (ListOffsetsTopic(name=topic, partitions=(wanted,)),)
        self._send(LIST_OFFSETS, ListOffsetsRequest(replica_id=BrokerId(-1), topics=topics))
        (answer,) = self._only(self._receive(LIST_OFFSETS).topics).partitions
        check(answer.error_code)
        return int(answer.offset)

    def delete_records(self, partition: str, offset: int, timeout_ms: int) -> int:
        """Have the records before an offset deleted; the low watermark.

        Args:
            partition: such as ``t-0``.
            offset: −1 for the high watermark.
            timeout_ms: how long the broker may wait for its followers.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic, index = split_name(partition)
        wanted = DeleteRecordsPartition(partition_index=i32(index), offset=i64(offset))
        topics = (DeleteRecordsTopic(name=topic, partitions=(wanted,)),)
        self._send(DELETE_RECORDS, DeleteRecordsRequest(topics=topics, timeout=milliseconds(timeout_ms)))
        (answer,) = self._only(self._receive(DELETE_RECORDS).topics).partitions
        check(answer.error_code)
        return int(answer.low_watermark)

    def _only(self, topics: tuple[Any, ...]) -> Any:  # noqa: ANN401 - a topic of kio's response
        if len(topics) != 1:
            raise NoAnswerError(f"one partition was asked about, and {len(topics)} topics were answered")
        return topics[0]

    def _send(self, key: int, request: object) -> None:
        how = codec(key, self.versions[key])
        self._correlation += 1
        frame = request_frame(
            key, self.versions[key], self._correlation, b"tidemark-scenario", flexible=how.flexible_request
        )
        how.write_request(frame, request)
        try:
            self._socket.sendall(finish(frame))
        except OSError as error:
            raise NoAnswerError(f"the request could not be sent: {error}") from None

    def _receive(self, key: int) -> Any:  # noqa: ANN401 - kio's response entity
        how = codec(key, self.versions[key])
        try:
            frame = self._frame()
            (correlation,) = _CORRELATION.unpack_from(frame)
            body = how.read_response(frame, _CORRELATION.size + how.response_header)
        except (OSError, FrameError, *UNREADABLE) as error:
            raise NoAnswerError(f"no answer: {error}") from None
        if correlation != self._correlation:
            raise NoAnswerError(f"request {self._correlation} was answered with number {correlation}")
        return body

    def _frame(self) -> bytes:
        while True:
            data = self._socket.recv(1 << 16)
            if not data:
                raise NoAnswerError("the broker closed the connection")
            frames = self._reader.feed(data)
            if frames:
                return frames[0]


def addresses_in(bootstrap: str) -> list[Address]:
    """Of all brokers, in their order, of ``host:port,host:port``."""
    split = (address.rsplit(":", 1) for address in bootstrap.split(","))
    return [(host, int(port)) for host, port in split]


def split_name(partition: str) -> tuple[TopicName, int]:
    """Topic and number of a partition such as ``t-0``."""
    topic, _, index = partition.rpartition("-")
    return TopicName(topic), int(index)


def milliseconds(number: int) -> i32Timedelta:
    """As requests have them."""
    return i32Timedelta.parse(timedelta(milliseconds=number))


def check(code: ErrorCode) -> None:
    """Take an answer without an error for what it is.

    Raises:
        RefusedError: it is an error.
    """
    if code is not ErrorCode.none:
        raise RefusedError(code.name.upper())
