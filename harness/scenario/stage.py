"""The stage: a simulated world in which a script's commands happen, and which can be looked at after every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from checkers.history import Op
from harness.scenario.clients import BatchProducer, StartReader
from harness.scenario.model import Scenario
from harness.scenario.records import LogRecord, compact
from harness.scenario.wire import FIRST_CLIENT, Link, StageWorld
from harness.simulator.run import AFTER_HEAL_US, converge, dump_logs, read_back
from nodes.log import Batch
from nodes.replica import Replica
from nodes.variant import Variant

PARTITION = "t-0"
PATIENCE_US = 60_000_000
"""How long ``until`` waits unless the script says ``within``."""

_FIRST_READER = 2 * FIRST_CLIENT


class StageError(RuntimeError):
    """A command could not be carried out; the message says why in one sentence."""


class ReplicaState(NamedTuple):
    """One replica at one moment; of a broker that is down, what lies on its disk.

    `role` is ``leader``, ``follower``, ``no leader`` or ``down``; `epoch` is −1 if unknown.
    """

    broker: int
    role: str
    epoch: int
    log: tuple[LogRecord, ...]
    leo: int
    hw: int
    cache: tuple[tuple[int, int], ...]
    paused: bool = False


class Stage:
    """Carries a scenario's commands out under one variant.

    Attributes:
        world: the simulated world.
        mismatches: what was expected and did not come, each with its line.
        line: the script's line that is being carried out.
    """

    def __init__(self, scenario: Scenario, variant: Variant) -> None:
        self.scenario = scenario
        self.variant = variant
        self.world = StageWorld(scenario.cluster, variant)
        self.mismatches: list[str] = []
        self.line = 0
        self.sends: dict[str, BatchProducer] = {}
        self.last_read: tuple[str, ...] | None = None
        self._clients = 0
        self._readers = 0
        self._faults: dict[str, int] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        """Put the given logs on the disks.

        The trace tells them as appends, and the operations as sends with an unknown outcome, so that the checkers know them.
        """
        world = self.world
        told: set[int] = set()
        world.lead_from(self.scenario.first_epoch)
        for given in self.scenario.given:
            disk = world.nodes[given.broker].disk
            offset = 0
            for epoch, names in given.batches:
                batch = Batch(offset, epoch, tuple(map(self.scenario.records.number, names)))
                disk.append(0, PARTITION, batch)
                world.trace_event(given.broker, "append", PARTITION, batch.base, batch.epoch, batch.values)
                offset = batch.end
                fresh = tuple(value for value in batch.values if value not in told)
                told.update(fresh)
                for kind in ("invoke", "info") if fresh else ():
                    sends = tuple(("send", PARTITION, value) for value in fresh)
                    world.ops.append(Op(0, "given", kind, "send", sends, None, self.scenario.cluster.acks))
            log = disk.file(PARTITION)
            log.synced = len(log.batches)
            log.epochs = given.cache
            disk.high_watermarks[PARTITION] = given.hw

    def boot(self) -> None:
        """Start controller and brokers; ends at the moment when all brokers know the first leader."""
        self.world.boot()
        self.wait("every broker knows the first leader", lambda: all(s.epoch >= 0 for s in self.states()))

    # Looking

    def replica(self, broker: int) -> Replica | None:
        """The replica's state machine; `None` while its process does not run or knows no partition."""
        machine = self.world.broker(broker)
        return machine.replicas.get(PARTITION) if machine is not None else None

    def states(self) -> tuple[ReplicaState, ...]:
        """All replicas now, in assignment order."""
        return tuple(self.state(broker) for broker in self.world.brokers())

    def state(self, broker: int) -> ReplicaState:
        """One replica now."""
        node = self.world.nodes[broker]
        replica = self.replica(broker)
        if replica is None:
            file = node.disk.file(PARTITION)
            log = self._named(file.batches)
            role = "no leader" if node.running else "down"
            hw = min(node.disk.high_watermarks.get(PARTITION, 0), len(log))
            return ReplicaState(broker, role, -1, log, len(log), hw, file.epochs)
        role = "leader" if replica.leading else "follower" if replica.following else "no leader"
        log = self._named(replica.log.batches)
        cache = replica.cache.entries()
        return ReplicaState(broker, role, replica.leader_epoch, log, replica.leo, replica.hw, cache, node.port.paused)

    def _named(self, batches: list[Batch]) -> tuple[LogRecord, ...]:
        name = self.scenario.records.name
        return tuple((batch.epoch, name(value)) for batch in batches for value in batch.values)

    def leader(self) -> int:
        """The controller's leader, −1 if there is none."""
        return self.world.leader_of(PARTITION)

    def name(self, broker: int) -> str:
        """A broker as the script calls it."""
        return self.scenario.broker_name(broker)

    def mismatch(self, words: str) -> None:
        """Remember that something expected did not come."""
        self.mismatches.append(f"line {self.line}: {words}")

    # Time

    def run(self, duration_us: int) -> None:
        """Let time pass."""
        self.world.run_until(self.world.now + duration_us)

    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        """Run until the condition holds, and no further.

        Raises:
            StageError: it did not within the bound; the message says what was waited for, and how things stand.
        """
        world = self.world
        deadline = world.now + within_us
        while not condition():
            following = world.next_event_us()
            if following is None or following > deadline:
                raise StageError(f"waited {within_us / 1_000_000:g} s until {what}; {self._standing()}")
            world.run_until(following)

    def _standing(self) -> str:
        replicas = "; ".join(
            f"{self.name(s.broker)} {s.role} epoch {s.epoch} LEO {s.leo} HW {s.hw} log {compact(s.log)}"
            for s in self.states()
        )
        return f"the leader is {self.name(self.leader())}, {replicas}"

    # Clients

    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> BatchProducer:
        """Send one batch, without waiting; to the controller's leader unless a broker is named."""
        to = self.leader() if broker is None else broker
        if to < 1:
            raise StageError(f"there is no leader to send {', '.join(names)} to")
        self._clients += 1
        values = tuple(map(self.scenario.records.number, names))
        producer = BatchProducer(
            self.world, FIRST_CLIENT + self._clients, PARTITION, values, acks or self.scenario.cluster.acks
        )
        self.sends.update(dict.fromkeys(names, producer))
        producer.send(to)
        return producer

    def write(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> None:
        """Send one batch and wait until it is acknowledged."""
        producer = self.send(names, broker, acks)
        self.wait(f"{', '.join(names)} is acknowledged", lambda: producer.state != "sent")
        if producer.state != "acked":
            raise StageError(f"{', '.join(names)} failed: {producer.state}")

    def read(self, broker: int | None) -> None:
        """Read from the start up to the high watermark."""
        self._readers += 1
        reader = StartReader(self.world, _FIRST_READER + self._readers, PARTITION)
        to = self.leader() if broker is None else broker
        self.last_read = None
        if to > 0:
            reader.read(to)
            self.wait("the consumer has its answer", lambda: reader.done)
            if reader.seen is not None:
                self.last_read = tuple(map(self.scenario.records.name, reader.seen))

    # Faults

    def disturb(self, kind: str, key: str, detail: dict[str, object]) -> None:
        """Note a fault among the nemesis operations; `key` finds it again when it heals."""
        self._faults[key] = index = len(self.world.nemesis)
        self.world.record((self.world.now, "strike", index, kind, detail))

    def mend(self, kind: str, key: str) -> None:
        """Note that it healed."""
        index = self._faults.pop(key, -1)
        self.world.record((self.world.now, "heal", index, kind, {}))

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        """``crash``, ``power`` (with the number of batches that stay), ``disk``, or ``clean``, which waits for the process."""
        world = self.world
        if not world.running(broker):
            raise StageError(f"broker {self.name(broker)} is not running")
        self.disturb("restart" if how == "clean" else how, f"node {broker}", {"node": broker, "nodes": [broker]})
        if how == "power":
            try:
                world.lose_power(broker, keep)
            except ValueError as error:
                raise StageError(f"broker {self.name(broker)}: {error}") from error
        else:
            world.stop(broker, how)
        if how == "clean":
            self.wait(f"broker {self.name(broker)} has shut down", lambda: not world.running(broker))

    def start(self, broker: int) -> None:
        """Start the process with what its disk holds."""
        self.world.start(broker)
        self.mend("start", f"node {broker}")

    def pause(self, broker: int) -> None:
        """SIGSTOP."""
        self.disturb("pause", f"node {broker}", {"node": broker})
        self.world.pause(broker)

    def resume(self, broker: int) -> None:
        """SIGCONT."""
        self.world.resume(broker)
        self.mend("pause", f"node {broker}")

    def elect(self, how: str, broker: int) -> None:
        """An operator's election; ends when the controller has decided, which the brokers do not know yet."""
        self.disturb(f"{how}-election", "elect", {"node": broker})
        self.world.elect(PARTITION, how, broker)
        self.world.run_until(self.world.now)

    def block(self, links: tuple[Link, ...]) -> None:
        """Messages on these links are lost from now on."""
        for link in links:
            self.disturb("cut", f"cut {link}", {"link": [link.source, link.to], "messages": link.kind})
            self.world.block(link)

    def unblock(self, links: tuple[Link, ...]) -> None:
        """They arrive again."""
        for link in links:
            if not self.world.unblock(link):
                raise StageError("these messages were not blocked")
            self.mend("cut", f"cut {link}")

    def hold(self, links: tuple[Link, ...]) -> None:
        """Messages on these links wait from now on."""
        for link in links:
            self.disturb("hold", f"hold {link}", {"link": [link.source, link.to], "messages": link.kind})
            self.world.hold(link)

    def release(self, links: tuple[Link, ...]) -> None:
        """What waited arrives now, in order."""
        for link in links:
            if not self.world.release(link):
                raise StageError("these messages were not held")
            self.mend("hold", f"hold {link}")

    # The end

    def finish(self) -> int:
        """Heal everything, let the cluster come to rest, read everything back; returns when healing began, in µs."""
        world = self.world
        healed = world.now
        world.heal()
        for broker in world.brokers():
            world.resume(broker)
            world.start(broker)
        world.record((healed, "heal", -1, "all", {}))
        world.run_until(healed + AFTER_HEAL_US)
        converge(world)
        for producer in dict.fromkeys(self.sends.values()):
            producer.give_up()
        read_back(world)
        dump_logs(world)
        return healed
