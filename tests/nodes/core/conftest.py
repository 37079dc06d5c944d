"""A broker or a controller driven by hand: one event in, the actions out."""

from collections import deque
from functools import partial

import pytest

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.broker import PUBLISH, Broker
from tidemark.nodes.core.controller import make_controller
from tidemark.nodes.core.events import Started, TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import (
    AlterPartition,
    AlterPartitionResponse,
    FetchRequest,
    Heartbeat,
    LeaderAndIsr,
    ProduceRequest,
    Reassign,
    Register,
    Registered,
    StateTaken,
)
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant

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

    def told(self, now, leader, epoch, isr=(1, 2, 3), *, replicas=(1, 2, 3), version=None, eligible=None, delete=False):
        """The controller's word arrives; all replicas are eligible unless it says otherwise."""
        self.version = self.version + 1 if version is None else version
        eligible = replicas if eligible is None else eligible
        state = LeaderAndIsr(0, T, leader, epoch, isr, self.version, replicas, BROKER_EPOCH + self.node, eligible)
        state.delete = delete
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

    def proposed(self):
        """The ISRs that the last step proposed or wrote."""
        return [tuple(b for b, _ in m.isr) for m in self.sent(AlterPartition, to=0)]

    def isr_answered(self, now, isr, version, error=None, *, epoch=5, correlation=None):
        """The answer to the last proposal arrives: the ISR and the partition epoch that are committed now."""
        correlation = self.replica.leading.pending.correlation if correlation is None else correlation
        return self.step(now, AlterPartitionResponse(0, T, correlation, epoch, isr, version, error))

    def records(self):
        """The log: one (epoch, value) pair per record."""
        return [(batch.epoch, value) for batch in self.replica.log.batches for value in batch.values]


