"""The target in virtual time: nothing happens between two events, so ``until`` ends at the very moment when something holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark.harness.scenario.links import Link
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.records import LogRecord
from tidemark.harness.scenario.simulated.clients import BatchProducer, StartReader
from tidemark.harness.scenario.simulated.simulation import FIRST_CLIENT, ScriptedSimulation
from tidemark.harness.scenario.snapshots import Glance, ReplicaSnapshot
from tidemark.harness.scenario.target import PARTITION, PATIENCE_US, CannotPlayError, ScriptError, ScriptTarget
from tidemark.harness.simulator.disk import SimLogFile
from tidemark.harness.simulator.simulate import SimulatedEnding, digest_of
from tidemark.harness.simulator.workload import AdminClient
from tidemark.nodes.core.events import RetentionDue
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import CONTROLLER, Reassign
from tidemark.nodes.families import AnyVariant

_FIRST_READER = 2 * FIRST_CLIENT
_ADMIN = 4 * FIRST_CLIENT


class SimulatedTarget(ScriptTarget):
    """A target on the simulator.

    Attributes:
        simulation: that is played.
    """

    def __init__(self, scenario: Scenario, variant: AnyVariant) -> None:
        self.simulation = ScriptedSimulation(scenario.cluster, variant)
        super().__init__(scenario, variant, self.simulation)
        self.ops, self.nemesis, self.trace = self.simulation.ops, self.simulation.nemesis, self.simulation.trace
        self.answers = self.simulation.answers
        self._clients = 0
        self._readers = 0
        self._admin = AdminClient(self.simulation, _ADMIN)

    def prepare(self) -> None:
        simulation = self.simulation
        simulation.lead_from(self.scenario.first_epoch)
        for given in self.scenario.given:
            disk = simulation.nodes[given.broker].disk
            for base, epoch, values in self.tell_given(given):
                disk.append(0, PARTITION, Batch(base, epoch, values))
            log = disk.file(PARTITION)
            log.synced = len(log.batches)
            log.epochs = given.cache
            disk.high_watermarks[PARTITION] = given.hw

    def boot(self) -> None:
        """Start controller and brokers; ends at the moment when all brokers know the first leader."""
        self.simulation.boot()
        knows = self.glance
        elected = ("leader", "follower")

        def all_know() -> bool:
            if self.family.has_isr:
                return all(knows(b).epoch >= 0 for b in self.replicas())
            return all(knows(b).role in elected for b in self.replicas())

        self.wait("every replica knows the first leader", all_know)

    def dispose(self) -> None:
        self.simulation.dispose()

    def digest(self) -> str:
        """Of the history and of every event's time."""
        return digest_of(self.simulation)

    def measures(self) -> dict[str, int]:
        return {"virtual_us": self.simulation.now, "events": len(self.simulation.times)}

    # Looking

    @property
    def now_us(self) -> int:
        return self.simulation.now

    def _replica(self, broker: int) -> Any:  # noqa: ANN401 (of any family)
        """The replica's state machine; `None` while its process does not run or knows no partition."""
        machine = self.simulation.broker(broker)
        return machine.replicas.get(PARTITION) if machine is not None else None

    def glance(self, broker: int) -> Glance:
        node = self.simulation.nodes[broker]
        replica = self._replica(broker)
        on_disk = node.disk.high_watermarks.get(PARTITION, 0)
        file = self._file(broker)
        start = max(node.disk.log_starts.get(PARTITION, 0), file.base)
        if replica is None:
            leo = file.batches[-1].end if file.batches else file.base
            role = self._without_replica(broker) if node.running else "down"
            return Glance(role, -1, -1, leo, min(on_disk, leo), on_disk, start, start)
        leader = replica.leader if replica.following else -1
        epoch, log = replica.leader_epoch, replica.log
        outside = self.family.changes_members and broker not in self.replicas()
        role = "no replica" if outside else _role(replica)
        return Glance(role, epoch, leader, log.leo, replica.hw, on_disk, log.start, start)

    def state(self, broker: int) -> ReplicaSnapshot:
        node = self.simulation.nodes[broker]
        replica = self._replica(broker)
        seen = self.glance(broker)
        if replica is None:
            file = self._file(broker)
            log = self._named(file.batches, seen.start)
            return ReplicaSnapshot(broker, seen.role, -1, log, seen.leo, seen.hw, file.epochs, start=seen.start)
        log = self._named(replica.log.batches, seen.start)
        cache = replica.cache.entries()
        paused = node.port.paused
        return ReplicaSnapshot(broker, seen.role, seen.epoch, log, seen.leo, seen.hw, cache, paused, seen.start)

    def _file(self, broker: int) -> SimLogFile:
        """What is on a disk; a broker that has nothing of the partition, and need not, is not given a file."""
        disk = self.simulation.nodes[broker].disk
        return disk.file(PARTITION) if broker in self.replicas() else disk.files.get(PARTITION, SimLogFile())

    def _without_replica(self, broker: int) -> str:
        return "no leader" if broker in self.replicas() else "no replica"

    def _named(self, batches: list[Batch], start: int) -> tuple[LogRecord, ...]:
        return self.scenario.named(((batch.base, batch.epoch, batch.values) for batch in batches), start)

    def fenced(self, broker: int) -> bool:
        if not self.family.has_isr:
            raise ScriptError("there is no controller that could fence anybody")
        return not self.simulation.controller.sessions[broker].live

    # Time

    def run(self, duration_us: int) -> None:
        self.simulation.run_until(self.simulation.now + duration_us)

    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        simulation = self.simulation
        deadline = simulation.now + within_us
        while not condition():
            following = simulation.next_event_us()
            if following is None or following > deadline:
                raise ScriptError(f"waited {within_us / 1_000_000:g} s until {what}; {self.standing()}")
            simulation.run_until(following)

    # Clients

    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> BatchProducer:
        to = self.addressee(names, broker)
        self._clients += 1
        values = tuple(map(self.scenario.records.number, names))
        producer = BatchProducer(
            self.simulation, FIRST_CLIENT + self._clients, PARTITION, values, acks or self.scenario.cluster.acks
        )
        self.sends.update(dict.fromkeys(names, producer))
        producer.send(to)
        return producer

    def read(self, broker: int | None) -> None:
        self._readers += 1
        reader = StartReader(self.simulation, _FIRST_READER + self._readers, PARTITION)
        to = self.leader() if broker is None else broker
        self.last_read = None
        if to > 0:
            reader.read(to)
            self.wait("the consumer has its answer", lambda: reader.done)
            if reader.seen is not None:
                self.last_read = tuple(map(self.scenario.records.name, reader.seen))

    def ask_to_delete(self, offset: int, broker: int) -> Callable[[], str]:
        admin, number = self._admin, self._admin.delete(PARTITION, offset, broker)
        return lambda: "" if (state := admin.ended(number)) == "ok" else state

    # Faults

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        simulation = self.simulation
        if not simulation.running(broker):
            raise ScriptError(f"broker {self.name(broker)} is not running")
        self.disturb_process(broker, how)
        if how == "power":
            try:
                simulation.lose_power(broker, keep)
            except ValueError as error:
                raise ScriptError(f"broker {self.name(broker)}: {error}") from error
        else:
            simulation.stop(broker, how)
        if how == "clean":
            self.wait(f"broker {self.name(broker)} has shut down", lambda: not simulation.running(broker))

    def start(self, broker: int) -> None:
        self.simulation.start(broker)
        self.mend("start", f"node {broker}")

    def pause(self, broker: int) -> None:
        self.disturb("pause", f"node {broker}", {"node": broker})
        self.simulation.pause(broker)

    def resume(self, broker: int) -> None:
        self.simulation.resume(broker)
        self.mend("pause", f"node {broker}")

    def crash_controller(self) -> None:
        if not self.simulation.running(CONTROLLER):
            raise ScriptError("there is no controller")
        self.disturb("controller-crash", "controller", {"node": CONTROLLER, "nodes": [CONTROLLER]})
        self.simulation.stop(CONTROLLER, "crash")
        self.simulation.run_until(self.simulation.now)

    def start_controller(self) -> None:
        self.simulation.start(CONTROLLER)
        self.simulation.run_until(self.simulation.now)
        self.mend("controller-crash", "controller")

    def retain(self, broker: int, batches: int) -> None:
        if self._replica(broker) is None:
            raise ScriptError(f"broker {self.name(broker)} is not running")
        if not self.family.has_isr:
            raise ScriptError("there is no log start: nothing is deleted")
        self.disturb("retention", f"retention {broker}", {"node": broker})
        self.simulation.push(self.simulation.now, self.simulation.nodes[broker], RetentionDue(PARTITION, batches))
        self.simulation.run_until(self.simulation.now)

    def elect(self, how: str, broker: int) -> None:
        if how == "unclean" and not self.family.has_isr:
            raise ScriptError("nobody can make a server lead that a majority does not vote for")
        self.disturb(f"{how}-election", "elect", {"node": broker})
        self.simulation.elect(PARTITION, how, broker)
        self.simulation.run_until(self.simulation.now)

    def reassign(self, replicas: tuple[int, ...]) -> None:
        if self.family.has_isr:
            refused = self.simulation.controller.refuses(Reassign(CONTROLLER, PARTITION, replicas))
            if refused:
                raise ScriptError(f"the reassignment was refused: {refused}")
        elif not self.family.changes_members:
            raise ScriptError("there is no controller that could reassign a partition, and the members never change")
        self.disturb("reassignment", "reassign", {"replicas": list(replicas)})
        self.simulation.reassign(PARTITION, replicas)
        self.simulation.run_until(self.simulation.now)

    def set_min_isr(self, min_isr: int) -> None:
        if not self.family.has_isr:
            raise ScriptError("there is no ISR")
        self.disturb("min-isr", "min ISR", {"min_isr": self.simulation.set_min_isr(min_isr)})
        self.simulation.run_until(self.simulation.now)

    def allow_unclean(self, *, on: bool) -> None:
        if not self.family.has_isr:
            raise ScriptError("there is no ISR")
        self.disturb_unclean(on=on)
        self.simulation.allow_unclean(on=on)
        self.simulation.run_until(self.simulation.now)

    def switch_elr(self, *, on: bool) -> None:
        if not self.family.has_isr:
            raise ScriptError("there is no ISR")
        self.disturb_elr(on=on)
        self.simulation.switch_elr(on=on)
        self.simulation.run_until(self.simulation.now)

    def move_log(self, broker: int) -> None:
        raise CannotPlayError("simulated brokers have one log directory: play this script with --system kafka:VERSION")

    def throttle_moves(self, broker: int, rate: int) -> None:
        self.move_log(broker)

    def stop_messages(self, kind: str, link: Link) -> None:
        (self.simulation.block if kind == "cut" else self.simulation.hold)(link)

    def let_messages_pass(self, kind: str, link: Link) -> bool:
        return (self.simulation.unblock if kind == "cut" else self.simulation.release)(link)

    # The end

    def heal(self) -> None:
        simulation = self.simulation
        simulation.heal()
        simulation.start(CONTROLLER)
        for broker in simulation.brokers():
            simulation.resume(broker)
            simulation.start(broker)

    def ending(self) -> SimulatedEnding:
        """Producers and the admin client give up when all is at rest."""
        return SimulatedEnding(self.simulation, self._give_up)

    def _give_up(self) -> None:
        for producer in dict.fromkeys(self.sends.values()):
            if isinstance(producer, BatchProducer):
                producer.give_up()
        self._admin.give_up()


def _role(replica: Any) -> str:  # noqa: ANN401 (of any family)
    return "leader" if replica.leading else "follower" if replica.following else "no leader"
