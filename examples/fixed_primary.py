"""A whole system under test in one file: a log whose first replica leads for ever (docs/systems-from-inside.md walks through it).

    tidemark run --system ./examples/fixed_primary.py --index 3
    tidemark run --system ./examples/fixed_primary.py:lazy --profile destructive --index 3

The primary of a partition takes all writes. A backup asks it for what comes after the end of its own log, and what all replicas
have is committed. Nobody is ever elected: while the primary is down nothing happens; what it has lost is lost for all. A replica
fsyncs before it counts anything as written, so that it loses nothing when the power fails; ``:lazy`` leaves that out.

The first part is what Tidemark loads. The others are the program of the nodes: this very file, sent there at every start.
"""  # noqa: INP001 - a file for ``--system`` belongs to no package

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Coroutine
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.message_rules import FIRST_CLIENT
from tidemark.nodes.admin.port import Command, key_of, listen, rules_of
from tidemark.nodes.admin.trace_file import Trace
from tidemark.nodes.core.actions import Sync, Truncate
from tidemark.nodes.core.log import Batch, Log
from tidemark.nodes.core.recovery import recover
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Records, checked_header
from tidemark.nodes.formats.wire.codec import API_VERSIONS, FETCH
from tidemark.nodes.formats.wire.names import error_code, partition_name, topic_and_index
from tidemark.nodes.process.config import HOST, INTERNAL, NodeConfig
from tidemark.nodes.process.storage.log_directory import LogDirectory
from tidemark.nodes.process.transport_faults import TransportFaults
from tidemark.nodes.process.wire.client_entities import (
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    METADATA,
    NO_THROTTLE,
    PRODUCE,
    response_entity,
)
from tidemark.nodes.process.wire.client_producer_ids import ProducerIds
from tidemark.nodes.process.wire.client_producers import PartitionProducers
from tidemark.nodes.process.wire.client_versions import answer_versions
from tidemark.nodes.process.wire.server import Listener, Request

PROGRAM = "fixed_primary"

# ------------------------------------------------------------------------------------------------ what Tidemark loads

if __name__ != "__main__":  # a node runs this file as its program, and has no harness
    from tidemark.harness.evidence.partition_disk import read_disk
    from tidemark.harness.machines.images import ensure_image
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.harness.machines.node_places import Places
    from tidemark.harness.machines.node_script import NodeScripts
    from tidemark.harness.systems.capabilities import ReadsLogs, Watched
    from tidemark.harness.systems.speaks_kafka import SpeaksKafka
    from tidemark.harness.systems.system import System, SystemRefusalError
    from tidemark.harness.systems.tidemark_config import node_config

    if TYPE_CHECKING:
        from collections.abc import Callable

        from docker import DockerClient

        from tidemark.harness.evidence.partition_disk import Disk
        from tidemark.harness.machines.machine import Machine
        from tidemark.harness.systems.deployment import Deployment
        from tidemark.nemesis import Plan
        from tidemark.nodes.families import AnyVariant

    class FixedPrimaryScripts(NodeScripts):
        """The usual ones, for another program."""

        module = PROGRAM

    class FixedPrimaryControl(NodeControl):
        """Controls a node as it does one of Tidemark's own, once the program is there."""

        scripts = FixedPrimaryScripts

        def start(self, config: dict[str, Any], *, clock_faults: bool = False) -> None:
            """Send the program, and start it."""
            source = Path(__file__).read_text(encoding="utf-8")
            self.run(f"cat >/opt/tidemark/{PROGRAM}.py", to="install the program", stdin=source)
            super().start(config, clock_faults=clock_faults)

    class FixedPrimary(SpeaksKafka, ReadsLogs, Watched):
        """``--system ./fixed_primary.py``, or ``./fixed_primary.py:lazy``."""

        name = PROGRAM
        default_variant = "kafka-0.10"
        """The nearest there is: no leader epochs, and the documented promise."""

        def __init__(self, *, lazy: bool) -> None:
            self.lazy = lazy

        def check(self, plan: Plan, variant: AnyVariant) -> None:
            """Refuse what the nodes have no means for."""
            super().check(plan, variant)
            kinds = {fault.kind for fault in plan.faults} & {"disk-full", "slow-disk"}
            if kinds:
                raise SystemRefusalError(f"{self.name} knows nothing of {' and '.join(kinds)}: choose another profile")

        def install(self, client: DockerClient, tell: Callable[[str], None]) -> str:
            """Tidemark's own: a Debian with sshd, Python and the package `nodes`."""
            return ensure_image(client, tell)

        def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
            """One node."""
            return FixedPrimaryControl(machine, on_lost=on_lost)

        def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
            """The JSON file that the program is started with."""
            machines, cluster, variant = deployment.machines, deployment.cluster, deployment.variant
            usual = node_config(node, incarnation, machines=machines, places=Places(), cluster=cluster, variant=variant)
            return {**usual, "given": {"lazy": self.lazy}}

        def elect(self, controls: object, partition: str, how: str, target: int) -> str:
            """There are no elections."""
            return "the primary is fixed"

        def read_disk(self, control: NodeControl, partition: str) -> Disk:
            """The program keeps Kafka's files where Tidemark's own nodes keep them."""
            return read_disk(control, partition)

    def system(argument: str) -> System:
        """What ``--system`` asks for; `argument` stands behind the colon."""
        if argument not in {"", "lazy"}:
            raise SystemRefusalError(f"{PROGRAM} is lazy or it is not: leave {argument!r} away, or write :lazy")
        return FixedPrimary(lazy=argument == "lazy")


