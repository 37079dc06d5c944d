"""What log lines and files of all brokers come to, and whether they may be believed.

A version whose lines nobody has verified, lines that do not add up to the files at the end, records whose epoch cannot be found
out: each is a reason to say ``unknown`` of whatever depends on the replicas' evidence, the last two on that of one of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.harness.evidence.log_agreement import agreement_of_all
from tidemark.harness.evidence.replica_evidence import MOST_DOUBTS, ReplicaEvidence, doubts_together
from tidemark.harness.systems.kafka.epochs_of_old_formats import attribute
from tidemark.harness.systems.kafka.quorum_trace import told_once
from tidemark.nodes.sidecar.lines import dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.checkers.history.trace_events import TraceEvent


def interpret(found: ReplicaEvidence, version: str, *, dreams: bool = False, quorum: bool = False) -> ReplicaEvidence:
    """Find the epochs of records whose format has none, and see whether log lines and files agree.

    Args:
        found: as it was collected.
        version: of the brokers.
        dreams: whether a broker that starts again may take itself for the leader that it was, without having been told (KRaft).
        quorum: whether there are several controllers, which all trace what is committed.
    """
    if quorum:
        events, contradictions = told_once(found.events)
        found = replace(found, events=events, not_understood=[*found.not_understood, *contradictions])
    if dreams:
        found = replace(found, events={node: without_past_reigns(events) for node, events in found.events.items()})
    attributed = attribute(found.events, found.segments)
    spoken = dialect(version)
    seen = replace(found, events=attributed.events, segments=attributed.segments)
    doubts = [*found.not_understood, *([] if spoken.understood else [spoken.why])][:MOST_DOUBTS]
    of_nodes = doubts_together(found.doubted, attributed.unknown, agreement_of_all(seen))
    return replace(seen, not_understood=doubts, doubted=of_nodes)


def not_verified(version: str) -> str:
    """Why nothing that a version's brokers say is believed, as a sentence; empty if their lines have been verified."""
    return dialect(version).why


def read_as(version: str) -> str:
    """The version by whose lines a version is read: its own series', or the nearest that has been verified."""
    return dialect(version).read_as


def without_past_reigns(events: Sequence[TraceEvent]) -> list[TraceEvent]:
    """One node's events without leaderships of an epoch that it led in an earlier life.

    A KRaft broker that starts again replays the metadata from where it was, and takes itself for the leader that it had been until
    it has read on. Nobody elected it: a controller gives a restarted leader a new epoch, or another leader. With ZooKeeper a broker
    leads only where a controller tells it to, be it in an epoch that it led before: so does one that was elected meanwhile.
    """
    kept: list[TraceEvent] = []
    past: set[tuple[str, int]] = set()
    led: set[tuple[str, int]] = set()
    dreaming: set[str] = set()
    for event in events:
        time, node, name, partition, *fields = event
        if name == "start":
            past |= led
            dreaming.clear()
        elif name == "lead" and (partition, fields[0]) in past:
            dreaming.add(partition)
            continue
        elif name in {"lead", "follow"}:
            dreaming.discard(partition)
            led |= {(partition, fields[0])} if name == "lead" else set()
        if partition in dreaming and name == "isr":
            continue
        if partition in dreaming and name == "hw":
            kept.append((time, node, name, partition, *fields[:-1], False))
            continue
        kept.append(event)
    return kept
