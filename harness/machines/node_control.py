"""The system under test on one machine: Tidemark's own node process, controlled over SSH as a tester would control a real host.

Its shape is that of Jepsen's ``DB``: configure and start, stop, kill, ask whether it is ready, read its logs, elect. Another
system would be another class with these verbs; the world above knows nothing of processes, files or ports.
"""

from __future__ import annotations

import json
import shlex
from shlex import quote
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tidemark.checkers.history.trace_events import KIND, Stop
from tidemark.harness.machines.admin_channel import AdminChannel, AdminReply
from tidemark.harness.machines.errors import CommandFailed, CommandTimeout, NodeError, NodeUnreachable
from tidemark.harness.machines.node_places import Places
from tidemark.harness.machines.node_script import NodeScripts
from tidemark.nemesis.damage import Damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.harness.machines.admin_channel import Stream
    from tidemark.harness.machines.ssh import Result

T = TypeVar("T")

START_S = 90.0
"""Some 0.5 s is enough on an idle machine."""
POWER_LOSS_S = DAMAGE_S = 30.0
TAIL_LINES = 12


class NodeShell(Protocol):
    """What is needed of :class:`tidemark.harness.machines.ssh.Shell`."""

    def run(
        self, command: str, *, timeout_s: float = 30.0, check: bool = True, stdin: bytes | str | None = None
    ) -> Result:
        """Run a command and wait for its end."""
        ...

    def get(self, path: str, *, timeout_s: float = 30.0) -> bytes:
        """A file's content."""
        ...

    def channel(self, host: str, port: int, *, timeout_s: float = 15.0) -> Stream:
        """A connection to a port as the node sees it."""
        ...


