"""The simulated world: the event heap, the nodes on it, and the verbs the nemesis uses.

The loop is the hot path of everything; what looks unusual in it (bare tuples, class identity tests, one flat ``if`` chain by
frequency) is there because it was measured (bench/). So is that it is one file: heap, nodes and links are the loop's own, and
another object between them would be a call for each event.
"""

from __future__ import annotations

from heapq import heappop, heappush
from operator import attrgetter
from random import Random
from typing import TYPE_CHECKING, Any

from tidemark.harness.runs.fault_meaning import batches_retained_away, deleted_below, told_by_servers
from tidemark.harness.simulator.actors import Actor, Caller, Port, SimNode, StateMachine
from tidemark.harness.simulator.membership import MembershipOperator
from tidemark.harness.simulator.network import BASE_US, SPREAD_US, NetworkFaults
from tidemark.harness.simulator.steady import Steady, share_of
from tidemark.nemesis.links import EVERYONE
from tidemark.nodes.core.actions import Append, Send, SetTimer
from tidemark.nodes.core.events import ControllerElected, ControllerFailed, RetentionDue, ShutdownRequested, Started
from tidemark.nodes.core.messages import CONTROLLER, AllowUnclean, Elect, Reassign, SetMinIsr, SwitchElr
from tidemark.nodes.core.partition_state import PartitionState
from tidemark.nodes.core.recovery import recover
from tidemark.nodes.families import family_of
from tidemark.nodes.families.voting.messages import StandForElection

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.checkers.history.history import Op
    from tidemark.nemesis.damage import Damage
    from tidemark.nemesis.links import Link
    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.controller import Controller
    from tidemark.nodes.families import AnyVariant
    from tidemark.nodes.families.family import Machine


BY_CHANCE = frozenset({"links", "disk"})
"""The noise streams that are drawn from even where delays are fixed."""
MEAN = 0.5
"""With fixed delays a client rests as long as it does in the mean."""


def _take_apart(machine: StateMachine | None) -> None:
    """A machine that will never step again: its parts refer to each other, and would wait for the garbage collector."""
    for replica in getattr(machine, "replicas", {}).values():
        vars(replica).clear()
    if machine is not None:
        vars(machine).clear()


def _nothing(now: int, event: object) -> None:
    """What a disposed port does."""


