"""What the commands of a sidecar's admin port do. The port itself is :mod:`tidemark.nodes.admin.port`.

================  =========================  ===============================================================================
do                further entries            what happens
================  =========================  ===============================================================================
status                                       the node's state
log               partition                  batches of the log: base offset, leader epoch, record count (brokers)
words             lines                      the last lines of the JVM's log
transport         key, rules                 faults on the messages that pass this machine's proxies
transport-clear   key                        end one; ``found`` says whether it was in force
slow-disk         delay_us                   every write and sync of the broker first takes that long; 0 ends it
fail-writes                                  a log directory has failed: writes and syncs of what the broker has open there are I/O
                                             errors, until it has taken it offline
elect             partition, how, target     an operator's election (controller): preferred, forced or unclean
create-topics     partitions, config         create topics, with their partitions' replicas (controller)
delete-topics     topics                     delete topics (controller); ends when the controller has none of their partitions
reassign          partition, replicas, wait  give a partition other replicas (controller), or with none take back what is under
                                             way; ``wait`` (true unless said otherwise): until it is done, else until it is
                                             under way
min-isr           topics, min_isr            set topics' min.insync.replicas (controller)
unclean           topics, on                 set topics' unclean.leader.election.enable (controller)
elr               on                         switch ELR on or off (controller)
voter             node, directory, listener  put a controller into the voters of the quorum; without a listener (name, host, port),
                                             take it out (controller)
move-log          partition                  move a replica's log to the broker's other log directory; ends when that has begun
throttle-moves    broker, rate               let a broker's moves copy so many bytes a second, 0: as many as it can (with KRaft the
                                             controller, with ZooKeeper that broker)
next-run                                     the last run's topics are deleted: begin trace and log anew, when their logs are gone
forgotten                                    ends when the new topics' high watermarks are in the checkpoint (brokers)
watch             events                     see there
================  =========================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from tidemark.nodes.admin.port import Answer, Command, CommandError, delay_of, key_of, partition_of, rules_of
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.directory_ids import directory_id
from tidemark.nodes.formats.message_set import read_partition
from tidemark.nodes.sidecar.next_run import forgotten, next_run
from tidemark.nodes.sidecar.proxy.speech import PROXIED_KINDS
from tidemark.nodes.sidecar.slow_disk import SlowDiskError
from tidemark.nodes.sidecar.strace import StraceError

if TYPE_CHECKING:
    from tidemark.nodes.sidecar.controller.cluster_controller import ClusterController
    from tidemark.nodes.sidecar.sidecar import Sidecar

HOW = ("preferred", "forced", "unclean")
_LINES = 40


class SidecarCommands:
    """The commands of one sidecar."""

    def __init__(self, sidecar: Sidecar) -> None:
        """Act on this sidecar."""
        self._sidecar = sidecar

    def by_name(self) -> dict[str, Command]:
        """What the port knows, beside ``watch``."""
        return {
            "status": self._status,
            "log": self._log,
            "words": self._words,
            "transport": self._put_rules,
            "transport-clear": self._clear_rules,
            "slow-disk": self._slow_disk,
            "fail-writes": self._fail_writes,
            "elect": self._elect,
            "create-topics": self._create_topics,
            "delete-topics": self._delete_topics,
            "reassign": self._reassign,
            "min-isr": self._min_isr,
            "unclean": self._unclean,
            "elr": self._elr,
            "voter": self._voter,
            "move-log": self._move_log,
            "throttle-moves": self._throttle_moves,
            "next-run": self._next_run,
            "forgotten": self._forgotten,
        }

    async def _status(self, _command: dict[str, Any]) -> Answer:
        return await self._sidecar.status()

    def _log(self, command: dict[str, Any]) -> Answer:
        sidecar = self._sidecar
        if sidecar.config.is_controller:
            raise CommandError("the controller has no log and no disk")
        name = partition_of(command, sidecar.config.partitions)
        try:
            found = read_partition(sidecar.logs.of(name))
        except FileNotFoundError:
            found = []
        except (OSError, BadBatchError) as e:
            raise CommandError(f"the log of {name} cannot be read: {e}") from e
        return {"batches": [(base, epoch, len(values)) for base, epoch, values in found]}

    def _words(self, command: dict[str, Any]) -> Answer:
        lines = command.get("lines", _LINES)
        if type(lines) is not int or lines < 1:
            raise CommandError("lines must be a whole number, at least 1")
        return {"words": self._sidecar.last_lines()[-lines:]}

    def _put_rules(self, command: dict[str, Any]) -> Answer:
        self._sidecar.rules.put(key_of(command), rules_of(command, PROXIED_KINDS))
        return {}

    def _clear_rules(self, command: dict[str, Any]) -> Answer:
        return {"found": self._sidecar.rules.clear(key_of(command))}

    async def _slow_disk(self, command: dict[str, Any]) -> Answer:
        sidecar = self._sidecar
        if sidecar.config.is_controller:
            raise CommandError("the controller has no log and no disk")
        delay_us = delay_of(command)
        try:
            await sidecar.slow_disk.set(sidecar.pid, delay_us)
        except SlowDiskError as e:
            raise CommandError(str(e).rstrip(".")) from e
        return {}

    async def _fail_writes(self, _command: dict[str, Any]) -> Answer:
        sidecar = self._sidecar
        try:
            return {"files": await sidecar.failing_writes.begin(sidecar.pid)}
        except StraceError as e:
            raise CommandError(str(e).rstrip(".")) from e

    async def _elect(self, command: dict[str, Any]) -> Answer:
        controller = self._controller("holds elections")
        partitions = self._sidecar.config.partitions
        partition, how, target = partition_of(command, partitions), command.get("how"), command.get("target", -1)
        if how not in HOW:
            raise CommandError(f"how must be one of {', '.join(HOW)}, not {how!r}")
        if how != "preferred" and type(target) is not int:
            raise CommandError(f"target must be a replica of {partition}, not {target!r}")
        return await controller.elect(partition, how, target)

    async def _create_topics(self, command: dict[str, Any]) -> Answer:
        controller = self._controller("creates topics")
        partitions, config = command.get("partitions"), command.get("config", {})
        if not isinstance(partitions, dict) or not partitions or not all(map(_are_replicas, partitions.values())):
            raise CommandError("partitions must name the replicas of each partition, such as {'t-0': [1, 2, 3]}")
        if not isinstance(config, dict):
            raise CommandError("config must be an object of topic settings")
        return await controller.create_topics(partitions, config)

    async def _delete_topics(self, command: dict[str, Any]) -> Answer:
        return await self._controller("deletes topics").delete_topics(_topics(command))

    async def _reassign(self, command: dict[str, Any]) -> Answer:
        controller = self._controller("reassigns replicas")
        replicas, wait = command.get("replicas"), command.get("wait", True)
        if replicas != [] and not _are_replicas(replicas):
            raise CommandError("replicas must be a list of brokers")
        if type(wait) is not bool:
            raise CommandError("wait must be true or false")
        partition = partition_of(command, self._sidecar.config.partitions)
        return await controller.reassign(partition, list(replicas or ()), wait=wait)

    async def _min_isr(self, command: dict[str, Any]) -> Answer:
        controller, min_isr = self._controller("sets what holds for topics"), command.get("min_isr")
        topics = _topics(command)
        if type(min_isr) is not int or min_isr < 1:
            raise CommandError("min_isr must be a whole number, at least 1")
        return await controller.set_min_isr(topics, min_isr)

    async def _unclean(self, command: dict[str, Any]) -> Answer:
        controller, on = self._controller("sets what holds for topics"), command.get("on")
        topics = _topics(command)
        if type(on) is not bool:
            raise CommandError("on must be true or false")
        return await controller.allow_unclean(topics, on=on)

    async def _elr(self, command: dict[str, Any]) -> Answer:
        controller, on = self._controller("switches ELR"), command.get("on")
        if type(on) is not bool:
            raise CommandError("on must be true or false")
        return await controller.switch_elr(on=on)

    async def _voter(self, command: dict[str, Any]) -> Answer:
        controller, node = self._controller("changes voters"), command.get("node")
        if type(node) is not int or node < 0:
            raise CommandError("node must be a controller's number")
        match command.get("listener"):
            case None:
                listener = None
            case [str(name), str(host), int(port)]:
                listener = (name, host, port)
            case other:
                raise CommandError(f"listener must be a name, a host and a port, not {other!r}")
        try:
            directory = directory_id(command.get("directory"))
        except ValueError:
            raise CommandError("directory must be the id of a directory, as meta.properties has it") from None
        return await controller.change_voter(node, directory, listener)

    async def _move_log(self, command: dict[str, Any]) -> Answer:
        sidecar = self._sidecar
        if sidecar.config.is_controller:
            raise CommandError("the controller has no log and no disk")
        name = partition_of(command, sidecar.config.partitions)
        to = sidecar.logs.other(name)
        if to is None:
            raise CommandError("the broker has one log directory, so that no log can be moved to another")
        await self._asked(sidecar.operations().move_log(name, str(to)))
        return {"to": to.name}

    async def _throttle_moves(self, command: dict[str, Any]) -> Answer:
        broker, rate = command.get("broker"), command.get("rate")
        if type(broker) is not int or broker < 1 or type(rate) is not int or rate < 0:
            raise CommandError("broker must be a broker, and rate bytes a second, or 0 for no throttle")
        await self._asked(self._sidecar.operations().throttle_moves(broker, rate))
        return {}

    async def _next_run(self, _command: dict[str, Any]) -> Answer:
        await next_run(self._sidecar)
        return {}

    async def _forgotten(self, _command: dict[str, Any]) -> Answer:
        await forgotten(self._sidecar)
        return {}

    @staticmethod
    async def _asked(operation: Awaitable[None]) -> None:
        from tidemark.nodes.sidecar.request_connection import (
            OperationError,  # loads a while, and most brokers do without
        )

        try:
            await operation
        except OperationError as e:
            raise CommandError(str(e)) from None

    def _controller(self, does: str) -> ClusterController:
        if self._sidecar.controller is None:
            raise CommandError(f"only the controller {does}")
        return self._sidecar.controller


def _topics(command: dict[str, Any]) -> list[str]:
    topics = command.get("topics")
    if not isinstance(topics, list) or not topics or not all(isinstance(name, str) for name in topics):
        raise CommandError("topics must be a list of names")
    return topics


def _are_replicas(found: object) -> bool:
    return isinstance(found, list) and bool(found) and all(type(node) is int and node > 0 for node in found)
