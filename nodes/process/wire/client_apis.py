"""The APIs that a broker offers to Kafka's clients, put together for the driver.

===================  ==================================  ===================
API                  versions                            module
===================  ==================================  ===================
Produce              3 to 8                              client_produce
Fetch                4 to 11, or 8 before KIP-320        client_fetch
ListOffsets          1 to 5, or 3 before KIP-320         client_list_offsets
Metadata             4 to 9, or 6 before KIP-320         client_metadata
ApiVersions          0 to 3                              client_versions
DeleteRecords        0 to 2, 1 before KIP-320, if any    client_delete_records
InitProducerId       0 to 3                              client_producer_ids
OffsetForLeaderEpoch 2 and 3, none before KIP-320        client_epochs
===================  ==================================  ===================

Families other than Kafka's offer what there was before KIP-320, without DeleteRecords.

Consumer groups are not served: consumers assign their partitions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tidemark.nodes.core.messages import DeleteRecordsResponse
from tidemark.nodes.core.variant import Variant
from tidemark.nodes.formats.wire.codec import API_VERSIONS, FETCH, OFFSET_FOR_LEADER_EPOCH
from tidemark.nodes.process.wire.client_delete_records import DeleteRecordsApi
from tidemark.nodes.process.wire.client_entities import (
    DELETE_RECORDS,
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    METADATA,
    PRODUCE,
)
from tidemark.nodes.process.wire.client_epochs import EpochsApi
from tidemark.nodes.process.wire.client_fetch import FetchApi
from tidemark.nodes.process.wire.client_list_offsets import ListOffsetsApi
from tidemark.nodes.process.wire.client_metadata import MetadataApi
from tidemark.nodes.process.wire.client_partitions import Partitions
from tidemark.nodes.process.wire.client_produce import ProduceApi
from tidemark.nodes.process.wire.client_producer_ids import ProducerIds
from tidemark.nodes.process.wire.client_versions import answer_versions, client_versions

if TYPE_CHECKING:
    from tidemark.nodes.core.messages import ProduceResponse
    from tidemark.nodes.process.wire.client_driver import ClientDriver
    from tidemark.nodes.process.wire.server import Connection, Handler, Request


FETCH_EPOCHS = 9
"""The version of Fetch since which clients name leader epochs (KIP-320)."""

_LOOKS_AT_THE_CORE = {FETCH, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH}
"""These answer from replicas, so they wait until the steps before them are written and traced (on a slow disk, a while)."""


def _in_turn(driver: ClientDriver, handle: Handler) -> Handler:
    return lambda request: driver.perform(lambda _now: handle(request))


class ClientApis:
    """What clients can ask a broker.

    Attributes:
        versions: API key → lowest and highest version for clients; the same on both listeners.
        handlers: API key → who takes the request.
    """

    def __init__(self, driver: ClientDriver) -> None:
        """Begin; the driver's broker and configuration must be there."""
        variant = driver.config.variant
        partitions = Partitions(driver)
        self.versions = versions = client_versions(variant)
        self._produce = ProduceApi(driver, partitions)
        self._fetch = FetchApi(driver, partitions)
        self._deletions = DeleteRecordsApi(driver, partitions)
        apis: dict[int, Handler] = {
            PRODUCE: self._produce.handle,
            FETCH: self._fetch.handle,
            LIST_OFFSETS: ListOffsetsApi(partitions, monotonic=versions[FETCH][1] >= FETCH_EPOCHS).handle,
            METADATA: MetadataApi(driver).handle,
            API_VERSIONS: lambda request: answer_versions(request, versions),
            DELETE_RECORDS: self._deletions.handle,
            INIT_PRODUCER_ID: ProducerIds(driver.config).handle,
        }
        if isinstance(variant, Variant):
            apis[OFFSET_FOR_LEADER_EPOCH] = EpochsApi(partitions, variant).handle
        self.handlers: dict[int, Handler] = {key: self._guarded(key, apis[key]) for key in versions}
        for key in _LOOKS_AT_THE_CORE & self.handlers.keys():
            self.handlers[key] = _in_turn(driver, self.handlers[key])

    def after_step(self, traces: Iterable[tuple[object, ...]]) -> None:
        """A step's trace has been written, and its messages sent: clients may see what it did."""
        traces = list(traces)
        self._produce.after_step(traces)
        self._fetch.after_step(traces)

    def on_answer(self, message: ProduceResponse | DeleteRecordsResponse) -> None:
        """The core answers a client's batch, or its deletion."""
        if isinstance(message, DeleteRecordsResponse):
            self._deletions.on_response(message)
        else:
            self._produce.on_response(message)

    def on_closed(self, connection: Connection) -> None:
        """A connection has ended."""
        self._fetch.on_closed(connection)

    def _guarded(self, key: int, handle: Callable[[Request], None]) -> Handler:
        """Close the connection of a request whose version only nodes speak."""
        low, high = self.versions[key]

        def take(request: Request) -> None:
            if not low <= request.api_version <= high:
                request.connection.refuse(f"API {key} in version {request.api_version} is not for clients")
                return
            handle(request)

        return take
