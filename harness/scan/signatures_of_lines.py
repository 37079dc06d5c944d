"""Signatures in brokers' log lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Final

from tidemark.harness.scan.finding import (
    BACK_BELOW_LOG_START,
    CUT_AT_LOG_START,
    CUT_BELOW_HW,
    LAST_KNOWN_BEHIND,
    LOG_START_TAKEN_BACK,
    MISSED_REIGN,
    STALE_LOG_START,
    UNCLEAN_ELECTION,
    Finding,
)
from tidemark.harness.scan.replica_events import Line, Told, events_of, high_watermark_when_loaded
from tidemark.nodes.sidecar.line_events import Follows, HighWatermark, Leads, Loaded, LogStart, Truncated

_PREVIOUS: Final = re.compile(r"Previous leader (?:Some\((-?\d+)\)|None) and previous leader epoch was (-?\d+)\.")
_UNCLEAN: Final = re.compile(r"UNCLEAN partition change for (\S+) with topic ID \S+: (.*leader: -?\d+ -> (\d+),.*)")
_EPOCH: Final = re.compile(r"leaderEpoch: -?\d+ -> (\d+)")
_LAST_KNOWN: Final = re.compile(r"lastKnownElr: \[(\d+)\] -> \[\]")
_REFUSED: Final = re.compile(
    r"Unexpected offset in append to (\S+?)\. First offset (\d+) is less than the next offset (\d+)\."
)
_DELETED: Final = re.compile(
    r"partition=([^,\s]+), dir=.*?\] Deleting all segments because logEndOffset \((\d+)\) is smaller than logStartOffset \(?(\d+)"
)
_RESET: Final = re.compile(r"Reset fetch offset for partition (\S+) from \d+ to current leader's latest offset (\d+)")
_BEGAN: Final = re.compile(r"Leader \S+ .*?starts at leader epoch \d+ from offset (\d+)")


@dataclass(slots=True)
class Reign:
    """A broker's time in one leader epoch, the ISR as it led it, and where it cut its log.

    `resets`: where it went on at its leader's log end, having nothing in common: the log start it had, that log end, and the line.
    """

    leader_epoch: int
    leader: int
    isr: tuple[int, ...]
    line: Line
    cuts: list[tuple[int, Line]] = field(default_factory=list)
    resets: list[tuple[int, int, Line]] = field(default_factory=list)


@dataclass(slots=True)
class _Replica:
    """One replica while its lines are read; None is unknown."""

    hw: int | None = None
    hw_before: int | None = None
    """Before the line that was read last, if that line set it: a response that tells to cut may set it first (KAFKA-14704)."""
    hw_line: Line | None = None
    log_start: int = 0
    log_start_line: Line | None = None
    starts_by: tuple[int, Line] | None = None
    """An offset by which the log starts, and what says so: a log start that was told, or a cut, which moves it down."""
    reigns: list[Reign] = field(default_factory=list)


def found_in_lines(by_broker: Mapping[str, Sequence[Line]]) -> list[Finding]:
    """Everything that they show."""
    found: list[Finding] = []
    reigns: dict[str, dict[str, list[Reign]]] = defaultdict(dict)
    for broker, lines in by_broker.items():
        replicas: dict[str, _Replica] = defaultdict(_Replica)
        for told in events_of(list(lines)):
            found += _of_line(told.line, replicas)
            found += _of_event(told, replicas)
        for partition, replica in replicas.items():
            reigns[partition][broker] = replica.reigns
    for partition, of_brokers in reigns.items():
        found += _missed(partition, of_brokers)
        found += _back_below(partition, of_brokers)
    below = [one for one in found if one.name == CUT_BELOW_HW]
    return found + list(_last_known_behind(chain.from_iterable(by_broker.values()), reigns, below))


def log_starts(by_broker: Mapping[str, Sequence[Line]]) -> dict[tuple[str, str], int]:
    """Broker and partition → the log start that the last life of the broker has told."""
    last: dict[tuple[str, str], int] = {}
    for broker, lines in by_broker.items():
        for event, _ in events_of(list(lines)):
            if isinstance(event, LogStart | Loaded):
                last[broker, event.partition] = event.start
    return last


def _finding(name: str, line: Line, partition: str, meaning: str) -> Finding:
    return Finding(name, line.time, partition, line.broker, line.file, line.number, line.text.strip(), meaning)


def _of_line(line: Line, replicas: Mapping[str, _Replica]) -> Iterator[Finding]:
    """What one line shows that is no event."""
    # The last known leader has all that was committed, unless it has lost it since.
    if (unclean := _UNCLEAN.search(line.text)) is not None and not _was_last_known(unclean):
        meaning = f"broker {unclean[3]} was elected from outside the ISR: records that it had not fetched are lost"
        yield _finding(UNCLEAN_ELECTION, line, unclean[1], meaning)
    if (reset := _RESET.search(line.text)) is not None:
        replica = replicas[reset[1]]
        if replica.log_start > int(reset[2]) and replica.reigns:
            replica.reigns[-1].resets.append((replica.log_start, int(reset[2]), line))
    if (refused := _REFUSED.search(line.text)) is not None:
        meaning = (
            f"this replica was truncated to {refused[3]} and refuses its leader's next batch, which begins at {refused[2]}: it no "
            "longer replicates, and the partition has one replica less"
        )
        yield _finding(CUT_AT_LOG_START, line, refused[1], meaning)
    if (deleted := _DELETED.search(line.text)) is not None:
        last = replicas[deleted[1]].starts_by
        # Otherwise a power loss has shortened the log, and to delete the rest is right.
        if last is not None and last[0] < int(deleted[3]):
            meaning = (
                f"the broker took an outdated log start, {deleted[3]}, and deleted its whole log up to {deleted[2]}. The log "
                f"started at {last[0]} or before ({last[1].file}:{last[1].number}). Records acknowledged since are gone here, and "
                "lost everywhere if this broker is elected"
            )
            yield _finding(STALE_LOG_START, line, deleted[1], meaning)


def _of_event(told: Told, replicas: Mapping[str, _Replica]) -> Iterator[Finding]:
    event, line = told
    if event is None or not hasattr(event, "partition"):
        return
    replica = replicas[event.partition]
    if isinstance(event, Leads | Follows):
        leader = event.leader if isinstance(event, Follows) else int(line.broker) if line.broker.isdigit() else -1
        isr = event.isr if isinstance(event, Leads) else ()
        replica.reigns.append(Reign(event.leader_epoch, leader, isr, line))
        if event.hw >= 0:
            replica.hw, replica.hw_line = event.hw, line
    elif isinstance(event, HighWatermark):
        replica.hw_before, replica.hw, replica.hw_line = replica.hw, event.hw, line
        return
    elif isinstance(event, Loaded):
        yield from _of_start(event, line, replica)
    elif isinstance(event, LogStart):
        replica.log_start, replica.log_start_line = event.start, line
        replica.starts_by = event.start, line
    elif isinstance(event, Truncated):
        if replica.starts_by is None or event.to < replica.starts_by[0]:
            replica.starts_by = event.to, line
        replica.log_start = min(replica.log_start, event.to)
        if replica.reigns:
            replica.reigns[-1].cuts.append((event.to, line))
        if replica.hw_before is not None:
            replica.hw = replica.hw_before
        if replica.hw is not None and replica.hw_line is not None and event.to < replica.hw:
            meaning = (
                f"the log was truncated to {event.to}, below the replica's own high watermark "
                f"{replica.hw} ({replica.hw_line.file}:{replica.hw_line.number}): committed records, which may have been "
                "acknowledged, are gone here"
            )
            yield _finding(CUT_BELOW_HW, line, event.partition, meaning)
            replica.hw = event.to
    replica.hw_before = None


def _of_start(event: Loaded, line: Line, replica: _Replica) -> Iterator[Finding]:
    """A log was loaded: its high watermark is what the checkpoint says, and so is its log start."""
    before, told_at = replica.log_start, replica.log_start_line
    if event.start < before and told_at is not None and event.leo > 0:
        meaning = (
            f"before the broker started again the log start was {before} ({told_at.file}:{told_at.number}), and now it is "
            f"{event.start}: deleted records are back, but their leader epochs are not, so a follower that returns may keep "
            "records that no other replica has"
        )
        yield _finding(LOG_START_TAKEN_BACK, line, event.partition, meaning)
    loaded = high_watermark_when_loaded(line.text)
    replica.hw, replica.hw_line = (loaded[1], line) if loaded is not None else (None, None)
    replica.log_start, replica.log_start_line = event.start, line
    replica.starts_by = event.start, line
    if event.leo == 0:
        replica.reigns.clear()  # of a topic of the same name that was there before, or the broker has lost its disk


def _back_below(partition: str, of_brokers: Mapping[str, list[Reign]]) -> Iterator[Finding]:
    """A replica whose log began beyond its leader's end, and that lacks what leaders wrote since it was last heard of."""
    for reigns in of_brokers.values():
        for before, reign in pairwise(reigns):
            if not reign.resets:
                continue
            began = [
                int(told[1])
                for one in of_brokers.values()
                for led in one
                if before.leader_epoch < led.leader_epoch <= reign.leader_epoch
                and (told := _BEGAN.search(led.line.text))
            ]
            for start, end, line in reign.resets:
                if began and end > min(began):
                    meaning = (
                        f"this replica's log began at {start}, its leader's ended at {end}, and it went on from there: it lacks "
                        f"what was written from {min(began)} to {end} while it was away. That is lost if this broker is elected"
                    )
                    yield _finding(BACK_BELOW_LOG_START, line, partition, meaning)


