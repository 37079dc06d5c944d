"""A connection to a broker or controller, for the sidecar's own requests: one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from struct import Struct
from typing import Any

from kio.schema.api_versions.v0.request import ApiVersionsRequest
from kio.schema.errors import ErrorCode

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.formats.wire.codec import API_VERSIONS, UNREADABLE, codec
from tidemark.nodes.formats.wire.frames import MAX_RESPONSE_BYTES, finish, request_frame

METADATA, CREATE_TOPICS, DELETE_TOPICS, ALTER_LOG_DIRS = 3, 19, 20, 34
ELECT_LEADERS, ALTER_CONFIGS, ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS = 43, 44, 45, 46
DESCRIBE_QUORUM, UPDATE_FEATURES, ADD_VOTER, REMOVE_VOTER = 55, 57, 80, 81

VERSIONS: Mapping[int, int] = {
    API_VERSIONS: 0,
    METADATA: 7,
    CREATE_TOPICS: 4,
    DELETE_TOPICS: 3,
    ALTER_LOG_DIRS: 1,
    ELECT_LEADERS: 1,
    ALTER_REASSIGNMENTS: 0,
    LIST_REASSIGNMENTS: 0,
    ALTER_CONFIGS: 0,
    UPDATE_FEATURES: 1,
    ADD_VOTER: 0,
    REMOVE_VOTER: 0,
}
"""The version of each API that is used; every Kafka from 2.4 to 4.3 has it, but those of features and voters, which are
newer."""

_NAMES = {
    METADATA: "Metadata",
    CREATE_TOPICS: "CreateTopics",
    DELETE_TOPICS: "DeleteTopics",
    ALTER_LOG_DIRS: "AlterReplicaLogDirs",
    ELECT_LEADERS: "ElectLeaders",
    ALTER_REASSIGNMENTS: "AlterPartitionReassignments",
    LIST_REASSIGNMENTS: "ListPartitionReassignments",
    ALTER_CONFIGS: "IncrementalAlterConfigs",
    UPDATE_FEATURES: "UpdateFeatures",
    ADD_VOTER: "AddRaftVoter",
    REMOVE_VOTER: "RemoveRaftVoter",
}
_CORRELATION = Struct(">i")
_LENGTH = Struct(">i")
_CLIENT = b"tidemark-sidecar"


class OperationError(Exception):
    """An operation failed or was refused.

    Attributes:
        kafka: Kafka's name of the error, such as ``ELIGIBLE_LEADERS_NOT_AVAILABLE``; empty if Kafka did not answer.
    """

    def __init__(self, words: str, kafka: str = "") -> None:
        """The words are a sentence without its full stop."""
        super().__init__(words)
        self.kafka = kafka


class RequestConnection:
    """One connection; make it with :meth:`open`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Address) -> None:
        """Wrap a connection."""
        self._reader = reader
        self._writer = writer
        self._correlation = 0
        self.address = address
        self.versions: dict[int, tuple[int, int]] = {}
        """API key → least and greatest version that the other side takes."""

    @classmethod
    async def open(cls, address: Address, timeout_s: float) -> RequestConnection:
        """Connect, and ask which requests are taken.

        Raises:
            OperationError: nobody listens, or answers in time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer = await asyncio.open_connection(*address, limit=MAX_RESPONSE_BYTES)
        except (OSError, TimeoutError) as e:
            raise OperationError(f"{address} cannot be reached: {e or 'no answer'}") from None
        connection = cls(reader, writer, address)
        try:
            answer = await connection.ask(API_VERSIONS, ApiVersionsRequest(), timeout_s)
        except BaseException:
            await connection.close()
            raise
        connection.versions = {int(a.api_key): (int(a.min_version), int(a.max_version)) for a in answer.api_keys}
        return connection

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def ask(self, key: int, request: object, timeout_s: float, version: int | None = None) -> Any:  # noqa: ANN401 (kio's response entity)
        """Send a request; its answer. After an error the connection cannot be used any more. `version`: if it is not the usual one.

        Raises:
            OperationError: the other side does not take it, or there was no answer.
        """
        name = _NAMES.get(key, "ApiVersions")
        version = VERSIONS[key] if version is None else version
        least, greatest = self.versions.get(key, (0, -1))
        if self.versions and not least <= version <= greatest:
            raise OperationError(f"{self.address} does not take {name} version {version}", "UNSUPPORTED_VERSION")
        how = codec(key, version)
        self._correlation += 1
        frame = request_frame(key, version, self._correlation, _CLIENT, flexible=how.flexible_request)
        how.write_request(frame, request)
        try:
            async with asyncio.timeout(timeout_s):
                self._writer.write(finish(frame))
                await self._writer.drain()
                answer = await self._answer()
            (correlation,) = _CORRELATION.unpack_from(answer)
            if correlation != self._correlation:
                raise ValueError(f"it has the number {correlation}")
            return how.read_response(answer, _CORRELATION.size + how.response_header)
        except TimeoutError:
            raise OperationError(f"{self.address} did not answer {name} within {timeout_s:g} s") from None
        except (OSError, asyncio.IncompleteReadError) as e:
            raise OperationError(f"{self.address} hung up before it answered {name}: {e}") from None
        except UNREADABLE as e:
            raise OperationError(f"the answer of {self.address} to {name} cannot be read: {e}") from None

    async def _answer(self) -> bytes:
        (size,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
        if not 0 <= size <= MAX_RESPONSE_BYTES:
            raise ValueError(f"it has {size} bytes")
        return await self._reader.readexactly(size)


def check(code: ErrorCode, what: str, message: str | None = None) -> None:
    """Refuse an answer with an error.

    Args:
        code: of the answer.
        what: could not be done, as the beginning of a sentence.
        message: Kafka's words, if it gave some.

    Raises:
        OperationError: there is one.
    """
    if code is not ErrorCode.none:
        name = code.name.upper()
        words = f" ({message.strip().rstrip('.')})" if message else ""
        raise OperationError(f"{what}: Kafka answers {name}{words}", name)
