"""What the records of a KRaft metadata log come to.

A change to a partition raises its partition epoch by one, and its leader epoch too if the record names a leader, be it the same
one. Records that say nothing about brokers or partitions are passed over, and so is one that cannot be read in full.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from pathlib import Path
from struct import error
from uuid import UUID

from tidemark.nodes.formats.directory_ids import directory_text
from tidemark.nodes.sidecar.controller.controller_log import ControllerLog
from tidemark.nodes.sidecar.controller.decisions import PartitionFacts
from tidemark.nodes.sidecar.controller.flexible_reader import FlexibleReader
from tidemark.nodes.sidecar.controller.metadata_log import OF_VOTERS, MetadataLog, MetadataRecord
from tidemark.nodes.sidecar.operations import ELR_FEATURE, MIN_ISR, UNCLEAN_ELECTION

log = logging.getLogger(__name__)

REGISTER_BROKER, UNREGISTER_BROKER, TOPIC, PARTITION, CONFIG, PARTITION_CHANGE = 0, 1, 2, 3, 4, 5
FENCE_BROKER, UNFENCE_BROKER, REMOVE_TOPIC, FEATURE_LEVEL, REGISTRATION_CHANGE, CLEAR_ELR = 7, 8, 9, 12, 17, 28

_FENCED, _UNFENCED = 1, -1
_OF_TOPIC = 2


class MetadataControllerLog(ControllerLog):
    """The decisions of a KRaft controller. With a single one, what is in its log is as good as committed.

    Args:
        folder: ``__cluster_metadata-0`` of the controller; need not be there yet.
        partitions, told: as for every :class:`ControllerLog`.
        committed: as for :class:`MetadataLog`.
    """

    def __init__(
        self,
        folder: Path,
        partitions: Collection[str] | None = None,
        told: int = 0,
        committed: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(partitions, told)
        self._log = MetadataLog(folder, committed)
        self._topics: dict[UUID, str] = {}
        self._offset = 0
        self._read_body: dict[int, Callable[[FlexibleReader, int], None]] = {
            REGISTER_BROKER: self._register,
            UNREGISTER_BROKER: self._fence,
            TOPIC: self._topic,
            PARTITION: self._partition,
            CONFIG: self._config,
            PARTITION_CHANGE: self._change,
            FENCE_BROKER: self._fence,
            UNFENCE_BROKER: self._unfence,
            REMOVE_TOPIC: self._remove_topic,
            FEATURE_LEVEL: self._feature_level,
            REGISTRATION_CHANGE: self._registration_change,
            CLEAR_ELR: self._clear_elr,
            OF_VOTERS: self._voters,
        }

    def _read(self) -> None:
        for record in self._log.poll():
            self._apply(record)

    def _apply(self, record: MetadataRecord) -> None:
        read = self._read_body.get(record.kind)
        if read is None:
            return
        self._decisions.at(record.time_ms * 1000)
        self._offset = record.offset
        try:
            read(record.body, record.version)
        except (error, LookupError, ValueError):
            log.warning("cannot read record %d of kind %d in the metadata log", record.offset, record.kind)

    def _voters(self, body: FlexibleReader, _version: int) -> None:
        body.int16()
        voters = []
        for _ in range(body.count()):
            voters.append((body.int32(), directory_text(body.uuid())))
            for _ in range(body.count()):  # endpoints: name, host, port
                body.text(), body.text(), body.int16(), body.tagged()
            body.int16(), body.int16(), body.tagged(), body.tagged()  # versions of the protocol: least, most
        self._decisions.voters_are(self._offset, voters)

    # Brokers

    def _register(self, body: FlexibleReader, version: int) -> None:
        broker = body.int32()
        if version >= 2:
            body.boolean()  # comes from ZooKeeper
        body.uuid()
        epoch = body.int64()
        for _ in range(body.count()):  # endpoints: name, host, port, protocol
            body.text(), body.text(), body.int16(), body.int16(), body.tagged()
        for _ in range(body.count()):  # features: name, least, most
            body.text(), body.int16(), body.int16(), body.tagged()
        body.text()  # rack
        self._decisions.registered(broker, epoch, live=False)
        (self._decisions.fenced if body.boolean() else self._decisions.unfenced)(broker)

    def _registration_change(self, body: FlexibleReader, _version: int) -> None:
        broker = body.int32()
        body.int64()
        change = body.tagged().get(0)
        fenced = change.int8() if change is not None else 0
        if fenced == _FENCED:
            self._decisions.fenced(broker)
        elif fenced == _UNFENCED:
            self._decisions.unfenced(broker)

    def _fence(self, body: FlexibleReader, _version: int) -> None:
        self._decisions.fenced(body.int32())

    def _unfence(self, body: FlexibleReader, _version: int) -> None:
        self._decisions.unfenced(body.int32())

    # Partitions

    def _topic(self, body: FlexibleReader, _version: int) -> None:
        name, topic = body.text(), body.uuid()
        self._topics[topic] = name or ""

    def _remove_topic(self, body: FlexibleReader, _version: int) -> None:
        name = self._topics.pop(body.uuid(), "")
        for partition in self._of_topic(name):
            self._decisions.dropped(partition)

    def _partition(self, body: FlexibleReader, version: int) -> None:
        name = self._name(body)
        replicas, isr = body.numbers(), body.numbers()
        removing, adding = body.numbers(), body.numbers()
        leader, leader_epoch, partition_epoch = body.int32(), body.int32(), body.int32()
        if version >= 1:
            for _ in range(body.count()):  # the directory of each replica
                body.uuid()
        tagged = body.tagged()
        self._decisions.assigned(name, replicas, adding, removing)
        self._decisions.changed(
            name,
            leader=leader,
            leader_epoch=leader_epoch,
            partition_epoch=partition_epoch,
            isr=isr,
            elr=_numbers(tagged, 1, ()),
            last_known=_numbers(tagged, 2, ()),
        )

    def _change(self, body: FlexibleReader, _version: int) -> None:
        name = self._name(body)
        before = self._decisions.partitions.get(name)
        if before is None:
            return
        tagged = body.tagged()
        replicas = _numbers(tagged, 2, before.replicas)
        removing, adding = _numbers(tagged, 3, before.removing), _numbers(tagged, 4, before.adding)
        moved = before.adding or before.removing or set(replicas) != set(before.replicas)
        ends = bool(moved) and not (adding or removing)
        self._decisions.assigned(name, replicas, adding, removing)
        named = tagged.get(1)
        self._decisions.changed(
            name,
            leader=before.leader if named is None else named.int32(),
            leader_epoch=before.leader_epoch + (named is not None),
            partition_epoch=before.partition_epoch + 1,
            isr=_numbers(tagged, 0, before.isr),
            elr=_numbers(tagged, 6, before.elr),
            last_known=_numbers(tagged, 7, before.last_known),
            ends=ends,
        )

    def _config(self, body: FlexibleReader, _version: int) -> None:
        """A topic's settings are written before its partitions; what comes behind them is a change."""
        kind, resource, setting, value = body.int8(), body.text(), body.text(), body.text()
        if kind != _OF_TOPIC or not value or not self._of_topic(resource or ""):
            return
        if setting == MIN_ISR:
            self._decisions.min_isr_set(int(value))
        elif setting == UNCLEAN_ELECTION:
            self._decisions.unclean_is(allowed=value == "true")

    def _feature_level(self, body: FlexibleReader, _version: int) -> None:
        name, level = body.text(), body.int16()
        if name == ELR_FEATURE:
            self._decisions.elr_is(on=level > 0)

    def _clear_elr(self, body: FlexibleReader, _version: int) -> None:
        name = body.text()
        for partition in self._of_topic(name) if name else list(self._decisions.partitions):
            facts = self._decisions.partitions[partition]
            if facts.elr or facts.last_known:
                self._without_elr(partition, facts)

    def _without_elr(self, partition: str, facts: PartitionFacts) -> None:
        self._decisions.changed(
            partition,
            leader=facts.leader,
            leader_epoch=facts.leader_epoch,
            partition_epoch=facts.partition_epoch + 1,
            isr=facts.isr,
        )

    def _name(self, body: FlexibleReader) -> str:
        """The partition that a record begins with."""
        number, topic = body.int32(), body.uuid()
        return f"{self._topics.get(topic, topic)}-{number}"

    def _of_topic(self, topic: str) -> list[str]:
        return [partition for partition in self._decisions.partitions if partition.rpartition("-")[0] == topic]


def _numbers(tagged: dict[int, FlexibleReader], tag: int, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    """A list of brokers in a tagged field; a field that is not there leaves things as they are."""
    return tagged[tag].numbers() if tag in tagged else otherwise