def _last_known_behind(
    lines: Iterable[Line], reigns: Mapping[str, Mapping[str, list[Reign]]], below: Sequence[Finding]
) -> Iterator[Finding]:
    """Elections of a last known leader (KIP-966) whom another replica followed by a cut below its own high watermark."""
    for line in lines:
        unclean = _UNCLEAN.search(line.text)
        if unclean is None or not _was_last_known(unclean) or (epoch := _EPOCH.search(unclean[2])) is None:
            continue
        cut = next(
            (one for one in below if one.partition == unclean[1] and _in_epoch(one, reigns, int(epoch[1]))), None
        )
        if cut is not None:
            meaning = (
                f"nobody was eligible, and broker {unclean[3]} was elected as the last known leader, without records that were "
                f"committed: broker {cut.broker} truncated them ({cut.file}:{cut.number}). If a single broker had lost its power, "
                "they were acknowledged by fewer than min ISR"
            )
            yield _finding(LAST_KNOWN_BEHIND, line, unclean[1], meaning)


def _was_last_known(unclean: re.Match[str]) -> bool:
    """Whether the one who was elected is the last known leader."""
    last_known = _LAST_KNOWN.search(unclean[2])
    return last_known is not None and last_known[1] == unclean[3]


def _in_epoch(cut: Finding, reigns: Mapping[str, Mapping[str, list[Reign]]], epoch: int) -> bool:
    """Whether a replica cut its log as a follower in this leader epoch."""
    return any(
        reign.leader_epoch == epoch
        and any(line.number == cut.number and line.file == cut.file for _, line in reign.cuts)
        for reign in reigns[cut.partition].get(cut.broker, ())
    )


