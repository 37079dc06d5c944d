"""The admin port of a node of ours: what its commands do. The port itself is :mod:`tidemark.nodes.admin.port`.

================  =========================  ===============================================================================
do                further entries            what happens
================  =========================  ===============================================================================
status                                       the node's state
log               partition, values          batches of the log: base offset, leader epoch, record count (brokers); with ``values``
                                             true, the records' values in place of their count
elect             partition, how, target     an operator's election (controller): preferred, forced or unclean
stand             partition                  stand for election at once (servers of families without a controller)
reassign          partition, replicas        an operator's reassignment (controller); ``refused`` says why there is none. Where a
                                             group changes its own members: who they are to be, which a leader takes notice of
unclean           on                         an operator allows unclean elections, or forbids them (controller)
controller        there                      the controller fails (false), or is replaced by another (true)
transport         key, rules                 faults on outgoing messages (:mod:`tidemark.nodes.admin.message_rules`)
transport-clear   key                        end one; ``found`` says whether it was in force
slow-disk         delay_us                   every append and sync first takes that long (brokers); 0 ends it
retention         partition, batches         the oldest batches of the log are due to go, as if by their age (brokers)
watch             events                     from now on trace entries come as ``{"trace": […]}``; a list of events, or "*"
================  =========================  ===============================================================================
"""

from __future__ import annotations

from typing import Any

from tidemark.nodes.admin.port import Answer, Command, CommandError, delay_of, key_of, partition_of, rules_of
from tidemark.nodes.core.events import ControllerElected, ControllerFailed, RetentionDue
from tidemark.nodes.core.messages import CONTROLLER, AllowUnclean, Elect, Reassign
from tidemark.nodes.families.voting.messages import StandForElection
from tidemark.nodes.process.controller_driver import ControllerDriver
from tidemark.nodes.process.log_driver import LogDriver
from tidemark.nodes.process.node_driver import NodeDriver
from tidemark.nodes.process.status import batches, status
from tidemark.nodes.process.store_driver import StoreDriver
from tidemark.nodes.process.voting_driver import VotingDriver

HOW = ("preferred", "forced", "unclean")


class AdminCommands:
    """The commands of one node."""

    def __init__(self, driver: NodeDriver) -> None:
        """Act on this driver."""
        self._driver = driver

    def by_name(self) -> dict[str, Command]:
        """What the port knows, beside ``watch``."""
        return {
            "status": self._status,
            "log": self._log,
            "elect": self._elect,
            "stand": self._stand,
            "reassign": self._reassign,
            "unclean": self._unclean,
            "controller": self._hand_over,
            "transport": self._put_faults,
            "transport-clear": self._clear_faults,
            "slow-disk": self._slow_disk,
            "retention": self._retention,
        }

    def _status(self, _command: dict[str, Any]) -> Answer:
        return status(self._driver)

    def _log(self, command: dict[str, Any]) -> Answer:
        values = command.get("values", False) is True
        return {"batches": batches(self._broker(), self._partition(command), values=values)}

    def _elect(self, command: dict[str, Any]) -> Answer:
        driver = self._driver
        if not isinstance(driver, ControllerDriver):
            raise CommandError("only the controller holds elections")
        partition, how, target = self._partition(command), command.get("how"), command.get("target", -1)
        if how not in HOW:
            raise CommandError(f"how must be one of {', '.join(HOW)}, not {how!r}")
        if how != "preferred" and target not in driver.core.partitions[partition].replicas:
            raise CommandError(f"target must be a replica of {partition}, not {target!r}")
        driver.deliver(Elect(CONTROLLER, partition, how, target))
        state = driver.core.partitions[partition]
        return {"leader": state.leader, "leader_epoch": state.leader_epoch}

    def _stand(self, command: dict[str, Any]) -> Answer:
        if not isinstance(self._driver, VotingDriver):
            raise CommandError("only a server of a family without a controller stands for election")
        partition = self._partition(command)
        if partition not in self._driver.core.replicas:
            raise CommandError(f"this server has no replica of {partition}")
        self._driver.deliver(StandForElection(partition))
        return {}

    def _reassign(self, command: dict[str, Any]) -> Answer:
        driver = self._driver
        changes = isinstance(driver, VotingDriver) and driver.config.family.changes_members
        if not (changes or isinstance(driver, ControllerDriver)):
            raise CommandError("only the controller reassigns replicas")
        partition, replicas = self._partition(command), command.get("replicas")
        if not isinstance(replicas, list) or not all(type(broker) is int for broker in replicas):
            raise CommandError("replicas must be a list of brokers")
        if not isinstance(driver, ControllerDriver):
            if not replicas or not set(replicas) <= set(driver.config.cluster.broker_ids()):
                raise CommandError("replicas must be brokers of the cluster")
            driver.deliver(Reassign(CONTROLLER, partition, tuple(replicas)))
            return {"refused": ""}
        asked = Reassign(CONTROLLER, partition, tuple(replicas))
        refused = driver.core.refuses(asked)
        if not refused:
            driver.deliver(asked)
        state = driver.core.partitions[partition]
        return {"refused": refused, "replicas": state.replicas, "adding": state.adding, "removing": state.removing}

    def _unclean(self, command: dict[str, Any]) -> Answer:
        on = command.get("on")
        if not isinstance(self._driver, ControllerDriver):
            raise CommandError("only the controller holds elections")
        if not isinstance(on, bool):
            raise CommandError(f"on must be true or false, not {on!r}")
        self._driver.deliver(AllowUnclean(CONTROLLER, on))
        return {}

    def _hand_over(self, command: dict[str, Any]) -> Answer:
        if not isinstance(self._driver, ControllerDriver | StoreDriver):
            raise CommandError("only the controller, or a metadata store, can be handed over")
        there = command.get("there")
        if not isinstance(there, bool):
            raise CommandError(f"there must be true or false, not {there!r}")
        self._driver.deliver(ControllerElected() if there else ControllerFailed())
        return {}

    def _put_faults(self, command: dict[str, Any]) -> Answer:
        self._driver.faults.rules.put(key_of(command), rules_of(command))
        self._driver.faults_changed()
        return {}

    def _clear_faults(self, command: dict[str, Any]) -> Answer:
        found = self._driver.faults.rules.clear(key_of(command))
        self._driver.faults_changed()
        return {"found": found}

    def _slow_disk(self, command: dict[str, Any]) -> Answer:
        self._broker().slow_disk_us = delay_of(command)
        return {}

    def _retention(self, command: dict[str, Any]) -> Answer:
        driver, partition, count = self._broker(), self._partition(command), command.get("batches")
        if isinstance(driver, VotingDriver):
            raise CommandError("there is no log start: nothing is deleted")
        if type(count) is not int or count < 0:
            raise CommandError(f"batches must be a whole number that is not negative, not {count!r}")
        driver.deliver(RetentionDue(partition, count))
        return {}

    def _broker(self) -> LogDriver:
        if not isinstance(self._driver, LogDriver):
            raise CommandError("the controller has no log and no disk")
        return self._driver

    def _partition(self, command: dict[str, Any]) -> str:
        return partition_of(command, self._driver.partitions)
