"""One broker's client APIs over the real core and real log files, driven by hand: no sockets, and time stands still."""

import itertools
from datetime import timedelta
from io import BytesIO
from types import SimpleNamespace

import pytest
from kio.index import load_payload_module
from kio.static.constants import EntityType

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.core.actions import Append, DropBefore, Send, Truncate
from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.events import Started, TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import DeleteRecordsResponse, FetchRequest, LeaderAndIsr, ProduceResponse, Registered
from tidemark.nodes.core.recovery import Recovered
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.families.kafka import KAFKA
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.process.storage.log_file import LogFile
from tidemark.nodes.process.wire.client_apis import ClientApis

T = "t-0"
REPLICAS = (1, 2, 3)
BROKER_EPOCH = 11


class Connection:
    """Somebody on a listener."""

    numbers = itertools.count(1000)

    def __init__(self, listener="host"):
        self.number = next(self.numbers)
        self.listener = listener
        self.refused = ""
        self.closed = False

    def refuse(self, why):
        self.refused = why


class Request:
    """A request that went through kio's writer and reader, and whose response does."""

    def __init__(self, connection, key, version, entity):
        how = codec(key, version)
        out = BytesIO()
        how.write_request(out, entity)
        self.connection = connection
        self.api_key = key
        self.api_version = version
        self.body = how.read_request(out.getvalue(), 0)
        self.answer = None
        self.answered = False

    def reply(self, entity):
        assert not self.answered
        self.answered = True
        how = codec(self.api_key, self.api_version)
        out = BytesIO()
        how.write_response(out, entity)
        self.answer = how.read_response(out.getvalue(), 0)

    def no_reply(self):
        assert not self.answered
        self.answered = True


class Timers:
    """What is left of an event loop."""

    def __init__(self):
        self.waiting = []

    def call_later(self, delay, function, *arguments):
        timer = SimpleNamespace(delay=delay, run=lambda: function(*arguments))
        timer.cancel = lambda: timer in self.waiting and self.waiting.remove(timer)
        self.waiting.append(timer)
        return timer


