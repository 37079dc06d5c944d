"""Makes a plan's faults happen in a world, heals them, and records what they hit.

A world (the simulator, containers, real brokers) offers the few verbs of :class:`FaultTarget`; everything about roles, overlaps
and healing is here and the same for all. What several faults do to one broker or link ends with the last of them: a fault that ends
starts, resumes or joins nothing that another still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

from tidemark.nemesis import kind as does
from tidemark.nemesis.damage import Damage
from tidemark.nemesis.fault import Fault
from tidemark.nemesis.holds import Holds
from tidemark.nemesis.kinds import CONTROLLER_KINDS
from tidemark.nemesis.links import CONTROLLER, Around, Link

TAKEN_BACK = (frozenset({"cuts", "files"}), frozenset({"cuts"}), frozenset({"files"}))
BY_FILE = frozenset({"by-file"})
"""What of the metadata a power loss may take back, by `pick`."""

PAUSED, DOWN, FAILED, NO_VOTER = "paused", "down", "log directory failed", "no voter"
"""What faults hold together."""


class FaultTarget(Protocol):
    """What an injector can do to a world. Ids are brokers 1 …; all verbs are idempotent where that makes sense.

    Where :data:`~tidemark.nemesis.kinds.LASTING_CONTROLLER_ONLY` faults can be done, ``running``, ``stop`` (``crash``) and
    ``start`` take the controller, 0, as well; elsewhere plans with these are refused before they begin.
    """

    def brokers(self) -> tuple[int, ...]:
        """All broker ids."""

    def partitions(self) -> tuple[str, ...]:
        """All partition names."""

    def leader_of(self, partition: str) -> int:
        """The controller's leader, −1 if there is none."""

    def isr_of(self, partition: str) -> tuple[int, ...]:
        """The controller's committed ISR."""

    def replicas_of(self, partition: str) -> tuple[int, ...]:
        """The partition's replicas, preferred leader first."""

    def running(self, broker: int) -> bool:
        """Whether the process exists (paused or not)."""

    def call_at(self, at_us: int, action: Callable[[], None]) -> None:
        """Do something at a time."""

    def on_trace(self, event: str, callback: Callable[[int], None]) -> None:
        """Be told the node of every further trace event of a kind."""

    def set_link_fault(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put ``cut``, ``slow``, ``lossy``, or ``late-…`` or ``lost-…`` (`kinds.MESSAGES`) on links, under a key."""

    def clear_link_fault(self, key: int) -> None:
        """Take the fault with this key off."""

    def stop(self, broker: int, how: str) -> None:
        """End the process: ``crash``, ``power``, ``disk``, ``container``, ``damage`` or ``leave``; ``clean`` asks it to shut down.
        Whatever would start it again by itself (a shutdown that ends, room on its disk) does so no more. Without a process a
        machine can still lose its ``power``, its files can be damaged, which :meth:`damage` does, and it can leave; the others
        then do nothing.
        """

    def damage(self, broker: int, damage: Damage) -> None:
        """Damage the files of a broker that was stopped so."""

    def start(self, broker: int) -> None:
        """Start the process if it is not running; if it is shutting down, when it has."""

    def take_back(self, broker: int, back_us: int, what: frozenset[str]) -> None:
        """The power is about to be lost, and the file system has not committed what changed in its last µs.

        That is ``cuts`` (truncations), ``files`` (checkpoints), or both. Only where faults of
        :data:`~tidemark.nemesis.kinds.SIMULATED_ONLY` can be done.
        """

    def pause(self, broker: int) -> None:
        """SIGSTOP."""

    def resume(self, broker: int) -> None:
        """SIGCONT."""

    def hinder(self, key: int, broker: int, kind: str, amount: int) -> None:
        """Put a fault whose doing is `Hinder` on a broker, under a key; the kind says what, and what the amount is."""

    def unhinder(self, key: int) -> None:
        """Take the fault with this key off."""

    def elect(self, partition: str, how: str, target: int) -> None:
        """Ask the controller for an election: ``preferred``, ``forced`` or ``unclean``."""

    def target_of(self, partition: str) -> tuple[int, ...]:
        """The replicas the partition will have when a reassignment that is under way has ended."""

    def reassign(self, partition: str, replicas: tuple[int, ...]) -> None:
        """Ask the controller for a reassignment, or, without replicas, to take back the one that is under way."""

    def set_min_isr(self, order: int | None) -> int:
        """Have an operator set min ISR, and say to what (:meth:`~tidemark.nodes.core.cluster.ClusterSpec.min_isr_of`)."""

    def switch_elr(self, *, on: bool) -> None:
        """Have an operator switch ELR on or off."""

    def allow_unclean(self, *, on: bool | None) -> None:
        """Have an operator allow unclean elections, or forbid them; None: as the plan's cluster has it."""

    def move_log(self, partition: str, broker: int, rate: int) -> None:
        """Have a broker move its replica to its other log directory; if ``rate`` is not 0, this broker's moves copy so many bytes a
        second from now on. Only where brokers have two.
        """

    def unthrottle_moves(self, broker: int) -> None:
        """A broker's moves go on as fast as they can."""

    def fail_log_dir(self, partition: str, broker: int, *, other: bool) -> None:
        """Have the log directory fail in which a broker's replica lies, or its other one. Only where brokers have two."""

    def mend_log_dir(self, broker: int, *, emptied: bool) -> None:
        """Mend it, or put an empty one in its place; a broker that runs is shut down for that, and started again."""

    def controllers(self) -> tuple[int, ...]:
        """The nodes that may be the controller."""

    def change_voter(self, node: int, *, there: bool) -> None:
        """Have an operator put a controller into the voters of their quorum, or take it out. Only where voters can change."""

    def delete_records(self, partition: str, share: int) -> None:
        """Have a client delete records: ``share`` per mille of those from the leader's log start to its high watermark."""

    def retain(self, partition: str, broker: int, share: int) -> None:
        """Have a broker's retention delete the oldest batches: ``share`` per mille of those below its high watermark."""

    def now_us(self) -> int:
        """The time."""

    def record(self, entry: tuple[int, str, int, str, dict[str, Any]]) -> None:
        """Add to the history's nemesis operations."""


class Injector:
    """Schedules faults, resolves their targets when they strike, and undoes them."""

    def __init__(self, world: FaultTarget, faults: tuple[Fault, ...], left_out: Collection[int] = ()) -> None:
        """Only remember; :meth:`arm` schedules. The faults at the places ``left_out`` never strike."""
        self._left_out = left_out
        self._world = world
        self._faults = faults
        self._over = False
        self._undo: dict[int, Callable[[], object]] = {}
        self._holds = Holds()
        self._to_empty: set[int] = set()
        """Brokers whose log directory that failed comes back empty."""

    def arm(self) -> None:
        """Schedule every fault, by time or by trace event."""
        for index, fault in enumerate(self._faults):
            if index in self._left_out:
                continue
            if fault.after is None:
                self._world.call_at(fault.at_us, lambda i=index, f=fault: self._strike(i, f))  # type: ignore[misc]
            else:
                self._watch(index, fault)

    def _watch(self, index: int, fault: Fault) -> None:
        trigger = fault.after
        if trigger is None:
            return
        left = [trigger.nth]

        def seen(node: int) -> None:
            if trigger.node not in (0, node) or self._world.now_us() < fault.at_us:
                return
            left[0] -= 1
            if left[0] == 0:
                self._world.call_at(self._world.now_us(), lambda: self._strike(index, fault))

        self._world.on_trace(trigger.event, seen)

    def heal_all(self) -> None:
        """End every fault, start and resume everything, let no further fault strike."""
        self._over = True
        for index in list(self._undo):
            self._heal(index, self._faults[index].kind)
        for broker in self._world.brokers():
            self._world.resume(broker)
            self._world.start(broker)
        self._world.record((self._world.now_us(), "heal", -1, "all", {}))

    def _heal(self, index: int, kind: str) -> None:
        undo = self._undo.pop(index, None)
        if undo is not None:
            told = undo()
            detail = told if isinstance(told, dict) else {}
            self._world.record((self._world.now_us(), "heal", index, kind, detail))

    def _strike(self, index: int, fault: Fault) -> None:
        if self._over:
            return
        world = self._world
        names = world.partitions()
        partition = names[fault.partition % len(names)]
        of_controller = fault.kind in CONTROLLER_KINDS
        node = CONTROLLER if of_controller else self._resolve(fault, partition)
        role = "controller" if of_controller else fault.target
        detail: dict[str, Any] = {"node": node, "role": role, "partition": partition}
        if fault.amount:
            detail["amount"] = fault.amount
        undo = self._apply(index, fault, partition, node, detail)
        world.record((world.now_us(), "strike", index, fault.kind, detail))
        if undo is not None:
            self._undo[index] = undo
            world.call_at(world.now_us() + fault.lasts_us, lambda: self._heal(index, fault.kind))

    def _resolve(self, fault: Fault, partition: str) -> int:
        """The broker a role means now; without a leader, or with no such replica, any replica stands in."""
        world = self._world
        if fault.target[0] == "b" and fault.target[1:].isdecimal():
            return int(fault.target[1:])
        leader = world.leader_of(partition)
        if fault.target == "leader" and leader > 0:
            return leader
        replicas = world.replicas_of(partition)
        isr = world.isr_of(partition)
        candidates = {
            "follower": [b for b in replicas if b in isr and b != leader] or [b for b in replicas if b != leader],
            "isr-member": [b for b in replicas if b in isr],
        }.get(fault.target)
        candidates = candidates or list(replicas)
        return candidates[fault.pick % len(candidates)]

    def _apply(
        self, index: int, fault: Fault, partition: str, node: int, detail: dict[str, Any]
    ) -> Callable[[], object] | None:
        """Do it; returns how to undo it (None: nothing to undo)."""
        world = self._world
        match fault.row.doing:
            case does.OnLinks(effect, links):
                others = tuple(b for b in world.brokers() if b != node)
                world.set_link_fault(
                    index, links(Around(node, others, fault.pick, fault.clients)), effect, fault.amount
                )
                return lambda: world.clear_link_fault(index)
            case does.Stop() as stop:
                return self._stop(index, fault, stop, node, detail)
            case does.Pause():
                return self._pause(index, node)
            case does.Hinder(signed):
                world.hinder(index, node, fault.kind, -fault.amount if signed and fault.pick % 2 else fault.amount)
                return lambda: world.unhinder(index)
            case does.FailOver():
                return self._fail_over(index, fault, partition, node, detail)
            case does.Elect(how):
                world.elect(partition, how, node)
            case does.DeleteRecords():
                world.delete_records(partition, fault.amount)
            case does.Retain():
                world.retain(partition, node, fault.amount)
            case does.TakeBack():
                if (target := world.target_of(partition)) != world.replicas_of(partition):
                    detail["under_way"] = list(target)
                world.reassign(partition, ())
            case does.SetMinIsr() | does.SwitchElr() | does.AllowUnclean() as setting:
                return self._change(setting, fault, detail)
            case does.MoveLog() | does.FailLogDir() as what:
                return self._to_log_dirs(index, fault, what, partition, node, detail)
            case does.RemoveVoter():
                return self._remove_voter(index, fault, detail)
            case does.Move() as move:
                self._move(fault, partition, node, detail, move)
        return None

    def _change(
        self, setting: does.SetMinIsr | does.SwitchElr | does.AllowUnclean, fault: Fault, detail: dict[str, Any]
    ) -> Callable[[], object]:
        """What an operator sets, and at the end sets back."""
        world = self._world
        match setting:
            case does.SetMinIsr():
                detail["min_isr"] = world.set_min_isr(fault.amount)
                return lambda: world.set_min_isr(None)
            case does.SwitchElr():
                world.switch_elr(on=False)
                return lambda: world.switch_elr(on=True)
        world.allow_unclean(on=True)
        return lambda: world.allow_unclean(on=None)

    def _remove_voter(self, index: int, fault: Fault, detail: dict[str, Any]) -> Callable[[], None]:
        world, holds, those = self._world, self._holds, self._world.controllers()
        node = detail["node"] = those[fault.pick % len(those)]
        if holds.take(NO_VOTER, node, by=index):
            world.change_voter(node, there=False)

        def add() -> None:
            if holds.let_go(NO_VOTER, node, by=index):
                world.change_voter(node, there=True)

        return add

    def _pause(self, index: int, node: int) -> Callable[[], None]:
        world, holds = self._world, self._holds
        if holds.take(PAUSED, node, by=index) and world.running(node):
            world.pause(node)

        def resume() -> None:
            if holds.let_go(PAUSED, node, by=index):
                world.resume(node)

        return resume

    def _to_log_dirs(
        self,
        index: int,
        fault: Fault,
        what: does.MoveLog | does.FailLogDir,
        partition: str,
        node: int,
        detail: dict[str, Any],
    ) -> Callable[[], object]:
        """A replica is moved to the other of a broker's two directories; or one of them fails, and only one at a time: while it has
        not been mended, a further fault only makes it last.
        """
        world, holds = self._world, self._holds
        if isinstance(what, does.MoveLog):
            world.move_log(partition, node, fault.amount)
            return lambda: world.unthrottle_moves(node) if fault.amount else None
        if holds.take(FAILED, node, by=index):
            other = fault.pick % 3 == 2
            detail["other"] = other
            world.fail_log_dir(partition, node, other=other)

        def mend() -> dict[str, Any]:
            if what.emptied:
                self._to_empty.add(node)
            if not holds.let_go(FAILED, node, by=index):
                return {}
            world.mend_log_dir(node, emptied=node in self._to_empty)
            self._to_empty.discard(node)
            return {"restarts": [node]}

        return mend

    def _stop(self, index: int, fault: Fault, stop: does.Stop, node: int, detail: dict[str, Any]) -> Callable[[], None]:
        """``nodes`` are those that stay down until it ends, whoever stopped them."""
        world, holds = self._world, self._holds
        nodes = world.brokers() if stop.of_all else (node,)
        detail["nodes"] = list(nodes)
        for broker in nodes:
            holds.take(DOWN, broker, by=index)
            if stop.takes_back:
                world.take_back(
                    broker, fault.amount, TAKEN_BACK[fault.pick % 3] | (BY_FILE if stop.by_file else frozenset())
                )
            world.stop(broker, stop.how)
            if stop.damages:
                world.damage(broker, Damage(stop.damages, fault.amount, fault.pick, fault.at_us))

        def start() -> None:
            for broker in nodes:
                if holds.let_go(DOWN, broker, by=index):
                    self._start(broker)

        return start

    def _start(self, broker: int) -> None:
        """A pause holds whatever process the broker has."""
        world = self._world
        was_running = world.running(broker)
        world.start(broker)
        if not was_running and self._holds.held(PAUSED, broker):
            world.pause(broker)

    def _fail_over(
        self, index: int, fault: Fault, partition: str, node: int, detail: dict[str, Any]
    ) -> Callable[[], None] | None:
        """Two elections before the followers have caught up (KAFKA-6361), perhaps with a replica that misses them (KAFKA-6880)."""
        world = self._world
        old = world.leader_of(partition)
        others = [b for b in world.replicas_of(partition) if b != node] or [node]
        second = old if fault.pick % 3 and old > 0 else others[fault.pick % len(others)]
        detail["then"] = second
        bystanders = [b for b in others if b != old]
        deaf = {1: old, 2: bystanders[0] if bystanders else old}.get(fault.pick // 3 % 3, -1)
        world.elect(partition, "forced", node)
        world.call_at(
            world.now_us() + fault.amount, lambda: None if self._over else world.elect(partition, "forced", second)
        )
        if deaf < 0:
            return None
        detail["deaf"] = deaf
        world.set_link_fault(index, ((CONTROLLER, deaf),), "lost-leadership", 0)
        return lambda: world.clear_link_fault(index)

    def _move(self, fault: Fault, partition: str, node: int, detail: dict[str, Any], move: does.Move) -> None:
        """Move a replica to a broker that has none, if there is one. Who is about to go cannot be moved; another is.

        ``one_more`` moves none: that broker gets a replica besides. ``one_fewer`` only takes one away, and never the last.
        """
        staying = self._world.target_of(partition)
        without = [b for b in self._world.brokers() if b not in staying]
        if len(staying) < 2 if move.one_fewer else not without:
            return
        if node not in staying:
            node = detail["node"] = staying[fault.pick % len(staying)]
        others = tuple(b for b in staying if b != node or move.one_more)
        if move.one_fewer:
            replicas = others
        else:
            to = without[fault.pick // 2 % len(without)]
            last = fault.pick % 2 or move.one_more
            replicas = (*others, to) if last else tuple(to if b == node else b for b in staying)
        detail["replicas"] = list(replicas)
        self._world.reassign(partition, replicas)
