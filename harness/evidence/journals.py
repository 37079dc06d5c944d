"""What bookies' journals hold, and whether it is what the bookies told: the evidence of nodes whose logs lie in no file.

A bookie writes an entry into its journal, tells of it (``stored``), and answers, in this order. A journal only grows, but for what
a lost power or disk takes; what it held when a process started, that process tells (``recovered``). So the records that one process
wrote are known by their places, and are what it told: but for the last one, if it was killed before it told, and for the last ones,
if they were lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import KIND, PARTITION, Recovered, Stored, TraceEvent
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families.bookkeeper.bookie import journal_of
from tidemark.nodes.formats import journal
from tidemark.nodes.formats.journal import ENTRY
from tidemark.nodes.formats.segment import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, Segment

NO_ENTRY = (-1, 0, ())
"""In place of a cookie or a fence."""


def records_of(content: bytes) -> Segment:
    """The records in the file of a journal, in its order: of an entry (base offset, ledger, values), else :data:`NO_ENTRY`. A torn
    end is left out.

    Raises:
        BadBatchError: a record is none of a journal's.
    """
    records: Segment = []
    for found in scan(lambda at, size: content[at : at + size], len(content)):
        if not found.sound:
            break
        record = journal.decode(found.raw)
        if record[0] == ENTRY:
            ledger, _, _, base, values = record[1:]
            records.append((base, ledger, tuple(values)))
        else:
            records.append(NO_ENTRY)
    return records


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
        partitions = {stored.partition for stored in Stored.among(events)}
        partitions |= {name for directory in segments if (name := journal.partition_of(directory))}
        said = [
            f"Broker {node}, {partition}: {sentence}"
            for partition in sorted(partitions)
            for sentence in _differences(
                _lives(events, partition), segments.get(journal.directory_of(partition), []), down=node in found.down
            )
        ]
        if said:
            differ[node] = said
    return differ


@dataclass(slots=True)
class _Life:
    """One process: how many records its journal held at its start, what it told of, and whether it ended."""

    began: int = 0
    told: Segment = field(default_factory=list)
    ended: bool = False


def _lives(events: Iterable[TraceEvent], partition: str) -> list[_Life]:
    lives = [_Life()]
    for event in events:
        if event[KIND] == "start":
            lives[-1].ended = True
            lives.append(_Life())
        elif event[KIND] == "stop":
            lives[-1].ended = True
        elif event[KIND] == "recovered" and event[PARTITION] == journal_of(partition):
            lives[-1].began = Recovered(event).leo
        elif event[KIND] == "stored" and event[PARTITION] == partition:
            stored = Stored(event)
            lives[-1].told.append((stored.base_offset, stored.epoch, tuple(stored.values)))
    return lives


def _differences(lives: list[_Life], records: Segment, *, down: bool) -> list[str]:
    for at, life in enumerate(lives):
        ends = min([len(records), *(later.began for later in lives[at + 1 :])])
        kept = [record for record in records[life.began : ends] if record != NO_ENTRY]
        ended = life.ended or down
        for entry, told in zip(kept, life.told, strict=False):
            if entry != told:
                return [f"its journal has {_called(entry)} where its lines tell of {_called(told)}."]
        if len(kept) > len(life.told) + ended:
            return [f"its journal has {_called(kept[len(life.told)])} that no line tells of."]
        if len(kept) < len(life.told) and not ended:
            return [f"a line tells of {_called(life.told[len(kept)])} that is not in its journal."]
    return []


def _called(entry: tuple[int, int, tuple[int, ...]]) -> str:
    base, ledger, _ = entry
    return f"an entry of ledger {ledger} at offset {base}"