# -------------------------------------------------------------------------------------------- what runs in every node

EPOCH = 0
"""Nobody is ever elected, so the first leader epoch is the only one."""
FETCHED_BATCHES = 100
VERSIONS = {
    PRODUCE: (3, 7),
    FETCH: (4, 4),
    LIST_OFFSETS: (1, 1),
    METADATA: (4, 4),
    API_VERSIONS: (0, 3),
    INIT_PRODUCER_ID: (0, 1),
}
"""The smallest part of Kafka's protocol that librdkafka and aiokafka are content with."""


def now_us() -> int:
    """CLOCK_MONOTONIC in µs."""
    return time.monotonic_ns() // 1_000


class Node:
    """What controller and brokers have in common: the trace, and the admin port."""

    def __init__(self, config: NodeConfig) -> None:
        self.config = config
        self.partitions = config.cluster.assignment()
        self.trace = Trace(config.trace)
        loop = asyncio.get_running_loop()
        self.faults = TransportFaults(config.node, loop.call_later, Random(f"{config.node}/{config.incarnation}"))
        self.tasks: set[asyncio.Task[None]] = set()
        self.end: asyncio.Future[None] = loop.create_future()

    def note(self, event: str, partition: str, *fields: object) -> None:
        """Trace an event (docs/history.md)."""
        self.trace.write([(now_us(), self.config.node, event, partition, *fields)])

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine beside everything else; if it fails, so does the process."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.finished)

    def finished(self, task: asyncio.Task[None]) -> None:
        """A coroutine came to its end."""
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.end.done():
            self.end.set_exception(error)

    def stop(self) -> None:
        """SIGTERM."""
        if not self.end.done():
            self.end.set_result(None)

    def commands(self) -> dict[str, Command]:
        """What Tidemark may ask a node for, beside ``watch``."""

        def put(command: dict[str, Any]) -> dict[str, Any]:
            self.faults.rules.put(key_of(command), rules_of(command))
            return {}

        def clear(command: dict[str, Any]) -> dict[str, Any]:
            return {"found": self.faults.rules.clear(key_of(command))}

        return {"status": lambda _: self.status(), "transport": put, "transport-clear": clear}

    def status(self) -> dict[str, Any]:
        """How the node stands, but for its partitions."""
        at = {"mono_us": now_us(), "wall_us": time.time_ns() // 1_000}
        return {"node": self.config.node, **at, "transport": self.faults.rules.keys}

    async def start(self) -> None:
        """Take up the work."""
        self.note("start", "", self.config.incarnation)


class Controller(Node):
    """Node 0: knows who leads, and never changes its mind."""

    async def start(self) -> None:
        """Tell who leads."""
        await super().start()
        for name, replicas in self.partitions.items():
            self.note("elect", name, replicas[0], EPOCH, replicas, (), "initial", True, 0)

    def status(self) -> dict[str, Any]:
        """With the state of every partition, and the brokers' sessions, which never end."""
        partitions = {
            name: {"leader": replicas[0], "leader_epoch": EPOCH, "isr": replicas, "elr": (), "replicas": replicas}
            for name, replicas in self.partitions.items()
        }
        sessions = {str(broker): {"live": True} for broker in self.config.cluster.broker_ids()}
        return {**super().status(), "partitions": partitions, "sessions": sessions}


class Replica:
    """One partition on one broker.

    Attributes:
        hw: up to here all replicas have it, as far as this one knows.
        told: on the primary: how far each backup has come.
    """

    def __init__(self, name: str, replicas: tuple[int, ...], batches: list[Batch]) -> None:
        self.name = name
        self.replicas = replicas
        self.primary = replicas[0]
        self.log = Log(batches)
        self.hw = 0
        self.told = dict.fromkeys(replicas[1:], 0)
        self.producers = PartitionProducers()

    def status(self, broker: int) -> dict[str, Any]:
        """How it stands on this broker."""
        leads = broker == self.primary
        return {
            "role": "leader" if leads else "follower",
            "leader": self.primary,
            "leader_epoch": EPOCH,
            "leo": self.log.leo,
            "hw": self.hw,
            "isr": self.replicas if leads else (),
            "epochs": ((EPOCH, 0),) if self.log.leo else (),
            "checkpointed_hw": 0,
            "refused": "",
        }


class Broker(Node):
    """A primary of some partitions, and a backup of others."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        assert config.data is not None  # noqa: S101 - a broker's configuration has both
        assert config.volatile is not None  # noqa: S101
        self.lazy = bool(config.given["lazy"])
        self.files = LogDirectory(config.data, config.volatile)
        self.replicas: dict[str, Replica] = {}
        self.news = asyncio.Event()

    async def start(self) -> None:
        """Recover the logs, take the roles, and listen."""
        await super().start()
        recovered = recover(self.files.load())
        self.files.after_recovery(recovered)
        me = self.config.node
        for name, assigned in self.partitions.items():
            if me not in assigned:
                continue
            found = recovered.partitions.get(name)
            replica = self.replicas[name] = Replica(name, assigned, found.batches if found else [])
            if found:
                self.note("recovered", name, replica.log.leo, 0, -1)
            if replica.primary == me:
                self.note("lead", name, EPOCH, replica.log.leo, replica.hw, assigned)
            else:
                self.note("follow", name, EPOCH, replica.primary, replica.log.leo, replica.hw)
                self.spawn(self.follow(replica))
        internal = self.config.listeners[INTERNAL].bind
        await asyncio.start_server(self.serve_backup, internal.host, internal.port)
        host = self.config.listeners[HOST].bind
        self.clients = Listener(HOST, VERSIONS, ClientApis(self).handlers, count(FIRST_CLIENT))
        await self.clients.start(host.host, host.port)

    def status(self) -> dict[str, Any]:
        """With every replica."""
        partitions = {name: replica.status(self.config.node) for name, replica in self.replicas.items()}
        return {**super().status(), "partitions": partitions}

    # The log

    def append(self, replica: Replica, raw: bytes) -> Batch:
        """Write a batch at the end, trace it, and only then let anybody know."""
        batch = Batch(replica.log.leo, EPOCH, Records(raw))
        written = self.files.append(replica.name, batch)
        if not self.lazy:
            self.files.carry_out(Sync(replica.name))
        replica.log.append(batch)
        self.note("append", replica.name, batch.base, EPOCH, written)
        self.stir()
        return batch

    def stir(self) -> None:
        """Wake everybody who waits for news."""
        self.news.set()
        self.news = asyncio.Event()

    def raise_hw(self, replica: Replica, hw: int) -> None:
        """More is known to be committed."""
        if hw > replica.hw:
            replica.hw = hw
            self.note("hw", replica.name, hw, EPOCH, replica.primary == self.config.node)
            self.stir()

    def advance(self, replica: Replica) -> None:
        """On the primary: what everybody has is committed."""
        self.raise_hw(replica, min(replica.log.leo, *replica.told.values()))

    async def wait_for_news(self, timeout_s: float) -> None:
        """Until something was written or committed, or the time is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.news.wait(), timeout_s)

    # Replication: a line of JSON each way

    async def serve_backup(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """As the primary, tell a backup what comes after the end of its log."""
        fetch_wait_s = self.config.cluster.settings.fetch_wait_us / 1e6
        with suppress(OSError, ValueError):
            while line := await reader.readline():
                asked = json.loads(line)
                replica, backup, leo = self.replicas[asked["partition"]], asked["node"], asked["leo"]
                replica.told[backup] = min(leo, replica.log.leo)
                self.advance(replica)
                if leo == replica.log.leo and asked["hw"] == replica.hw:
                    await self.wait_for_news(fetch_wait_s)
                batches = replica.log.read(leo, 1)
                raw = b64encode(raw_of(batches[0])).decode() if batches else None
                answer = {"leo": replica.log.leo, "hw": replica.hw, "batch": raw}
                self.post(backup, writer, answer)
        writer.close()

    def post(self, to: int, writer: asyncio.StreamWriter, what: dict[str, Any]) -> None:
        """Send a line to a node, unless a fault of the transport has it late or lost."""
        line = json.dumps(what).encode() + b"\n"
        self.faults.pass_on(to, what, lambda: writer.write(line), lambda: None)

    async def follow(self, replica: Replica) -> None:
        """As a backup, ask the primary for ever."""
        settings = self.config.cluster.settings
        timeout_s = settings.request_timeout_us / 1e6
        primary: Address = self.config.peers[replica.primary]
        met = False
        while True:
            with suppress(OSError, ValueError, TimeoutError):
                opened = asyncio.open_connection(primary.host, primary.port, limit=1 << 24)
                reader, writer = await asyncio.wait_for(opened, timeout_s)
                try:
                    while True:
                        asking = {"partition": replica.name, "node": self.config.node, "leo": replica.log.leo}
                        self.post(replica.primary, writer, {**asking, "hw": replica.hw})
                        line = await asyncio.wait_for(reader.readline(), timeout_s + settings.fetch_wait_us / 1e6)
                        self.take(replica, json.loads(line))
                        if not met:
                            self.note("fetched", replica.name, EPOCH, replica.primary)
                            met = True
                finally:
                    writer.close()
            await asyncio.sleep(settings.fetch_wait_us / 1e6)

    def take(self, replica: Replica, answer: dict[str, Any]) -> None:
        """What the primary said: its log is right, whatever it is."""
        before = replica.log.leo
        if answer["leo"] < before:
            self.files.carry_out(Truncate(replica.name, answer["leo"]))
            replica.log.truncate(answer["leo"])
            replica.hw = min(replica.hw, replica.log.leo)
            self.note("truncate", replica.name, replica.log.leo, before, "the primary's log is shorter", EPOCH)
        elif answer["batch"] is not None:
            self.append(replica, b64decode(answer["batch"]))
        self.raise_hw(replica, min(answer["hw"], replica.log.leo))


def made(request: Request, what: str, **values: object) -> Any:  # noqa: ANN401 - a class of kio's
    """A part of a request's response; what is in most of them need not be said."""
    usual = {"throttle_time": NO_THROTTLE, "error_code": error_code(None)}
    return response_entity(request.api_key, request.api_version, what)(**{**usual, **values})


class ClientApis:
    """The part of Kafka's protocol that clients need."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.handlers = {
            API_VERSIONS: lambda request: answer_versions(request, VERSIONS),
            INIT_PRODUCER_ID: ProducerIds(broker.config).handle,
            METADATA: self.metadata,
            LIST_OFFSETS: self.list_offsets,
            PRODUCE: lambda request: broker.spawn(self.produce(request)),
            FETCH: lambda request: broker.spawn(self.fetch(request)),
        }

    def led(self, name: str) -> Replica | str:
        """The replica, if this node is its primary; else the error that a client gets."""
        replica = self.broker.replicas.get(name)
        if name not in self.broker.partitions:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        return replica if replica and replica.primary == self.broker.config.node else "NOT_LEADER_OR_FOLLOWER"

    def metadata(self, request: Request) -> None:
        """Who is there, and who leads: always the same."""
        topics: dict[str, list[object]] = {}
        for name, replicas in self.broker.partitions.items():
            topic, index = topic_and_index(name)
            who = {"leader_id": replicas[0], "replica_nodes": replicas, "isr_nodes": replicas}
            topics.setdefault(topic, []).append(
                made(request, "MetadataResponsePartition", partition_index=index, **who)
            )
        told = [made(request, "MetadataResponseTopic", name=t, partitions=tuple(p)) for t, p in topics.items()]
        hosts = self.broker.config.hosts.items()
        brokers = [made(request, "MetadataResponseBroker", node_id=n, host=at.host, port=at.port) for n, at in hosts]
        cluster = {"brokers": tuple(brokers), "cluster_id": PROGRAM, "controller_id": -1}
        request.reply(made(request, "MetadataResponse", topics=tuple(told), **cluster))

    def list_offsets(self, request: Request) -> None:
        """The log begins at 0 (timestamp −2), and ends at the high watermark (−1)."""
        topics = []
        for topic in request.body.topics:
            parts = []
            for one in topic.partitions:
                replica = self.led(partition_name(topic.name, one.partition_index))
                error, hw = (replica, -1) if isinstance(replica, str) else (None, replica.hw)
                place = {"timestamp": -1, "offset": 0 if one.timestamp == -2 and error is None else hw}
                answer = {"partition_index": one.partition_index, "error_code": error_code(error), **place}
                parts.append(made(request, "ListOffsetsPartitionResponse", **answer))
            topics.append(made(request, "ListOffsetsTopicResponse", name=topic.name, partitions=tuple(parts)))
        request.reply(made(request, "ListOffsetsResponse", topics=tuple(topics)))

    async def produce(self, request: Request) -> None:
        """Append; with acks=all answer when all replicas have it."""
        body = request.body
        deadline = time.monotonic() + body.timeout.total_seconds()
        topics = []
        for topic in body.topic_data:
            parts = []
            for one in topic.partition_data:
                name = partition_name(topic.name, one.index)
                error, base = await self.write(name, bytes(one.records or b""), body.acks, deadline)
                answer = {"index": one.index, "error_code": error_code(error), "base_offset": base}
                parts.append(made(request, "PartitionProduceResponse", log_start_offset=0, **answer))
            topics.append(made(request, "TopicProduceResponse", name=topic.name, partition_responses=tuple(parts)))
        if body.acks:
            request.reply(made(request, "ProduceResponse", responses=tuple(topics)))
        else:
            request.no_reply()

    async def write(self, name: str, raw: bytes, acks: int, deadline: float) -> tuple[str | None, int]:
        """One batch: the error or None, and its base offset or −1."""
        replica = self.led(name)
        if isinstance(replica, str):
            return replica, -1
        try:
            header = checked_header(raw)
        except BadBatchError as problem:
            return problem.error, -1
        known = replica.producers.judge(replica.log, header) if header.producer_id >= 0 else None
        if isinstance(known, str):
            return known, -1
        if known is None:
            batch = self.broker.append(replica, raw)
            self.broker.advance(replica)
            base, end = batch.base, batch.end
        else:
            base, end = known.base, known.end
        while acks == -1 and replica.hw < end:
            if (left := deadline - time.monotonic()) <= 0:
                return "REQUEST_TIMED_OUT", -1
            await self.broker.wait_for_news(left)
        return None, base

    async def fetch(self, request: Request) -> None:
        """Committed batches, or a wait for some."""
        body = request.body
        deadline = time.monotonic() + body.max_wait.total_seconds()
        while True:
            response, found = self.look(request)
            left = deadline - time.monotonic()
            if found or left <= 0:
                request.reply(response)
                return
            await self.broker.wait_for_news(left)

    def look(self, request: Request) -> tuple[object, bool]:
        """The answer to a fetch as things stand, and whether there is something in it."""
        topics, found = [], False
        for topic in request.body.topics:
            parts = []
            for one in topic.partitions:
                error, hw, records = self.read(partition_name(topic.topic, one.partition), one.fetch_offset)
                found = found or bool(records) or error is not None
                ends = {"high_watermark": hw, "last_stable_offset": hw, "aborted_transactions": ()}
                answer = {"partition_index": one.partition, "error_code": error_code(error), "records": records}
                parts.append(made(request, "PartitionData", **answer, **ends))
            topics.append(made(request, "FetchableTopicResponse", topic=topic.topic, partitions=tuple(parts)))
        return made(request, "FetchResponse", responses=tuple(topics)), found

    def read(self, name: str, offset: int) -> tuple[str | None, int, bytes]:
        """An error or None, the high watermark, and committed batches from an offset on."""
        replica = self.led(name)
        if isinstance(replica, str):
            return replica, -1, b""
        if offset > replica.log.leo:
            return "OFFSET_OUT_OF_RANGE", -1, b""
        batches = [batch for batch in replica.log.read(offset, FETCHED_BATCHES) if batch.end <= replica.hw]
        return None, replica.hw, b"".join(map(raw_of, batches))


def raw_of(batch: Batch) -> bytes:
    """A batch as it lies in the log file."""
    assert isinstance(batch.values, Records)  # noqa: S101 - nothing else was ever appended
    return batch.values.raw()


async def run(config: NodeConfig) -> int:
    """Be one node until SIGTERM."""
    node: Node = Controller(config) if config.is_controller else Broker(config)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, node.stop)
    await node.start()
    bound = socket.create_server(config.admin)
    await listen(node.commands(), node.trace, bound)  # the node is ready
    await node.end
    node.note("stop", "", "clean")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(NodeConfig.load(Path(sys.argv[sys.argv.index("--config") + 1])))))
