"""The sidecar: the process beside the JVM of a real Kafka node.

It runs the JVM (on the controller's machine of a cluster with ZooKeeper, two), reads what it prints and writes, and shows the
harness what a node process of ours would show: a trace file and an admin port. It passes other nodes' connections on to the JVM,
so that messages can be lost or held. When the main JVM ends, it finishes the trace and ends.

One event loop does all of it. Lines are read whenever there are some; before and after that, and every few milliseconds, the
log files are looked at (:mod:`tidemark.nodes.sidecar.segment_tail`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.message_rules import MessageRules
from tidemark.nodes.admin.process_file import put_process_file
from tidemark.nodes.admin.trace_file import Entry, Trace
from tidemark.nodes.formats.checkpoints import CLEAN_SHUTDOWN, HIGH_WATERMARKS, LOG_STARTS
from tidemark.nodes.formats.log_directories import LogDirectories, above
from tidemark.nodes.sidecar.broker_trace import BrokerTrace, Seen
from tidemark.nodes.sidecar.config import KRAFT_CONTROLLER, ZOOKEEPER, SidecarConfig
from tidemark.nodes.sidecar.end_of_jvm import FATAL, End, end_of, telling
from tidemark.nodes.sidecar.failing_writes import FailingWrites
from tidemark.nodes.sidecar.jvm import Jvm
from tidemark.nodes.sidecar.jvm_command import broker_command, environment, image_options
from tidemark.nodes.sidecar.line_events import LogDirOffline
from tidemark.nodes.sidecar.lines import Dialect, quorum_lines
from tidemark.nodes.sidecar.lines.stamp import wall_us
from tidemark.nodes.sidecar.log_pipe import LogPipe
from tidemark.nodes.sidecar.proxy.proxy import Proxy
from tidemark.nodes.sidecar.readiness import kafka_answers, knock
from tidemark.nodes.sidecar.segment_tail import SegmentTail
from tidemark.nodes.sidecar.server_files import log_directories_of, write_properties
from tidemark.nodes.sidecar.slow_disk import SlowDisk
from tidemark.nodes.sidecar.status import offsets_of_all, replica_status
from tidemark.nodes.sidecar.synced_segments import SyncedSegments, flushes
from tidemark.nodes.sidecar.wall_clock import WallClock
from tidemark.nodes.sidecar.zookeeper import ZooKeeper

if TYPE_CHECKING:
    from tidemark.nodes.sidecar.controller.cluster_controller import ClusterController
    from tidemark.nodes.sidecar.operations import Operations

log = logging.getLogger(__name__)

LOOK_S = 0.01
READY_LOOK_S = 0.1
DRAIN_S = 5.0
SESSION_END_S = 5.0
"""Beside two sessions, for ZooKeeper to end one."""
SESSION_MS = "18000"
"""Kafka's own ``zookeeper.session.timeout.ms``."""
_DATED = 20
"""So many of the latest lines are tried for a date."""


def now_us() -> int:
    """CLOCK_MONOTONIC, µs."""
    return time.monotonic_ns() // 1000


class KeeperError(Exception):
    """The node cannot be kept; the message says why, in one sentence."""


