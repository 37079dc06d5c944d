"""The lives of the node processes of a run: started, asked to stop, killed, paused, and ended by themselves.

What is decided (:class:`NodeState`) belongs to the run_loop's thread and is ahead of what is; a node's lane catches up, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tidemark.checkers.replicas.broker_crashed import BROKEN_OFF
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.cluster_nodes import ClusterNodes
from tidemark.harness.live.own_end import CLEAN, manner
from tidemark.harness.live.run_loop import RunLoop
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.capabilities import FailsLogDirs
from tidemark.nemesis.damage import Damage
from tidemark.nodes.core.messages import CONTROLLER

LANE = "process"
FATAL = "fatal"
MOST_AGAIN = 5
"""So often in a row is a process started again that came too early; systemd's limit is as many (``StartLimitBurst``)."""


@dataclass(slots=True)
class NodeState:
    """What the run_loop knows of a node: not what is, but what will be when its lanes are done.

    Attributes:
        running: the process exists, or is being started. stopping: it was asked to shut down.
        restart_wanted: it is to be started again when it has.
        disk_was_full: a fault filled its disk while it ran. waits_for_room: it gave up because of that.
        away: it was killed, and no later process answers yet.
        damaged: its files were. ended: how its last process did.
        too_early: how many starts in a row have failed because they came too early.
        to_mend: what is done to a log directory that failed before the next start: empty, ``mended`` or ``emptied``.
    """

    incarnation: int = 0
    running: bool = False
    stopping: bool = False
    restart_wanted: bool = False
    paused: bool = False
    disk_was_full: bool = False
    waits_for_room: bool = False
    away: bool = False
    damaged: bool = False
    ended: str = ""
    too_early: int = 0
    to_mend: str = ""

    def begin(self, *, disk_is_full: bool) -> None:
        """A new process."""
        self.incarnation += 1
        self.running = True
        self.disk_was_full = disk_is_full
        self.stopping = self.restart_wanted = self.paused = self.waits_for_room = False

    def end(self, how: str) -> None:
        """No process."""
        self.ended = how
        self.running = self.stopping = self.restart_wanted = self.paused = False


