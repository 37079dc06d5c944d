"""What the transactions of a ZooKeeper that Kafka keeps its cluster in come to.

==========================================  ==============================================================================
node                                        is
==========================================  ==============================================================================
``/brokers/ids/N``                          broker N's registration, of its session; its broker epoch is the creating zxid
``/brokers/topics/T``                       the assignment: partition → replicas, and those that come and go (KIP-455)
``/brokers/topics/T/partitions/P/state``    leader, leader epoch and ISR; the node's version is the partition epoch
``/config/topics/T``                        the topic's settings; what is there before the topic is no change
==========================================  ==============================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tidemark.nodes.sidecar.controller.controller_log import ControllerLog
from tidemark.nodes.sidecar.controller.zookeeper_log import Change, CloseSession, Create, Delete, SetData, ZooKeeperLog
from tidemark.nodes.sidecar.operations import UNCLEAN_ELECTION

_BROKER = re.compile(r"/brokers/ids/(\d+)")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_SETTINGS = re.compile(r"/config/topics/([^/]+)")
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


class ZooKeeperControllerLog(ControllerLog):
    """The decisions of a Kafka controller that keeps them in ZooKeeper.

    Args:
        folder: ``dataDir/version-2`` of the server; need not be there yet.
        partitions, told: as for every :class:`ControllerLog`.
    """

    def __init__(self, folder: Path, partitions: Collection[str] | None = None, told: int = 0) -> None:
        super().__init__(partitions, told)
        self._log = ZooKeeperLog(folder)
        self._owned: dict[int, set[str]] = {}
        self._topics: dict[str, set[str]] = {}

    def _read(self) -> None:
        for transaction in self._log.poll():
            self._decisions.at(transaction.time_ms * 1000)
            for change in transaction.changes:
                self._apply(transaction.zxid, change)

    def _apply(self, zxid: int, change: Change) -> None:
        match change:
            case Create(path, data, owner):
                if owner:
                    self._owned.setdefault(owner, set()).add(path)
                if match := _BROKER.fullmatch(path):
                    self._decisions.registered(int(match[1]), zxid)
                else:
                    self._wrote(path, data, 0)
            case SetData(path, data, version):
                self._wrote(path, data, version)
            case Delete(path):
                for paths in self._owned.values():
                    paths.discard(path)
                self._gone(path)
            case CloseSession(session):
                for path in sorted(self._owned.pop(session, ())):
                    self._gone(path)

    def _wrote(self, path: str, data: bytes, version: int) -> None:
        if match := _STATE.fullmatch(path):
            state = _object(data)
            if {"leader", "leader_epoch", "isr"} <= state.keys():
                self._decisions.changed(
                    f"{match[1]}-{match[2]}",
                    leader=int(state["leader"]),
                    leader_epoch=int(state["leader_epoch"]),
                    partition_epoch=version,
                    isr=[int(broker) for broker in state["isr"]],
                )
        elif match := _TOPIC.fullmatch(path):
            names = self._topics.setdefault(match[1], set())
            topic = _object(data)
            adding, removing = _object(topic.get("adding_replicas")), _object(topic.get("removing_replicas"))
            for number, replicas in _object(topic.get("partitions", {})).items():
                name = f"{match[1]}-{number}"
                names.add(name)
                self._decisions.assigned(name, replicas, adding.get(number, ()), removing.get(number, ()))

        elif (match := _SETTINGS.fullmatch(path)) and self._topics.get(
            match[1], set()
        ) & self._decisions.partitions.keys():
            allowed = _object(_object(data).get("config")).get(UNCLEAN_ELECTION)
            if allowed is not None:
                self._decisions.unclean_is(allowed=allowed == "true")

    def _gone(self, path: str) -> None:
        if match := _BROKER.fullmatch(path):
            self._decisions.fenced(int(match[1]))
        elif match := _TOPIC.fullmatch(path):
            for name in self._topics.pop(match[1], ()):
                self._decisions.dropped(name)


def _object(data: bytes | Any) -> dict[str, Any]:  # noqa: ANN401 (a part of a JSON text, which may be anything)
    """A JSON object, from its text or as a part of one; empty if it is none."""
    if isinstance(data, bytes):
        try:
            data = json.loads(data)
        except ValueError:
            return {}
    return data if isinstance(data, dict) else {}