class NodeMachine(Protocol):
    """What is needed of :class:`tidemark.harness.machines.machine.Machine`."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def shell(self) -> NodeShell:
        """Commands run there."""
        ...

    @property
    def admin_port(self) -> int:
        """On its loopback."""
        ...


class NodeControl:
    """Controls the node process of one machine. Every verb raises ``NodeError`` unless its effect was seen.

    Attributes:
        admin: the process's admin port.
        name: what errors call the node.
        scripts: what acts on the process.
        answers_while_paused: the admin port is another process's than the one that SIGSTOP stops.
        start_s: for a process to be started and to listen, or to be given up.
    """

    answers_while_paused = False
    start_s = START_S
    scripts = NodeScripts

    def __init__(
        self,
        machine: NodeMachine,
        places: Places | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        """Nothing is done yet.

        Args:
            machine: where the process runs.
            places: where its files are.
            on_lost: called when the process ends the admin connection by itself.
        """
        self.machine = machine
        self.name = machine.name
        self.places = places or Places()
        self._scripts = self.scripts(self.places)
        self.admin = AdminChannel(self._connect, self.name, on_lost)
        self._trace_before = 0

    def _connect(self) -> Stream:
        return self.machine.shell.channel("127.0.0.1", self.machine.admin_port)

    def run(self, script: str, *, to: str = "", timeout_s: float = 30.0, stdin: str | None = None) -> str:
        """Run a script by ``sh`` on the machine; gives what it printed.

        Args:
            script: its text.
            to: words for a failure, such as ``kill the process``.
            timeout_s: how long it may take.
            stdin: what it reads.

        Raises:
            NodeError: the machine cannot be reached, or the script failed.
        """
        try:
            return self.machine.shell.run(f"sh -c {quote(script)}", timeout_s=timeout_s, stdin=stdin).out
        except CommandFailed as error:
            said = (error.err.strip() or error.out.strip() or f"exit code {error.code}").split("\n")[-1]
            raise NodeError(f"{self.name}: cannot {to or 'carry out a script'}: {said}") from None
        except CommandTimeout:
            raise NodeError(f"{self.name}: cannot {to or 'carry out a script'} within {timeout_s:g} s") from None

    # The process

    def start(self, config: dict[str, Any], *, clock_faults: bool = False) -> None:
        """Write the configuration, start the process, and wait until its admin port answers.

        Args:
            config: see ``tidemark.nodes.process.config``.
            clock_faults: run it under libfaketime, so that its wall clock can be moved.

        Raises:
            NodeError: it did not start, with the last lines it printed.
        """
        self.admin.close()
        script = self._scripts.start(self.machine.admin_port, fake_clock=clock_faults)
        before, how = self.run(
            script, to="start the node process", stdin=json.dumps(config), timeout_s=self.start_s
        ).split()
        self._trace_before = int(before)
        if how != "listening" or not self.is_ready():
            what = "ended at once" if how == "gone" else "does not answer"
            raise NodeError(f"{self.name}: the node process {what}: {self._last_words()}")

    def is_ready(self) -> bool:
        """Whether the admin port answers.

        Raises:
            NodeUnreachable: the machine does not.
        """
        try:
            self.admin.open()
        except NodeUnreachable:
            raise
        except NodeError:
            return False
        return True

    def kill(self) -> bool:
        """SIGKILL; ends when the process is gone. Whether there was one."""
        self.admin.close()
        return self._signal("KILL", "gone", ("gone",)) != "gone"

    def terminate(self) -> None:
        """SIGTERM: the process shuts down cleanly when the controller lets it, which is not waited for."""
        self._signal("TERM", "", ("running", "stopped", "gone"))

    def pause(self) -> bool:
        """SIGSTOP; ends when the process stands still. False if there is none."""
        return self._signal("STOP", "stopped", ("stopped", "gone")) != "gone"

    def resume(self) -> None:
        """SIGCONT, if there is a process."""
        self._signal("CONT", "running", ("running", "gone"))

    def state(self) -> str:
        """``running``, ``stopped`` (by SIGSTOP) or ``gone``."""
        return self.run(self._scripts.state(), to="look at the node process").strip()

    def running(self) -> bool:
        """Whether the process exists, paused or not."""
        return self.state() != "gone"

    def _signal(self, name: str, until: str, fine: tuple[str, ...]) -> str:
        """Send a signal; gives the state before."""
        before, after = self.run(self._scripts.signal(name, until), to=f"send SIG{name}").split()
        if after not in fine:
            raise NodeError(f"{self.name}: the node process is {after} after SIG{name}, and should be {until}")
        return before

    # Its files

    def power_loss(self, *, seed: int = 0, keep: int | None = None) -> None:
        """What a power loss leaves of the files of a process that was killed.

        Args:
            seed: draws how much of what was not synced survives; or
            keep: so many batches in all do, none of them torn.
        """
        how = f"--keep {keep}" if keep is not None else f"--seed {seed}"
        self.run(self._scripts.lose_power(how), to="lose power", timeout_s=POWER_LOSS_S)

    def damage(self, files: Iterable[str], damage: Damage, noise_seed: int) -> list[dict[str, Any]]:
        """Damage the files of a process that was killed; gives what was done to each.

        Args:
            files: what its data files are called, below its directories.
            damage: what is done.
            noise_seed: the plan's.
        """
        words = [word for one in files for word in ("--files", one)]
        words += ["--how", damage.how, "--amount", str(damage.amount), "--which", damage.which]
        words += ["--seed", damage.seed(noise_seed)]
        done: list[dict[str, Any]] = json.loads(
            self.run(self._scripts.damage(shlex.join(words)), to="damage files", timeout_s=DAMAGE_S)
        )
        return done

    def wipe(self, partitions: tuple[str, ...] = ()) -> None:
        """The disk is lost; of these partitions an empty directory is left."""
        self.run(self._scripts.wipe(partitions), to="wipe the disk")

    def clean(self) -> None:
        """Make the machine as it was before its first run: no process, no files."""
        self.kill()
        self.run(self._scripts.clean(), to="remove what an earlier run left")

    def read(self, path: str) -> bytes:
        """A file."""
        return self.machine.shell.get(path)

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """The last lines that the process printed; empty if there are none."""
        return self.run(self._scripts.tail(self.places.log, lines), to="read the log").strip()

    def last_trace(self) -> list[Any]:
        """The last event that the latest process traced; empty if it traced none, or not to its end."""
        try:
            script = self._scripts.tail(self.places.trace, 1, self._trace_before)
            event = json.loads(self.run(script, to="read the trace"))
        except ValueError:
            return []
        return event if isinstance(event, list) else []

    def own_end(self) -> str:
        """How the latest process ended by its own account, ``clean`` or ``fatal``; empty if it gave none."""
        event = self.last_trace()
        return Stop(event).how if event[KIND : KIND + 1] == ["stop"] else ""

    def _last_words(self) -> str:
        return self.log_tail() or f"it printed nothing into {self.places.log}"

    # Its admin port

    def status(self, timeout_s: float = 5.0) -> AdminReply:
        """How it stands."""
        return self.admin.ask("status", timeout_s=timeout_s)

    def elect(self, partition: str, how: str, target: int) -> None:
        """Ask the controller for an election; it decides before it answers."""
        self.admin.ask("elect", partition=partition, how=how, target=target)
