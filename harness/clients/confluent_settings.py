"""librdkafka's configuration for producers, consumers and admin clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

STATISTICS_MS = 20
"""How often librdkafka's statistics are asked for; the tries of an operation that failed are counted with them."""

LINGER_MS = 5
"""The records of one operation are handed over within far less, so they leave as one record batch."""

TRIES = 4
"""So many requests without an answer fit in the time for which a transactional producer tries, as with Kafka's own settings
(``request.timeout.ms``, ``delivery.timeout.ms``)."""
LEAST_SOCKET_MS = 300

NO_SECURITY: Final[Mapping[str, str]] = {}
"""Of clients that need neither TLS nor SASL."""

BEYOND_FETCH_WAIT_MS = 1000
"""librdkafka wants a consumer's ``socket.timeout.ms`` to be this much longer than ``fetch.wait.max.ms``."""


def _common(bootstrap: str, process: str, times: Times, security: Mapping[str, str]) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "client.id": process,
        "topic.metadata.refresh.interval.ms": times.metadata,
        "topic.metadata.refresh.fast.interval.ms": times.retry,
        "metadata.max.age.ms": 3 * times.metadata,
        "reconnect.backoff.ms": times.retry,
        "reconnect.backoff.max.ms": times.most_retry,
        "retry.backoff.ms": times.retry,
        "retry.backoff.max.ms": times.most_retry,
        "socket.nagle.disable": True,
        "socket.connection.setup.timeout.ms": max(1000, times.produce),
        "api.version.request.timeout.ms": times.produce,
        "enable.metrics.push": False,
        **security,
    }


def producer_settings(
    bootstrap: str,
    process: str,
    cluster: ClusterSpec,
    *,
    idempotent: bool = True,
    security: Mapping[str, str] = NO_SECURITY,
) -> dict[str, Any]:
    """One batch an operation, given up after ``produce_timeout_us``.

    With acks=all the producer is idempotent and repeats a request until then. With acks 1 or 0 it must not make duplicates of
    its own, so ``retries`` is 0: librdkafka then still repeats what was certainly not written (a request that never left, or
    was answered NOT_LEADER_OR_FOLLOWER), and gives up at the first doubt. The same goes for acks=all where the brokers' message
    format has no idempotence; only that a deposed leader answers NOT_LEADER_OR_FOLLOWER for what it has written, too.
    """
    times = Times.of(cluster.settings)
    settings = _common(bootstrap, process, times, security) | {
        "acks": cluster.acks,
        "message.timeout.ms": times.produce,
        "request.timeout.ms": times.produce,
        "socket.timeout.ms": times.produce,
        "linger.ms": min(LINGER_MS, times.produce // 2),
        "compression.type": "none",
        "statistics.interval.ms": STATISTICS_MS,
    }
    if cluster.acks == "all" and idempotent:
        return settings | {"enable.idempotence": True}
    return settings | {"enable.idempotence": False, "retries": 0, "max.in.flight.requests.per.connection": 1}


def transactional_settings(
    bootstrap: str, process: str, cluster: ClusterSpec, *, security: Mapping[str, str] = NO_SECURITY
) -> dict[str, Any]:
    """A producer whose ``transactional.id`` is its process; the coordinator aborts what it leaves open after twice the time for
    which it tries a batch.
    """
    times = Times.of(cluster.settings)
    settings = producer_settings(bootstrap, process, cluster, security=security)
    del settings["statistics.interval.ms"]
    return settings | {
        "transactional.id": process,
        "transaction.timeout.ms": transaction_timeout_ms(times),
        "socket.timeout.ms": max(LEAST_SOCKET_MS, times.produce // TRIES),
    }


def transaction_timeout_ms(times: Times) -> int:
    """How long a transaction may be open; librdkafka wants at least a second, and that no batch is tried for longer."""
    return max(1000, 2 * times.produce)


def admin_settings(
    bootstrap: str, process: str, cluster: ClusterSpec, *, security: Mapping[str, str] = NO_SECURITY
) -> dict[str, Any]:
    """A client that asks for a deletion, or a topic."""
    times = Times.of(cluster.settings)
    return _common(bootstrap, process, times, security) | {"socket.timeout.ms": times.produce}


def consumer_settings(
    bootstrap: str,
    process: str,
    cluster: ClusterSpec,
    *,
    committed_only: bool = False,
    security: Mapping[str, str] = NO_SECURITY,
) -> dict[str, Any]:
    """A consumer that is assigned its partitions, reads up to the high watermark, or, if it is given what is committed only, up to
    the last stable offset, and begins at 0 again when out of range.

    The group's name is there because librdkafka insists on one; without a coordinator in the cluster nothing comes of it.
    """
    times = Times.of(cluster.settings)
    return _common(bootstrap, process, times, security) | {
        "group.id": f"tidemark-{process}",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed" if committed_only else "read_uncommitted",
        "check.crcs": True,
        "fetch.wait.max.ms": times.fetch_wait,
        "fetch.error.backoff.ms": times.retry,
        "socket.timeout.ms": max(times.produce, times.fetch_wait + BEYOND_FETCH_WAIT_MS),
    }