class Sidecar:
    """One node.

    Args:
        config: checked.
        trace: open.
        dialect: how the version's lines are read.
        copy: a file descriptor for every line of the JVMs.
        java: the environment that the JVMs are given.

    Attributes:
        pid: of the main JVM, 0 before it runs.
        logs: its log directories.
        rules: what happens to messages that pass the proxies.
        copy: as given.
        controller: watches the cluster's metadata; None on brokers, and before the JVM runs.
    """

    def __init__(
        self, config: SidecarConfig, trace: Trace, dialect: Dialect, copy: int, java: Mapping[str, str] = os.environ
    ) -> None:
        """Nothing runs yet."""
        self.config = config
        self.trace = trace
        self.logs = LogDirectories(log_directories_of(config))
        self.rules = MessageRules(Random(f"{config.node}/{config.incarnation}"))
        self.slow_disk = SlowDisk(self.logs.all, tuple(config.partitions))
        self.failing_writes = FailingWrites(self.logs.all)
        self.clock = WallClock(lambda: knock(config.kafka))
        self.controller: ClusterController | None = None
        self.broker_trace = self._broker_trace(offsets_of_all(self.logs, HIGH_WATERMARKS))
        self.copy = copy
        self._dialect = dialect
        self._reader = dialect.reader(quorum=config.quorum)
        self._java = java
        self._loop = asyncio.get_running_loop()
        self._proxies: list[Proxy] = []
        self._jvm: Jvm | None = None
        self._zookeeper: ZooKeeper | None = None
        self._pipes: list[LogPipe] = []
        self._ticking: asyncio.TimerHandle | None = None
        self._failure: asyncio.Future[str] = self._loop.create_future()
        """Done with the reason, if the node must end though its JVM has not."""

    def _broker_trace(self, checkpointed: Mapping[str, int]) -> BrokerTrace:
        config = self.config
        return BrokerTrace(
            config.node,
            () if config.is_controller or config.quiet else tuple(config.partitions),
            lambda partition: SegmentTail(lambda: self.logs.of(partition)),
            checkpointed,
            self.logs.aside,
        )

    def begin_broker_trace_again(self) -> None:
        """Tell of the broker as if it had just started: it runs, and its logs are gone."""
        before = self.broker_trace
        for tail in before.tails.values():
            tail.close()
        self._reader = self._dialect.reader()
        self.broker_trace = self._broker_trace({})
        self.broker_trace.started, self.broker_trace.broker_epoch = before.started, before.broker_epoch

    @property
    def pid(self) -> int:
        """See the class."""
        return 0 if self._jvm is None else self._jvm.pid

    # Life cycle

    async def start(self) -> None:
        """Start proxies and JVMs; ends when the main JVM runs.

        Raises:
            KeeperError: something cannot be had; what was started has to be ended by :meth:`close`.
        """
        config = self.config
        self.note("start", config.incarnation)
        try:
            put_process_file(Path(f"{config.process}.sidecar"), os.getpid())
            for proxy in config.proxies:
                await self._start_proxy(proxy.listen, proxy.to, proxy.speaks)
            if config.role == ZOOKEEPER:
                await self._start_zookeeper()
                await self._outlive_last_session()
            properties = config.process.with_name("server.properties")
            write_properties(properties, config.properties)
            levels = self._dialect.levels | (quorum_lines.LEVELS if config.quorum else {})
            command = broker_command(config, properties, levels, image_options())
            syncs = SyncedSegments(above(self.logs.all)) if flushes(config.properties) else None
            self._jvm = Jvm(command, environment(self._java, clock=True), self._loop, syncs)
        except OSError as e:
            raise KeeperError(f"the node cannot be started: {e}") from e
        self._read_from(self._jvm)
        if not config.quiet:
            self._tick()
        try:
            put_process_file(config.process, self._jvm.pid)
            if config.is_controller or config.votes:
                # What it needs takes a while to load: brokers do without, and here the JVM starts meanwhile.
                self.controller = self._watch_cluster()
                if not config.quiet:  # else it looks when it is asked
                    await self.controller.start()
        except OSError as e:
            raise KeeperError(f"the node cannot be kept: {e}") from e

    async def serves(self) -> None:
        """Ends when the JVM serves, and a broker is known to its controller; never, if it does not."""
        while True:
            if (self.broker_trace.started or not self._dialect.understood) and await kafka_answers(self.config.kafka):
                return
            await asyncio.sleep(READY_LOOK_S)

    async def ended(self) -> End:
        """Ends when the main JVM is gone, or must go, and all it printed was read."""
        assert self._jvm is not None  # noqa: S101 (start() made it)
        jvm = self._jvm
        waited: list[asyncio.Future[Any]] = [jvm.ended, self._failure]
        pausing: asyncio.Task[None] | None = None
        if self._zookeeper is not None:
            waited.append(self._zookeeper.jvm.ended)
            pausing = self._loop.create_task(self._zookeeper.pause_with(jvm))
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            by_itself = jvm.ended.done()
            code = await jvm.end()
        finally:
            if pausing is not None:
                pausing.cancel()
        await self._drain()
        if self._failure.done():
            return End(FATAL, self._failure.result())
        if not by_itself:
            return End(FATAL, f"ZooKeeper ended by itself: {self.last_words()}")
        state = self.broker_trace
        # KRaft's controller does not say when it has ended in order; it has no logs of partitions to close.
        shut_down = state.shut_down or (self.config.role == KRAFT_CONTROLLER and state.started)
        closed = all((one / CLEAN_SHUTDOWN).exists() for one in log_directories_of(self.config))
        return end_of(code, shut_down=shut_down, closed=closed, gave_up=state.last_words, lines=self.last_lines())

    async def close(self) -> None:
        """End whatever still runs."""
        if self._ticking is not None:
            self._ticking.cancel()
        for proxy in self._proxies:
            proxy.close()
        if self._jvm is not None:
            await self._jvm.end()
        await self.failing_writes.close()
        await self.slow_disk.close()
        if self.controller is not None:
            await self.controller.close()
        if self._zookeeper is not None:
            await self._zookeeper.end(in_order=self.broker_trace.shut_down)
        for pipe in self._pipes:
            self._loop.remove_reader(pipe.fd)
            pipe.close()
        for tail in self.broker_trace.tails.values():
            tail.close()

    def fail(self, why: str) -> None:
        """The node must end; the first reason counts."""
        if not self._failure.done():
            log.error("gave up: %s", why)
            self._failure.set_result(why)

    async def _start_proxy(self, listen: Address, to: Address, speaks: str) -> None:
        proxy = Proxy(
            listen,
            to,
            speaks="zookeeper" if speaks == "zookeeper" else "kafka",
            here=self.config.node,
            peers=self.config.peers,
            rules=self.rules,
            controller=speaks == "controller" or (self.config.is_controller and self.config.is_kraft),
        )
        self._proxies.append(proxy)
        try:
            await proxy.start()
        except OSError as e:
            raise KeeperError(f"cannot listen on {listen}: {e.strerror or e}") from e

    async def _start_zookeeper(self) -> None:
        zookeeper = ZooKeeper(self.config, environment(self._java, clock=False), self._loop)
        self._zookeeper = zookeeper
        self._read_from(zookeeper.jvm, "zookeeper ")
        if not await zookeeper.serves():
            await asyncio.sleep(READY_LOOK_S)  # its last lines are read
            raise KeeperError(f"ZooKeeper ended at once: {self.last_words()}")

    async def _outlive_last_session(self) -> None:
        """A machine that was killed comes back with a ZooKeeper that remembers its broker's session, and lets it run its time.
        Until then the broker's id is taken: Kafka's broker finds a node that is not its own, and gives up
        (``KafkaZkClient.CheckedEphemeral``, NodeExists). An operator's supervisor starts it until it works; here it waits.
        """
        assert self._zookeeper is not None  # noqa: S101 (just started)
        properties = self.config.properties
        session_s = int(properties.get("zookeeper.session.timeout.ms", SESSION_MS)) / 1000
        path = f"/brokers/ids/{properties['broker.id']}"
        waited_s = await self._zookeeper.frees(path, 2 * session_s + SESSION_END_S)
        if waited_s:
            log.info("waited %.1f s for the session of the broker's last life to end", waited_s)
            self.note("waited", "for the session of its last life to end", int(waited_s * 1e6))

    # Lines and files

    def _watch_cluster(self) -> ClusterController:
        if self.config.votes:
            from tidemark.nodes.sidecar.controller.quorum_controller import QuorumController

            place = self.broker_trace.quorum
            return QuorumController(self.config, self.write, self.fail, place, self.trace.show)
        from tidemark.nodes.sidecar.controller.cluster_controller import ClusterController

        return ClusterController(self.config, self.write, self.fail)

    def _read_from(self, jvm: Jvm, prefix: str = "") -> None:
        pipe = LogPipe(jvm.output, self.copy, prefix)
        self._pipes.append(pipe)
        self._loop.add_reader(pipe.fd, self._take, pipe)

    def _take(self, pipe: LogPipe) -> None:
        """Lines came: tell the trace of them."""
        main = self._jvm is not None and pipe.fd == self._jvm.output
        if main:
            self.broker_trace.look()
        lines = pipe.read()
        if pipe.ended.is_set():
            self._loop.remove_reader(pipe.fd)
        if not main:
            return
        seen = [Seen(line.arrived_us, event) for line in lines for event in self._reader.read(line.text)]
        if pipe.ended.is_set():
            seen += [Seen(now_us(), event) for event in self._reader.end()]
        if seen:
            self.write(self.broker_trace.tell(seen))
        if any(isinstance(event, LogDirOffline) for _, event in seen):
            self.failing_writes.noticed()
        for line in lines[: -_DATED - 1 : -1]:
            dated_us = wall_us(line.text)
            if dated_us is not None:
                self.clock.saw(line.arrived_us, dated_us)
                break

    def _tick(self) -> None:
        self.broker_trace.look()
        self._ticking = self._loop.call_later(LOOK_S, self._tick)

    async def _drain(self) -> None:
        """Read what the JVM printed last. Its children, if it had any, could hold the pipe open: they are not waited for."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._pipes[-1].ended.wait(), DRAIN_S)

    def last_lines(self) -> list[str]:
        """The last lines of the JVM's log; before there is one, of ZooKeeper's."""
        return [line.text for line in self._pipes[-1].last] if self._pipes else []

    def last_words(self) -> str:
        """The last lines of all JVMs that tell what went wrong."""
        return telling(line.text for pipe in self._pipes for line in pipe.last) or "it printed nothing"

    # Trace and status

    def note(self, event: str, *fields: object) -> None:
        """Trace an event of the node."""
        self.write([(now_us(), self.config.node, event, "", *fields)])

    def finish(self, end: End) -> None:
        """Trace the end; the last thing that is."""
        if end.words:
            log.error("gave up: %s", end.words)
            self.note("fatal", end.words)
        if end.how:
            self.note("stop", end.how)
        else:
            log.error("gave up: the JVM was killed by SIGKILL")

    def write(self, entries: list[Entry]) -> None:
        """Add to the trace; a node whose trace has a hole must end."""
        if entries:
            try:
                self.trace.write(entries)
            except OSError as e:
                self.fail(f"the trace cannot be written: {e}")

    def operations(self) -> Operations:
        """What is asked of this node itself."""
        from tidemark.nodes.sidecar.operations import Operations  # its modules take a while to load

        return Operations(self.config.kafka, self.config.node, {})

    async def status(self) -> dict[str, Any]:
        """The node's state, as plain values. ``mono_us`` and ``wall_us`` are of one moment."""
        if not self.config.quiet:
            await self.clock.refresh()
        mono_us = now_us()
        found: dict[str, Any] = {
            "node": self.config.node,
            "incarnation": self.config.incarnation,
            "mono_us": mono_us,
            "wall_us": self.clock.wall_us(mono_us),
            "pid": self.pid,
            "sidecar": os.getpid(),
            "transport": self.rules.keys,
            "understood": self._dialect.understood,
        }
        if not self._dialect.understood:
            found["why"] = self._dialect.why
        if self.config.quorum:
            found["metadata_hw"] = self.broker_trace.quorum.hw
        if self.controller is not None:
            found |= self.controller.status()
        if self.config.is_controller:
            found |= found.get("controller", {})
            return found
        checkpointed, log_starts = (offsets_of_all(self.logs, name) for name in (HIGH_WATERMARKS, LOG_STARTS))
        return found | {
            "broker_epoch": self.broker_trace.broker_epoch,
            "partitions": {
                name: replica_status(name, state, self.logs.of(name), checkpointed, log_starts)
                for name, state in self.broker_trace.replicas.items()
            },
            "slow_disk_us": self.slow_disk.delay_us,
        }
