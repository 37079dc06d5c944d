"""What only some systems can do: a protocol for each, asked with ``isinstance``.

Whoever has the methods has the capability; nothing is declared a second time. A plan or script that needs one which a system lacks
is refused by name before anything starts (:meth:`tidemark.harness.systems.system.System.check`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tidemark.harness.evidence.log_agreement import agreement_of_all, tells_of_logs
from tidemark.harness.evidence.replica_evidence import doubts_together

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.collect import Evidence
    from tidemark.harness.evidence.partition_disk import Disk
    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, Segment
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.harness.systems.deployment import Deployment
    from tidemark.nemesis import Plan

Rules = list[dict[str, Any]]
"""What a node's transport does to messages: kind, receiver, effect, amount (:mod:`tidemark.nodes.admin.message_rules`)."""


@runtime_checkable
class Watched(Protocol):
    """Each node has an admin port and writes a trace file (docs/systems-from-inside.md, "What a node is"), so that it can be seen
    who leads, how far each replica is, and when something happens. Its controls keep the port's connection as ``admin``.
    """

    def events_of(self, trace: str, name: str) -> list[list[Any]]:
        """The events of a node's trace file, each as ``[mono_us, node, event, partition, …]``.

        Args:
            trace: the file.
            name: of the node, for a person.

        Raises:
            RunError: a line is damaged.
        """
        from tidemark.harness.evidence.trace_history import parse_trace  # what reads record batches is an extra

        return parse_trace(trace, name)


@runtime_checkable
class SeenFromOutside(Protocol):
    """What it does inside nobody traces: how it stands is asked of it from outside, and its logs are read when all is over."""

    @property
    def shows_leaders(self) -> bool:
        """Whether anybody can see who leads."""
        ...

    trouble: str
    """Why that could not be seen, last; empty if it could always."""

    def stands(self, node: int, machine: Machine, log: str, replicas: Sequence[int]) -> dict[str, Any] | None:
        """How a node stands with a log, as a status has it (docs/systems-from-inside.md); None if that cannot be seen now."""

    def cannot_suffer(self, plan: Plan, *, delays: bool) -> dict[int, str]:
        """Place of a fault in the plan → why it cannot be suffered, beyond what its kind tells.

        Args:
            plan: the faults.
            delays: whether the machines can slow links.
        """

    def final_log(
        self, node: int, machine: Machine, log: str, *, damaged: bool = False
    ) -> Sequence[tuple[int, int, tuple[int | str, ...]]] | None:
        """A node's log at the end, as ``(base offset, epoch, values)``; None if nobody can see it, as where a fault has damaged the
        files that are read.

        Raises:
            NodeError: it cannot be had.
        """


@runtime_checkable
class KeepsLogsOfItsOwn(Protocol):
    """Its controllers keep what they decide in a log, or its coordinators what they know, and nodes have copies."""

    def own_logs(self, evidence: Evidence, status: Mapping[str, Any]) -> Iterable[TraceEvent]:
        """What a node has of these at the end, of those that are judged: trace events without time and node.

        Args:
            evidence: the node's files.
            status: what it says of itself.
        """


@runtime_checkable
class Elects(Protocol):
    """An operator can ask for an election."""

    def elect(self, controls: Mapping[int, NodeControl], partition: str, how: str, target: int) -> str:
        """An operator's election: ``preferred``, ``forced`` or ``unclean``; ends when it was decided.

        Returns:
            Why the system refused it, as a sentence; empty if it did not.

        Raises:
            NodeError: nobody could be asked.
        """


@runtime_checkable
class GoesOn(Protocol):
    """Its nodes can go on from one run to the next, when what the last run made is deleted."""

    def can_go_on(self, before: Deployment, after: Deployment) -> bool:
        """Whether nodes that were started for one run are as they would be started for another."""

    def clear(self, controls: Mapping[int, NodeControl], before: Deployment) -> None:
        """Delete what the last run made. Each node's trace and log begin anew then, as those of its first life.

        Raises:
            NodeError: something is left.
        """

    def forget(self, controls: Mapping[int, NodeControl], after: Deployment) -> None:
        """The next run's topics are there: wait until no node's disk has anything of the last run's.

        Raises:
            NodeError: something is left.
        """


