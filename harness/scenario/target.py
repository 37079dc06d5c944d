"""The target of a script: what its commands act upon, and what can be looked at after every step.

`ScriptTarget` is what verbs, conditions, expectations and comparison see. There are two: `SimulatedTarget`, in virtual time, and
`LiveTarget`, on processes on machines. A target is used for one run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tidemark.checkers.history.elr import KIND as ELR_OFF
from tidemark.checkers.history.history import Op
from tidemark.checkers.history.unclean import KIND as UNCLEAN_ALLOWED
from tidemark.harness.runs.at_rest import waiting_for
from tidemark.harness.runs.phases import Ending, end, in_a_script
from tidemark.harness.scenario.links import LeaderAnswer, Link
from tidemark.harness.scenario.model import GivenReplica, Scenario
from tidemark.harness.scenario.records import compact
from tidemark.harness.scenario.snapshots import Glance, ReplicaSnapshot, Sent
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import AnyVariant, family_of

PARTITION = "t-0"
LEADERSHIP, ACKS = "leadership", "acks"
"""The kinds of messages (:data:`tidemark.nodes.core.messages.KINDS`) that every family has."""
PATIENCE_US = 60_000_000
"""How long ``until`` waits unless the script says ``within``."""


class ScriptError(RuntimeError):
    """A command could not be carried out; the message says why in one sentence."""


class CannotPlayError(RuntimeError):
    """A world has no means for something that a scenario needs; the message says in one sentence what that is.

    Raised by whatever sets the target up, or by the target at the first command that needs it. No outcome comes of such a run.
    """


class _Cluster(Protocol):
    """What both worlds say of a partition (:class:`tidemark.nemesis.injector.FaultTarget`)."""

    def leader_of(self, partition: str) -> int: ...
    def isr_of(self, partition: str) -> tuple[int, ...]: ...
    def replicas_of(self, partition: str) -> tuple[int, ...]: ...


class ScriptTarget(ABC):
    """Carries a scenario's commands out under one variant.

    Attributes:
        mismatches: what was expected and did not come, each with its line.
        line: the script's line that is being carried out.
        sends: what was sent, by record.
        last_read: what the last consumer read, `None` if it was refused.
        ops, nemesis, trace: the history (docs/history.md); the trace need not be there before the end.
        answers: what followers heard about where their logs must end; need not be there before the end.
        time_scale: every time of the script is multiplied by it.
        spends_epochs: leader epochs may be spent that no script counts.
        not_understood: why the trace cannot be relied on; empty if it can. doubted: the same of single nodes.
        died: processes that ended though nobody asked them to (docs/history.md).
        read_back: whether the final read came to an end.
        folder: where what is left of the run is kept, if it is.
    """

    world = "sim"
    """As the history's meta line has it; the simulator is not named there (docs/history.md)."""
    time_scale = 1.0

    def __init__(self, scenario: Scenario, variant: AnyVariant, cluster: _Cluster) -> None:
        self.scenario = scenario
        self.variant = variant
        self.family = family_of(variant)
        self._cluster = cluster
        self.mismatches: list[str] = []
        self.line = 0
        self.sends: dict[str, Sent] = {}
        self.last_read: tuple[str, ...] | None = None
        self.ops: list[Op] = []
        self.nemesis: list[tuple[Any, ...]] = []
        self.trace: list[tuple[Any, ...]] = []
        self.answers: list[LeaderAnswer] = []
        self.not_understood: list[str] = []
        self.doubted: Mapping[int, list[str]] = {}
        self.died: list[dict[str, Any]] = []
        self.read_back = False
        self.spends_epochs = False
        self.folder: Path | None = None
        self._faults: dict[str, int] = {}
        self._told: set[int] = set()

    @abstractmethod
    def prepare(self) -> None:
        """Put the given logs on the disks."""

    @abstractmethod
    def boot(self) -> None:
        """Start controller and brokers, and wait until all brokers know the first leader."""

    def finish(self) -> int:
        """Heal everything, let the cluster come to rest, read everything back; returns when healing began, in µs.

        Raises:
            ContainerWorldError: on machines, a fault could not be healed, or evidence is missing.
        """
        healed = self.now_us
        self.heal()
        self.nemesis.append((healed, "heal", -1, "all", {}))
        settings = self.scenario.cluster.settings
        bounds = in_a_script(settings, has_controller=self.family.has_isr, scale=self.time_scale)
        ending = self.ending()
        ending.world.run_until(ending.world.now_us() + bounds.work_on_us)
        self.read_back = end(ending, bounds)
        return healed

    @abstractmethod
    def heal(self) -> None:
        """Take every fault off, and start whatever does not run."""

    @abstractmethod
    def ending(self) -> Ending:
        """The last phases in this world."""

    @abstractmethod
    def dispose(self) -> None:
        """Let go of the world; the history stays."""

    def digest(self) -> str:
        """Of everything that happened, where two runs give the same; else empty."""
        return ""

    @abstractmethod
    def measures(self) -> dict[str, int]:
        """Figures of the run for its summary."""

    def described(self) -> dict[str, Any]:
        """What the history's meta line has to say of it besides."""
        return {}

    # Looking

    @property
    @abstractmethod
    def now_us(self) -> int:
        """The time since the run began."""

    @abstractmethod
    def glance(self, broker: int) -> Glance:
        """A quick look at one replica."""

    @abstractmethod
    def state(self, broker: int) -> ReplicaSnapshot:
        """One replica now, with its log."""

    def leader(self) -> int:
        """The controller's leader, −1 if there is none."""
        return self._cluster.leader_of(PARTITION)

    def isr(self) -> tuple[int, ...]:
        """The controller's committed ISR."""
        return self._cluster.isr_of(PARTITION)

    def replicas(self) -> tuple[int, ...]:
        """The controller's replicas; during a reassignment the old and the new ones."""
        return self._cluster.replicas_of(PARTITION)

    @abstractmethod
    def fenced(self, broker: int) -> bool:
        """Whether the broker has no session with the controller; there may be none."""

    def at_rest(self) -> bool:
        """Whether roles, replication, high watermarks and ISR have settled."""
        return not waiting_for(self.ending().views((PARTITION,))[PARTITION])

    def states(self) -> tuple[ReplicaSnapshot, ...]:
        """All replicas now, in assignment order."""
        return tuple(self.state(broker) for broker in self.scenario.cluster.broker_ids())

    def name(self, broker: int) -> str:
        """A broker as the script calls it."""
        return self.scenario.broker_name(broker)

    def claim(self, wrong: Callable[[], list[str]]) -> None:
        """Note what is wrong, as sentences, if something is."""
        for words in wrong():
            self.mismatch(words)

    def mismatch(self, words: str) -> None:
        """Remember that something expected did not come."""
        self.mismatches.append(f"line {self.line}: {words}")

    def standing(self) -> str:
        """How things stand, for an error message."""
        replicas = "; ".join(
            f"{self.name(s.broker)} {s.role} epoch {s.epoch} LEO {s.leo} HW {s.hw} "
            f"log {f'from {s.start} ' if s.start else ''}{compact(s.log)}"
            for s in self.states()
        )
        return f"the leader is {self.name(self.leader())}, {replicas}"

    # Time

    @abstractmethod
    def run(self, duration_us: int) -> None:
        """Let time pass, in the script's measure."""

    @abstractmethod
    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        """Run until the condition holds, and no further.

        Raises:
            ScriptError: it did not within the bound; the message says what was waited for, and how things stand.
        """

    # Clients

    @abstractmethod
    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> Sent:
        """Send one batch, without waiting; to the controller's leader unless a broker is named."""

    def write(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> None:
        """Send one batch and wait until it is acknowledged."""
        sent = self.send(names, broker, acks)
        self.wait(f"{', '.join(names)} is acknowledged", lambda: sent.state != "sent")
        if sent.state != "acked":
            raise ScriptError(f"{', '.join(names)} failed: {sent.state}")

    @abstractmethod
    def read(self, broker: int | None) -> None:
        """Read from the start up to the high watermark."""

    def delete_records(self, offset: int, broker: int | None) -> None:
        """A client asks the leader, or a broker that may think so, to delete the records before an offset; ends when its log
        starts there, which the followers need not know yet.

        Raises:
            ScriptError: it refuses.
        """
        to = self.leader() if broker is None else broker
        if to < 1:
            raise ScriptError("there is no leader that could delete records")
        refusal = self.ask_to_delete(offset, to)
        self.wait(
            f"the log of {self.name(to)} starts at {offset}",
            lambda: self.glance(to).start >= offset or refusal() != "",
        )
        if self.glance(to).start < offset:
            raise ScriptError(f"{self.name(to)} does not delete: {refusal()}")

    @abstractmethod
    def ask_to_delete(self, offset: int, broker: int) -> Callable[[], str]:
        """A client asks a broker, without waiting; gives what tells the error's name, empty while there is none."""

    def addressee(self, names: tuple[str, ...], broker: int | None) -> int:
        """Where a batch goes: the named broker, or the controller's leader.

        Raises:
            ScriptError: there is no leader.
        """
        to = self.leader() if broker is None else broker
        if to < 1:
            raise ScriptError(f"there is no leader to send {', '.join(names)} to")
        return to

    # Faults

    @abstractmethod
    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        """``crash``, ``power`` (with the number of batches that stay), ``disk``, or ``clean``, which waits for the process."""

    @abstractmethod
    def start(self, broker: int) -> None:
        """Start the process with what its disk holds."""

    @abstractmethod
    def pause(self, broker: int) -> None:
        """SIGSTOP."""

    @abstractmethod
    def resume(self, broker: int) -> None:
        """SIGCONT."""

    @abstractmethod
    def crash_controller(self) -> None:
        """There is no controller any more; what it wrote lasts, and ZooKeeper, or the metadata store, goes on.

        Raises:
            CannotPlayError: this world's controller cannot fail by itself.
        """

    @abstractmethod
    def start_controller(self) -> None:
        """Another controller takes over, with what was written."""

    @abstractmethod
    def retain(self, broker: int, batches: int) -> None:
        """A broker's own retention deletes its oldest batches; ends when they are gone.

        Raises:
            CannotPlayError: nobody can tell this system to.
        """

    @abstractmethod
    def elect(self, how: str, broker: int) -> None:
        """An operator's election; ends when the controller has decided, which the brokers need not know yet. Without a controller,
        the broker stands for election.
        """

    @abstractmethod
    def reassign(self, replicas: tuple[int, ...]) -> None:
        """An operator's reassignment; ends when the controller has taken it up, which the brokers need not know yet. Without a
        controller an operator asks whoever leads, until it is done.

        Raises:
            ScriptError: it was refused.
        """

    @abstractmethod
    def set_min_isr(self, min_isr: int) -> None:
        """An operator sets it; ends when the controller has taken it up, which the brokers need not know yet.

        Raises:
            ScriptError: it was refused. CannotPlayError: nobody can tell this system to.
        """

    @abstractmethod
    def allow_unclean(self, *, on: bool) -> None:
        """An operator allows unclean elections, or forbids them; likewise.

        Raises:
            ScriptError: it was refused, or there is no ISR. CannotPlayError: nobody can tell this system to.
        """

    @abstractmethod
    def switch_elr(self, *, on: bool) -> None:
        """An operator switches ELR on or off; likewise.

        Raises:
            ScriptError: it was refused, or there is no ELR. CannotPlayError: nobody can tell this system to.
        """

    @abstractmethod
    def move_log(self, broker: int) -> None:
        """A broker moves its replica to its other log directory; ends when it has begun to.

        Raises:
            ScriptError: it was refused. CannotPlayError: brokers have one log directory.
        """

    @abstractmethod
    def throttle_moves(self, broker: int, rate: int) -> None:
        """From now on, until all is healed, a broker's moves copy so many bytes a second, 0: as many as they can; ends when the
        controller has accepted it, which the broker need not know yet.

        Raises:
            ScriptError: it was refused. CannotPlayError: brokers have one log directory.
        """

    def block(self, links: tuple[Link, ...]) -> None:
        """Messages on these links are lost from now on."""
        self._stop("cut", links)

    def unblock(self, links: tuple[Link, ...]) -> None:
        """They arrive again."""
        self._let_pass("cut", links, "these messages were not blocked")

    def hold(self, links: tuple[Link, ...]) -> None:
        """Messages on these links wait from now on."""
        self._stop("hold", links)

    def release(self, links: tuple[Link, ...]) -> None:
        """What waited arrives now, in order."""
        self._let_pass("hold", links, "these messages were not held")

    def _stop(self, kind: str, links: tuple[Link, ...]) -> None:
        for link in self.as_meant(links):
            self.disturb(kind, f"{kind} {link}", {"link": [link.source, link.to], "messages": link.kind})
            self.stop_messages(kind, link)

    def _let_pass(self, kind: str, links: tuple[Link, ...], otherwise: str) -> None:
        for link in self.as_meant(links):
            if not self.let_messages_pass(kind, link):
                raise ScriptError(otherwise)
            self.mend(kind, f"{kind} {link}")

    @abstractmethod
    def stop_messages(self, kind: str, link: Link) -> None:
        """Messages on a link are lost (``cut``) or wait (``hold``)."""

    @abstractmethod
    def let_messages_pass(self, kind: str, link: Link) -> bool:
        """They do not any more; says whether they did."""

    def as_meant(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """Links in the variant's terms. Without a controller word of who leads comes from whoever stands for election, or leads.

        Raises:
            ScriptError: there are no messages of such a kind.
        """
        if self.family.has_isr:
            return links
        there_are = sorted({LEADERSHIP, ACKS, *self.family.kinds.values()})
        for link in links:
            if link.kind is not None and link.kind not in there_are:
                raise ScriptError(f"there are no {link.kind} under {self.variant.name}, only {', '.join(there_are)}")
        return tuple(
            link._replace(source=None) if link.kind == LEADERSHIP and link.source == CONTROLLER else link
            for link in links
        )

    # The history

    def tell_given(self, given: GivenReplica) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """A given log as (base offset, epoch, values), batch by batch.

        The trace tells it as appends, and the operations as sends with an unknown outcome, so that the checkers know it.
        """
        offset = 0
        for epoch, names in given.batches:
            values = tuple(map(self.scenario.records.number, names))
            yield offset, epoch, values
            self.trace.append((0, given.broker, "append", PARTITION, offset, epoch, values))
            offset += len(values)
            fresh = tuple(value for value in values if value not in self._told)
            self._told.update(fresh)
            for kind in ("invoke", "info") if fresh else ():
                sends = tuple(("send", PARTITION, value) for value in fresh)
                self.ops.append(Op(0, "given", kind, "send", sends, None, self.scenario.cluster.acks))

    def disturb(self, kind: str, key: str, detail: dict[str, object]) -> None:
        """Note a fault; `key` finds it again when it heals."""
        self._faults[key] = index = len(self.nemesis)
        self.nemesis.append((self.now_us, "strike", index, kind, detail))

    def disturb_process(self, broker: int, how: str) -> None:
        """Note that a process ends."""
        self.disturb("restart" if how == "clean" else how, f"node {broker}", {"node": broker, "nodes": [broker]})

    def disturb_elr(self, *, on: bool) -> None:
        """Note that ELR is switched."""
        if on:
            self.mend(ELR_OFF, "ELR")
        else:
            self.disturb(ELR_OFF, "ELR", {})

    def disturb_unclean(self, *, on: bool) -> None:
        """Note that unclean elections are allowed or forbidden."""
        if on:
            self.disturb(UNCLEAN_ALLOWED, UNCLEAN_ALLOWED, {})
        else:
            self.mend(UNCLEAN_ALLOWED, UNCLEAN_ALLOWED)

    def mend(self, kind: str, key: str) -> None:
        """Note that it healed."""
        index = self._faults.pop(key, -1)
        self.nemesis.append((self.now_us, "heal", index, kind, {}))
