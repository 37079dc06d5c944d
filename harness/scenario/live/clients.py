"""The clients of a scenario in real time: one producer per batch, one client per deletion, a consumer that reads from the start.

They record the same operations as `tidemark.harness.scenario.simulated.clients`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from threading import Thread

from tidemark.checkers.history.history import Op
from tidemark.harness.clients.wire_client import Address, BrokerConnection, NoAnswerError, RefusedError
from tidemark.harness.machines.machine import Machine
from tidemark.nodes.core.messages import (
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER,
    OFFSET_OUT_OF_RANGE,
    REQUEST_TIMED_OUT,
    UNSUPPORTED_VERSION,
)
from tidemark.nodes.formats.record_batch import build

CONNECT_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 10.0
"""For reads, which no broker lets wait."""

Clock = Callable[[], int]
"""µs since the run began."""


NOTHING_DELETED = frozenset({OFFSET_OUT_OF_RANGE, UNSUPPORTED_VERSION})
"""Errors of a deletion that was asked for once which mean: the log start did not move."""

REFUSALS = frozenset({NOT_LEADER, NOT_ENOUGH_REPLICAS})
"""Errors of Tidemark's own nodes that mean: nothing was written."""


class OneRequest:
    """Something that is asked of one broker once.

    Attributes:
        state: ``sent``, or what came of it. Without an answer, for whatever reason, it stays ``sent``.
    """

    def __init__(self, clock: Clock, ops: list[Op], process: str) -> None:
        self.state = "sent"
        self._clock = clock
        self._ops = ops
        self._process = process
        self._is_answered = True
        self._connection: BrokerConnection | None = None
        self._thread: Thread | None = None

    def send(self, address: Address, timeout_us: int) -> None:
        """Ask this broker, whether or not it leads, and wait for the answer in a thread.

        Args:
            address: the broker's.
            timeout_us: how long it may wait for its followers.
        """
        self._note("invoke")
        try:
            self._connection = connection = BrokerConnection(address, CONNECT_TIMEOUT_S)
        except NoAnswerError:
            return
        connection.wait_for_ever()
        if not self._is_answered:
            self._wait(connection, timeout_us // 1_000)
            return
        self._thread = Thread(
            target=self._wait, args=(connection, timeout_us // 1_000), name=self._process, daemon=True
        )
        self._thread.start()

    def _wait(self, connection: BrokerConnection, timeout_ms: int) -> None:
        with suppress(NoAnswerError):
            self.state = self._asked(connection, timeout_ms)

    def _asked(self, connection: BrokerConnection, timeout_ms: int) -> str:
        raise NotImplementedError

    def give_up(self) -> None:
        """If no answer came, the outcome stays unknown."""
        if self._connection is not None:
            self._connection.close()
        if self._thread is not None:
            self._thread.join()
        if self.state == "sent":
            self.state = REQUEST_TIMED_OUT
            self._note("info", REQUEST_TIMED_OUT)

    def _note(self, kind: str, error: str | None = None) -> None:
        raise NotImplementedError


class BatchSender(OneRequest):
    """Sends one batch once, and is honest about what it knows of it: an error proves that nothing was written only if it is among
    the `certain` ones.

    Attributes:
        state: ``sent``, ``acked``, or the error's name.
    """

    def __init__(
        self,
        clock: Clock,
        ops: list[Op],
        process: str,
        key: str,
        values: tuple[int, ...],
        acks: str,
        certain: frozenset[str] = REFUSALS,
    ) -> None:
        super().__init__(clock, ops, process)
        self.values = values
        self._key = key
        self._acks = acks
        self._certain = certain
        self._is_answered = acks != "0"
        self._placed: tuple[object, ...] = tuple(("send", key, value) for value in values)

    def _asked(self, connection: BrokerConnection, timeout_ms: int) -> str:
        try:
            base = connection.produce(self._key, build(self.values), self._acks, timeout_ms)
        except RefusedError as error:
            self._note("fail" if error.name in self._certain else "info", error.name)
            return error.name
        self._placed = tuple(
            ("send", self._key, (None if base is None else base + place, value))
            for place, value in enumerate(self.values)
        )
        self._note("ok")
        return "acked"

    def _note(self, kind: str, error: str | None = None) -> None:
        self._ops.append(Op(self._clock(), self._process, kind, "send", self._placed, error, self._acks))


class Deleter(OneRequest):
    """Asks one broker once to delete what lies before an offset.

    Attributes:
        state: ``sent``, ``ok``, or the error's name.
    """

    def __init__(self, clock: Clock, ops: list[Op], process: str, key: str, offset: int) -> None:
        super().__init__(clock, ops, process)
        self._key = key
        self._offset = offset

    def _asked(self, connection: BrokerConnection, timeout_ms: int) -> str:
        try:
            connection.delete_records(self._key, self._offset, timeout_ms)
        except RefusedError as error:
            self._note("fail" if error.name in NOTHING_DELETED else "info", error.name)
            return error.name
        self._note("ok")
        return "ok"

    def _note(self, kind: str, error: str | None = None) -> None:
        value = (("delete", self._key, self._offset),)
        self._ops.append(Op(self._clock(), self._process, kind, "delete", value, error))


class Reader:
    """Reads a partition from offset 0, or else from the log start, up to its high watermark."""

    def __init__(self, clock: Clock, ops: list[Op], process: str, key: str, *, final: bool = False) -> None:
        self._clock = clock
        self._ops = ops
        self._process = process
        self._key = key
        self._final = final

    def read(self, address: Address) -> tuple[int, ...]:
        """The values, from this broker.

        Raises:
            RefusedError: it does not lead. NoAnswerError: see there.
        """
        records: list[tuple[int, int]] = []
        self._note("invoke", {}, None)
        try:
            with BrokerConnection(address, ANSWER_TIMEOUT_S) as connection:
                begin = 0
                while True:
                    try:
                        fetched = connection.fetch(self._key, records[-1][0] + 1 if records else begin)
                    except RefusedError as error:
                        start = connection.log_start(self._key) if error.name == OFFSET_OUT_OF_RANGE else 0
                        if records or start <= begin:
                            raise
                        begin = start
                        continue
                    records += fetched.records
                    if not fetched.records or records[-1][0] + 1 >= fetched.hw:
                        break
        except RefusedError as error:
            self._note("fail", {}, error.name)
            raise
        except NoAnswerError:
            self._note("fail", {}, REQUEST_TIMED_OUT)
            raise
        self._note("ok", {self._key: records}, None)
        return tuple(value for _, value in records)

    def _note(self, kind: str, answer: dict[str, list[tuple[int, int]]], error: str | None) -> None:
        self._ops.append(Op(self._clock(), self._process, kind, "poll", (("poll", answer),), error, None, self._final))


class Clients:
    """All clients of a scenario; each is a process of its own in the history. A broker may wait ``patience_us`` for others."""

    def __init__(
        self, machines: Mapping[int, Machine], clock: Clock, ops: list[Op], key: str, patience_us: int
    ) -> None:
        self._machines = machines
        self._clock = clock
        self._ops = ops
        self._key = key
        self._patience_us = patience_us
        self._numbers: Counter[str] = Counter()
        self._deleters: list[Deleter] = []
        self._final = Reader(clock, ops, "final", key, final=True)

    def address(self, broker: int) -> Address:
        """Of a broker, for clients on this computer."""
        machine = self._machines[broker]
        return machine.host_address, machine.host_port

    def _process(self, letter: str) -> str:
        self._numbers[letter] += 1
        return f"{letter}{self._numbers[letter]}"

    def sender(self, values: tuple[int, ...], acks: str, certain: frozenset[str]) -> BatchSender:
        """Of one batch, which is not sent yet; ``certain`` as `BatchSender` has it."""
        return BatchSender(self._clock, self._ops, self._process("p"), self._key, values, acks, certain)

    def send(self, sender: BatchSender, broker: int) -> None:
        """Send its batch, without waiting."""
        sender.send(self.address(broker), self._patience_us)

    def delete(self, offset: int, broker: int) -> Deleter:
        """Ask a broker to delete what lies before an offset, without waiting."""
        deleter = Deleter(self._clock, self._ops, self._process("d"), self._key, offset)
        self._deleters.append(deleter)
        deleter.send(self.address(broker), self._patience_us)
        return deleter

    def reader(self) -> Reader:
        """A new consumer."""
        return Reader(self._clock, self._ops, self._process("c"), self._key)

    def read_back(self, broker: int) -> None:
        """The final read; see :meth:`Reader.read`."""
        self._final.read(self.address(broker))

    def is_served(self, broker: int) -> bool:
        """Whether a broker serves the partition."""
        try:
            with BrokerConnection(self.address(broker), ANSWER_TIMEOUT_S) as connection:
                connection.fetch(self._key, 0)
        except (RefusedError, NoAnswerError):
            return False
        return True

    def give_up(self, senders: Iterable[object]) -> None:
        """What has no answer yet stays unknown: of these senders, and of every deletion."""
        for one in (*dict.fromkeys(senders), *self._deleters):
            if isinstance(one, BatchSender | Deleter):
                one.give_up()
