"""DeleteRecords with aiokafka's admin client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiokafka import TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from tidemark.harness.clients.aiokafka_gate import batch_error_name
from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

LATE_S = 2.0
"""A request that a broker lets wait as long as it may comes back this much later at most."""

CONNECTIONS_END_S = 0.1

NOTHING_DELETED = frozenset({"OFFSET_OUT_OF_RANGE", "UNSUPPORTED_VERSION"})
"""A request is sent once, so the broker's answer is about it."""


def deletion(bootstrap: str, cluster: ClusterSpec) -> Callable[[str, str, int], Outcome]:
    """A function as `Deletions` wants it; each call has an event loop of its own."""
    times = Times.of(cluster.settings)

    async def ask(process: str, key: str, offset: int) -> Outcome:
        topic, _, index = key.rpartition("-")
        admin = AIOKafkaAdminClient(
            bootstrap_servers=bootstrap,
            client_id=process,
            request_timeout_ms=times.produce + int(LATE_S * 1000),
            retry_backoff_ms=times.retry,
        )
        try:
            await admin.start()
            await admin.delete_records({TopicPartition(topic, int(index)): RecordsToDelete(offset)}, times.produce)
        except (KafkaError, TimeoutError) as error:
            name = batch_error_name(error)
            return Outcome("fail" if name in NOTHING_DELETED else "info", error=name)
        finally:
            await admin.close()
            await asyncio.sleep(CONNECTIONS_END_S)
        return Outcome("ok")

    def delete(process: str, key: str, offset: int) -> Outcome:
        return asyncio.run(ask(process, key, offset))

    return delete