class Node:
    """Broker 1 of three, and :class:`ClientApis` on it; it is also the driver that they see."""

    def __init__(self, folder, variant, **settings):
        cluster = ClusterSpec(partitions=2, settings=Settings(**settings))
        self.config = SimpleNamespace(
            node=1,
            incarnation=3,
            variant=parse_variant(variant),
            family=KAFKA,
            cluster=cluster,
            peers={node: Address(f"10.77.0.{10 + node}", 9092) for node in range(4)},
            hosts={node: Address("127.0.0.1", 40_000 + node) for node in REPLICAS},
        )
        self.folder = folder
        self.now = 0
        self.loop = Timers()
        self.states = {}
        self.files = {}
        self.sent = []
        self.version = -1
        self.held = None
        """What waits for a step that is not carried out yet; None: there is none."""
        self.core = Broker(1, 3, self.config.variant, cluster.settings, Recovered({}))
        self.apis = ClientApis(self)
        self.step(Started())
        self.step(Registered(0, 3, BROKER_EPOCH))

    # The driver

    def perform(self, change):
        if self.held is not None:
            self.held.append(change)
            return
        self.core.out.clear()
        change(self.now)
        actions = list(self.core.out)
        for action in actions:
            if isinstance(action, Append):
                self.file(action.partition).append(action.batch)
            elif isinstance(action, Truncate):
                self.file(action.partition).truncate(action.offset)
            elif isinstance(action, DropBefore):
                self.file(action.partition).drop_before(action.offset)
        for action in actions:
            if isinstance(action, Send):
                self.sent.append(action.message)
                if isinstance(action.message, ProduceResponse | DeleteRecordsResponse):
                    self.apis.on_answer(action.message)
        self.apis.after_step([action for action in actions if isinstance(action, tuple)])

    def go_on(self):
        """The slow disk has had its time."""
        held, self.held = self.held, None
        for change in held:
            self.perform(change)

    def file(self, partition):
        if partition not in self.files:
            self.files[partition] = LogFile(self.folder / "volatile" / partition, self.folder / "data" / partition)
            self.files[partition].load()
        return self.files[partition]

    def step(self, event):
        self.perform(lambda now: self.core.step(now, event))

    def close(self):
        for file in self.files.values():
            file.close()

    # The cluster around it

    def told(self, leader, epoch, isr=REPLICAS, partition=T):
        self.version += 1
        state = LeaderAndIsr(0, partition, leader, epoch, isr, self.version, REPLICAS, BROKER_EPOCH, REPLICAS)
        self.states[partition] = state
        self.step(state)

    def lead(self, epoch=0, isr=REPLICAS, partition=T):
        self.told(1, epoch, isr, partition)

    def fetched_by(self, *followers, offset, partition=T):
        """Followers have everything below ``offset``."""
        replica = self.replica(partition)
        for source in followers:
            latest = replica.cache.latest if self.config.variant.truncation == "fetch" else -1
            self.step(FetchRequest(source, partition, offset, replica.leader_epoch, latest, 20 + source, 1))

    def commit(self, partition=T):
        """Both followers have everything."""
        self.fetched_by(2, 3, offset=self.replica(partition).log.leo, partition=partition)

    def tick(self, now):
        self.now = now
        self.step(TimerFired("tick"))

    def replica(self, partition=T):
        return self.core.replicas[partition]

    def appended_by_leader(self, values, **producer):
        """A batch reaches this node by replication, while it follows."""
        replica = self.replica()
        batch = Batch(replica.log.leo, replica.leader_epoch, Records(build(values, **producer)))
        replica.log.append(batch)
        replica.note_epoch(batch)
        self.file(T).append(batch)

    # A client

    def ask(self, key, version, body, connection=None):
        """Hand over a request; look at ``answer``."""
        request = Request(connection or Connection(), key, version, body)
        self.apis.handlers[key](request)
        return request

    def produce(self, *batches, acks=-1, version=7, connection=None, topic="t", partition=0):
        """One batch per partition, beginning with ``partition``; values or raw bytes."""
        parts = [(topic, partition + i, raw if isinstance(raw, bytes) else build(raw)) for i, raw in enumerate(batches)]
        return self.produce_parts(parts, acks=acks, version=version, connection=connection)

    def produce_parts(self, parts, acks=-1, version=7, connection=None):
        m = load_payload_module(0, version, EntityType.request)
        topics = tuple(
            m.TopicProduceData(
                name=topic,
                partition_data=tuple(m.PartitionProduceData(index=i, records=raw) for _, i, raw in group),
            )
            for topic, group in ((t, list(g)) for t, g in itertools.groupby(parts, key=lambda part: part[0]))
        )
        entity = m.ProduceRequest(acks=acks, timeout=timedelta(seconds=1), topic_data=topics)
        return self.ask(0, version, entity, connection)

    def fetch(self, offset, version=11, *, connection=None, partitions=(0,), epoch=-1, wait=500, **whole):
        m = load_payload_module(1, version, EntityType.request)
        each = whole.pop("partition_max_bytes", 1 << 20)
        fields = {"partition_max_bytes": each, "fetch_offset": offset}
        if version >= 9:
            fields["current_leader_epoch"] = epoch
        if version >= 7:
            whole.setdefault("forgotten_topics_data", ())
        topic = m.FetchTopic(topic="t", partitions=tuple(m.FetchPartition(partition=p, **fields) for p in partitions))
        whole = {"max_wait": timedelta(milliseconds=wait), "min_bytes": 1, "max_bytes": 1 << 20} | whole
        return self.ask(1, version, m.FetchRequest(topics=(topic,), **whole), connection)


@pytest.fixture
def node(tmp_path):
    """Start nodes: ``node("kafka-2.1", min_isr=1)``."""
    started = []

    def start(variant="kafka-2.7", **settings):
        started.append(Node(tmp_path / str(len(started)), variant, **settings))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def connection():
    """Make connections: ``connection("internal")``."""
    return Connection