class Simulation:
    """All nodes, the network, and the time. Implements ``nemesis.FaultTarget``.

    Attributes:
        ops, nemesis, trace: the history as it grows (docs/history.md).
        times: when each event was delivered; part of the digest.
        ask_to_delete: a client asks a broker to delete records (partition, offset, broker); None where no client does.
    """

    def __init__(
        self, cluster: ClusterSpec, variant: AnyVariant, noise_seed: int, fixed_delay_us: int | None = None
    ) -> None:
        """Build the nodes; :meth:`boot` starts them. With a fixed delay every message takes exactly that long."""
        self.cluster = cluster
        self.variant = variant
        self._keeps_epochs = variant.has_epoch_cache
        self.family = family_of(variant)
        self.now = 0
        self.ops: list[Op] = []
        self.nemesis: list[tuple[Any, ...]] = []
        self.trace: list[tuple[Any, ...]] = []
        self.times: list[int] = []
        self.watched: dict[object, list[Callable[[int], None]]] = {}
        self.ask_to_delete: Callable[[str, int, int], object] | None = None
        self._noise_seed = noise_seed
        self._fixed = fixed_delay_us is not None
        self._heap: list[tuple[int, int, Port, int, object]] = []
        self._seq = 0
        network = self.stream("network") if fixed_delay_us is None else Steady(share_of(fixed_delay_us))
        self._latency = network.random
        self.faults = NetworkFaults(
            self.stream("links"),
            Steady(1.0) if self._fixed else None,
            self.family.tells_leadership,
        )
        self.detour: object = self.faults.rules
        """While this is true, every message takes the long way through :meth:`send`; a subclass may set it for good."""
        self._disk_noise = self.stream("disk")
        self._caller = Caller()
        self._brokers = cluster.broker_ids()
        self.nodes = {b: SimNode(b, self.halted) for b in (CONTROLLER, *self._brokers)}
        for node in self.nodes.values():
            node.disk.syncs_directories = getattr(variant, "metadata_log", False)
        self.actors: dict[int, Actor] = dict(self.nodes)
        self._assignment = cluster.assignment()
        self.reaches: Callable[[Machine], Callable[[int, Any], list[Action]]] = attrgetter("step")
        """What is called with the events of a broker's process."""
        self._controller: Controller | None = None
        self._operator = MembershipOperator(self, self._assignment) if self.family.changes_members else None
        make_controller = self.family.controller
        node = self.nodes[CONTROLLER]
        if self.family.store is not None:
            node.machine = self.family.store(self._brokers, self._assignment, variant, cluster.settings)
            node.port.deliver = node.machine.step
            node.running = True
        elif make_controller is None:
            node.port.token = -1
        else:
            self._controller = make_controller(self._brokers, self._assignment, variant, cluster.settings)
            node.machine = self._controller
            node.port.deliver = self._controller.step
            node.running = True

    @property
    def controller(self) -> Controller:
        """The controller's state machine.

        Raises:
            ValueError: the family has none.
        """
        if self._controller is None:
            raise ValueError(f"{self.family.title} has no controller")
        return self._controller

    def stream(self, name: str) -> Random:
        """A noise stream of its own, so that one part's draws never shift another's; steady where delays are fixed, but for what is
        lost: messages of lossy links, and what a disk had not synced.
        """
        if self._fixed and name not in BY_CHANCE:
            return Steady(MEAN)
        return Random(f"{self._noise_seed}/{name}")

    def boot(self) -> None:
        """Start the controller, if there is one, and all brokers."""
        self.push(self.now, self.nodes[CONTROLLER], Started())
        for broker in self.brokers():
            self.start(broker)

    # The heap

    def push(self, at: int, actor: Actor, event: object) -> None:
        """Deliver an event at a time, unless the actor's process ends before."""
        port = actor.port
        if port.token < 0:
            return
        self._seq += 1
        heappush(self._heap, (at, self._seq, port, port.token, event))

    def send(self, source: int, to: int, message: object) -> None:
        """Put a message on the network."""
        port = self.actors[to].port
        if port.token < 0:
            return
        at = self.now + BASE_US + int(self._latency() * SPREAD_US)
        if self.faults.rules:
            extra = self.faults.judge(source, to, message)
            if extra < 0:
                return
            at += extra
        self._seq += 1
        heappush(self._heap, (at, self._seq, port, port.token, message))

    def run_until(self, until: int) -> None:
        """Deliver events in order of time, then of their making, up to and including ``until``."""
        heap = self._heap
        if not heap or heap[0][0] > until:
            self.now = until
            return
        times = self.times
        trace = self.trace.append
        detour = self.detour
        ports = {} if detour is True else {name: actor.port for name, actor in self.actors.items()}
        latency = self._latency
        watched = self.watched
        while heap and heap[0][0] <= until:
            at, _, port, token, event = heappop(heap)
            self.now = at
            times.append(at)
            if token != port.token:
                continue
            if port.paused:
                port.backlog.append(event)
                continue
            actions = port.deliver(at, event)
            if not actions:
                continue
            node = port.node
            for action in actions:
                cls = type(action)
                if cls is Send:
                    if detour:
                        self.send(node.node_id, action.to, action.message)
                        continue
                    to = ports[action.to]
                    if to.token >= 0:
                        self._seq = seq = self._seq + 1
                        arrival = at + BASE_US + int(latency() * SPREAD_US)
                        heappush(heap, (arrival, seq, to, to.token, action.message))
                elif cls is tuple:
                    trace(action)
                    if watched and action[2] in watched:
                        self.notify(action[2], node.node_id)
                elif cls is Append:
                    batch = action.batch
                    node.disk.append(at, action.partition, batch)
                    trace((at, node.node_id, "append", action.partition, batch.base, batch.epoch, batch.values))
                    if watched and "append" in watched:
                        self.notify("append", node.node_id)
                elif cls is SetTimer:
                    self._seq = seq = self._seq + 1
                    heappush(heap, (at + action.delay_us, seq, port, token, action.event))
                else:
                    node.carry_out(action, at)
        self.now = until

    def dispose(self) -> None:
        """Break the reference cycles, so that memory is free at once and not when the collector gets to it."""
        self._heap.clear()
        self.watched.clear()
        self.ask_to_delete = None
        for node in self.nodes.values():
            _take_apart(node.machine)
            node.machine = None
        for actor in (self._caller, *self.actors.values()):
            actor.port.deliver = _nothing
            actor.port.node = None
        self.actors.clear()
        self.nodes.clear()

    # nemesis.FaultTarget

    def brokers(self) -> tuple[int, ...]:
        return self._brokers

    def partitions(self) -> tuple[str, ...]:
        return tuple(self._assignment)

    def state_of(self, partition: str) -> PartitionState:
        """What the controller holds. Without one: who leads the newest generation, of those that run, and all replicas as ISR."""
        if self._controller is not None:
            return self._controller.partitions[partition]
        if self._operator is not None:
            return self._operator.state_of(partition)
        replicas = self._assignment[partition]
        found = PartitionState(partition, replicas, replicas)
        for broker in replicas:
            machine = self.broker(broker)
            replica = machine.replicas[partition] if machine is not None else None
            if replica is not None and replica.leading and replica.leader_epoch > found.leader_epoch:
                found.leader, found.leader_epoch = broker, replica.leader_epoch
        return found

    def leader_of(self, partition: str) -> int:
        return self.state_of(partition).leader

    def isr_of(self, partition: str) -> tuple[int, ...]:
        return self.state_of(partition).isr

    def replicas_of(self, partition: str) -> tuple[int, ...]:
        return self.state_of(partition).replicas

    def target_of(self, partition: str) -> tuple[int, ...]:
        return self.state_of(partition).target()

    def running(self, broker: int) -> bool:
        """Whether the process exists; of the controller, whether there is one."""
        return self.nodes[broker].running

    def call_at(self, at_us: int, action: Callable[[], None]) -> None:
        self.push(at_us, self._caller, action)

    def on_trace(self, event: str, callback: Callable[[int], None]) -> None:
        self.watched.setdefault(event, []).append(callback)

    def notify(self, event: object, node: int) -> None:
        """Tell those who watch an event."""
        for callback in self.watched[event]:
            callback(node)

    def set_link_fault(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put a fault on links. Where there is no controller, the others stand for it if what is meant is word of who leads."""
        if self.nodes[CONTROLLER].machine is None:
            links = told_by_servers(links, effect, self._brokers)
        self.faults.add(key, links, effect, amount)

    def clear_link_fault(self, key: int) -> None:
        self.faults.remove(key)

    def start(self, broker: int) -> None:
        node = self.nodes[broker]
        if node.running or (broker == CONTROLLER and node.machine is None):
            node.restart_wanted = node.stopping
            return
        node.running = True
        if broker == CONTROLLER:
            self.push(self.now, node, ControllerElected())
            return
        node.stopping = node.restart_wanted = False
        node.port.paused = False
        node.incarnation += 1
        node.port.token = node.incarnation
        came_back = node.disk.came_back
        image = node.disk.load()
        recovered = recover(image, self.variant.recovery)
        self._trace(broker, "start", "", node.incarnation)
        for name, found in recovered.partitions.items():
            end = min(found.leo, came_back.get(name, found.leo))
            self._trace(broker, "recovered", name, end, found.hw, self._lost(node, name, end))
            for batch in (one for one in found.batches if one.base >= end):
                self._trace(broker, "append", name, batch.base, batch.epoch, batch.values)
            if found.start:
                self._trace(broker, "log-start", name, found.start, 0, "recovered")
            if self._keeps_epochs and found.epochs != found.epochs_of_batches():
                self._trace(broker, "epochs", name, found.epochs)
            node.disk.recover(name, found)
        _take_apart(node.machine)
        node.machine = self.family.machine(
            broker, node.incarnation, self.variant, self.cluster.settings, recovered, self._assignment
        )
        node.port.deliver = self.reaches(node.machine)
        self.push(self.now, node, Started())

    def _lost(self, node: SimNode, partition: str, leo: int) -> int:
        """Records the previous process had beyond what recovery found."""
        before = getattr(node.machine, "replicas", {}).get(partition)
        return max(before.log.leo - leo, 0) if before is not None else 0

    def hinder(self, key: int, broker: int, kind: str, amount: int) -> None:
        """Take a broker off the network; the simulator has no machine on which anything else could happen.

        Raises:
            ValueError: another kind (``simulate`` refuses such plans beforehand).
        """
        if kind != "disconnect":
            raise ValueError(f"the simulator cannot do {kind}")
        others = [node for node in (CONTROLLER, EVERYONE, *self.brokers()) if node != broker]
        self.faults.add(key, (*((broker, o) for o in others), *((o, broker) for o in others)), "cut", 0)

    def unhinder(self, key: int) -> None:
        self.faults.remove(key)

    def stop(self, broker: int, how: str) -> None:
        node = self.nodes[broker]
        if not node.running:
            if how == "power":
                self._lose_power_when_down(node)
            elif how == "damage":
                self._trace(broker, "stop", "", how)
            return
        if broker == CONTROLLER:
            node.running = False
            self.push(self.now, node, ControllerFailed())
            return
        if how == "clean":
            node.restart_wanted = False
            if not node.stopping:
                node.stopping = True
                self.push(self.now, node, ShutdownRequested())
            return
        self._end(node, how)
        if how == "power":
            node.disk.lose_power(self.now, self._disk_noise)
        elif how == "container":
            node.disk.keep_synced()
        elif how == "disk":
            had = frozenset(node.disk.files)
            node.disk.wipe()
            for name in self.partitions():
                if name in had or broker in self.state_of(name).replicas:
                    node.disk.file(name)

    def _lose_power_when_down(self, node: SimNode) -> None:
        """What was not synced may be gone, as if the process had run until now. Of one that stopped cleanly all was, but for the
        mark; after a disk or the power was lost there is nothing more to lose.
        """
        if node.ended in {"power", "container", "disk"}:
            return
        if node.ended != "clean":
            node.ended = "power"
            self._trace(node.node_id, "stop", "", node.ended)
        node.disk.lose_power(self.now, self._disk_noise)

    def damage(self, broker: int, damage: Damage) -> None:
        self.nodes[broker].disk.damage(damage, Random(damage.seed(self._noise_seed)))

    def take_back(self, broker: int, back_us: int, what: frozenset[str]) -> None:
        self.nodes[broker].disk.take_back(self.now - back_us, what)

    def halted(self, node: SimNode, how: str) -> None:
        """The process ended itself."""
        restart = node.restart_wanted
        self._end(node, how)
        if restart:
            self.start(node.node_id)

    def _end(self, node: SimNode, how: str) -> None:
        self._trace(node.node_id, "stop", "", "power" if how == "container" else how)
        node.ended = how
        node.running = node.stopping = node.restart_wanted = False
        node.port.paused = False
        node.port.backlog.clear()
        node.port.token = -1

    def pause(self, broker: int) -> None:
        node = self.nodes[broker]
        if node.running and not node.port.paused:
            node.port.paused = True
            self._trace(broker, "pause", "")

    def resume(self, broker: int) -> None:
        """SIGCONT: everything that waited arrives now, in order."""
        node = self.nodes[broker]
        if node.port.paused:
            node.port.paused = False
            self._trace(broker, "resume", "")
            for event in node.port.backlog:
                self.push(self.now, node, event)
            node.port.backlog.clear()

    def elect(self, partition: str, how: str, target: int) -> None:
        """Ask the controller for an election, as an operator's tool would; without one, the server itself."""
        if self._controller is None:
            if how == "preferred":
                target = self.target_of(partition)[0] if self._operator else self._assignment[partition][0]
            self.push(self.now, self.nodes[target], StandForElection(partition))
            return
        self.push(self.now, self.nodes[CONTROLLER], Elect(CONTROLLER, partition, how, target))

    def reassign(self, partition: str, replicas: tuple[int, ...]) -> None:
        """Ask the controller for a reassignment, as an operator's tool would; without one, whoever leads the group."""
        if self._operator is not None:
            self._operator.want(partition, replicas)
            return
        self.push(self.now, self.nodes[CONTROLLER], Reassign(CONTROLLER, partition, replicas))

    def set_min_isr(self, order: int | None) -> int:
        """Ask the controller for it."""
        min_isr = self.cluster.min_isr_of(order)
        self.push(self.now, self.nodes[CONTROLLER], SetMinIsr(CONTROLLER, min_isr))
        return min_isr

    def allow_unclean(self, *, on: bool | None) -> None:
        """Ask the controller for it."""
        allowed = self.cluster.settings.unclean_election if on is None else on
        self.push(self.now, self.nodes[CONTROLLER], AllowUnclean(CONTROLLER, allowed))

    def switch_elr(self, *, on: bool) -> None:
        """Ask the controller for it."""
        self.push(self.now, self.nodes[CONTROLLER], SwitchElr(CONTROLLER, on))

    def move_log(self, partition: str, broker: int, rate: int) -> None:
        """Nobody can: plans with such faults are refused.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a simulated broker has one log directory")

    def unthrottle_moves(self, broker: int) -> None:
        """Nothing is moved."""

    def fail_log_dir(self, partition: str, broker: int, *, other: bool) -> None:
        """Nobody can: plans with such faults are refused.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a simulated broker has one log directory")

    def mend_log_dir(self, broker: int, *, emptied: bool) -> None:
        """None has failed."""

    def controllers(self) -> tuple[int, ...]:
        return (CONTROLLER,)

    def change_voter(self, node: int, *, there: bool) -> None:
        """Nobody can: plans with such faults are refused.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a simulated controller stands alone")

    def delete_records(self, partition: str, share: int) -> None:
        """Have a client delete records of the controller's leader; without one that runs, nobody could be asked."""
        leader = self.leader_of(partition)
        machine = self.broker(leader) if leader > 0 else None
        replica = machine.replicas.get(partition) if machine is not None else None
        if replica is not None and self.ask_to_delete is not None:
            self.ask_to_delete(partition, deleted_below(replica.log.start, replica.hw, share), leader)

    def retain(self, partition: str, broker: int, share: int) -> None:
        """Let a broker's retention delete; of one that does not run, nothing goes."""
        machine = self.broker(broker)
        replica = machine.replicas.get(partition) if machine is not None else None
        if replica is not None:
            batches = batches_retained_away((batch.end for batch in replica.log.batches), replica.hw, share)
            self.push(self.now, self.nodes[broker], RetentionDue(partition, batches))

    def now_us(self) -> int:
        return self.now

    def record(self, entry: tuple[int, str, int, str, dict[str, Any]]) -> None:
        self.nemesis.append(entry)

    def _trace(self, node: int, event: str, partition: str, *fields: object) -> None:
        self.trace.append((self.now, node, event, partition, *fields))
        if event in self.watched:
            self.notify(event, node)

    def trace_event(self, node: int, event: str, partition: str, *fields: object) -> None:
        """Add an event of the harness (``converged``, ``final``) to the trace."""
        self._trace(node, event, partition, *fields)

    def broker(self, broker: int) -> Any:  # noqa: ANN401 (the family's machine; see tidemark.nodes.families.family.Machine)
        """The broker's state machine, None while its process does not run."""
        node = self.nodes[broker]
        return node.machine if node.running and broker != CONTROLLER else None
