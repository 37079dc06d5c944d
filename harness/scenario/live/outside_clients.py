"""The clients of a scenario on a system that is seen from outside: the system's own, one for each batch, and one that reads.

They record the same operations as `tidemark.harness.scenario.live.clients`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from tidemark.checkers.history.history import Op
from tidemark.harness.clients.client import Client, Outcome, Patient
from tidemark.harness.clients.wire_client import Address, NoAnswerError
from tidemark.harness.scenario.target import CannotPlayError
from tidemark.nodes.core.messages import REQUEST_TIMED_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.scenario.live.clients import Clock

JOIN_S = 1.0
"""A client whose connection was closed may be in the middle of something."""


def _asked(client: Client, f: str, value: object) -> Outcome:
    """What comes of an operation; whatever is raised proves nothing."""
    try:
        return client.invoke(f, value)
    except Exception as error:  # noqa: BLE001 - somebody else's code
        return Outcome("info", error=f"{type(error).__name__}: {error}")


class OutsideSender:
    """Sends the records of one batch once, one after the other.

    Attributes:
        state: ``sent``, ``acked``, or what went wrong. values: the records.
    """

    def __init__(
        self, client: Client, clock: Clock, ops: list[Op], process: str, key: str, values: tuple[int, ...]
    ) -> None:
        self.state = "sent"
        self.values = values
        self._client = client
        self._clock, self._ops = clock, ops
        self._process, self._key = process, key
        self._thread: Thread | None = None
        self._given_up = False

    def send(self, address: Address) -> None:
        """Ask this node, and wait for the answers in a thread."""
        try:
            self._client.open(address)
        except Exception as error:  # noqa: BLE001 - somebody else's code
            self._note("invoke", self.values[0], None)
            self.state = f"not connected: {error}"
            self._note("fail", self.values[0], self.state)
            self._close()
            return
        self._thread = Thread(target=self._send_all, name=self._process, daemon=True)
        self._thread.start()

    def _send_all(self) -> None:
        try:
            self._send_each()
        finally:
            self._close()

    def _close(self) -> None:
        with suppress(Exception):
            self._client.close()

    def _send_each(self) -> None:
        for value in self.values:
            self._note("invoke", value, None)
            outcome = _asked(self._client, "send", (self._key, value))
            if self._given_up:
                return
            self._note(outcome.type, value, outcome.error, outcome.value if outcome.type == "ok" else None)
            if outcome.type != "ok":
                self.state = outcome.error or REQUEST_TIMED_OUT
                return
        self.state = "acked"

    def give_up(self) -> None:
        """If no answer came, the outcome stays unknown."""
        if self._thread is None or self.state != "sent":
            return
        self._given_up = True
        self._close()
        self._thread.join(JOIN_S)
        if self.state == "sent":
            self.state = REQUEST_TIMED_OUT
            under_way = next((op.value[0][2] for op in reversed(self._ops) if op.process == self._process), None)
            if under_way is not None:
                self._note("info", under_way, REQUEST_TIMED_OUT)

    def _note(self, kind: str, value: int, error: str | None, offset: int | None = None) -> None:
        sent = ("send", self._key, value if offset is None else (offset, value))
        self._ops.append(Op(self._clock(), self._process, kind, "send", (sent,), error, "all"))


class OutsideReader:
    """Reads a log from offset 0 until there is nothing more."""

    def __init__(
        self, make: Callable[[], Client], clock: Clock, ops: list[Op], process: str, key: str, *, final: bool = False
    ) -> None:
        self._make = make
        self._clock, self._ops = clock, ops
        self._process, self._key, self._final = process, key, final

    def read(self, address: Address) -> tuple[int, ...]:
        """The values, from this node.

        Raises:
            NoAnswerError: it could not be read to its end.
        """
        client = self._make()
        self._note("invoke", {}, None)
        try:
            client.open(address)
            records = self._all(client)
        except Exception as error:  # noqa: BLE001 - somebody else's code
            words = f"{type(error).__name__}: {error}"
            self._note("fail", {}, words)
            raise NoAnswerError(words) from None
        finally:
            with suppress(Exception):
                client.close()
        self._note("ok", {self._key: records}, None)
        return tuple(value for _, value in records)

    def _all(self, client: Client) -> list[tuple[int, int]]:
        records: list[tuple[int, int]] = []
        while True:
            outcome = client.invoke("poll", (self._key, records[-1][0] + 1 if records else 0))
            if outcome.type != "ok":
                raise NoAnswerError(outcome.error or "it did not say why")
            found = [(int(offset), int(value)) for offset, value in outcome.value or ()]
            if not found:
                return records
            records += found

    def _note(self, kind: str, answer: dict[str, list[tuple[int, int]]], error: str | None) -> None:
        self._ops.append(Op(self._clock(), self._process, kind, "poll", (("poll", answer),), error, None, self._final))


class OutsideClients:
    """All clients of a scenario; each is a process of its own in the history.

    Args:
        make: makes a client of the system. patience_us: how long one may wait for an answer, if it can be told.
    """

    def __init__(
        self,
        make: Callable[[], Client],
        machines: Mapping[int, Machine],
        clock: Clock,
        ops: list[Op],
        key: str,
        patience_us: int,
    ) -> None:
        self._make_one = make
        self._machines, self._clock, self._ops, self._key = machines, clock, ops, key
        self._patience_s = patience_us / 1e6
        self._numbers: Counter[str] = Counter()
        self._final = OutsideReader(make, clock, ops, "final", key, final=True)

    def address(self, broker: int) -> Address:
        """Of a node, for clients on this computer."""
        machine = self._machines[broker]
        return machine.host_address, machine.host_port

    def _process(self, letter: str) -> str:
        self._numbers[letter] += 1
        return f"{letter}{self._numbers[letter]}"

    def sender(self, values: tuple[int, ...], acks: str, _certain: frozenset[str] = frozenset()) -> OutsideSender:
        """Of one batch, which is not sent yet.

        Raises:
            CannotPlayError: the system's clients know one kind of acknowledgement.
        """
        if acks != "all":
            raise CannotPlayError(f"its clients know no acks {acks}, only what the system calls acknowledged")
        client = self._make_one()
        if isinstance(client, Patient):
            client.patience_s = self._patience_s
        return OutsideSender(client, self._clock, self._ops, self._process("p"), self._key, values)

    def send(self, sender: OutsideSender, broker: int) -> None:
        """Send its batch, without waiting."""
        sender.send(self.address(broker))

    def reader(self) -> OutsideReader:
        """A new consumer."""
        return OutsideReader(self._make_one, self._clock, self._ops, self._process("c"), self._key)

    def read_back(self, broker: int) -> None:
        """The final read; see :meth:`OutsideReader.read`."""
        self._final.read(self.address(broker))

    def give_up(self, senders: Iterable[object]) -> None:
        """What has no answer yet stays unknown."""
        for one in dict.fromkeys(senders):
            if isinstance(one, OutsideSender):
                one.give_up()
