"""Producing through librdkafka to three nodes, beside the same to a single node: acks=all, idempotent, 100-byte records.

Nodes are subprocesses on loopback, and share this machine's cores with the client. The clusters are measured in turn.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

ROUNDS = 3
RECORDS = 200_000
SYNCHRONOUS = 500
VALUE = b"x" * 100
VARIANT = "kafka-2.7"
THREE, SINGLE = "three nodes", "single node"
START_SECONDS = 30
STOP_SECONDS = 10

_COMMON = {
    "acks": "all",
    "enable.idempotence": True,
    "queue.buffering.max.messages": RECORDS,
    "queue.buffering.max.kbytes": 1 << 20,
    "log_level": 3,
}
_BULK = {**_COMMON, "linger.ms": 5, "batch.size": 1_000_000, "batch.num.messages": 10_000}
_ONE_BY_ONE = {**_COMMON, "linger.ms": 0}


def main() -> None:
    """Measure on loopback."""
    with ExitStack() as stack:
        single, three = (stack.enter_context(_cluster(brokers)) for brokers in (1, 3))
        measure({THREE: three, SINGLE: single}, VARIANT)


def measure(clusters: Mapping[str, str], what: str, *, warm_up: int = RECORDS // 10) -> None:
    """Print rates and latencies of two clusters, and the ratios of the first's to the second's.

    Args:
        clusters: name → where clients reach its brokers; every replica is in the ISR.
        what: words for what was measured.
        warm_up: records that each is sent before anything counts.
    """
    rates: dict[str, list[float]] = {name: [] for name in clusters}
    waits: dict[str, list[float]] = {name: [] for name in clusters}
    for address in clusters.values():
        _produce(address, warm_up)
        _one_by_one(address, max(2, warm_up * SYNCHRONOUS // RECORDS))
    for _ in range(ROUNDS):
        for name, address in clusters.items():
            rates[name].append(_produce(address, RECORDS))
            waits[name] += _one_by_one(address, SYNCHRONOUS)
    width = max(map(len, clusters))
    for name in clusters:
        print(
            f"{name:<{width}}   {median(rates[name]):>9,.0f} records/s   one record at a time: "
            f"p50 {_percentile(waits[name], 50) * 1e3:.2f} ms, p99 {_percentile(waits[name], 99) * 1e3:.2f} ms"
        )
    one, reference = clusters
    print(
        f"{'ratio':<{width}}   {median(rates[one]) / median(rates[reference]):>9.0%}"
        f"{'':<36}p50 × {_percentile(waits[one], 50) / _percentile(waits[reference], 50):.1f},"
        f"    p99 × {_percentile(waits[one], 99) / _percentile(waits[reference], 99):.1f}"
        f"   ({what}, {RECORDS:,} records, median of {ROUNDS} rounds)"
    )


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[len(values) * percent // 100]


def first_write(address: str) -> None:
    """Write one record with acks=all, and wait for its acknowledgement."""
    producer = Producer({"bootstrap.servers": address, "acks": "all", "linger.ms": 0, "log_level": 0})
    producer.produce("t", b"1")
    assert not producer.flush(20), "the first write got no answer"


def _produce(address: str, count: int) -> float:
    """Acknowledged records per second."""
    failed: list[KafkaError] = []

    def acknowledged(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({**_BULK, "bootstrap.servers": address})
    producer.list_topics("t", timeout=10)
    start = perf_counter()
    for _ in range(count):
        producer.produce("t", VALUE, on_delivery=acknowledged)
    left = producer.flush(60)
    seconds = perf_counter() - start
    assert not failed, failed[0]
    assert not left, f"{left} records got no answer"
    return count / seconds


def _one_by_one(address: str, count: int) -> list[float]:
    """Seconds from each record to its acknowledgement."""
    producer = Producer({**_ONE_BY_ONE, "bootstrap.servers": address})
    producer.list_topics("t", timeout=10)
    waits = []
    for _ in range(count):
        start = perf_counter()
        producer.produce("t", VALUE)
        assert not producer.flush(10), "a record got no answer"
        waits.append(perf_counter() - start)
    return waits[1:]


@contextmanager
def _cluster(brokers: int) -> Iterator[str]:
    """Start controller and brokers; gives the brokers' addresses for clients, once every replica is in the ISR."""
    spec = ClusterSpec(brokers=brokers, replication_factor=brokers, settings=Settings(min_isr=min(2, brokers)))
    nodes = range(brokers + 1)
    ports = iter(_free_ports(3 * len(nodes)))
    peers = {str(node): f"127.0.0.1:{next(ports)}" for node in nodes}
    hosts = {str(node): f"127.0.0.1:{next(ports)}" for node in nodes if node}
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name, ExitStack() as stack:
        for node in nodes:
            folder = Path(name) / str(node)
            folder.mkdir()
            listeners = {"internal": peers[str(node)]} | ({"host": hosts[str(node)]} if node else {})
            config = {
                "node": node,
                "incarnation": 1,
                "variant": VARIANT,
                "cluster": spec.to_json(),
                "listeners": {name: {"bind": at, "advertise": at} for name, at in listeners.items()},
                "peers": peers,
                "hosts": hosts,
                "admin": f"127.0.0.1:{next(ports)}",
                "data": str(folder / "data"),
                "volatile": str(folder / "volatile"),
                "trace": str(folder / "trace.jsonl"),
            }
            stack.enter_context(_node(folder, config))
        address = ",".join(hosts.values())
        wait_for_isr(address, brokers)
        yield address


@contextmanager
def _node(folder: Path, config: dict[str, object]) -> Iterator[None]:
    (folder / "node.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "tidemark.nodes.process", "--config", str(folder / "node.json")]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for_isr(address: str, brokers: int) -> None:
    """Wait until every partition has a leader and all brokers in its ISR."""
    give_up = monotonic() + START_SECONDS
    client = Producer({**_COMMON, "bootstrap.servers": address, "log_level": 0})
    while monotonic() < give_up:
        try:
            partitions = client.list_topics("t", timeout=5).topics["t"].partitions.values()
        except KafkaException:  # nobody listens yet
            partitions = ()
        if partitions and all(len(p.isrs) == brokers and p.leader > 0 for p in partitions):
            return
        sleep(0.1)
    raise TimeoutError(f"no cluster of {brokers} within {START_SECONDS} s")


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
