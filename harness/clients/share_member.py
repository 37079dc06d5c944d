"""A member of a share group (KIP-932), which writes down what it was given, and what came of its acknowledgements.

Ours and no library's: each poll is one request to one leader, so that nothing was acquired before the poll began, each
acknowledgement is one request as well, and the history says which broker answered. A request without an answer ends the session, as
a broken connection does: what it may have acquired is acquired by nobody then.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple
from uuid import UUID, uuid4

from tidemark.harness.clients.client import Outcome
from tidemark.harness.clients.journal import Journal
from tidemark.harness.clients.outcomes import FAIL, INFO, OK
from tidemark.harness.clients.share_connection import ACCEPT, GAP, LEAVES, Delivered, Layout, ShareConnection
from tidemark.harness.clients.wire_client import Address, NoAnswerError, RefusedError

GROUP = "g"
WAIT_MS = 100
REFUSED_ALL = frozenset(
    {"INVALID_RECORD_STATE", "INVALID_REQUEST", "INVALID_SHARE_SESSION_EPOCH", "SHARE_SESSION_NOT_FOUND"}
)
"""With one of these a broker has done nothing of a request (``SharePartition.acknowledge``, ``SharePartitionManager``)."""
REJOINS = frozenset({"UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"})
ERROR_PAUSE_S = 0.1


def kafka_uuid(of: UUID) -> str:
    """As Kafka writes it, whose brokers of 4.1 take no other for a member's id.

    >>> kafka_uuid(UUID(int=7))
    'AAAAAAAAAAAAAAAAAAAABw'
    """
    return urlsafe_b64encode(of.bytes).decode().rstrip("=")


class Held(NamedTuple):
    """What a poll gave of one partition; it is the member's until it is acknowledged, or its lock has expired."""

    partition: int
    records: tuple[Delivered, ...]


@dataclass
class _Session:
    """With one leader; `epoch` is that of the next request."""

    broker: int
    connection: ShareConnection
    epoch: int = 0


@dataclass
class _Membership:
    """As the coordinator sees it."""

    coordinator: ShareConnection | None = None
    epoch: int = 0
    due: float = 0.0
    assigned: tuple[int, ...] = ()


