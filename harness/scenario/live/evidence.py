"""What the nodes of a scenario have traced, as the trace of its history."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.evidence.trace_history import TraceHistory
from tidemark.harness.scenario.links import LeaderAnswer
from tidemark.harness.scenario.target import PARTITION
from tidemark.harness.systems.capabilities import ReadsLogs, Watched
from tidemark.nodes.formats.record_batch import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.evidence.partition_disk import Batches
    from tidemark.harness.scenario.live.nodes import Nodes


class Collected(NamedTuple):
    """The trace in order of time, what followers heard about where their logs must end, and why the trace cannot be relied on
    (empty if it can), or what some nodes say of it.
    """

    trace: list[tuple[Any, ...]]
    answers: list[LeaderAnswer]
    not_understood: list[str]
    doubted: Mapping[int, list[str]]


def collect(
    nodes: Nodes,
    began_us: int,
    given: Mapping[int, Batches],
    noted: list[tuple[Any, ...]],
    held: Mapping[int, Mapping[str, Batches]],
    down: frozenset[int],
) -> Collected:
    """What the nodes have traced, and what it comes to.

    Args:
        nodes: whose processes have ended.
        began_us: our clock when the run began.
        given: broker → the log it began with; told as appended then.
        noted: events that the harness adds.
        held: broker → what its files held in the end, by directory: the log of the partition, or a journal.
        down: brokers that had no process any more when their logs were read.

    Raises:
        NodeError: a trace file cannot be fetched. RunError: it is damaged.
    """
    history = TraceHistory(began_us)
    system = nodes.system
    for node, control in nodes.controls.items():
        file = control.read(control.places.trace).decode(errors="replace")
        traced = system.events_of(file, control.name) if isinstance(system, Watched) else []
        ahead = nodes.clock_ahead_us.get(node, 0)
        before = [
            [began_us, node, "append", PARTITION, base, epoch, b64encode(build(values, base, epoch))]
            for base, epoch, values in given.get(node, ())
        ]
        history.add(node, [*before, *([time - ahead, *event] for time, *event in traced)])
    seen = ReplicaEvidence(history.events, held, down=down)
    if isinstance(system, ReadsLogs):
        seen = system.interpret(seen)
    answers = [LeaderAnswer(a.follower, a.asked, a.offset, a.epoch, a.end) for a in history.answers]
    return Collected(history.trace(noted, seen), answers, seen.not_understood, seen.doubted)
