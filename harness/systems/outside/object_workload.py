"""A workload beside the log: clients that all do the next operation of the plan's on an object, and a last read of everything.

What a client is asked for, and answers (docs/systems.md):

| workload | f | value | ok |
|---|---|---|---|
| ``register``, ``cas-register`` | ``read`` | key | its value, None if it has none |
| | ``write`` | (key, value) | anything |
| ``cas-register`` | ``cas`` | (key, (old, new)) | True: it was set; False: it was compared, and held something else |
| ``list-append`` | ``txn`` | ``("append", key, element)``, ``("r", key, None)`` … | the same, with the list in each ``r`` |
| ``set`` | ``add`` | element | anything |
| | ``read`` | None | all elements |
| ``counter`` | ``add`` | a number from 1 | anything |
| | ``read`` | None | the sum |
| ``queue`` | ``enqueue`` | element | anything |
| | ``dequeue`` | None | an element, which nobody gets again; None: there is none, and nobody else holds one |
| ``unique-ids`` | ``generate`` | None | an id that nobody had before |
"""

from __future__ import annotations

import threading
from random import Random
from typing import TYPE_CHECKING, Any

from tidemark.harness.clients.client_threads import threads_of_a_system
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.journal import Journal
from tidemark.harness.systems.outside.connected import Connected, addresses_of
from tidemark.nemesis.object_workload import Operations

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.clients.client import Client
    from tidemark.harness.clients.workload import WorkloadOrder
    from tidemark.nemesis.object_workload import Intended

MODELS = {
    "register": "key-value",
    "cas-register": "key-value",
    "list-append": "list-append",
    "set": "set-full",
    "queue": "total-queue",
    "counter": "counter",
    "unique-ids": "unique-ids",
    "group-offsets": "key-value",
}
"""Workload → the checker of its operations (`tidemark.checkers.objects.workloads.NAMES`)."""
PACE = 8
"""So many operations a client does in the time in which a producer sends once: each is small. After one that was not ok it rests as
long as a producer.
"""
AGAIN_S = 0.1
FINAL = "final"
EMPTY = "empty"
"""What `total-queue` takes for a dequeue that found nothing."""


class ObjectClients:
    """Clients ``c1`` …, as many as the plan has producers and consumers, a thread for each. Implements ``Workload``.

    Args:
        order: what the run wants; its plan has an object.
        make: makes a client for this workload.
    """

    def __init__(self, order: WorkloadOrder, make: Callable[[], Client]) -> None:
        spec = order.plan.workload
        if spec.object is None:
            raise ClientsError("the plan has no object to work on")
        self._make, self._spec, self._seed = make, spec, order.plan.noise_seed
        self._addresses = addresses_of(order.addresses)
        self._counters = order.counters
        self._journal = Journal(order.clock, order.record, order.plan.cluster.acks, order.counters)
        self._operations = Operations(spec.object, order.plan.noise_seed)
        self._turn = threading.Lock()
        self._threads = threads_of_a_system()

    def start(self) -> None:
        for number in range(1, self._spec.producers + self._spec.consumers + 1):
            self._threads.begin(f"c{number}", lambda number=number: self._work(number))  # type: ignore[misc]

    def delete(self, key: str, offset: int) -> None:
        """There are no records."""

    def stop(self) -> None:
        self._threads.stop()

    def final_read(self, deadline_us: int) -> bool:
        """Every key that was ever used, or all that is in a queue."""
        client = Connected(self._make, self._addresses, 0)
        left = self._operations.final_reads()
        lives = 0
        try:
            while left and self._journal.clock() < deadline_us:
                process = f"{FINAL}.{lives}" if lives else FINAL
                self._begun(process, left[0], final=True)
                how = self._done(client, process, left[0], final=True)
                lives += how == "info"
                if how in ("ok", EMPTY) and not (how == "ok" and left[0].f == "dequeue"):
                    del left[0]
                elif how != "ok":
                    threading.Event().wait(AGAIN_S)
            return not left
        finally:
            client.close()

    def _work(self, number: int) -> None:
        noise = Random(f"{self._seed}/c{number}")
        client = Connected(self._make, self._addresses, number - 1)
        lives, pace = 0, PACE
        try:
            while not self._threads.stopping.wait(self._spec.interval_us * (0.5 + noise.random()) / pace / 1e6):
                process = f"c{number}.{lives}" if lives else f"c{number}"
                with self._turn:  # they are begun in the order in which they are meant
                    intended = next(self._operations)
                    self._begun(process, intended)
                how = self._done(client, process, intended)
                lives += how == "info"
                pace = PACE if how == "ok" else 1
        finally:
            client.close()

    def _begun(self, process: str, intended: Intended, *, final: bool = False) -> None:
        self._journal.add(process, "invoke", intended.f, _asked(intended), final=final)
        self._counters.add("invoked")

    def _done(self, client: Connected, process: str, intended: Intended, *, final: bool = False) -> str:
        """How it ended, `EMPTY` if there was nothing to take. Whose operation may still be carried out is another process from
        then on.
        """
        f, key, value = intended
        told = key if f == "read" else value if key is None else (key, value)
        outcome = client.do(f, told)
        how = outcome.type
        if how == "info" and f == "read":
            how = "fail"  # a read changes nothing, whatever became of it
        if how == "ok" and f == "dequeue" and outcome.value is None:
            self._journal.add(process, "fail", f, None, EMPTY, final=final)
            self._counters.add("fail")
            return EMPTY
        answered = _answered(intended, outcome.value) if how == "ok" else _asked(intended)
        self._journal.add(process, how, f, answered, outcome.error, final=final)
        self._counters.add(how)
        return how


def _asked(intended: Intended) -> Any:  # noqa: ANN401 - by what it is
    return intended.value if intended.key is None else (intended.key, intended.value)


def _answered(intended: Intended, value: Any) -> Any:  # noqa: ANN401 - by what it is
    """What the history says of an operation that was ok."""
    f, key, asked = intended
    if f in ("dequeue", "generate"):
        return value
    if f == "read":
        found = tuple(value) if isinstance(value, list | tuple) else value
        return found if key is None else (key, found)
    if f == "cas" and value is False:
        return (key, (*asked, False))
    if f == "txn":
        return tuple((what, of, tuple(seen) if what == "r" else seen) for what, of, seen in value)
    return _asked(intended)
