"""The ``cluster:`` line of a script: acks, min ISR, unclean election, times, the first leader epoch.

Unless the script says otherwise the times are Kafka's own, since virtual time costs nothing and nothing should happen in a
script that the script does not say: 9 s sessions, 30 s until a lagging replica leaves the ISR, 5 s between HW checkpoints, 60 s
between those of log starts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tidemark.harness.scenario.words import duration_us
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import ClusterSpecError, Settings

_MS = 1_000
KAFKA_TIMES = Settings(
    tick_us=100 * _MS,
    fetch_wait_us=500 * _MS,
    request_timeout_us=1_000 * _MS,
    lag_time_us=30_000 * _MS,
    heartbeat_us=1_000 * _MS,
    session_us=9_000 * _MS,
    hw_checkpoint_us=5_000 * _MS,
    log_start_checkpoint_us=60_000 * _MS,
    produce_timeout_us=30_000 * _MS,
)
_TIMES = {
    "session": "session_us",
    "lag time": "lag_time_us",
    "HW checkpoint": "hw_checkpoint_us",
    "log start checkpoint": "log_start_checkpoint_us",
    "fetch wait": "fetch_wait_us",
    "request timeout": "request_timeout_us",
    "produce timeout": "produce_timeout_us",
}


def parse_cluster(text: str, brokers: int) -> tuple[ClusterSpec, int]:
    """The cluster and the first leader epoch from ``acks all, min ISR 2, unclean election off, first epoch 1``.

    Every broker has a replica at first, unless it is said how many ``replicas`` there are; then the first ones have.

    Raises:
        ValueError: with one sentence.
    """
    acks, first_epoch, replicas = "", 0, brokers
    settings: dict[str, Any] = {}
    for part in (p.strip() for p in text.split(",")):
        timed = re.fullmatch(rf"({'|'.join(_TIMES)}) (.+)", part)
        if timed is not None:
            settings[_TIMES[timed[1]]] = duration_us(timed[2])
        elif match := re.fullmatch(r"acks (all|1|0)", part):
            acks = match[1]
        elif match := re.fullmatch(r"min ISR (\d+)", part):
            settings["min_isr"] = int(match[1])
        elif match := re.fullmatch(r"unclean election (on|off)", part):
            settings["unclean_election"] = match[1] == "on"
        elif match := re.fullmatch(r"fetch size (\d+) batch(?:es)?", part):
            settings["max_fetch_batches"] = int(match[1])
        elif match := re.fullmatch(r"replicas (\d+)", part):
            replicas = int(match[1])
        elif match := re.fullmatch(r"first epoch (\d+)", part):
            first_epoch = int(match[1])
        else:
            raise ValueError(
                f"{part!r} is none of: acks, min ISR, unclean election, replicas, first epoch, fetch size, {', '.join(_TIMES)}"
            )
    if not acks or "min_isr" not in settings:
        raise ValueError("the cluster needs its acks and its min ISR")
    try:
        return ClusterSpec(brokers, replicas, 1, acks, replace(KAFKA_TIMES, **settings)), first_epoch
    except ClusterSpecError as error:
        raise ValueError(str(error)) from error
