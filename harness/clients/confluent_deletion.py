"""DeleteRecords with librdkafka's admin client."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.confluent_settings import NO_SECURITY, admin_settings
from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

LATE_S = 2.0
"""A request that a broker lets wait as long as it may comes back this much later at most."""

_UNSUPPORTED = frozenset({"UNSUPPORTED_VERSION", "_UNSUPPORTED_FEATURE"})


def deletion(
    bootstrap: str,
    cluster: ClusterSpec,
    log: Callable[[str], logging.Logger],
    security: Mapping[str, str] = NO_SECURITY,
) -> Callable[[str, str, int], Outcome]:
    """A function as `Deletions` wants it.

    librdkafka repeats requests without a word: what the last try was answered says nothing of those before, so only a broker that
    has no such API proves that nothing was deleted.
    """
    times = Times.of(cluster.settings)
    wait_s = times.produce / 1000

    def delete(process: str, key: str, offset: int) -> Outcome:
        topic, _, index = key.rpartition("-")
        admin = AdminClient(admin_settings(bootstrap, process, cluster, security=security), logger=log(process))
        asked = [TopicPartition(topic, int(index), offset)]
        (future,) = admin.delete_records(asked, request_timeout=wait_s + LATE_S, operation_timeout=wait_s).values()
        try:
            future.result()
        except KafkaException as raised:
            error = raised.args[0]
            name = error_name(error.code(), error.name())
            return Outcome("fail" if name in _UNSUPPORTED else "info", error=name)
        return Outcome("ok")

    return delete