def _missed(partition: str, of_brokers: Mapping[str, list[Reign]]) -> Iterator[Finding]:
    """A leader that led before in its own eyes, though another led meanwhile and a replica cut its log in that reign."""
    for broker, reigns in of_brokers.items():
        for reign in reigns:
            previous = _PREVIOUS.search(reign.line.text)
            if previous is None or str(reign.leader) != broker or previous[1] != broker:
                continue
            skipped = range(int(previous[2]) + 1, reign.leader_epoch)
            cut = _cut_meanwhile(skipped, reign, of_brokers)
            if cut is None:
                continue
            other, epoch, to, where = cut
            meaning = (
                f"broker {broker} led leader epochs {previous[2]} and {reign.leader_epoch}, and did not notice that broker {other} "
                f"led epoch {epoch} in between, when broker {where.broker} truncated its log to {to} ({where.file}:{where.number})."
                f" Broker {broker} may take the truncated records for replicated, and acknowledge records that are then lost"
            )
            yield _finding(MISSED_REIGN, reign.line, partition, meaning)


def _cut_meanwhile(
    skipped: range, after: Reign, of_brokers: Mapping[str, list[Reign]]
) -> tuple[int, int, int, Line] | None:
    """The first cut, in a skipped epoch that somebody else led, of a replica that counts for the high watermark of the reign after
    it: leader, epoch, offset, line.
    """
    for other, reigns in of_brokers.items():
        for reign in reigns:
            led_by_another = reign.leader >= 0 and reign.leader != after.leader
            counts = any(str(member) == other for member in after.isr) and other != str(after.leader)
            if counts and reign.leader_epoch in skipped and led_by_another and reign.cuts:
                to, line = reign.cuts[0]
                return reign.leader, reign.leader_epoch, to, line
    return None
