"""Whether every transaction has ended: the last stable offset of each partition is its high watermark then (KIP-98)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tidemark.harness.clients.confluent_settings import consumer_settings, transaction_timeout_ms
from tidemark.harness.clients.script import topic_and_partition
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec

ANSWER_S = 1.0
LOOK_S = 0.2
SLACK_S = 10.0
"""Over and above a transaction's time-out: the coordinator looks for those that are overdue once a second, and then has each leader
write an end."""

Open = dict[str, tuple[int, int]]
"""Partition → last stable offset and high watermark, where they differ."""


def await_ends(
    bootstrap: str, cluster: ClusterSpec, keys: Sequence[str], log: logging.Logger, security: Mapping[str, str]
) -> Open | None:
    """Wait until no transaction is open, or none may be any more: no client works, and all of them have timed out.

    Returns:
        Where one is open all the same; None if nobody knows, since leaders did not answer.
    """
    readers = [
        Consumer(consumer_settings(bootstrap, "ends", cluster, committed_only=committed, security=security), logger=log)
        for committed in (True, False)
    ]
    deadline = time.monotonic() + transaction_timeout_ms(Times.of(cluster.settings)) / 1000 + SLACK_S
    left = list(keys)
    found: Open = {}
    try:
        while left:
            unknown = False
            for key in [*left]:
                ends = [_end(reader, key, log) for reader in readers]
                stable, high = ends
                if stable is None or high is None:
                    unknown = True
                elif stable >= high:
                    left.remove(key)
                else:
                    found[key] = stable, high
            if left and time.monotonic() > deadline:
                return None if unknown else {key: found[key] for key in left}
            time.sleep(LOOK_S)
        return {}
    finally:
        for reader in readers:
            reader.close()


def _end(reader: Consumer, key: str, log: logging.Logger) -> int | None:
    try:
        answer = reader.get_watermark_offsets(TopicPartition(*topic_and_partition(key)), timeout=ANSWER_S, cached=False)
    except KafkaException as raised:
        log.info("%s", raised)
        return None
    return None if answer is None else answer[1]
