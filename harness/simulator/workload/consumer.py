"""Consumers: one polls while the faults happen, one per partition reads everything from the start at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.history.history import Op
from tidemark.harness.simulator.workload.client import RETRY_US, Client, new_op
from tidemark.nodes.core.messages import OFFSET_OUT_OF_RANGE, REQUEST_TIMED_OUT, ConsumeRequest, ConsumeResponse

if TYPE_CHECKING:
    from tidemark.harness.simulator.simulation import Simulation

POLL_TIMEOUT_US = 400_000
_INVOKED: tuple[object, ...] = (("poll", {}),)


class Consumer(Client):
    """Polls its partitions in turn from the last position on; out of range it goes to the log start (``auto.offset.reset``)."""

    __slots__ = ("_anywhere", "_at", "_busy", "_final", "_key", "_poll_us", "_turn")

    def __init__(self, simulation: Simulation, client_id: int, name: str, poll_us: int) -> None:
        super().__init__(simulation, client_id, name)
        self._poll_us = poll_us
        self._at = dict.fromkeys(self.keys, 0)
        self._turn = 0
        self._key = self.keys[0]
        self._busy = False
        self._final = False
        self._anywhere = simulation.family.reads_anywhere

    def begin(self) -> None:
        """First poll after a pause."""
        self.timer("poll", int(self._poll_us * (0.5 + self._noise.random())))

    def _note(self, kind: str, f: str, value: tuple[object, ...], error: str | None = None) -> None:
        simulation = self.simulation
        simulation.ops.append(new_op(Op, (simulation.now, self.name, kind, f, value, error, None, self._final)))

    def _poll(self) -> None:
        self._key = self.keys[self._turn % len(self.keys)]
        self._turn += 1
        self._busy = True
        self._note("invoke", "poll", _INVOKED)
        self._request()

    def _anybody(self) -> int:
        """Any replica, where all of them may be read from."""
        replicas = self.simulation.replicas_of(self._key)
        return replicas[int(self._noise.random() * len(replicas))]

    def _request(self) -> None:
        leader = self._anybody() if self._anywhere else self.leaders.get(self._key, -1)
        if leader < 0:
            self.ask_metadata()
        else:
            request = ConsumeRequest(self.client_id, self._key, self._at[self._key], self.next_correlation())
            self.simulation.send(self.client_id, leader, request)
        self.timer("timeout", POLL_TIMEOUT_US)

    def on_timer(self, now: int, name: str) -> None:
        """Poll, or give a poll up."""
        if name == "poll":
            if not self.stopped:
                self._poll()
            return
        if not self._busy:
            return  # the last poll before the stop is over, and no other timer took the place of its own
        self.next_correlation()
        self.leaders.pop(self._key, None)
        self._finish("fail", (("poll", {}),), REQUEST_TIMED_OUT)

    def on_metadata(self, now: int) -> None:
        """Go on if a poll waits for a leader."""
        if self._busy and self.leaders.get(self._key, -1) > 0:
            self._request()

    def on_response(self, now: int, message: ConsumeResponse) -> None:
        """Take the records, or look for the leader again."""
        if not self._busy:
            return
        key = self._key
        if message.error is None:
            if message.position >= 0:
                self._at[key] = message.position
            elif message.records:
                self._at[key] = message.records[-1][0] + 1
            self._finish("ok", (("poll", {key: message.records}),))
            self.after_poll(message)
        else:
            self._finish("fail", (("poll", {}),), message.error)
            if message.error == OFFSET_OUT_OF_RANGE:
                self._at[key] = message.start
                self._note("invoke", "assign", tuple(k for k in self.keys if k != key))
                self._note("ok", "assign", tuple(k for k in self.keys if k != key))
            else:
                self.leaders.pop(key, None)

    def after_poll(self, message: ConsumeResponse) -> None:
        """For the final reader."""

    def _finish(self, kind: str, value: tuple[object, ...], error: str | None = None) -> None:
        self._busy = False
        self._note(kind, "poll", value, error)
        if not self.stopped:
            pause = self._poll_us if kind == "ok" else RETRY_US * 2
            self.timer("poll", int(pause * (0.5 + self._noise.random())))


class FinalReader(Consumer):
    """Reads every partition from the start up to its high watermark, once; ``done`` when it has."""

    __slots__ = ("_left", "done")

    def __init__(self, simulation: Simulation, client_id: int) -> None:
        super().__init__(simulation, client_id, "final", 1_000)
        self._final = True
        self._left = set(self.keys)
        self.done = False

    def after_poll(self, message: ConsumeResponse) -> None:
        """A partition is read when the position has reached the high watermark."""
        if self._at[message.partition] >= message.hw:
            self._left.discard(message.partition)
            self._turn = 0
            self.keys = tuple(k for k in self.keys if k in self._left) or self.keys
            if not self._left:
                self.stopped = self.done = True
