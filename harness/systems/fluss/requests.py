"""What is asked of Fluss' servers: tables, who leads a bucket, and its records (``FlussApi.proto``, 0.9.1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.systems.fluss.batches import StoredBatch, batch_of, batches_in
from tidemark.harness.systems.fluss.connection import FlussError
from tidemark.harness.systems.fluss.fields import encode, number, texts

if TYPE_CHECKING:
    from tidemark.harness.systems.fluss.connection import FlussConnection
    from tidemark.harness.systems.fluss.fields import Field

DATABASE, COLUMN = "fluss", "v"
BUCKET = 0
CREATE_TABLE, DROP_TABLE, GET_METADATA, PRODUCE_LOG, FETCH_LOG, LIST_OFFSETS = 1005, 1006, 1012, 1014, 1015, 1021
ALL, CLIENT, LATEST = -1, -1, 1
SERVER_S = 20.0
"""How long a leader waits for its followers before it says that a write has timed out."""
FETCH_BYTES = 1 << 20


class Table(NamedTuple):
    """A table of one bucket, as a server knows it.

    Attributes:
        number: its id. leader: the tablet server that leads its bucket, −1 if none. epoch: of that leader, −1 if unknown.
        replicas: the preferred leader first.
        addresses: of tablet servers that are alive, as clients are to reach them.
    """

    number: int
    leader: int
    epoch: int
    replicas: tuple[int, ...]
    addresses: dict[int, tuple[str, int]]


def create_table(connection: FlussConnection, name: str, replicas: int) -> None:
    """Asks the coordinator for a log table with one bucket and one column, rows written one by one.

    Raises:
        FlussError, OSError: it cannot be had now.
    """
    column = {"name": COLUMN, "data_type": {"type": "BIGINT", "nullable": False}, "id": 0}
    table = {
        "version": 1,
        "schema": {"version": 1, "columns": [column], "highest_field_id": 0},
        "partition_key": [],
        "bucket_key": [],
        "bucket_count": 1,
        "properties": {"table.replication.factor": str(replicas), "table.log.format": "INDEXED"},
        "custom_properties": {},
    }
    connection.ask(CREATE_TABLE, [(1, _path(name)), (2, json.dumps(table).encode()), (3, 1)])


def drop_table(connection: FlussConnection, name: str) -> None:
    """Asks the coordinator to drop a table; nothing happens if there is none.

    Raises:
        FlussError, OSError: it cannot be done now.
    """
    connection.ask(DROP_TABLE, [(1, _path(name)), (2, 1)])


def servers_of(connection: FlussConnection) -> list[int]:
    """The tablet servers that are alive, as this server knows.

    Raises:
        FlussError, OSError: it does not say.
    """
    return [number(server, 1) for server in texts(connection.ask(GET_METADATA, []), 2)]


def table_of(connection: FlussConnection, name: str) -> Table:
    """How a table stands, as this server knows.

    Raises:
        FlussError, OSError: it does not say. LookupError: it knows of no bucket.
    """
    answer = connection.ask(GET_METADATA, [(1, _path(name))])
    addresses = {number(server, 1): (texts(server, 2)[0].decode(), number(server, 3)) for server in texts(answer, 2)}
    table = texts(answer, 3)[0]
    bucket = next(one for one in texts(table, 5) if number(one, 1) == BUCKET)
    replicas = [server for packed in texts(bucket, 3) for server in packed]  # small numbers: a byte each
    return Table(number(table, 2), number(bucket, 2, -1), number(bucket, 4, -1), tuple(replicas), addresses)


def produce(connection: FlussConnection, table: int, value: int, within_s: float = SERVER_S) -> int:
    """Write a record with acks of all in sync, for whom the server may wait so long; its offset.

    Raises:
        FlussError, OSError: it was not acknowledged, and may be in logs.
    """
    bucket = encode([(2, BUCKET), (3, batch_of(value))])
    fields: list[Field] = [(1, ALL), (2, table), (3, int(within_s * 1000)), (4, bucket)]
    (answer,) = texts(connection.ask(PRODUCE_LOG, fields, within_s + 2.0), 1)
    _check(answer, 3, 4)
    return number(answer, 5)


def fetch(connection: FlussConnection, table: int, offset: int) -> list[StoredBatch]:
    """The batches from an offset on that are below the high watermark; the first may begin before it.

    Raises:
        FlussError, OSError: they cannot be had.
    """
    bucket = encode([(2, BUCKET), (3, offset), (4, FETCH_BYTES)])
    of_table = encode([(1, table), (2, 0), (4, bucket)])
    (answer,) = texts(connection.ask(FETCH_LOG, [(1, CLIENT), (2, FETCH_BYTES), (3, of_table), (4, 0), (5, 0)]), 1)
    (found,) = texts(answer, 2)
    _check(found, 3, 4)
    return list(batches_in(b"".join(texts(found, 8))))


def end_of(connection: FlussConnection, table: int, *, as_server: int = CLIENT) -> int:
    """This server's high watermark, whether it leads or follows; to one that asks as a server, the end of its log.

    Raises:
        FlussError, OSError: it has no replica, or does not say.
    """
    fields: list[Field] = [(1, as_server), (2, LATEST), (3, table), (5, bytes([BUCKET]))]
    (answer,) = texts(connection.ask(LIST_OFFSETS, fields), 1)
    _check(answer, 2, 3)
    return number(answer, 4)


def _path(name: str) -> bytes:
    return encode([(1, DATABASE.encode()), (2, name.encode())])


def _check(answer: bytes, code: int, words: int) -> None:
    if error := number(answer, code):
        raise FlussError(error, b"".join(texts(answer, words)).decode(errors="replace"))
