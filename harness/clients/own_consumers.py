"""Consumers of ours, where a library's cannot be one: where any replica is read from, since Kafka's clients read from leaders; and
where each poll is to ask the leader itself, since Kafka's clients read ahead, and answer a poll from what they have.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from tidemark.harness.clients.client_threads import ClientThreads
from tidemark.harness.clients.journal import Journal, PollRecorder
from tidemark.harness.clients.outcomes import TRANSPORT
from tidemark.harness.clients.script import ConsumerScript
from tidemark.harness.clients.wire_client import Address, BrokerConnection, NoAnswerError, RefusedError, addresses_in

if TYPE_CHECKING:
    from tidemark.nemesis.plan import WorkloadSpec
    from tidemark.nodes.core.cluster import ClusterSpec

ANSWER_S = 0.4
"""How long a poll waits for a connection, and for an answer: as in the simulator."""
STOP_S = 10.0


class OwnConsumer:
    """One consumer: each poll asks a replica that is drawn for one partition in turn, from the last position on.

    Args:
        brokers: broker → its address.
        cluster: which replicas there are.
        recorder: takes what is read.
        noise: draws.
        leaders_only: whoever served the last poll is asked again, as long as it does; anybody may lead.
    """

    def __init__(
        self,
        brokers: dict[int, Address],
        cluster: ClusterSpec,
        recorder: PollRecorder,
        noise: Random,
        *,
        leaders_only: bool = False,
    ) -> None:
        self._brokers = brokers
        self._leaders_only = leaders_only
        self._replicas = dict.fromkeys(cluster.assignment(), tuple(brokers)) if leaders_only else cluster.assignment()
        self._serves: dict[str, int] = {}
        self._recorder = recorder
        self._noise = noise
        self._position = dict.fromkeys(self._replicas, 0)
        self._turn = 0
        self._connections: dict[int, BrokerConnection] = {}

    def run(self, script: ConsumerScript, stopping: threading.Event) -> None:
        """Poll and rest in turn, until it is told to stop."""
        keys = list(self._replicas)
        try:
            while not stopping.wait(script.pause()):
                self.poll(keys[self._turn % len(keys)])
                self._turn += 1
        finally:
            self.close()

    def read_all(self, in_time: Callable[[], bool]) -> bool:
        """Read every partition from the start to the high watermark of who answers; whether that was done in time."""
        left = list(self._replicas)
        try:
            while left and in_time():
                left = [key for key in left if not self.poll(key)]
            return not left
        finally:
            self.close()

    def poll(self, key: str) -> bool:
        """One operation; whether it has reached the high watermark."""
        replicas = self._replicas[key]
        broker = self._serves.pop(key, 0) or replicas[int(self._noise.random() * len(replicas))]
        self._recorder.invoke()
        try:
            answer = self._connection(broker).fetch(key, self._position[key])
        except RefusedError as error:
            self._recorder.fail(error.name)
            return False
        except NoAnswerError:
            self._drop(broker)
            self._recorder.fail(TRANSPORT)
            return False
        if self._leaders_only:
            self._serves[key] = broker
        self._position[key] = answer.position
        self._recorder.ok({key: [(offset, value) for offset, value in answer.records]})
        return answer.position >= answer.hw

    def _connection(self, broker: int) -> BrokerConnection:
        found = self._connections.get(broker)
        if found is None:
            found = self._connections[broker] = BrokerConnection(self._brokers[broker], ANSWER_S)
        return found

    def _drop(self, broker: int) -> None:
        found = self._connections.pop(broker, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """End the connections."""
        for broker in list(self._connections):
            self._drop(broker)


class OwnConsumers:
    """All consumers of a workload, a thread for each."""

    def __init__(
        self,
        bootstrap: str,
        cluster: ClusterSpec,
        spec: WorkloadSpec,
        journal: Journal,
        seed: int,
        *,
        leaders_only: bool = False,
    ) -> None:
        """`start` connects; ``bootstrap`` has the brokers' addresses in their order."""
        self._leaders_only = leaders_only
        self._brokers = dict(enumerate(addresses_in(bootstrap), 1))
        self._cluster = cluster
        self._spec = spec
        self._journal = journal
        self._seed = seed
        self._threads = ClientThreads("A consumer", STOP_S)

    def start(self) -> None:
        """Begin to read."""
        for number in range(1, self._spec.consumers + 1):
            script = ConsumerScript(number, self._spec, self._seed)
            reader = self._reader(script.process)
            self._threads.begin(script.process, partial(reader.run, script, self._threads.stopping))

    def _reader(self, process: str, *, final: bool = False) -> OwnConsumer:
        recorder = PollRecorder(self._journal, process, final=final)
        noise = Random(f"{self._seed}/{process}/anywhere")
        return OwnConsumer(self._brokers, self._cluster, recorder, noise, leaders_only=self._leaders_only)

    def stop(self) -> None:
        """Let every consumer finish its poll.

        Raises:
            ClientsError: one did not end, or had ended before.
        """
        self._threads.stop()

    def final_read(self, in_time: Callable[[], bool]) -> bool:
        """Read everything from the start, as long as it is in time."""
        return self._reader("final", final=True).read_all(in_time)
