"""The workload of a system of any protocol: its clients are asked for one operation after the other, and what they say is kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tidemark.harness.clients.client_threads import threads_of_a_system
from tidemark.harness.clients.journal import Journal, PollRecorder
from tidemark.harness.clients.script import ConsumerScript, ProducerScript
from tidemark.harness.systems.outside.connected import Connected, addresses_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.clients.client import Client
    from tidemark.harness.clients.workload import WorkloadOrder

AGAIN_S = 0.1
FINAL = "final"


class OutsideWorkload:
    """Producers ``p1`` … that send, consumers ``c1`` … that poll, a thread for each. Implements ``Workload``.

    Args:
        order: what the run wants.
        make: makes a client for the workload `log`.
    """

    def __init__(self, order: WorkloadOrder, make: Callable[[], Client]) -> None:
        self._make = make
        self._spec, self._seed = order.plan.workload, order.plan.noise_seed
        self._logs = tuple(order.plan.cluster.assignment())
        self._addresses = addresses_of(order.addresses)
        self._journal = Journal(order.clock, order.record, order.plan.cluster.acks, order.counters)
        self._threads = threads_of_a_system()

    def start(self) -> None:
        for number in range(1, self._spec.producers + 1):
            self._threads.begin(f"p{number}", lambda number=number: self._produce(number))  # type: ignore[misc]
        for number in range(1, self._spec.consumers + 1):
            self._threads.begin(f"c{number}", lambda number=number: self._consume(number))  # type: ignore[misc]

    def delete(self, key: str, offset: int) -> None:
        """Nobody can ask for that: plans that do were told so."""

    def stop(self) -> None:
        self._threads.stop()

    def final_read(self, deadline_us: int) -> bool:
        """Every log from its start, until there is nothing more."""
        recorder = PollRecorder(self._journal, FINAL, final=True)
        client = Connected(self._make, self._addresses, 0)
        positions = dict.fromkeys(self._logs, 0)
        try:
            while positions and self._journal.clock() < deadline_us:
                for log in list(positions):
                    found = self._poll(client, recorder, positions, log)
                    if found == 0:
                        del positions[log]
                    elif found is None:
                        threading.Event().wait(AGAIN_S)
            return not positions
        finally:
            client.close()

    def _produce(self, number: int) -> None:
        script = ProducerScript(number, self._spec, self._logs, self._seed, self._journal.clock)
        client = Connected(self._make, self._addresses, number - 1)
        lives = 0
        try:
            while not self._threads.stopping.wait(script.pause()):
                log, values = script.batch()
                for value in values:
                    process = f"{script.process}.{lives}" if lives else script.process
                    lives += self._send(client, process, log, value) == "info"
        finally:
            client.close()

    def _send(self, client: Connected, process: str, log: str, value: int) -> str:
        """How it ended. Whose send may still be carried out is another process from then on: its order proves nothing."""
        unplaced = (("send", log, value),)
        self._journal.add(process, "invoke", "send", unplaced)
        outcome = client.do("send", (log, value))
        if outcome.type == "ok":
            self._journal.add(process, "ok", "send", (("send", log, (outcome.value, value)),))
        else:
            self._journal.add(process, outcome.type, "send", unplaced, outcome.error)
        return outcome.type

    def _consume(self, number: int) -> None:
        script = ConsumerScript(number, self._spec, self._seed)
        recorder = PollRecorder(self._journal, script.process)
        client = Connected(self._make, self._addresses, number - 1)
        positions = dict.fromkeys(self._logs, 0)
        turn = 0
        try:
            while not self._threads.stopping.wait(script.pause()):
                self._poll(client, recorder, positions, self._logs[turn % len(self._logs)])
                turn += 1
        finally:
            client.close()

    def _poll(self, client: Connected, recorder: PollRecorder, positions: dict[str, int], log: str) -> int | None:
        """One poll; how many records it returned, None if it failed."""
        recorder.invoke()
        outcome = client.do("poll", (log, positions[log]))
        if outcome.type != "ok":
            recorder.fail(outcome.error or "it did not say why")
            return None
        records = [(int(offset), value) for offset, value in outcome.value or ()]
        if records:
            positions[log] = records[-1][0] + 1
        recorder.ok({log: records})
        return len(records)
