"""A producer: batches of unique values, one operation at a time, honest about what it knows.

``NOT_LEADER_OR_FOLLOWER`` proves that nothing was written, so the batch may be sent again until the time is up, and is then a
``fail``. A time-out while a request was out is ``info``; so is ``NOT_ENOUGH_REPLICAS_AFTER_APPEND``. An idempotent producer sends
its batch again after these, too (:mod:`tidemark.harness.simulator.workload.repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.history.history import Op
from tidemark.harness.simulator.workload.client import RETRY_US, Client, new_op
from tidemark.harness.simulator.workload.what_is_sent import DrawnSends, PlannedSends
from tidemark.nodes.core.messages import (
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER,
    REQUEST_TIMED_OUT,
    ProduceRequest,
    ProduceResponse,
)

if TYPE_CHECKING:
    from tidemark.harness.simulator.simulation import Simulation
    from tidemark.nemesis.plan import WorkloadSpec

VALUES_PER_PRODUCER = 1_000_000


class Producer(Client):
    """Sends until stopped; its values are ``number * 1_000_000 + counter``."""

    __slots__ = (
        "_acks",
        "_again_us",
        "_deadline",
        "_in_doubt",
        "_in_flight",
        "_key",
        "_next_value",
        "_sends",
        "_timeout",
        "_values",
    )

    def __init__(self, simulation: Simulation, client_id: int, number: int, spec: WorkloadSpec) -> None:
        super().__init__(simulation, client_id, f"p{number}")
        self._sends: DrawnSends | PlannedSends = (
            DrawnSends(spec, self._noise) if spec.sends is None else PlannedSends(number, spec.sends)
        )
        self._acks = simulation.cluster.acks
        self._timeout = spec.patience_us or simulation.cluster.settings.produce_timeout_us
        self._again_us = spec.again_us
        self._next_value = number * VALUES_PER_PRODUCER
        self._key = ""
        self._values: tuple[int, ...] = ()
        self._deadline = 0
        self._in_flight = self._in_doubt = False

    @property
    def is_sending(self) -> bool:
        """Whether a batch is on its way, or waits for a leader; it is given up in the end."""
        return bool(self._values)

    def begin(self) -> None:
        """First send after a pause."""
        self._pause()

    def _pause(self) -> None:
        self._values = ()
        if not self.stopped:
            pause = self._sends.pause(self.simulation.now)
            if pause is not None:
                self.timer("send", pause)

    def _send(self, now: int) -> None:
        partition, count = self._sends.batch(len(self.keys))
        self._key = self.keys[partition]
        self._values = tuple(range(self._next_value, self._next_value + count))
        self._next_value += count
        self._deadline = now + self._timeout
        self._in_flight = self._in_doubt = False
        key = self._key
        self._complete("invoke", tuple([("send", key, value) for value in self._values]), None)
        self._try(now)
        if self._sends.refreshes():
            self.ask_metadata()

    def _complete(self, kind: str, value: tuple[object, ...], error: str | None) -> None:
        simulation = self.simulation
        op = (simulation.now, self.name, kind, "send", value, error, self._acks, False)
        simulation.ops.append(new_op(Op, op))

    def _try(self, now: int) -> None:
        leader = self.leaders.get(self._key, -1)
        if leader < 0:
            self.ask_metadata()
            self.timer("retry", min(RETRY_US * 4, max(self._deadline - now, 1)))
            return
        self._in_flight = True
        self.simulation.send(
            self.client_id,
            leader,
            ProduceRequest(self.client_id, self._key, self._values, self._acks, self.next_correlation()),
        )
        if self._acks == "0":
            self._finish("ok", None, None)
        elif self._again_us and now + self._again_us < self._deadline:
            self.timer("again", self._again_us)
        else:
            self.timer("timeout", self._deadline - now)

    def _look_again(self, delay_us: int) -> None:
        """What became of it nobody knows: it is sent again to whoever leads then."""
        self._in_flight, self._in_doubt = False, True
        self.next_correlation()
        self.leaders.pop(self._key, None)
        self.timer("retry", delay_us)

    def on_timer(self, now: int, name: str) -> None:
        """Send, try again, or give up."""
        if name == "send":
            if not self.stopped:
                self._send(now)
        elif not self._values:
            return  # the last batch before the stop is over, and no other timer took the place of its own
        elif now >= self._deadline or name == "timeout":
            self.next_correlation()
            self.leaders.pop(self._key, None)
            self._finish("info" if self._in_flight or self._in_doubt else "fail", REQUEST_TIMED_OUT, None)
        elif name == "again":
            self._look_again(1)
        else:
            self._try(now)

    def on_metadata(self, now: int) -> None:
        """Go on if a batch waits for a leader."""
        if self._values and not self._in_flight and self.leaders.get(self._key, -1) > 0:
            self._try(now)

    def on_response(self, now: int, message: ProduceResponse) -> None:
        """Acknowledged, certainly refused, or unknown."""
        if not self._in_flight:
            return
        error = message.error
        if error is None:
            self._finish("ok", None, message.base_offset)
        elif error == NOT_LEADER:
            self._in_flight = False
            self.leaders.pop(self._key, None)
            self.timer("retry", max(min(RETRY_US, self._deadline - now), 1))
        elif self._again_us and self.simulation.now + RETRY_US < self._deadline:
            self._in_doubt = self._in_doubt or error != NOT_ENOUGH_REPLICAS
            doubt = self._in_doubt
            self._look_again(RETRY_US)
            self._in_doubt = doubt
        else:
            self.leaders.pop(self._key, None)
            self._finish("fail" if error == NOT_ENOUGH_REPLICAS and not self._in_doubt else "info", error, None)

    def _finish(self, kind: str, error: str | None, base: int | None) -> None:
        key = self._key
        if kind == "ok":
            value: tuple[object, ...] = tuple(
                [("send", key, (None if base is None else base + i, v)) for i, v in enumerate(self._values)]
            )
        else:
            value = tuple([("send", key, v) for v in self._values])
        self._in_flight = False
        self._complete(kind, value, error)
        self._pause()
