"""The container world: the verbs the nemesis uses, on real processes and machines.

It means by each verb what the simulated world means (:mod:`tidemark.harness.simulator.simulation`). What the nemesis may ask for at
once (whether a broker runs) is decided here, in the run_loop's thread; what takes time is done in the node's lanes, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from tidemark.checkers.history.trace_events import KIND, NODE
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.cluster_nodes import ClusterNodes
from tidemark.harness.live.contained_node import CLOCK_JUMP, DISCONNECT, DISK_FULL, ContainedNode
from tidemark.harness.live.link_faults import LinkFault
from tidemark.harness.live.observation import compare_clocks
from tidemark.harness.live.processes import Processes
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.live.run_loop import RunLoop
from tidemark.harness.machines.errors import ContainerWorldError, NodeError, NodeSilent
from tidemark.harness.machines.machine import Machine
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.runs.fault_meaning import batches_retained_away, deleted_below, told_by_servers
from tidemark.harness.systems.capabilities import (
    CANNOT_CHANGE_SETTINGS,
    CANNOT_REASSIGN,
    HAS_FIXED_VOTERS,
    HAS_ONE_LOG_DIRECTORY,
    NO_ELECTIONS,
    AllowsUnclean,
    ChangesSettings,
    ChangesVoters,
    Elects,
    GoesOn,
    HandsOverController,
    MovesLogs,
    Reassigns,
    Retains,
    VotesItself,
)
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.system import System
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import REASSIGNMENT, Plan
from tidemark.nemesis.damage import Damage
from tidemark.nemesis.kinds import CHANGES_VOTERS, FAILS_LOG_DIRS, MOVES_LOGS
from tidemark.nemesis.links import CONTROLLER, EVERYONE, Link
from tidemark.nodes.admin.trace_file import DECIDED
from tidemark.nodes.families import AnyVariant

MACHINE, ADMIN, CLOCK, VOTERS = "machine", "admin", "clock", "voters"
"""Lanes of a node, beside its process's: its links and machine; what is asked of the process, which takes a few ms only; waiting
for its clock; for an answer to changes of voters, one after the other."""

MOVE = "move-log-dir"
"""What an order to move a log is called where it was refused."""
BOOT_S = 20.0
START_ALL_S = 240.0
SETTLE_S = 240.0


class LiveCluster(ClusterNodes):
    """Controller and brokers on machines. Implements ``nemesis.FaultTarget``.

    Attributes:
        run_loop: its time.
        processes: of its nodes.
        ask_to_delete: has a client delete the records of a partition below an offset, without waiting for it; set by the run.
        refused: elections, reassignments and leaves that the system refused, with its reasons.
        clocks_us: node → how far its monotonic clock is ahead of the harness's; 0 where both run on one kernel.
    """

    def __init__(
        self,
        machines: Mapping[int, Machine],
        plan: Plan,
        variant: AnyVariant,
        recorder: Recorder,
        *,
        delay: str,
        system: System | None = None,
        before: Deployment | None = None,
    ) -> None:
        """Touch nothing yet.

        Args:
            machines: at least one for every node of the plan's cluster.
            plan: cluster, faults and noise seed.
            variant: the protocol.
            recorder: takes what the harness sees.
            delay: what slows links, ``netem`` or ``transport``.
            system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
            before: of the run whose nodes go on; they are started anew if this run's would be others.
        """
        self.run_loop = RunLoop()
        of_nodes = {node: machines[node] for node in (CONTROLLER, *plan.cluster.broker_ids())}
        deployment = Deployment(
            of_nodes,
            plan.cluster,
            variant,
            workload=plan.beside_sends,
            follows_syncs=any(fault.row.of_syncs for fault in plan.faults),
            two_log_directories=any(fault.kind in MOVES_LOGS for fault in plan.faults),
            log_directories_fail=any(fault.kind in FAILS_LOG_DIRS for fault in plan.faults),
            dynamic_quorum=any(fault.kind in CHANGES_VOTERS for fault in plan.faults),
        )
        super().__init__(deployment, system or TidemarkSystem(), delay=delay)
        same = before is not None and isinstance(self.system, GoesOn) and self.system.can_go_on(before, deployment)
        self._before = before if same else None
        self.clocks_us: dict[int, int] = {}
        self.refused: list[dict[str, Any]] = []
        self._recorder = recorder
        self._homes = {name: set(replicas) for name, replicas in plan.cluster.assignment().items()}
        """Partition → brokers that have a replica, or had one, or were to get one."""
        self._controller_failed = False
        self._noticed: set[tuple[int, int]] = set()
        """Where in the metadata log of several controllers those decisions stand that were watched."""
        self._watched: dict[str, list[Callable[[int], None]]] = {}
        self._hindered: dict[int, tuple[int, str]] = {}
        self.ask_to_delete: Callable[[str, int], None] | None = None
        self.processes = Processes(
            self,
            self.run_loop,
            trace=self.trace_event,
            notify=self.notify,
            partitions_on=self.partitions_on,
            clock_faults=any(fault.kind == CLOCK_JUMP for fault in plan.faults),
            noise_seed=plan.noise_seed,
        )

    @property
    def goes_on(self) -> bool:
        """Whether its nodes are those of the run before."""
        return self._before is not None

    def excused(self, node: int) -> bool:
        return self.processes.away(node) if node == CONTROLLER else self.processes.paused(node)

    def lost(self, node: int) -> None:
        self.run_loop.post(lambda: self.processes.lost(node))

    def traced(self, event: list[Any]) -> None:
        if event[KIND] in DECIDED and len(self.system.controllers) > 1:
            # Each controller shows it, with offset and place behind.
            self.run_loop.post(lambda: self._notify_once(event[KIND], (event[-2], event[-1])))
            return
        self.run_loop.post(lambda: self.notify(event[KIND], event[NODE]))

    def _notify_once(self, event: str, where: tuple[int, int]) -> None:
        if where not in self._noticed:
            self._noticed.add(where)
            self.notify(event, CONTROLLER)

    def _submit(self, node: int, lane: str, what: str, deed: Callable[[], None]) -> None:
        name = self.nodes[node].name
        self.run_loop.submit(f"{name} {lane}", f"{what} {name}", deed)

    # From nothing to a cluster that has leaders, and back

    def boot(self) -> None:
        """Clean the machines, start all processes unless they go on from the last run, and wait for the first leaders. Time 0 of
        the run is its end.

        Raises:
            RunError: a process does not start, or there is no leader within 20 s.
        """
        if self._before is None:
            self._start_all()
            self.after_start()
        else:
            self._go_on(self._before)
        deadline = self.now_us() + int(BOOT_S * 1e6)
        while self.observation.sees_leaders and any(self.leader_of(name) < 0 for name in self.partitions()):
            if self.now_us() > deadline:
                why = f"; {trouble}" if (trouble := self.observation.trouble) else ""
                raise RunError(f"not every partition had a leader {BOOT_S:g} s after the start of all brokers{why}")
            self.run_loop.run_until(self.now_us() + 20_000)
        self.clocks_us = compare_clocks(self.controls)
        self.run_loop.begin()

    def _start_all(self) -> None:
        for node, one in self.nodes.items():
            self.processes.submit(node, "clean", one.clean)
        self.run_loop.settle(START_ALL_S)
        self.prepare()
        if self.has_node_0:
            self.processes.start(CONTROLLER)
        if self.system.controller_first:
            self._started()
        for broker in self.brokers():
            self.processes.start(broker)
        self._started()

    def _go_on(self, before: Deployment) -> None:
        assert isinstance(self.system, GoesOn)  # noqa: S101 (else there is no run before)
        for node in self.nodes:
            self.processes.go_on(node)
        self._started()
        self.system.clear(self.controls, before)
        self.after_start()
        self.system.forget(self.controls, self.deployment)

    def _started(self) -> None:
        """Wait until all that was started answers; one that ended instead would be missed by all that follows."""
        self.run_loop.settle(START_ALL_S)
        for death in self.processes.died:
            words = death["log"] or "it printed nothing"
            raise RunError(f"the process of {self.nodes[death['node']].name} ended while the cluster started: {words}")

    def run_until(self, until_us: int) -> None:
        self.run_loop.run_until(until_us)

    def settle(self) -> None:
        """Wait until everything that was begun is done.

        Raises:
            RunError: it failed, or takes more than four minutes; whose process had ended by itself is told, too.
        """
        try:
            self.run_loop.settle(SETTLE_S)
        except RunError as error:
            ended = (
                f"; the process of {self.nodes[death['node']].name} had ended: {death['log'] or 'it printed nothing'}"
                for death in self.processes.died
            )
            raise RunError(f"{error}{''.join(ended)}") from None

    def close(self, *, go_on: bool = False) -> bool:
        """End lanes, faults, and processes unless they are to go on; what cannot be ended (a machine that is gone) is let be.

        Returns:
            Whether everything was ended.
        """
        if self.operator is not None:
            self.operator.close()
        self.run_loop.close()

        def end(node: ContainedNode) -> bool:
            try:
                node.end(goes_on=go_on)
            except ContainerWorldError:
                return False
            return True

        with ThreadPoolExecutor(len(self.nodes)) as threads:
            return all(list(threads.map(end, self.nodes.values())))

    # nemesis.FaultTarget

    def now_us(self) -> int:
        return self.run_loop.now_us()

    def call_at(self, at_us: int, action: Callable[[], None]) -> None:
        self.run_loop.call_at(at_us, action)

    def on_trace(self, event: str, callback: Callable[[int], None]) -> None:
        known = event in self._watched
        self._watched.setdefault(event, []).append(callback)
        if not known:
            events = tuple(self._watched)
            for node, one in self.nodes.items():
                self._submit(node, ADMIN, "watch", lambda one=one: one.watch(events))  # type: ignore[misc]

    def notify(self, event: str, node: int) -> None:
        """Tell those who watch an event."""
        for callback in self._watched.get(event, ()):
            callback(node)

    def record(self, entry: tuple[int, str, int, str, dict[str, Any]]) -> None:
        self._recorder.nemesis_op(entry)

    def partitions_on(self, broker: int) -> tuple[str, ...]:
        """The partitions that a broker may have something of."""
        return tuple(name for name, brokers in self._homes.items() if broker in brokers)

    def trace_event(self, node: int, event: str, partition: str, *fields: object, at_us: int | None = None) -> None:
        """Add an event of the harness to the trace, of now unless told otherwise; may be called from any thread."""
        self._recorder.event((self.now_us() if at_us is None else at_us, node, event, partition, *fields))

    # Processes

    def running(self, broker: int) -> bool:
        """Whether the process exists, as far as the nemesis has decided; of the controller, whether there is one."""
        if broker == CONTROLLER and not self.has_node_0:
            return False
        return self.processes.running(broker) and not (broker == CONTROLLER and self._controller_failed)

    def start(self, broker: int) -> None:
        if broker == CONTROLLER and isinstance(self.system, HandsOverController):
            self._hand_over(self.system.elect_controller, there=True)
        else:
            self.processes.start(broker)

    def stop(self, broker: int, how: str) -> None:
        if broker == CONTROLLER and isinstance(self.system, HandsOverController):
            if self.running(CONTROLLER):
                self._hand_over(self.system.fail_controller, there=False)
        else:
            self.processes.stop(broker, how)

    def damage(self, broker: int, damage: Damage) -> None:
        self.processes.damage(broker, damage)

    def take_back(self, broker: int, back_us: int, what: frozenset[str]) -> None:
        """Nobody can, of a real file system; plans that ask for it were refused.

        Raises:
            RunError: always.
        """
        raise RunError(
            f"{self.nodes[broker].name} has a real file system, which gives no {' and no '.join(sorted(what))} back"
        )

    def _hand_over(self, deed: Callable[[Mapping[int, NodeControl]], None], *, there: bool) -> None:
        self._controller_failed = not there
        self._submit(CONTROLLER, ADMIN, "hand over the controller on", lambda: deed(self.controls))

    def take_out(self, node: int) -> str:
        asked_us = self.now_us()
        if refused := super().take_out(node):
            self._refuse(asked_us, "", "leave", node, refused)
        return refused

    def pause(self, broker: int) -> None:
        self.processes.pause(broker)

    def resume(self, broker: int) -> None:
        """SIGCONT: everything that waited arrives now, in order."""
        self.processes.resume(broker)

    def elect(self, partition: str, how: str, target: int) -> None:
        """Ask the controller for an election, as an operator's tool would; not before what is being done now is in force. Without
        one, the server itself.
        """
        if not self.has_controller and isinstance(self.system, VotesItself):
            stands = self.system.stand
            server = self.target_of(partition)[0] if how == "preferred" else target
            stand = partial(self.nodes[server].stand, lambda control, wait: stands(control, partition, wait=wait))
            self.call_at(self.now_us(), lambda: self._submit(server, ADMIN, "let stand for election", stand))
            return

        def ask() -> None:
            asked_us = self.now_us()
            refused = NO_ELECTIONS
            if isinstance(self.system, Elects):
                refused = self.system.elect(self.controls, partition, how, target)
            self.observation.forget()
            if refused:
                self._refuse(asked_us, partition, how, target, refused)

        self.call_at(self.now_us(), lambda: self._submit(CONTROLLER, ADMIN, f"elect {target} by the", ask))

    def delete_records(self, partition: str, share: int) -> None:
        """Have a client delete records of the controller's leader; without one that answers, nobody knows which."""
        leader = self.leader_of(partition)
        if leader > 0 and self.running(leader):

            def ask() -> None:
                replica = self._replica(leader, partition)
                if replica is not None and self.ask_to_delete is not None:
                    self.ask_to_delete(partition, deleted_below(replica.get("start", 0), replica["hw"], share))

            self._submit(leader, ADMIN, "delete records on", ask)

    def retain(self, partition: str, broker: int, share: int) -> None:
        """Let a broker's retention delete; of one that does not answer, nothing goes."""
        if self.running(broker) and isinstance(self.system, Retains):
            control, retain = self.controls[broker], self.system.retain

            def ask() -> None:
                replica = self._replica(broker, partition)
                if replica is None:
                    return
                with suppress(NodeError):
                    batches = control.admin.ask("log", partition=partition)["batches"]
                    ends = (base + count for base, _, count in batches)
                    retain(control, partition, batches_retained_away(ends, replica["hw"], share))

            self._submit(broker, ADMIN, "let retention delete on", ask)

    def _replica(self, broker: int, partition: str) -> dict[str, Any] | None:
        """How a replica stands; `None` if its broker does not say."""
        status = self.observation.statuses((broker,))[broker]
        return status["partitions"].get(partition) if status else None

    def reassign(self, partition: str, replicas: tuple[int, ...]) -> None:
        """Ask the controller for a reassignment, as an operator's tool would; not before what is being done now is in force.
        Without one, whoever leads the group.
        """
        self._homes[partition].update(replicas)
        if self.operator is not None:
            self.operator.want(partition, replicas)
            return

        def ask() -> None:
            asked_us = self.now_us()
            refused = CANNOT_REASSIGN
            if isinstance(self.system, Reassigns):
                try:
                    refused = self.system.reassign(self.controls, partition, replicas)
                except NodeSilent as error:
                    refused = str(error)
                    self.trace_event(CONTROLLER, "ordered", partition, replicas, False, at_us=asked_us)
            self.observation.forget()
            if refused:
                self._refuse(asked_us, partition, REASSIGNMENT, list(replicas), refused)

        self.call_at(self.now_us(), lambda: self._submit(CONTROLLER, ADMIN, "reassign replicas by the", ask))

    def set_min_isr(self, order: int | None) -> int:
        """Have an operator set it."""
        min_isr = self.deployment.cluster.min_isr_of(order)
        topics = self.deployment.topics
        self._change("min-isr", min_isr, self._setting(lambda able: able.set_min_isr(self.controls, topics, min_isr)))
        return min_isr

    def allow_unclean(self, *, on: bool | None) -> None:
        """Have an operator set it."""
        allowed = self.deployment.cluster.settings.unclean_election if on is None else on

        def change() -> str:
            if not isinstance(self.system, AllowsUnclean):
                return CANNOT_CHANGE_SETTINGS
            return self.system.allow_unclean(self.controls, self.deployment.topics, on=allowed)

        self._change("unclean", int(allowed), change)

    def switch_elr(self, *, on: bool) -> None:
        """Have an operator switch it."""
        self._change("elr", int(on), self._setting(lambda able: able.switch_elr(self.controls, on=on)))

    def move_log(self, partition: str, broker: int, rate: int) -> None:
        """Have a broker move its replica; of one that does not run, nothing moves."""
        if not self.running(broker):
            return

        def move(system: MovesLogs) -> str:
            refused = rate and system.throttle_moves(self.controls, broker, rate)
            return refused or system.move_log(self.controls, broker, partition)

        self._of_moves(broker, partition, "move a log of", move)

    def unthrottle_moves(self, broker: int) -> None:
        self._of_moves(broker, "", "unthrottle", lambda system: system.throttle_moves(self.controls, broker, 0))

    def fail_log_dir(self, partition: str, broker: int, *, other: bool) -> None:
        self.processes.fail_log_dir(broker, partition, other=other)

    def mend_log_dir(self, broker: int, *, emptied: bool) -> None:
        self.processes.mend_log_dir(broker, emptied=emptied)

    def _of_moves(self, broker: int, partition: str, what: str, deed: Callable[[MovesLogs], str]) -> None:
        def ask() -> None:
            asked_us = self.now_us()
            refused = deed(self.system) if isinstance(self.system, MovesLogs) else HAS_ONE_LOG_DIRECTORY
            if refused:
                self._refuse(asked_us, partition, MOVE, broker, refused)

        self.call_at(self.now_us(), lambda: self._submit(broker, ADMIN, what, ask))

    def controllers(self) -> tuple[int, ...]:
        return tuple(self.system.controllers)

    def change_voter(self, node: int, *, there: bool) -> None:
        """Have an operator change it, again until it is answered; what is answered is in the trace."""
        how = "add" if there else "remove"

        def ask() -> None:
            asked_us, system = self.now_us(), self.system
            if not isinstance(system, ChangesVoters):
                refused = HAS_FIXED_VOTERS
            elif not (refused := system.change_voter(self.controls, self.deployment, node, there=there)):
                self.trace_event(CONTROLLER, "voter-changed", "", how, node, system.directory_of(node))
            if refused:
                self._refuse(asked_us, "", f"{how}-voter", node, refused)

        self.call_at(self.now_us(), lambda: self._submit(CONTROLLER, VOTERS, f"{how} voter {node} by the", ask))

    def _setting(self, change: Callable[[ChangesSettings], str]) -> Callable[[], str]:
        return lambda: change(self.system) if isinstance(self.system, ChangesSettings) else CANNOT_CHANGE_SETTINGS

    def _change(self, setting: str, value: int, change: Callable[[], str]) -> None:
        def ask() -> None:
            asked_us = self.now_us()
            refused = change()
            if refused:
                self._refuse(asked_us, "", setting, value, refused)

        self.call_at(self.now_us(), lambda: self._submit(CONTROLLER, ADMIN, f"set {setting} by the", ask))

    def _refuse(self, asked_us: int, partition: str, how: str, target: int | list[int], why: str) -> None:
        self.refused.append({"time": asked_us, "partition": partition, "how": how, "target": target, "why": why})

    # Links and machines

    def set_link_fault(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put a fault on links. Where there is no controller, the others stand for it if what is meant is word of who leads."""
        if not self.has_node_0:
            links = told_by_servers(links, effect, self.brokers())
        fault = LinkFault(links, effect, amount)
        self.links.add(key, fault)
        self._apply_links(fault)

    def clear_link_fault(self, key: int) -> None:
        fault = self.links.remove(key)
        if isinstance(fault, LinkFault):
            self._apply_links(fault)

    def _apply_links(self, fault: LinkFault) -> None:
        what = f"put or clear '{fault.effect}' on"
        for node in sorted(self.links.told_of(fault) & self.nodes.keys()):
            self._submit(node, ADMIN, what, self.nodes[node].apply_rules)
        for node in sorted(fault.nodes() & self.nodes.keys()):
            self._submit(node, MACHINE, what, self.nodes[node].apply_links)

    def hinder(self, key: int, broker: int, kind: str, amount: int) -> None:
        self._hindered[key] = (broker, kind)
        if kind == DISCONNECT:
            others = [node for node in (EVERYONE, *self.machines) if node != broker]
            links = (*((broker, other) for other in others), *((other, broker) for other in others))
            self.set_link_fault(key, links, "cut", 0)
            self._submit(
                broker, MACHINE, "disconnect", lambda: self.nodes[broker].unplug(wanted=lambda: key in self._hindered)
            )
        else:
            self.nodes[broker].hindrances[key] = (kind, amount)
            if kind == DISK_FULL:
                self.processes.disk_filled(broker)
            self._apply_hindrance(broker, kind)

    def unhinder(self, key: int) -> None:
        broker, kind = self._hindered.pop(key, (0, ""))
        if kind == DISCONNECT:
            self.clear_link_fault(key)
            if (broker, kind) not in self._hindered.values():
                self._submit(broker, MACHINE, "connect", self.nodes[broker].plug_in)
        elif kind:
            self.nodes[broker].hindrances.pop(key, None)
            self._apply_hindrance(broker, kind)

    def _apply_hindrance(self, broker: int, kind: str) -> None:
        node = self.nodes[broker]

        def apply() -> None:
            node.apply_hindrances()
            if kind == CLOCK_JUMP:
                self._submit(broker, CLOCK, "see the clock jump on", node.check_clock)
            elif kind == DISK_FULL:
                self.run_loop.post(lambda: self.processes.start_if_there_is_room(broker))

        self._submit(broker, MACHINE, f"put or clear '{kind}' on", apply)