@dataclass
class ShareMember:
    """One member.

    Attributes:
        process: its name in the history; one whose acknowledgement has no answer goes on as another.
        topic: what it subscribes to.
        addresses: of all brokers.
        patience_s: for a connection, and for each answer; who leads is asked anew as often, at least.
        journal: takes its operations.
        noise: draws whom it asks.
        final: whether it reads what is left when everything is over.
        trouble: the last error that it met.
    """

    process: str
    topic: str
    addresses: Sequence[Address]
    patience_s: float
    journal: Journal
    noise: Random
    final: bool = False
    trouble: str = ""
    _id: str = field(default_factory=lambda: kafka_uuid(uuid4()))
    _lives: int = 0
    _layout: Layout | None = None
    _layout_due: float = 0.0
    _turn: int = 0
    _of_group: _Membership = field(default_factory=_Membership)
    _sessions: dict[int, _Session] = field(default_factory=dict)

    @property
    def assigned(self) -> tuple[int, ...]:
        """Its partitions."""
        return self._of_group.assigned

    def keep_up(self) -> bool:
        """Let the coordinator hear of it, if that is due; whether it is a member."""
        of = self._of_group
        if of.epoch and time.monotonic() < of.due:
            return True
        try:
            if of.coordinator is None:
                with ShareConnection(self._any(), self.patience_s) as asked:
                    of.coordinator = ShareConnection(asked.coordinator_of(GROUP), self.patience_s)
            answer = of.coordinator.heartbeat(GROUP, self._id, of.epoch, self.topic)
        except (NoAnswerError, RefusedError) as error:
            self.trouble = str(error)
            if of.coordinator is not None:
                of.coordinator.close()
            rejoins = isinstance(error, RefusedError) and error.name in REJOINS
            self._of_group = _Membership(None, 0 if rejoins else of.epoch, 0.0, of.assigned)
            return False
        of.epoch, of.due = answer.epoch, time.monotonic() + answer.interval_s / 2
        if answer.assigned is not None:
            of.assigned = answer.assigned
        return True

    def poll(self, most: int) -> tuple[list[Held], set[int]]:
        """Ask one leader, as one operation: what it gave, and the partitions of which it said that this was all."""
        layout = self._known()
        led: dict[int, list[int]] = {}
        for partition in self.assigned if layout else ():
            if layout and partition in layout.leaders:
                led.setdefault(layout.leaders[partition][0], []).append(partition)
        if not layout or not led:
            time.sleep(ERROR_PAUSE_S)
            return [], set()
        self._turn += 1
        broker = sorted(led)[self._turn % len(led)]
        session = self._session(broker, layout.leaders[led[broker][0]][1])
        if session is None:
            return [], set()
        self._add("invoke", "share-fetch", broker, {})
        try:
            fetched = session.connection.share_fetch(
                (GROUP, self._id), session.epoch, (layout.topic_id, led[broker]), most, WAIT_MS
            )
        except RefusedError as error:
            self._not_fetched(broker, FAIL if error.name in REFUSED_ALL else INFO, error.name)
            return [], set()
        except NoAnswerError as error:
            self._not_fetched(broker, INFO, str(error))
            return [], set()
        session.epoch += 1
        wrong = {one: found.error.name.upper() for one, found in fetched.items() if found.error.value}
        held = [Held(one, found.records) for one, found in sorted(fetched.items()) if found.records]
        given = {self._key(one.partition): [(o, v, n) for o, v, n in one.records] for one in held}
        if wrong and not given:
            self._add(FAIL, "share-fetch", broker, {}, next(iter(wrong.values())))
        else:
            self._add(OK, "share-fetch", broker, given)
            self.journal.counters.add("polled", sum(map(len, given.values())))
        if wrong:
            self.trouble = next(iter(wrong.values()))
            self._lose(broker)
            time.sleep(ERROR_PAUSE_S)
        return held, set(led[broker]) - wrong.keys()

    def _not_fetched(self, broker: int, how: str, error: str) -> None:
        self.trouble = error
        self._add(how, "share-fetch", broker, {}, error)
        self._lives += how == INFO
        self._lose(broker)

    def acknowledge(self, held: Held, decide: Callable[[Delivered], str]) -> Outcome | None:
        """Say what became of records, as one operation; None if the session with who gave them is over."""
        layout = self._layout
        session = None if layout is None else self._sessions.get(self._leader(held.partition))
        if session is None or layout is None:
            return None
        decisions = [(one.offset, GAP if one.value is None else decide(one)) for one in held.records]
        told = {self._key(held.partition): decisions}
        self._add("invoke", "share-acknowledge", session.broker, told)
        try:
            session.connection.share_acknowledge(
                (GROUP, self._id), session.epoch, (layout.topic_id, held.partition), decisions
            )
        except RefusedError as error:
            outcome = Outcome("fail" if error.name in REFUSED_ALL else "info", error=error.name)
        except NoAnswerError as error:
            outcome = Outcome("info", error=str(error))
        else:
            outcome = Outcome("ok")
        self._add(outcome.type, "share-acknowledge", session.broker, told, outcome.error)
        session.epoch += 1
        self._lives += outcome.type == INFO
        if outcome.type != OK and outcome.error != "INVALID_RECORD_STATE":
            self._lose(session.broker)
        return outcome

    def accept_all(self, held: Sequence[Held]) -> None:
        """Acknowledge everything as done."""
        for one in held:
            self.acknowledge(one, lambda _: ACCEPT)

    def forget(self, held: Sequence[Held]) -> None:
        """Have leaders drop the partitions of what it holds from its sessions, as Kafka's client does when another has them:
        the records are its own until the locks are over, and are not given back when it goes.
        """
        layout = self._layout
        for one in held:
            session = self._sessions.get(self._leader(one.partition))
            if session is None or layout is None:
                continue
            try:
                session.connection.share_fetch(
                    (GROUP, self._id), session.epoch, (layout.topic_id, ()), 0, 0, (one.partition,)
                )
            except (NoAnswerError, RefusedError) as error:
                self.trouble = str(error)
                self._lose(session.broker)
            else:
                session.epoch += 1

    def walk_away(self) -> None:
        """Break off all connections to leaders, with whatever is held."""
        for broker in list(self._sessions):
            self._lose(broker)

    def leave(self) -> None:
        """End everything; whoever does not get through to the coordinator is missed by it in time."""
        self.walk_away()
        of, self._of_group = self._of_group, _Membership()
        if of.coordinator is not None:
            with suppress(NoAnswerError, RefusedError):
                of.coordinator.heartbeat(GROUP, self._id, LEAVES, self.topic)
            of.coordinator.close()

    def _known(self) -> Layout | None:
        if self._layout is None or time.monotonic() >= self._layout_due:
            try:
                with ShareConnection(self._any(), self.patience_s) as asked:
                    self._layout = asked.layout(self.topic)
                self._layout_due = time.monotonic() + self.patience_s
            except (NoAnswerError, RefusedError) as error:
                self.trouble = str(error)
        return self._layout

    def _leader(self, partition: int) -> int:
        return self._layout.leaders[partition][0] if self._layout and partition in self._layout.leaders else -1

    def _session(self, broker: int, address: Address) -> _Session | None:
        """With a broker that has answered before it is asked for records: a connection alone may be one to nobody."""
        if broker not in self._sessions:
            connection = None
            try:
                connection = ShareConnection(address, self.patience_s)
                connection.layout(self.topic)
            except (NoAnswerError, RefusedError) as error:
                if connection is not None:
                    connection.close()
                self.trouble, self._layout = str(error), None
                time.sleep(ERROR_PAUSE_S)
                return None
            self._sessions[broker] = _Session(broker, connection)
        return self._sessions[broker]

    def _lose(self, broker: int) -> None:
        """The session is over, and who leads may be another."""
        session = self._sessions.pop(broker, None)
        if session is not None:
            session.connection.close()
        self._layout = None

    def _any(self) -> Address:
        return self.addresses[int(self.noise.random() * len(self.addresses))]

    def _key(self, partition: int) -> str:
        return f"{self.topic}-{partition}"

    def _add(
        self, kind: str, f: str, broker: int, what: Mapping[str, Sequence[object]], error: str | None = None
    ) -> None:
        process = f"{self.process}.{self._lives}" if self._lives else self.process
        self.journal.add(process, kind, f, ((f, broker, what),), error, final=self.final)
