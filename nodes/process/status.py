"""What a node says about itself through its admin port."""

from __future__ import annotations

import os
import time
from typing import Any

from tidemark.nodes.admin.controller_status import partitions_told, sessions_told
from tidemark.nodes.core.replica import Replica
from tidemark.nodes.families.voting.member import Member
from tidemark.nodes.process.controller_driver import ControllerDriver
from tidemark.nodes.process.driver import BrokerDriver
from tidemark.nodes.process.log_driver import LogDriver
from tidemark.nodes.process.node_driver import NodeDriver
from tidemark.nodes.process.voting_driver import VotingDriver


def status(driver: NodeDriver) -> dict[str, Any]:
    """The node's state, as plain values. ``mono_us`` and ``wall_us`` are read together."""
    found: dict[str, Any] = {
        "node": driver.config.node,
        "incarnation": driver.config.incarnation,
        "mono_us": driver.now_us(),
        "wall_us": time.time_ns() // 1000,
        "pid": os.getpid(),
        "transport": driver.faults.rules.keys,
    }
    if isinstance(driver, BrokerDriver):
        replicas = driver.core.replicas
        found["broker_epoch"] = driver.core.broker_epoch
        found["partitions"] = {name: _replica(driver, replica) for name, replica in replicas.items()}
        found["slow_disk_us"] = driver.slow_disk_us
    elif isinstance(driver, VotingDriver):
        found["partitions"] = {name: _member(driver, member) for name, member in driver.core.replicas.items()}
        found["slow_disk_us"] = driver.slow_disk_us
    elif isinstance(driver, ControllerDriver):
        found["partitions"] = partitions_told(driver.core.partitions)
        found["sessions"] = sessions_told(driver.core.sessions)
    return found


def _replica(driver: BrokerDriver, replica: Replica) -> dict[str, Any]:
    leading = replica.leading
    role = "leader" if leading is not None else "follower" if replica.following is not None else "no leader"
    return {
        "role": role,
        "leader": replica.leader,
        "leader_epoch": replica.leader_epoch,
        "partition_epoch": replica.partition_epoch,
        "start": replica.log.start,
        "leo": replica.leo,
        "hw": replica.hw,
        "isr": leading.isr if leading is not None else [],
        "maximal": leading.maximal if leading is not None else [],
        "epochs": replica.cache.entries(),
        "checkpointed_hw": driver.checkpointed.get(replica.name, 0),
        "checkpointed_start": max(driver.log_starts.get(replica.name, 0), replica.log.base),
        "refused": driver.refused.get(replica.name, ""),
    }


def _member(driver: VotingDriver, member: Member) -> dict[str, Any]:
    """The same of a replica of another family, and what its family adds; whoever leads calls all replicas in sync."""
    role = "leader" if member.leading else "follower" if member.following else "no leader"
    return {
        "role": role,
        "leader": member.leader,
        "leader_epoch": member.leader_epoch,
        "partition_epoch": 0,
        "voted_for": member.voted_for,
        "start": member.log.start,
        "leo": member.log.leo,
        "hw": member.hw,
        "isr": getattr(member, "members", driver.partitions[member.name]) if member.leading else [],
        "maximal": [],
        "epochs": member.cache.entries(),
        "checkpointed_hw": driver.checkpointed.get(member.name, 0),
        "checkpointed_start": member.log.base if member.log.batches else 0,
        "refused": driver.refused.get(member.name, ""),
        **member.told(),
    }


def batches(driver: LogDriver, partition: str, *, values: bool = False) -> list[tuple[int, int, object]]:
    """The log in memory: base offset, leader epoch, and record count or values of each batch. Empty if there is no such replica."""
    replica = driver.core.replicas.get(partition)
    found = () if replica is None else replica.log.batches
    return [(b.base, b.epoch, list(b.values) if values else len(b.values)) for b in found]
