"""A broker or a controller driven by hand: one event in, the actions out."""

from collections import deque

import pytest

from nodes.core.actions import Send
from nodes.core.broker import PUBLISH, Broker
from nodes.core.controller import make_controller
from nodes.core.events import Started, TimerFired
from nodes.core.log import Batch
from nodes.core.messages import FetchRequest, Heartbeat, LeaderAndIsr, ProduceRequest, Register, Registered
from nodes.core.recovery import Recovered, RecoveredPartition
from nodes.core.settings import Settings
from nodes.core.variant import parse_variant

T = "t-0"
MS = 1_000
BROKER_EPOCH = 10
"""What every driven broker gets plus its node id: broker 1 has broker epoch 11."""

TIMES = {
    "tick_us": 100 * MS,
    "fetch_wait_us": 250 * MS,
    "request_timeout_us": 500 * MS,
    "lag_time_us": 1_500 * MS,
    "heartbeat_us": 200 * MS,
    "session_us": 1_000 * MS,
    "hw_checkpoint_us": 1_000 * MS,
    "log_start_checkpoint_us": 2_000 * MS,
    "produce_timeout_us": 1_500 * MS,
}


def first_offsets(batches):
    """The epoch cache that belongs to a log."""
    entries = {}
    for batch in batches:
        entries.setdefault(batch.epoch, batch.base)
    return tuple(entries.items())


class Machine:
    """Something with a ``step``; keeps what the last step did."""

    def __init__(self, machine):
        self.machine = machine
        self.did = []

    def step(self, now, event):
        self.did = list(self.machine.step(now, event))
        return self.did

    def tick(self, now):
        return self.step(now, TimerFired("tick"))

    def sent(self, kind=object, to=None):
        """The messages of the last step."""
        return [
            action.message
            for action in self.did
            if isinstance(action, Send) and isinstance(action.message, kind) and to in (None, action.to)
        ]

    def traced(self, event):
        """The last step's trace records of a kind, from the partition's fields on."""
        return [action[4:] for action in self.did if isinstance(action, tuple) and action[2] == event]

    def done(self, kind):
        """The last step's actions of a kind."""
        return [action for action in self.did if isinstance(action, kind)]


class DrivenBroker(Machine):
    """Broker ``node`` with one partition, started and registered at time 0."""

    def __init__(self, variant, node, batches, epochs, hw, log_start, settings):
        self.node = node
        epochs = first_offsets(batches) if epochs is None else epochs
        anything = batches or epochs or hw or log_start
        found = {T: RecoveredPartition(list(batches), epochs, hw, log_start)} if anything else {}
        self.broker = Broker(node, 1, parse_variant(variant), Settings(**(TIMES | settings)), Recovered(found))
        super().__init__(self.broker)
        self.step(0, Started())
        self.step(0, Registered(0, 1, BROKER_EPOCH + node))
        self.version = -1

    @property
    def replica(self):
        return self.broker.replicas[T]

    def told(self, now, leader, epoch, isr=(1, 2, 3), *, replicas=(1, 2, 3), version=None, eligible=None):
        """The controller's word arrives; all replicas are eligible unless it says otherwise."""
        self.version = self.version + 1 if version is None else version
        eligible = replicas if eligible is None else eligible
        state = LeaderAndIsr(0, T, leader, epoch, isr, self.version, replicas, BROKER_EPOCH + self.node, eligible)
        if PUBLISH in self.step(now, state):
            self.step(now, PUBLISH.event)
        return self.did

    def lead(self, now, epoch, isr=(1, 2, 3), **kwargs):
        return self.told(now, self.node, epoch, isr, **kwargs)

    def fetched_by(self, now, source, offset, epoch, last=-1, broker_epoch=None, correlation=1, start=0):
        """A follower's fetch arrives."""
        broker_epoch = BROKER_EPOCH + source if broker_epoch is None else broker_epoch
        return self.step(now, FetchRequest(source, T, offset, epoch, last, broker_epoch, correlation, start))

    def produced(self, now, *values, acks="all", correlation=1):
        """Producer 101's batch arrives."""
        return self.step(now, ProduceRequest(101, T, values, acks, correlation))

    def records(self):
        """The log: one (epoch, value) pair per record."""
        return [(batch.epoch, value) for batch in self.replica.log.batches for value in batch.values]


class DrivenController(Machine):
    """The controller of one partition; all brokers have registered at time 0 with the broker epochs 1, 2, 3 …"""

    def __init__(self, variant, replicas, settings, *, opened=True):
        brokers = tuple(sorted(replicas))
        self.controller = make_controller(
            brokers, {T: replicas}, parse_variant(variant), Settings(**(TIMES | settings))
        )
        super().__init__(self.controller)
        self.step(0, Started())
        if opened:
            for broker in brokers:
                self.register(0, broker, 1)

    @property
    def state(self):
        return self.controller.partitions[T]

    def register(self, now, broker, incarnation, proof=-1):
        return self.step(now, Register(broker, incarnation, proof))

    def beat(self, now, *brokers, shutting_down=False):
        """Heartbeats of brokers that know everything."""
        for broker in brokers:
            epoch = self.controller.sessions[broker].broker_epoch
            self.step(now, Heartbeat(broker, epoch, {T: self.state.partition_epoch}, shutting_down))
        return self.did

    def lapse(self, now, *silent):
        """At ``now`` the sessions of ``silent`` are over, and everybody else's goes on."""
        live = [b for b, session in self.controller.sessions.items() if session.live and b not in silent]
        self.beat(now, *live)
        return self.tick(now)


@pytest.fixture(scope="session")
def broker():
    """Start a broker: ``broker("kafka-2.7", batches=[...], hw=1, min_isr=1)``."""

    def start(variant="kafka-2.7", *, node=1, batches=(), epochs=None, hw=0, log_start=0, **settings):
        return DrivenBroker(variant, node, batches, epochs, hw, log_start, settings)

    return start


@pytest.fixture(scope="session")
def controller():
    """Start a controller: ``controller("kafka-2.7", replicas=(1, 2, 3), min_isr=1)``."""

    def start(variant="kafka-2.7", *, replicas=(1, 2, 3), opened=True, **settings):
        return DrivenController(variant, replicas, settings, opened=opened)

    return start


@pytest.fixture(scope="session")
def batch():
    """``batch(4, 1, 7, 8)``: the records 7 and 8 of epoch 1, from offset 4 on."""

    def make(base, epoch, *values):
        return Batch(base, epoch, values)

    return make


@pytest.fixture(scope="session")
def talk():
    """Deliver what brokers say to each other, in order, until they are quiet; returns the messages."""

    def exchange(now, *brokers, limit=200):
        machines = {b.node: b for b in brokers}
        waiting = deque((action.to, action.message) for b in brokers for action in b.did if isinstance(action, Send))
        said = []
        while waiting:
            to, message = waiting.popleft()
            if to not in machines:
                continue
            said.append(message)
            assert len(said) < limit, "they never stop talking"
            waiting.extend((a.to, a.message) for a in machines[to].step(now, message) if isinstance(a, Send))
        return said

    return exchange