@runtime_checkable
class VotesItself(Protocol):
    """Runs protocols without a controller, too: their servers elect among themselves (docs/families)."""

    def stand(self, control: NodeControl, partition: str, *, wait: bool = True) -> None:
        """Have a server stand for election; with ``wait`` false it may hear of it when it goes on.

        Raises:
            NodeError: it could not be asked.
        """

    def change_members(self, control: NodeControl, partition: str, members: Sequence[int]) -> None:
        """Tell a server of a group that changes its own members who they are to be; it may not lead, and then it does nothing.

        Raises:
            NodeError: it could not be asked.
        """


@runtime_checkable
class Reassigns(Protocol):
    """Replicas can be moved while it runs, and its evidence tells of it."""

    def reassign(self, controls: Mapping[int, NodeControl], partition: str, replicas: Sequence[int]) -> str:
        """An operator's reassignment; ends when the controller has taken it up.

        Args:
            controls: of all nodes.
            partition: such as ``t-0``.
            replicas: the preferred leader first.

        Returns:
            Why the system refused it, as a sentence; empty if it did not.

        Raises:
            NodeSilent: nobody answered, so it may have been taken. NodeError: nobody could be asked.
        """


@runtime_checkable
class ChangesSettings(Protocol):
    """An operator can change its settings while it runs, and its evidence tells of it."""

    def set_min_isr(self, controls: Mapping[int, NodeControl], topics: Collection[str], min_isr: int) -> str:
        """An operator sets it; ends when the controller has taken it up.

        Returns:
            Why the system refused it, or that nobody answered, as a sentence; empty if it was taken.
        """

    def switch_elr(self, controls: Mapping[int, NodeControl], *, on: bool) -> str:
        """An operator switches ELR on or off; likewise."""


@runtime_checkable
class AllowsUnclean(Protocol):
    """An operator can allow unclean elections while it runs, and its evidence tells of it."""

    def allow_unclean(self, controls: Mapping[int, NodeControl], topics: Collection[str], *, on: bool) -> str:
        """An operator allows these topics' unclean elections, or forbids them; ends when the controller has taken it up.

        Returns:
            Why the system refused it, or that nobody answered, as a sentence; empty if it was taken.
        """


@runtime_checkable
class MovesLogs(Protocol):
    """Its nodes can have two log directories, between which replicas are moved while it runs (KIP-113)."""

    def move_log(self, controls: Mapping[int, NodeControl], broker: int, partition: str) -> str:
        """Have a broker move its replica of a partition, such as ``t-0``, to its other log directory; ends when it has begun to.

        Returns:
            Why the system refused it, or that nobody answered, as a sentence; empty if it was begun.
        """

    def throttle_moves(self, controls: Mapping[int, NodeControl], broker: int, rate: int) -> str:
        """From now on a broker's moves copy so many bytes a second, 0: as many as they can; likewise."""


@runtime_checkable
class FailsLogDirs(Protocol):
    """Its nodes can have two log directories, and go on when one of them fails (KIP-112)."""

    def fail_log_dir(self, control: NodeControl, partition: str, *, other: bool) -> str:
        """Have the log directory fail in which a node's replica of a partition lies, or its ``other`` one; its name. One that has
        failed already stays the only one.

        Raises:
            NodeError: it did not.
        """

    def mend_log_dir(self, control: NodeControl, *, emptied: bool) -> tuple[str, list[str]]:
        """Mend it, or put an empty one in its place, while the node's process is gone.

        Returns:
            Its name, and the partitions whose logs are lost with it.

        Raises:
            NodeError: none has failed, or it cannot be mended.
        """


@runtime_checkable
class ChangesVoters(Protocol):
    """Its controllers' quorum can have other voters while it runs (KIP-853)."""

    def change_voter(
        self, controls: Mapping[int, NodeControl], deployment: Deployment, node: int, *, there: bool
    ) -> str:
        """Put a controller into the voters, or take it out; ends when that is answered, or after some tries.

        Returns:
            Why the system refused it, or that nobody answered, as a sentence; empty if it was answered that it is done.
        """

    def directory_of(self, node: int) -> str:
        """By what voters of one number are told apart: the id of the directory of its metadata log."""


