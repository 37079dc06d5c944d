"""One node and its machine: what is done to them, and what has to be done again after that.

Faults on links and machines are kept as *wanted*, and brought about as soon as they can be: a paused process cannot take rules for
its transport, a machine that was restarted has forgotten its firewall, a disconnected one cannot be reached. All methods block;
they are called in the node's lanes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tidemark.harness.live.access import Access
from tidemark.harness.live.link_faults import NETEM, LinkFaults, NodeLinks
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.machines import firewall, machine_faults, netem
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.machine import Machine
from tidemark.harness.machines.node_control import NodeControl
from tidemark.nemesis.damage import Damage

MakeControl = Callable[..., NodeControl]
"""Makes a machine's control; called with the machine and ``on_lost``."""

GOING_S = 10.0
FAIL_WRITES_S = 15.0

DISCONNECT, DISK_FULL, SLOW_DISK, CLOCK_JUMP = "disconnect", "disk-full", "slow-disk", "clock-jump"


class ContainedNode:
    """One node.

    Args:
        node: its id.
        machine: where it runs.
        faults: of links, of the whole cluster.
        on_lost: called when the process ends the admin connection by itself.
        on_trace: called with every trace event of the kinds that are watched.
        control: makes what controls its process.

    Attributes:
        control: its process.
        hindrances: key → (kind, amount) of the machine faults that should be in force.
    """

    def __init__(
        self,
        node: int,
        machine: Machine,
        faults: LinkFaults,
        on_lost: Callable[[], None],
        on_trace: Callable[[list[Any]], None],
        control: MakeControl = NodeControl,
    ) -> None:
        self.node = node
        self.machine = machine
        self.name = machine.name
        self.control = control(machine, on_lost=on_lost)
        self.links = NodeLinks(self.control, node, faults)
        self.hindrances: dict[int, tuple[str, int]] = {}
        self._access = Access()
        self._hindering = threading.RLock()
        self._on_lost = on_lost
        self._on_trace = on_trace
        self._unplugged = False
        self._paused = False
        self._lives = 0
        """Rises whenever the process goes away, so that a request it did not answer can be told from a failure."""
        self._full = False
        self._slow_us = 0
        self._clock_us = 0
        self._clock_base_us: int | None = None
        """How far its wall clock is ahead of the monotonic one without a fault; None: not known, or no clock faults wanted."""

    # Reaching it

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """While it lasts, the machine can be reached. A disconnected one is put back on the network, where its firewall
        still keeps everyone else from it; ``NodeError`` if that fails.
        """
        while True:
            if self._unplugged:
                self.plug_in()
            with self._access.shared():
                if not self._unplugged:
                    yield
                    return

    def plug_in(self) -> None:
        """Put the network cable back, if it is pulled; ends when machine and process are what they should be.

        Raises:
            NodeError: it is not on the network.
        """
        if not self._unplugged:
            return
        with self._access.exclusive():
            if not self._unplugged:
                return
            self._put_back()
            state = self.control.state()
            if state == "running":
                self._if_alive(lambda: self._process_began(anew=False))
            elif state == "gone":
                self._on_lost()  # it ended while nobody could see it

    def _put_back(self) -> None:
        self.machine.connect()
        self._unplugged = False
        self.links.reconnected()

    def unplug(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Pull the network cable, as soon as nobody uses it for us; not at all if it is no longer ``wanted`` by then.

        Who starts a process uses it until the process answers, and one of Kafka's does not before it has reached its controller. To
        wait for that would keep the machine cut off until the process gives up.

        Raises:
            NodeError: it is still on the network.
        """
        with self._access.exclusive(wanted) as alone:
            if alone and not self._unplugged:
                self._process_away()
                self.machine.disconnect()
                self._unplugged = True

    @property
    def is_unplugged(self) -> bool:
        """Whether its network cable is pulled."""
        return self._unplugged

    # The process

    def start(self, config: dict[str, Any], *, clock_faults: bool) -> None:
        """Start the process; ends when it answers, and everything that should be in force is.

        Raises:
            NodeError: it did not start, or not all could be put in force.
        """
        with self.reachable():
            self._apply_hindrances()
            self.control.start(config, clock_faults=clock_faults)
            self._process_began(anew=True)
            if clock_faults and self._clock_base_us is None:
                self._if_alive(self._learn_clock)

    def kill(self) -> tuple[int, str]:
        """SIGKILL; ends when the process is gone. When that was seen (CLOCK_MONOTONIC here, µs), and how the process had ended by
        its own account, empty if it had not.
        """
        with self.reachable():
            self._process_away()
            self.control.kill()
            return monotonic_us(), self.control.own_end()

    def terminate(self) -> None:
        """SIGTERM."""
        with self.reachable():
            self.control.terminate()

    def pause(self) -> bool:
        """SIGSTOP; false if there is no process."""
        with self.reachable():
            self._paused = True
            if not self.control.answers_while_paused:
                self.links.process_ends()
            self._lives += 1
            return self.control.pause()

    def resume(self) -> None:
        """SIGCONT; ends when the process has the rules that were set meanwhile."""
        with self.reachable():
            self.control.resume()
            self._paused = False
            self._if_alive(lambda: self._process_began(anew=False))

    def stand(self, ask: Callable[[NodeControl, bool], None]) -> None:
        """Let the server stand for election; one that is paused does when it goes on, and without a process nobody does.

        Raises:
            NodeError: it answers to others, and not to this.
        """
        with self.reachable():
            if self._paused:
                with suppress(NodeError):
                    ask(self.control, False)
            elif self.links.answering:
                self._if_alive(lambda: ask(self.control, True))

    def watch(self, events: Iterable[str]) -> None:
        """Watch these kinds of trace event from now on, in this process and in those to come."""
        self.control.admin.watch_later(events, self._on_trace)
        with self.reachable():
            if self.links.answering:
                self._if_alive(lambda: self.control.admin.watch(events, self._on_trace))

    def took_leave(self) -> tuple[str, str] | None:
        """After the admin connection was lost: its :meth:`last_words`, or None: it is alive, and connected again."""
        with self.reachable():
            if self.links.answering and self._if_alive(self.control.admin.open):
                return None
            return None if self.control.running() else self.last_words()

    def last_words(self) -> tuple[str, str]:
        """The process has ended: how by its own account (empty: it gave none), and its last log lines."""
        with self.reachable():
            self._process_away()
            return self.control.own_end(), self.control.log_tail()

    def _process_began(self, *, anew: bool) -> None:
        if anew:
            self._slow_us = 0
        self.control.admin.open()
        self.links.process_began(anew=anew)
        self._apply_hindrances()

    def _process_away(self) -> None:
        """The process is about to go, or gone: do not talk to it."""
        self._lives += 1
        self._paused = False
        self.links.process_ends()
        self.control.admin.close()

    def _if_alive(self, deed: Callable[[], object]) -> bool:
        """Talk to the process. If it goes away meanwhile, there is nothing to be done: it will be told when it is back."""
        life = self._lives
        try:
            deed()
        except NodeError:
            if life == self._lives and not self._is_going():
                raise
            return False
        return True

    def _is_going(self) -> bool:
        """Whether the process is gone, or will be in a moment: one that ends closes its connections first."""
        deadline = time.monotonic() + GOING_S
        while self.control.running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    # The machine

    def restart_machine(self, killed: Callable[[], None]) -> None:
        """Kill the container and start it again, without a node process; ``killed`` is called when it is dead.

        Raises:
            NodeError: it does not die, or does not come back.
        """
        with self._access.exclusive():
            self._process_away()
            if self._unplugged:
                self._put_back()
            self.machine.kill_container()
            killed()
            self.machine.start_container()
            self.links.machine_restarted()
            self._full = False
            self._clock_us = 0
            self._apply_hindrances()

    def lose_power(self, seed: int = 0, keep: int | None = None) -> None:
        """What was not synced may be gone; with ``keep``, all but so many batches is."""
        with self.reachable():
            self.control.power_loss(seed=seed, keep=keep)

    def damage(self, files: Iterable[str], damage: Damage, noise_seed: int) -> list[dict[str, Any]]:
        """Damage the files of a process that was killed; gives what was done to each."""
        with self.reachable():
            return self.control.damage(files, damage, noise_seed)

    def fail_log_dir(self, fail: Callable[[NodeControl], str]) -> str:
        """Have one of its log directories fail; its name."""
        with self.reachable():
            return fail(self.control)

    def fail_writes(self) -> None:
        """What a process that runs has open in that directory fails as well."""
        with self.reachable():
            if self.links.answering:
                self._if_alive(lambda: self.control.admin.ask("fail-writes", timeout_s=FAIL_WRITES_S))

    def mend_log_dir(self, mend: Callable[[NodeControl], tuple[str, list[str]]]) -> tuple[str, list[str]]:
        """Its process is gone: mend the log directory that failed; its name, and whose logs were lost with it."""
        with self.reachable():
            return mend(self.control)

    def lose_disk(self, partitions: tuple[str, ...]) -> None:
        """Everything is gone; of these partitions an empty directory is left."""
        with self.reachable():
            self.control.wipe(partitions)
            self._full = False
            self._apply_hindrances()

    def apply_links(self) -> None:
        """Bring about what the link faults ask of this machine: its firewall, its delays. One that is off the network gets
        them when it is back.
        """
        if not self._unplugged:
            with self.reachable():
                self.links.apply_to_machine()

    def apply_rules(self) -> None:
        """Bring about what the link faults ask of this process's transport; later, if it cannot be told now."""
        if self.links.answering:
            with self.reachable():
                self._if_alive(self.links.apply_to_process)

    def disk_is_full(self) -> bool:
        """Whether a fault fills its disk."""
        return any(kind == DISK_FULL for kind, _ in list(self.hindrances.values()))

    def apply_hindrances(self) -> None:
        """Bring about what the machine faults ask for.

        Raises:
            NodeError: it could not be, or not be verified.
        """
        with self.reachable():
            self._apply_hindrances()

    def _apply_hindrances(self) -> None:
        with self._hindering:
            self._bring_about(list(self.hindrances.values()))

    def _bring_about(self, wanted: list[tuple[str, int]]) -> None:
        if self.disk_is_full() != self._full:
            (machine_faults.free_disk if self._full else machine_faults.fill_disk)(self.control)
            self._full = not self._full
        clock = sum(amount for kind, amount in wanted if kind == CLOCK_JUMP)
        if clock != self._clock_us:
            machine_faults.write_clock(self.control, clock)
            self._clock_us = clock
        slow = sum(amount for kind, amount in wanted if kind == SLOW_DISK)
        if slow != self._slow_us and self.links.answering:
            told = self._if_alive(lambda: machine_faults.slow_disk(self.control, slow))
            self._slow_us = slow if told else self._slow_us

    def check_clock(self) -> None:
        """Wait until the process sees the time that a clock fault, or its healing, has set.

        Raises:
            NodeError: it does not.
        """
        base = self._clock_base_us
        if base is not None and self.links.answering and not self._paused:
            with self.reachable():
                self._if_alive(lambda: machine_faults.wait_for_clock(self.control, lambda: base + self._clock_us))

    def clock_is_right(self, status: dict[str, Any]) -> bool:
        """Whether the wall clock in a process's status is what it was before any fault; true if that is not known."""
        base = self._clock_base_us
        ahead = int(status["wall_us"]) - int(status["mono_us"])
        return base is None or abs(ahead - base) <= machine_faults.CLOCK_SLACK_US

    def _learn_clock(self) -> None:
        self._clock_base_us = machine_faults.wall_ahead_us(self.control) - self._clock_us

    # Before and after a run

    def clean(self) -> None:
        """Make the machine as it was before its first run.

        Raises:
            NodeError: something of an earlier run cannot be removed.
        """
        with self.reachable():
            self._process_away()
            self.control.clean()
            firewall.remove_all(self.control)
            if self.links.faults.delay == NETEM:
                netem.set_delays(self.control, self.machine.inner_ip, {})

    def take_over(self) -> None:
        """A process of the last run has gone on, without any fault.

        Raises:
            NodeError: it does not answer.
        """
        with self.reachable():
            self._process_began(anew=True)

    def end(self, *, goes_on: bool = False) -> None:
        """End every fault, and the process unless it goes on, so that nothing of the run acts on the machine any more.

        Raises:
            NodeError: something remains.
        """
        with self.reachable():
            self._process_away()
            if not goes_on:
                self.control.kill()
            firewall.remove_all(self.control)
            self.hindrances.clear()
            self._apply_hindrances()
            if self.links.faults.delay == NETEM:
                netem.set_delays(self.control, self.machine.inner_ip, {})
