"""A topic that is there before its brokers are: assignment, leader epochs and ISR, written into ZooKeeper (brokers up to 3.x).

Kafka's own way of making a topic begins with leader epoch 0 and empty logs. For brokers that begin with given logs:

1. start ZooKeeper; ``seed`` makes the topic, and keeps the place of the controller occupied;
2. start all brokers, broker 0 among them: without a controller they load their logs and register, and nobody leads;
3. pause (SIGSTOP) all brokers but 0; ``hand-over`` frees the controller's place, and broker 0 takes it; resume the others.

The controller finds every leader alive, so that epoch and ISR begin as they were written.

``python3 -m nodes.kafka.seed_topic --zookeeper HOST:PORT seed --topic t --partitions '{"0": [1, 2, 3]}' --leader-epoch 3
[--config '{"min.insync.replicas": "1"}']``
``python3 -m nodes.kafka.seed_topic --zookeeper HOST:PORT hand-over --to 0 --registered 0,1,2,3``
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence

from nodes.kafka.zookeeper_client import ZooKeeperClient, ZooKeeperError

NOBODY = 1_000_000
"""Broker id of the controller while there must be none."""

CONTROLLER = "/controller"
BROKERS = "/brokers/ids"
WAIT_S = 30.0
_LOOK_S = 0.02


class SeedError(RuntimeError):
    """The topic or the controller is not what it should be; the message says why."""


def seed_topic(
    zookeeper: ZooKeeperClient,
    topic: str,
    partitions: Mapping[int, Sequence[int]],
    *,
    leader_epoch: int,
    config: Mapping[str, str] | None = None,
) -> None:
    """Make a topic, and occupy the controller's place; no broker may have been started.

    Args:
        zookeeper: the cluster's.
        topic: its name.
        partitions: number → replicas; the first leads, and all are in sync.
        leader_epoch: of each partition.
        config: the topic's own settings.

    Raises:
        SeedError: there is such a topic, or a controller, already.
        ZooKeeperError: it cannot be written.
    """
    if not zookeeper.create(CONTROLLER, _json({"version": 1, "brokerid": NOBODY, "timestamp": "0"})):
        raise SeedError("The cluster has a controller already: seed a topic before any broker is started.")
    for path in ("/brokers", "/brokers/topics", "/config", "/config/topics"):
        zookeeper.create(path)
    assignment = {str(partition): list(replicas) for partition, replicas in partitions.items()}
    of_topic = {"version": 2, "partitions": assignment, "adding_replicas": {}, "removing_replicas": {}}
    zookeeper.create(f"/config/topics/{topic}", _json({"version": 1, "config": dict(config or {})}))
    if not zookeeper.create(f"/brokers/topics/{topic}", _json(of_topic)):
        raise SeedError(f"There is a topic {topic} already: begin with an empty ZooKeeper.")
    zookeeper.create(f"/brokers/topics/{topic}/partitions")
    for partition, replicas in partitions.items():
        state = {
            "controller_epoch": 0,
            "leader": replicas[0],
            "version": 1,
            "leader_epoch": leader_epoch,
            "isr": list(replicas),
        }
        zookeeper.create(f"/brokers/topics/{topic}/partitions/{partition}")
        zookeeper.create(f"/brokers/topics/{topic}/partitions/{partition}/state", _json(state))


def hand_over(zookeeper: ZooKeeperClient, to: int, registered: Sequence[int], wait_s: float = WAIT_S) -> None:
    """Free the controller's place, and wait until a broker has taken it; the others should be paused meanwhile.

    Args:
        zookeeper: the cluster's.
        to: the broker that must take it.
        registered: brokers that must be there first.
        wait_s: how long each may take.

    Raises:
        SeedError: a broker is missing, or another one took the place.
        ZooKeeperError: ZooKeeper does not answer.
    """
    wanted = {str(broker) for broker in registered}
    deadline = time.monotonic() + wait_s
    while missing := wanted - set(zookeeper.children(BROKERS)):
        if time.monotonic() > deadline:
            raise SeedError(f"Brokers that did not register within {wait_s:g} s: {', '.join(sorted(missing))}.")
        time.sleep(_LOOK_S)
    if _controller(zookeeper) == NOBODY:
        zookeeper.delete(CONTROLLER)
    deadline = time.monotonic() + wait_s
    while (found := _controller(zookeeper)) is None:
        if time.monotonic() > deadline:
            raise SeedError(f"Broker {to} did not become the controller within {wait_s:g} s.")
        time.sleep(_LOOK_S)
    if found != to:
        raise SeedError(f"Broker {found} became the controller instead of broker {to}: pause the others first.")


def _controller(zookeeper: ZooKeeperClient) -> int | None:
    data = zookeeper.get(CONTROLLER)
    return None if data is None else int(json.loads(data)["brokerid"])


def _json(what: object) -> bytes:
    return json.dumps(what, separators=(",", ":")).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or 2 with a sentence on standard error."""
    parser = argparse.ArgumentParser(prog="seed_topic", description="Make a topic before its brokers are started.")
    parser.add_argument("--zookeeper", required=True, metavar="HOST:PORT")
    commands = parser.add_subparsers(dest="do", required=True)
    seed = commands.add_parser("seed", help="make the topic, and keep brokers from becoming the controller")
    seed.add_argument("--topic", required=True)
    seed.add_argument("--partitions", type=json.loads, required=True, metavar="JSON", help="number → replicas")
    seed.add_argument("--leader-epoch", type=int, required=True, metavar="N")
    seed.add_argument("--config", type=json.loads, default={}, metavar="JSON", help="the topic's settings")
    over = commands.add_parser("hand-over", help="let a broker become the controller")
    over.add_argument("--to", type=int, default=0, metavar="BROKER")
    over.add_argument(
        "--registered", type=_numbers, default=[], metavar="BROKERS", help="wait for these, such as 0,1,2"
    )
    given = parser.parse_args(arguments)
    host, _, port = given.zookeeper.rpartition(":")
    try:
        with ZooKeeperClient(host, int(port)) as zookeeper:
            if given.do == "seed":
                partitions = {int(number): replicas for number, replicas in given.partitions.items()}
                seed_topic(zookeeper, given.topic, partitions, leader_epoch=given.leader_epoch, config=given.config)
            else:
                hand_over(zookeeper, given.to, given.registered)
    except (SeedError, ZooKeeperError) as problem:
        sys.stderr.write(f"seed_topic: {problem}\n")
        return 2
    return 0


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