@runtime_checkable
class ChangesMembers(Protocol):
    """A node can leave the cluster for good, and another can come in its place, while the others go on."""

    def leave(self, node: int, deployment: Deployment) -> str:
        """Have the others take a node out of their members, whose process has ended.

        Returns:
            Why they did not, as far as is known, as a sentence; empty if they did.
        """

    def join(self, node: int, deployment: Deployment) -> bool:
        """A node that was to leave is to be started. If it has left, the others take it in again, as somebody new.

        Returns:
            Whether it had left, and so must begin with an empty disk.

        Raises:
            NodeError: they do not, within a minute and a half.
        """


@runtime_checkable
class HandsOverController(Protocol):
    """The controller can fail, and be replaced by another one, while node 0's process goes on."""

    def fail_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """There is no controller from now on.

        Raises:
            NodeError: it could not be asked.
        """

    def elect_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """Another controller takes over, with what was written.

        Raises:
            NodeError: it could not be asked.
        """


@runtime_checkable
class Retains(Protocol):
    """A broker can be told to let its retention delete."""

    def retain(self, control: NodeControl, partition: str, batches: int) -> None:
        """The retention of one broker finds that its oldest batches are to go.

        Raises:
            NodeError: it could not be asked.
        """


@runtime_checkable
class SpreadsRules(Protocol):
    """Rules for messages act elsewhere than at their sender."""

    def spread(self, rules: Mapping[int, Rules], nodes: Iterable[int]) -> dict[int, Rules]:
        """Where rules for messages must be put in force, so that they act on what these senders send.

        Args:
            rules: sender → its rules.
            nodes: all nodes of the cluster.
        """


@runtime_checkable
class LaysOutLogs(Protocol):
    """A run can begin with given logs."""

    def lay_out(self, control: NodeControl, partition: str, disk: Disk) -> None:
        """Put a log on a broker's disk before its first start.

        Raises:
            NodeError: it could not be written.
        """


@runtime_checkable
class ReadsLogs(Protocol):
    """What lies in its nodes' logs can be read. Without this, replicas are not judged, only what clients saw.

    Only :meth:`read_disk` must be written by who inherits from this; the others are right where files lie as in Tidemark's nodes.
    """

    def read_disk(self, control: NodeControl, partition: str) -> Disk:
        """What a broker that starts now would find; of one that runs, what it has written.

        Raises:
            NodeError: it cannot be read.
        """
        ...

    def segments(self, evidence: Evidence) -> dict[str, Segment]:
        """The logs of one node, read from its files.

        Raises:
            RunError: a log cannot be read.
        """
        return evidence.read_segments()

    def interpret(self, found: ReplicaEvidence) -> ReplicaEvidence:
        """Look through all nodes' events and logs before they become the history's trace.

        Unless told otherwise they stay as they are, and are doubted where what a node traced of its logs is not what its files
        hold. A system that traces nothing of its logs is not judged by them.
        """
        differ = agreement_of_all(found) if tells_of_logs(found) else {}
        return replace(found, doubted=doubts_together(found.doubted, differ))

    def doubts_all_evidence(self) -> str:
        """Why none of its replicas' evidence is ever believed, as a sentence; empty if it may be."""
        return ""


def why_not_judged_by_logs(system: object) -> str:
    """Why no log of it is ever believed, as a sentence; empty if they may be, or if it shows none."""
    return system.doubts_all_evidence() if isinstance(system, ReadsLogs) else ""


# Why a system without one of these cannot, as sentences after or about its name.

NO_ELECTIONS = "nobody can ask for an election"
CANNOT_LEAVE = "has no members that leave and join"
CANNOT_CHANGE_SETTINGS = "has no operator who could change its settings"
HAS_FIXED_VOTERS = "has no quorum of controllers whose voters change"
HAS_ONE_LOG_DIRECTORY = "has nodes with one log directory each"
CANNOT_REASSIGN = "has no evidence of replicas that come and go"


def refuses_retention(name: str) -> str:
    """Without :class:`Retains`."""
    return f"nobody can tell a broker of {name} when its retention deletes: delete records instead"


def refuses_given_logs(name: str) -> str:
    """Without :class:`LaysOutLogs`."""
    return f"{name} cannot begin with given logs: they belong to a topic that does not exist yet"