class Processes:
    """Starts and ends the processes.

    Args:
        cluster: where they live. run_loop: its time and lanes.
        trace: adds an event to the trace. notify: tells those who watch a trace event of a node.
        partitions_on: the partitions that a broker has a replica of.
        clock_faults: whether brokers run under libfaketime.
        noise_seed: the plan's; draws what power losses leave, and what is damaged.

    Attributes:
        died: processes that ended though nobody asked them to (``node``, ``incarnation``, ``time``, ``how``, and ``log``, the last
            lines they printed; ``how`` is ``broken-off`` unless it was the protocol's decision).
        started_again: those that came too early and were started again (``node``, ``incarnation``, ``time``, ``log``).
        damage_done: what was done to files (``node``, ``time``, ``how``, ``files``).
        gave_up_damaged: processes that did not start, or ended by themselves, on damaged files (``node``, ``incarnation``,
            ``time``, ``log``): such a node may refuse to work.
        joined: nodes that had left and became members again, with an empty disk (``node``, ``time``).
        starved: (node, incarnation) of processes that gave up because a fault had filled their disk.
    """

    def __init__(
        self,
        cluster: ClusterNodes,
        run_loop: RunLoop,
        *,
        trace: Callable[..., None],
        notify: Callable[[str, int], None],
        partitions_on: Callable[[int], tuple[str, ...]],
        clock_faults: bool,
        noise_seed: int,
    ) -> None:
        self.died: list[dict[str, Any]] = []
        self.damage_done: list[dict[str, Any]] = []
        self.gave_up_damaged: list[dict[str, Any]] = []
        self.started_again: list[dict[str, Any]] = []
        self.joined: list[dict[str, Any]] = []
        self.starved: set[tuple[int, int]] = set()
        self._cluster = cluster
        self._run_loop = run_loop
        self._trace = trace
        self._notify = notify
        self._partitions_on = partitions_on
        self._clock_faults = clock_faults
        self._noise_seed = noise_seed
        self._noise = Random(f"{noise_seed}/disk")
        self._states = {node: NodeState() for node in cluster.nodes}
        self._leaving: set[int] = set()
        """Nodes that were to leave, and may have; each is put in and taken out in the lane of its process."""

    def running(self, node: int) -> bool:
        """Whether the process exists, as far as has been decided."""
        return self._states[node].running

    def away(self, node: int) -> bool:
        """Whether the process was killed, and no later one answers yet."""
        return self._states[node].away

    def paused(self, node: int) -> bool:
        """Whether it is to stand still."""
        return self._states[node].paused

    def gave_up(self, node: int) -> bool:
        """Whether the latest process ended though nobody asked it to, and was not started again."""
        state = self._states[node]
        return not state.running and any(
            death["node"] == node and death["incarnation"] == state.incarnation
            for death in (*self.died, *self.gave_up_damaged)
        )

    def damaged(self) -> tuple[int, ...]:
        """The nodes whose files were damaged."""
        return tuple(node for node, state in self._states.items() if state.damaged)

    def submit(self, node: int, what: str, deed: Callable[[], None]) -> None:
        """Do something in the lane of a node's process."""
        name = self._cluster.nodes[node].name
        self._run_loop.submit(f"{name} {LANE}", f"{what} {name}", deed)

    # Starting

    def start(self, node: int) -> None:
        """Start the process with what its disk holds; if it is shutting down, when it has."""
        state = self._states[node]
        if state.running:
            state.restart_wanted = state.stopping
            return
        state.begin(disk_is_full=self._cluster.nodes[node].disk_is_full())
        incarnation, mend, state.to_mend = state.incarnation, state.to_mend, ""
        self.submit(node, "start", lambda: self._start(node, incarnation, mend))

    def go_on(self, node: int) -> None:
        """The process of the last run is this run's first."""
        self._states[node].begin(disk_is_full=False)
        self.submit(node, "take over", self._cluster.nodes[node].take_over)

    def disk_filled(self, node: int) -> None:
        """A fault fills the disk: the process may give up now."""
        self._states[node].disk_was_full = True

    def start_if_there_is_room(self, node: int) -> None:
        """Start it if it gave up because its disk was full, and that is over."""
        state = self._states[node]
        if state.waits_for_room and not state.running and not self._cluster.nodes[node].disk_is_full():
            self.start(node)

    def _start(self, node: int, incarnation: int, mend: str) -> None:
        one = self._cluster.nodes[node]
        if mend:
            self._mend(node, mend)
        if incarnation > 1:
            self._cluster.before_start(node)
        self._joins(node)
        config = self._cluster.config(node, incarnation)
        try:
            one.start(config, clock_faults=self._clock_faults and node != CONTROLLER)
        except NodeError:
            if self._states[node].damaged:
                one.kill()  # it may wait for ever for what it has lost
            elif not one.disk_is_full() and not one.control.own_end():
                raise
            self._examine(node, incarnation)
        else:
            self._run_loop.post(lambda: self._answers(node, incarnation))

    def _joins(self, node: int) -> bool:
        """Whether a node had left; then it is a member again now, with an empty disk."""
        if node not in self._leaving or not self._cluster.let_in(node):
            return False
        self._cluster.nodes[node].lose_disk(self._partitions_on(node))
        self._leaving.discard(node)
        joined = {"node": node, "time": self._run_loop.now_us()}
        self._run_loop.post(lambda: self.joined.append(joined))
        return True

    def _answers(self, node: int, incarnation: int) -> None:
        """It may be about to be killed again, which was decided while it started."""
        state = self._states[node]
        state.away = state.away and not (state.running and state.incarnation == incarnation)
        state.too_early = 0
        self._notify("start", node)

    # Stopping

    def stop(self, node: int, how: str) -> None:
        """End the process: ``crash``, ``power``, ``disk``, ``container``, ``damage`` or ``leave``; ``clean`` asks it to shut down.
        It stays ended.
        """
        state = self._states[node]
        state.restart_wanted = state.waits_for_room = False
        if not state.running:
            if how == "power" and node != CONTROLLER:
                self._lose_power_when_down(node)
            elif how == "damage":
                self.submit(node, "note the damage of", lambda: self._trace(node, "stop", "", "damage"))
            elif how == "leave":
                self.submit(node, "have the others leave out", lambda: self._leave(node))
            return
        if how == "clean":
            if not state.stopping:
                state.stopping = True
                self.submit(node, "shut down", self._cluster.nodes[node].terminate)
            return
        life = state.incarnation, state.disk_was_full
        state.end(self._to_its_files(how))
        state.away = True
        seed = self._noise.getrandbits(63)
        self.submit(node, "stop", lambda: self._stop(node, how, seed, *life))

    def _stop(self, node: int, how: str, seed: int, incarnation: int, disk_was_full: bool) -> None:
        """``stop`` is traced when the process is seen to be dead, with the time of that; a controller's is no broker's."""
        one = self._cluster.nodes[node]
        if how == "container":
            one.restart_machine(lambda: self._trace(node, "stop", "", self._to_its_files(how)))
            return
        dead_us, own_end = one.kill()
        if own_end == FATAL:
            _, words = one.took_leave() or ("", "")
            self._run_loop.post(lambda: self._had_ended(node, incarnation, words, starved=disk_was_full))
        if own_end == CLEAN and how == "power":  # nothing of it was in the page cache any more
            return
        to_its_files = self._to_its_files(how)
        if node != CONTROLLER and (not own_end or to_its_files != "crash"):
            self._trace(node, "stop", "", to_its_files, at_us=dead_us - self._run_loop.began_us)
        if how == "power":
            one.lose_power(seed)
        elif how == "disk":
            one.lose_disk(self._partitions_on(node))
        elif how == "leave":
            self._leave(node)

    def _to_its_files(self, how: str) -> str:
        """What a stop is to a node's files."""
        return {"container": self._cluster.system.container_kill, "leave": "crash"}.get(how, how)

    def _leave(self, node: int) -> None:
        """Nothing of it is deleted before it is known that it has left: the others may not agree, or agree later."""
        self._leaving.add(node)
        self._cluster.take_out(node)

    def _lose_power_when_down(self, node: int) -> None:
        """The page cache goes. It held nothing if the process had stopped cleanly, or disk or power were lost."""
        state, one = self._states[node], self._cluster.nodes[node]
        if state.ended in {"clean", "power", "disk"}:
            return
        state.ended = "power"
        seed = self._noise.getrandbits(63)

        def lose() -> None:
            own_end, _ = one.took_leave() or ("", "")
            if own_end == CLEAN:  # when it was to be killed
                return
            self._trace(node, "stop", "", "power")
            one.lose_power(seed)

        self.submit(node, "take the power from", lose)

    def damage(self, node: int, damage: Damage) -> None:
        """Damage the files of a node that was stopped so."""
        self._states[node].damaged = True
        one, files = self._cluster.nodes[node], self._cluster.system.data_files

        def strike() -> None:
            done = one.damage(files, damage, self._noise_seed)
            told = {"node": node, "time": self._run_loop.now_us(), "how": damage.how, "files": done}
            self._run_loop.post(lambda: self.damage_done.append(told))

        self.submit(node, "damage the files of", strike)

    # Log directories

    def fail_log_dir(self, node: int, partition: str, *, other: bool) -> None:
        """One of a broker's log directories fails, whether or not the broker runs."""
        self._states[node].to_mend = ""
        system, one = self._cluster.system, self._cluster.nodes[node]

        def strike() -> None:
            if isinstance(system, FailsLogDirs):
                failed = one.fail_log_dir(lambda control: system.fail_log_dir(control, partition, other=other))
                self._trace(node, "log-dir", "", failed, "failed")
                one.fail_writes()

        self.submit(node, "fail a log directory of", strike)

    def mend_log_dir(self, node: int, *, emptied: bool) -> None:
        """It is mended before the broker starts again; one that runs is asked to shut down for that."""
        state = self._states[node]
        state.to_mend = "emptied" if emptied else "mended"
        if state.running and not state.stopping:
            self.stop(node, "clean")
            state.restart_wanted = True

    def _mend(self, node: int, how: str) -> None:
        system, one = self._cluster.system, self._cluster.nodes[node]
        if isinstance(system, FailsLogDirs):
            directory, lost = one.mend_log_dir(lambda control: system.mend_log_dir(control, emptied=how == "emptied"))
            self._trace(node, "log-dir", "", directory, how)
            for partition in sorted({*lost} & {*self._partitions_on(node)}):
                self._trace(node, "log-lost", partition, directory)

    # Pausing

    def pause(self, node: int) -> None:
        """SIGSTOP."""
        state = self._states[node]
        if state.running and not state.paused:
            state.paused = True
            self.submit(node, "pause", lambda: self._pause(node))

    def _pause(self, node: int) -> None:
        if self._cluster.nodes[node].pause():
            self._trace(node, "pause", "")

    def resume(self, node: int) -> None:
        """SIGCONT."""
        state = self._states[node]
        if state.paused:
            state.paused = False
            self.submit(node, "resume", lambda: self._resume(node))

    def _resume(self, node: int) -> None:
        # Traced first: what the process does now must not seem to happen while it is paused.
        self._trace(node, "resume", "")
        self._cluster.nodes[node].resume()

    # Ending by themselves

    def lost(self, node: int) -> None:
        """A process hung up on us: has it ended?"""
        state = self._states[node]
        if state.running:
            incarnation = state.incarnation
            self.submit(node, "look after", lambda: self._examine(node, incarnation))

    def _examine(self, node: int, incarnation: int) -> None:
        found = self._cluster.nodes[node].took_leave()
        if found is not None:
            how, words = found
            self._run_loop.post(lambda: self._ended(node, incarnation, how, words))

    def _had_ended(self, node: int, incarnation: int, words: str, *, starved: bool) -> None:
        """A process that was to be killed had given up just before."""
        if starved:
            self.starved.add((node, incarnation))
        elif self._states[node].damaged:
            self._gave_up_damaged(node, incarnation, words)
        elif node in self._leaving:
            return  # it may have heard that it is no member any more
        elif self._cluster.system.came_too_early(words):
            self._came_too_early(node, incarnation, words)
        elif not self._cluster.system.is_halt(words):
            self._died(node, incarnation, BROKEN_OFF, words)

    def _died(self, node: int, incarnation: int, how: str, words: str) -> None:
        now_us = self._run_loop.now_us()
        self.died.append({"node": node, "incarnation": incarnation, "time": now_us, "how": how, "log": words})

    def _gave_up_damaged(self, node: int, incarnation: int, words: str) -> None:
        now_us = self._run_loop.now_us()
        self.gave_up_damaged.append({"node": node, "incarnation": incarnation, "time": now_us, "log": words})

    def _came_too_early(self, node: int, incarnation: int, words: str) -> None:
        now_us = self._run_loop.now_us()
        self.started_again.append({"node": node, "incarnation": incarnation, "time": now_us, "log": words})

    def _ended_while_leaving(self, node: int, incarnation: int, how: str, words: str) -> None:
        """It may have heard only now that it is no member any more; then another begins in its place."""
        if self._joins(node):
            self._run_loop.post(lambda: self.start(node))
        else:
            end = manner(how, words, self._cluster.system.is_halt)
            self._run_loop.post(lambda: self._died(node, incarnation, end, words))

    @property
    def excused(self) -> set[tuple[int, int]]:
        """(node, incarnation) of processes that gave up for no reason of their protocol's: to their logs a crash."""
        others = (*self.started_again, *self.gave_up_damaged)
        return self.starved | {(one["node"], one["incarnation"]) for one in others}

    def _ended(self, node: int, incarnation: int, how: str, words: str) -> None:
        """A process has ended by itself; ``how`` is empty if it did not say so."""
        state = self._states[node]
        if state.incarnation != incarnation or not state.running:
            return
        again = how == FATAL and state.too_early < MOST_AGAIN and self._cluster.system.came_too_early(words)
        if node == CONTROLLER and not again and len(self._cluster.system.controllers) == 1:
            raise RunError(f"the controller's process ended: {words or 'it printed nothing'}")
        stopping, restart = state.stopping, state.restart_wanted
        asked = stopping and how == "clean"
        state.end(how or "crash")
        if not how:
            self._trace(node, "stop", "", "crash")
        starved = state.disk_was_full and how != "clean" and not again
        state.waits_for_room = starved and not stopping
        if again:
            # Whoever supervises brokers starts such a one until it works, unless it was to stop.
            self._came_too_early(node, incarnation, words)
            restart = restart or not stopping
            state.too_early += 1
        elif starved:
            self.starved.add((node, incarnation))
        elif state.damaged and not asked:
            self._gave_up_damaged(node, incarnation, words)
        elif node in self._leaving and not asked:
            self.submit(node, "let join", lambda: self._ended_while_leaving(node, incarnation, how, words))
        elif not asked:
            self._died(node, incarnation, manner(how, words, self._cluster.system.is_halt), words)
        if restart:
            self.start(node)
        else:
            self.start_if_there_is_room(node)
