"""What bookies' journals hold, and whether it is what the bookies told: the evidence of nodes whose logs lie in no file.

A bookie writes an entry into its journal, tells of it (``stored``), and answers, in this order. So a journal may hold an entry more
than was told by a process that was killed; and it lacks what was told before the power or the disk was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.core.messages import CONTROLLER
from nodes.formats import journal
from nodes.formats.journal import ENTRY
from nodes.formats.segment import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from checkers.history import TraceEvent
    from harness.evidence.replica_evidence import ReplicaEvidence, Segment

LOSES = frozenset({"power", "disk", "container"})
"""Ways to end that take something off a disk."""


def entries_of(content: bytes) -> Segment:
    """The entries in the file of a journal, in its order: (base offset, ledger, values). A torn end is left out.

    Raises:
        BadBatchError: a record is none of a journal's.
    """
    entries = []
    for found in scan(lambda at, size: content[at : at + size], len(content)):
        if not found.sound:
            break
        record = journal.decode(found.raw)
        if record[0] == ENTRY:
            ledger, _, _, base, values = record[1:]
            entries.append((base, ledger, tuple(values)))
    return entries


def has_journals(found: ReplicaEvidence) -> bool:
    """Whether nodes are bookies."""
    return any(journal.partition_of(name) for segments in found.segments.values() for name in segments)


def agreement_of_journals(found: ReplicaEvidence) -> dict[int, list[str]]:
    """Where nodes' journals are not what they told: node → sentences; without those of whom it is."""
    differ = {}
    for node, events in found.events.items():
        if node == CONTROLLER:
            continue
        segments = found.segments.get(node, {})
        partitions = {str(event[3]) for event in events if event[2] == "stored"}
        partitions |= {name for directory in segments if (name := journal.partition_of(directory))}
        said = [
            f"Broker {node}, {partition}: {sentence}"
            for partition in sorted(partitions)
            for sentence in _differences(events, partition, segments.get(journal.directory_of(partition), []))
        ]
        if said:
            differ[node] = said
    return differ


def _differences(events: Iterable[TraceEvent], partition: str, entries: Segment) -> list[str]:
    told: list[tuple[int, int, tuple[int, ...]]] = []
    safe_from = killed = 0
    for event in events:
        if event[2] == "stored" and event[3] == partition:
            told.append((event[4], event[5], tuple(event[6])))
        elif event[2] == "stop":
            killed += event[4] != "clean"
            if event[4] in LOSES:
                safe_from = len(told)
    untold = _without(entries, told)
    missing = _without(told[safe_from:], entries)
    said = []
    if len(untold) > killed:
        base, ledger, _ = untold[0]
        said.append(f"its journal has an entry of ledger {ledger} at offset {base} that no line tells of.")
    if missing:
        base, ledger, _ = missing[0]
        said.append(f"a line tells of an entry of ledger {ledger} at offset {base} that is not in its journal.")
    return said


def _without(
    these: Sequence[tuple[int, int, tuple[int, ...]]], those: Sequence[tuple[int, int, tuple[int, ...]]]
) -> list[tuple[int, int, tuple[int, ...]]]:
    known = set(those)
    return [one for one in these if one not in known]


def without_journals(segments: Mapping[int, Mapping[str, Segment]]) -> dict[int, dict[str, Segment]]:
    """The logs alone."""
    return {
        node: {name: segment for name, segment in found.items() if not journal.partition_of(name)}
        for node, found in segments.items()
    }
