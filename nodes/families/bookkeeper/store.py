"""The metadata store: ZooKeeper's part, as one process that is always right and may be out of reach (node 0).

It has the ledgers of each partition as one register with compare-and-set, a lock with an owner, sessions, and the bookies'
cookies. What ZooKeeper's own replication may do wrong is not looked at. The lock alone would make nothing safe: who has lost it may
not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import Send, SetTimer
from tidemark.nodes.core.events import ControllerElected, ControllerFailed, Started, TimerFired
from tidemark.nodes.core.messages import CONTROLLER, Heartbeat
from tidemark.nodes.families.bookkeeper.messages import (
    Acquire,
    BookieRegistered,
    Metadata,
    RegisterBookie,
    Update,
    Updated,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.families.bookkeeper.ledger import Ledger
    from tidemark.nodes.families.bookkeeper.variant import BookKeeperVariant

NOBODY = -1


@dataclass(slots=True)
class _Partition:
    """Attributes as in :class:`Metadata`; ``author`` made the last update, ``cookies`` are node → (incarnation, limbo)."""

    owner: int = NOBODY
    number: int = 0
    version: int = 0
    ledgers: tuple[Ledger, ...] = ()
    stamp: int = 1
    author: tuple[int, int] = (0, 0)
    cookies: dict[int, tuple[int, int]] = field(default_factory=dict)


class MetadataStore:
    """The state machine of node 0."""

    def __init__(
        self,
        nodes: Sequence[int],
        assignment: Mapping[str, tuple[int, ...]],
        variant: BookKeeperVariant,
        settings: Settings,
    ) -> None:
        """Nobody has a session yet."""
        self._nodes = nodes
        self._variant = variant
        self._settings = settings
        self._partitions = {name: _Partition() for name in assignment}
        self._sessions: dict[int, int] = {}
        self._up = True
        self.out: list[Action] = []
        self._steps: dict[type, Callable[[int, Any], None]] = {
            Heartbeat: self._on_heartbeat,
            Acquire: self._on_acquire,
            Update: self._on_update,
            RegisterBookie: self._on_register,
        }

    def step(self, now: int, event: Any) -> list[Action]:  # noqa: ANN401 (a message or one of tidemark.nodes.core.events)
        """Take one event.

        Raises:
            KeyError: it is none of a store's.
        """
        self.out = []
        kind = type(event)
        if kind is TimerFired or kind is Started:
            if self._up:
                self._expire(now)
            self.out.append(SetTimer(self._settings.tick_us, TimerFired("tick")))
        elif kind is ControllerFailed:
            self._up = False
        elif kind is ControllerElected:
            self._up = True
            self._sessions = dict.fromkeys(self._sessions, now)
        elif self._up:
            self._steps[kind](now, event)
        return self.out

    def _expire(self, now: int) -> None:
        gone = [node for node, heard in self._sessions.items() if now - heard > self._settings.session_us]
        for node in gone:
            del self._sessions[node]
            for partition in self._partitions.values():
                if partition.owner == node:
                    partition.owner = NOBODY
        if gone:
            self._tell_all()

    def _on_heartbeat(self, now: int, m: Heartbeat) -> None:
        new = m.source not in self._sessions
        self._sessions[m.source] = now
        if new:
            self._tell_all()
            return
        for name, stamp in m.known.items():
            if self._partitions[name].stamp != stamp:
                self._tell(name, m.source)

    def _on_acquire(self, now: int, m: Acquire) -> None:
        partition = self._partitions[m.partition]
        if (partition.owner == NOBODY and m.number == partition.number) or m.by_force:
            returns = m.source not in self._sessions
            self._sessions[m.source] = now
            partition.owner = m.source
            partition.number += 1
            if returns:
                self._tell_all()
            else:
                self._changed(m.partition)

    def _on_update(self, now: int, m: Update) -> None:
        partition = self._partitions[m.partition]
        author = (m.source, m.correlation)
        done = author == partition.author
        if not done and m.version == partition.version:
            partition.version += 1
            self._tell_ensemble(now, m.partition, partition.ledgers, m.ledgers)
            partition.ledgers, partition.author = m.ledgers, author
            done = True
            self._changed(m.partition)
        answer = Updated(CONTROLLER, m.partition, m.correlation, done, partition.version, partition.ledgers)
        self.out.append(Send(m.source, answer))

    def _tell_ensemble(self, now: int, name: str, before: Sequence[Ledger], ledgers: Sequence[Ledger]) -> None:
        last = ledgers[-1]
        known = before[-1].fragments if before and before[-1].number == last.number else ()
        for first, ensemble in ((one.first, one.ensemble) for one in last.fragments if one not in known):
            self.out.append((now, CONTROLLER, "ensemble", name, last.number, first, ensemble))

    def _on_register(self, _now: int, m: RegisterBookie) -> None:
        """A bookie that has been here before has lost what it had of all ledgers so far."""
        partition = self._partitions[m.partition]
        before = partition.cookies.get(m.source)
        if before is None or before[0] != m.incarnation:
            limbo = len(partition.ledgers) if before is not None and self._variant.cookies else 0
            before = partition.cookies[m.source] = (m.incarnation, limbo)
        self.out.append(Send(m.source, BookieRegistered(CONTROLLER, m.partition, m.incarnation, before[1])))

    def _tell_all(self) -> None:
        for name in self._partitions:
            self._changed(name)

    def _changed(self, name: str) -> None:
        self._partitions[name].stamp += 1
        for node in self._nodes:
            self._tell(name, node)

    def _tell(self, name: str, node: int) -> None:
        it = self._partitions[name]
        live = tuple(sorted(self._sessions))
        told = Metadata(CONTROLLER, name, it.stamp, it.owner, it.number, it.version, it.ledgers, live)
        self.out.append(Send(node, told))