class DrivenController(Machine):
    """The controller of one partition; all brokers came at time 0 and got the broker epochs 1, 2, 3 … in order of their ids.
    There may be more brokers than replicas.

    What tells the eras apart is hidden where a test does not speak of it: ZooKeeper's controller sees at a tick who came and went,
    KRaft's hears it from heartbeats.

    Attributes:
        deaf: brokers that do not answer the requests they get (ZooKeeper); all others do at once.
    """

    def __init__(self, variant, replicas, settings, *, opened=True, first_leader_epoch=0, brokers=()):
        brokers = brokers or tuple(sorted(replicas))
        self.controller = make_controller(
            brokers, {T: replicas}, parse_variant(variant), Settings(**(TIMES | settings)), first_leader_epoch
        )
        self.fences = self.controller.variant.metadata_log
        self.deaf = set()
        super().__init__(self.controller)
        self.step(0, Started())
        if opened:
            self.come(0, *brokers)

    @property
    def state(self):
        return self.controller.partitions[T]

    @property
    def stands(self):
        """Leader, leader epoch, ISR, partition epoch."""
        return self.state.leader, self.state.leader_epoch, self.state.isr, self.state.partition_epoch

    @property
    def assigned(self):
        """Replicas, and those of them that come and go with a reassignment."""
        return self.state.replicas, self.state.adding, self.state.removing

    def reassign(self, now, *replicas):
        """An operator's reassignment."""
        return self.step(now, Reassign(0, T, replicas))

    @property
    def elected(self):
        """(leader, leader epoch, ISR, ELR, how, clean, partition epoch) of the last step's elections."""
        return self.traced("elect")

    def live(self, broker):
        return self.controller.sessions[broker].live

    def step(self, now, event):
        """Take an event, and the answers to the requests that it makes the controller send."""
        did = super().step(now, event)
        for action in did:
            told = action.message if isinstance(action, Send) else None
            if isinstance(told, LeaderAndIsr) and told.correlation and action.to not in self.deaf:
                did += super().step(now, StateTaken(action.to, told.correlation))
        self.did = did
        return did

    def all(self, *steps):
        """What several steps did together."""
        self.did = [action for did in steps for action in did]
        return self.did

    def register(self, now, broker, incarnation, proof=-1):
        return self.step(now, Register(broker, incarnation, proof))

    def beat(self, now, *brokers, known=None, **kwargs):
        """Heartbeats of brokers; they know everything unless told."""
        did = []
        for broker in brokers:
            epoch = self.controller.sessions[broker].broker_epoch
            known_epoch = self.state.partition_epoch if known is None else known
            did.append(self.step(now, Heartbeat(broker, epoch, {T: known_epoch}, **kwargs)))
        return self.all(*did)

    def come(self, now, *brokers, proof=-1):
        """New processes of brokers register and count as live."""
        incarnations = {broker: self.controller.sessions[broker].incarnation + 1 for broker in brokers}
        did = [self.register(now, broker, number, proof) for broker, number in incarnations.items()]
        return self.all(*did, self.beat(now, *brokers) if self.fences else self.tick(now))

    def back(self, now, *brokers):
        """Processes that were silent for too long are heard again, and count as live."""
        if self.fences:
            return self.beat(now, *brokers)
        did = [self.register(now, broker, self.controller.sessions[broker].incarnation) for broker in brokers]
        return self.all(*did, self.tick(now))

    def lapse(self, now, *silent):
        """At ``now`` the sessions of ``silent`` are over, and everybody else's goes on."""
        self.beat(now, *(b for b in self.controller.sessions if self.live(b) and b not in silent))
        return self.tick(now)

    def lapse_in_turn(self):
        """All three sessions end, one after the other: broker 1 is the last."""
        for now_ms, broker in ((1_001, 3), (2_100, 2), (3_200, 1)):
            self.lapse(now_ms * 1_000, broker)

    def alter(self, now, isr, *, source=1, leader_epoch=None, partition_epoch=None, broker_epoch=None, epochs=None):
        """A leader's proposal arrives, and is answered; what is not given is as it should be, broker epochs are 1, 2, 3 …"""
        leader_epoch = self.state.leader_epoch if leader_epoch is None else leader_epoch
        partition_epoch = self.state.partition_epoch if partition_epoch is None else partition_epoch
        members = tuple((b, (epochs or {}).get(b, b)) for b in isr)
        broker_epoch = source if broker_epoch is None else broker_epoch
        self.step(now, AlterPartition(source, T, leader_epoch, partition_epoch, members, broker_epoch, 9))
        (response,) = self.sent(AlterPartitionResponse, to=source)
        return response


@pytest.fixture(scope="session")
def broker():
    """Start a broker: ``broker("kafka-2.7", batches=[...], hw=1, min_isr=1)``."""

    def start(variant="kafka-2.7", *, node=1, batches=(), epochs=None, hw=0, log_start=0, **settings):
        return DrivenBroker(variant, node, batches, epochs, hw, log_start, settings)

    return start


@pytest.fixture(scope="session")
def leader(broker, batch):
    """Broker 1 leads epoch 5 with two records of epoch 4 (HW 0 unless told), followed by 2 and 3."""

    def start(variant="kafka-2.7", isr=(1, 2, 3), *, hw=0, replicas=(1, 2, 3), batches=None, **settings):
        batches = [batch(0, 4, 70), batch(1, 4, 71)] if batches is None else batches
        one = broker(variant, node=1, batches=batches, hw=hw, **settings)
        one.lead(0, 5, isr, replicas=replicas)
        return one

    return start


@pytest.fixture(scope="session")
def controller():
    """Start a controller: ``controller("kafka-2.7", replicas=(1, 2, 3), min_isr=1)``."""

    def start(variant="kafka-2.7", *, replicas=(1, 2, 3), opened=True, first_leader_epoch=0, brokers=(), **settings):
        return DrivenController(
            variant, replicas, settings, opened=opened, first_leader_epoch=first_leader_epoch, brokers=brokers
        )

    return start


@pytest.fixture(scope="session", params=["kafka-2.7", "kafka-3.7"], ids=["ZooKeeper", "KRaft"])
def either(controller, request):
    """Start a controller of either era, where what a test says holds in both."""
    return partial(controller, request.param)


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
