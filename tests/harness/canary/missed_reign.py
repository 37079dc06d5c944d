"""The missed reign (docs/findings/missed-reign.md), staged on partition 0 of a topic as an operator could: a cut link, a process
that is stopped, preferred leader elections in an order of replicas that was changed, and `kill -9`.
"""

import asyncio
import subprocess
import time

from confluent_kafka.admin import AdminClient

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.operations import Operations

SETTINGS = {"broker.session.timeout.ms": 18000, "broker.heartbeat.interval.ms": 2000, "replica.lag.time.max.ms": 30000}
"""A cluster that is made for short runs has shorter ones than Kafka's, and would end the sleeper's session."""


def stage(cluster: str, bootstrap: str, topic: str) -> None:
    """Returns when another broker leads than the one that missed the reign."""
    admin = AdminClient({"bootstrap.servers": bootstrap})

    def leads() -> int:
        return admin.list_topics(topic, timeout=10).topics[topic].partitions[0].leader

    def on(broker: int, command: str) -> str:
        words = ["docker", "exec", f"tidemark-{cluster}-b{broker}", "sh", "-c", command]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    def signal(broker: int, name: str) -> None:
        on(broker, f"kill -{name} $(pgrep -o java)")

    def link(how: str, one: int, other: int) -> None:
        for here, there in ((one, other), (other, one)):
            on(here, f"iptables -{how} INPUT -s {addresses[there]} -j DROP")

    async def elect(*order: int) -> None:
        operations = Operations(Address(awake.host, awake.port), b, {})
        await operations.reassign(f"{topic}-0", order)
        await operations.elect_preferred(f"{topic}-0")

    a = leads()
    b, c = sorted({1, 2, 3} - {a})
    awake = admin.list_topics(timeout=10).brokers[b]
    addresses = {broker: on(broker, "hostname -i") for broker in (a, b, c)}
    link("I", a, b)
    time.sleep(3)  # records reach A and C, and wait for B
    signal(a, "STOP")
    time.sleep(1)
    asyncio.run(elect(b, c, a))
    time.sleep(3)  # C follows B, and cuts them off
    link("I", c, a)
    asyncio.run(elect(a, c, b))
    time.sleep(1)
    signal(a, "CONT")
    time.sleep(2)
    link("D", a, b)
    time.sleep(5)  # B fetches them, and A takes C's log end for what it was
    signal(a, "KILL")
    link("D", c, a)
    while leads() in {a, -1}:
        time.sleep(0.5)
