"""Reads the lines of one life of a broker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tidemark.nodes.sidecar.line_events import Event, Fatal, Refused
from tidemark.nodes.sidecar.lines import (
    fetch_lines,
    isr_lines,
    life_lines,
    log_lines,
    quorum_lines,
    role_lines,
    truncation_lines,
)
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplicas
from tidemark.nodes.sidecar.lines.stamp import Head, split

Read: TypeAlias = Callable[[KnownReplicas, Head], list[Event]]

_READERS: dict[str, Read] = {
    "kafka.log.Log": log_lines.read,
    "kafka.log.UnifiedLog": log_lines.read,
    "org.apache.kafka.storage.internals.log.UnifiedLog": log_lines.read,
    "kafka.log.LogManager": log_lines.read_manager,
    "org.apache.kafka.clients.NetworkClient": fetch_lines.read,
    "kafka.server.ReplicaFetcherThread": truncation_lines.read,
    "state.change.logger": role_lines.read,
    "kafka.cluster.Partition": isr_lines.read,
    "kafka.server.ZkIsrManager": isr_lines.read_zookeeper,
}
_OF_QUORUM: dict[str, Read] = {
    "org.apache.kafka.raft.FollowerState": quorum_lines.read,
    "org.apache.kafka.raft.LeaderState": quorum_lines.read,
    "org.apache.kafka.raft.QuorumState": quorum_lines.read,
    "org.apache.kafka.raft.internals.KRaftControlRecordStateMachine": quorum_lines.read_voters,
}


class LineReader:
    """Turns the lines of one process, in their order, into events.

    A message that fails for a reason which the next line gives (the first line of a stack trace) is told with that line.

    Args:
        quorum: whether to tell of a quorum of controllers, too.
    """

    def __init__(self, *, quorum: bool = False) -> None:
        """No line was read yet."""
        self._readers = _READERS | _OF_QUORUM if quorum else _READERS
        self._replicas = KnownReplicas()
        self._life = life_lines.Life()
        self._held: Fatal | Refused | None = None

    def read(self, line: str) -> list[Event]:
        """The events of one whole line, without its end; mostly none."""
        head = split(line)
        if head is None:
            held = self._release(line) if self._held is not None else []
            return [*held, *self._life.read_jvm(line)]
        reader = self._readers.get(head.logger)
        if reader is None and head.logger not in life_lines.LOGGERS and head.level != "ERROR":
            return self._release("") if self._held is not None else []
        found = self._release("") if self._held is not None else []
        if reader is not None:
            found += reader(self._replicas, head)
        found += self._life.read(head)
        if found and head.level in {"ERROR", "WARN"} and isinstance(found[-1], Fatal | Refused):
            self._held = found[-1]
            del found[-1]
        return found

    def end(self) -> list[Event]:
        """No line will follow: what was held back."""
        return self._release("")

    def _release(self, cause: str) -> list[Event]:
        """Give what is held, with its cause if ``cause`` looks like an exception's first line."""
        held, self._held = self._held, None
        if held is None:
            return []
        cause = cause.strip()
        if cause and not cause.startswith(("at ", "Caused by", "...")):
            held = replace(held, words=f"{held.words.rstrip('.')}: {cause}")
        return [held]
