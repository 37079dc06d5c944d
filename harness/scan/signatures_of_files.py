"""Signatures in segments and checkpoints: of one replica, and of several beside each other."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.scan.brokers_folder import CLEANER, BrokersFolderError, LogDirectory, Replica
from tidemark.harness.scan.finding import EPOCHS_CONTRADICT, HOLE, REPLICAS_DIFFER, Finding
from tidemark.nodes.formats.checkpoints import EPOCHS, HIGH_WATERMARKS, LOG_STARTS
from tidemark.nodes.formats.partition_files import CheckpointFormatError, read_epochs, read_offsets
from tidemark.nodes.formats.segment import name_of, scan

if TYPE_CHECKING:
    from typing import IO


class Batch(NamedTuple):
    """What tells one batch from another; offsets of its first record and of the next batch."""

    base: int
    end: int
    epoch: int
    crc: int
    records: int
    file: str


@dataclass(slots=True)
class Held:
    """What one replica holds.

    Attributes:
        epochs: its ``leader-epoch-checkpoint``, None if it is not there. log_start, hw: as checkpoints say (−1: nothing).
        compacted: whether the cleaner knows the partition, so that gaps are its doing.
    """

    broker: str
    directory: str
    batches: list[Batch]
    epochs: tuple[tuple[int, int], ...] | None
    log_start: int
    hw: int
    compacted: bool


def found_in_files(
    directories: Sequence[LogDirectory], told_starts: Mapping[tuple[str, str], int], tell: Callable[[str], None]
) -> list[Finding]:
    """Everything that they show.

    Args:
        directories: the brokers' log directories.
        told_starts: broker and partition → the last log start in the broker's log lines, which is newer than the checkpoint's.
        tell: is told which replica is read.

    Raises:
        BrokersFolderError: a checkpoint is none.
        OSError: a file cannot be read.
    """
    held: dict[str, list[Held]] = defaultdict(list)
    for directory in directories:
        for partition, one in _held(directory, tell):
            told = told_starts.get((one.broker, partition), 0)
            one.log_start = max(one.log_start, told)
            held[partition].append(one)
    found: list[Finding] = []
    for partition, replicas in sorted(held.items()):
        for one in replicas:
            found += _contradiction(partition, one)
            found += _holes(partition, one, replicas)
        for first, second in combinations(replicas, 2):
            found += _difference(partition, first, second)
    return found


def _held(directory: LogDirectory, tell: Callable[[str], None]) -> Iterator[tuple[str, Held]]:
    try:
        hws = read_offsets(directory.text(HIGH_WATERMARKS), f"{directory.name}/{HIGH_WATERMARKS}")
        starts = read_offsets(directory.text(LOG_STARTS), f"{directory.name}/{LOG_STARTS}")
        cleaned = read_offsets(directory.text(CLEANER), f"{directory.name}/{CLEANER}")
        for partition, replica in directory.replicas.items():
            tell(replica.directory)
            epochs = None
            if replica.epochs is not None:
                with replica.epochs() as file:
                    text = file.read().decode(errors="replace")
                epochs = read_epochs(text, f"{replica.directory}/{EPOCHS}")
            batches = list(_batches(replica))
            first = min(replica.segments, default=0)
            start, hw = max(starts.get(partition, 0), first), hws.get(partition, -1)
            compacted = partition in cleaned
            yield partition, Held(directory.broker, replica.directory, batches, epochs, start, hw, compacted)
    except CheckpointFormatError as error:
        raise BrokersFolderError(str(error).partition(":")[0]) from None


def _batches(replica: Replica) -> Iterator[Batch]:
    """In order; those of message formats before Kafka 0.11 are left out, and what follows a torn one."""
    for base, opened in sorted(replica.segments.items()):
        with opened() as file:
            size = file.seek(0, os.SEEK_END)
            for one in scan(_reader(file), size):
                header = one.header
                if one.sound and header is not None:
                    end = header.base_offset + header.last_offset_delta + 1
                    place = f"{replica.directory}/{name_of(base)}"
                    yield Batch(header.base_offset, end, header.leader_epoch, header.crc, header.count, place)


def _reader(file: IO[bytes]) -> Callable[[int, int], bytes]:
    def read(at: int, size: int) -> bytes:
        file.seek(at)
        return file.read(size)

    return read


def _contradiction(partition: str, held: Held) -> Iterator[Finding]:
    """The first batch of which the epoch checkpoint says something else; one after its last entry may be newer than the file."""
    if held.epochs is None or not held.epochs:
        return
    for batch in held.batches:
        if batch.end <= held.log_start or batch.epoch < 0:
            continue
        known = [(epoch, start) for epoch, start in held.epochs if start <= max(batch.base, held.log_start)]
        newest = known[-1][0] if known else None
        at_the_end = known and known[-1] == held.epochs[-1] and batch.epoch > known[-1][0]
        if newest == batch.epoch or at_the_end:
            continue
        says = (
            f"has epoch {newest}"
            if known
            else f"has none (its first epoch, {held.epochs[0][0]}, begins at {held.epochs[0][1]})"
        )
        line = f"{EPOCHS}: {'; '.join(f'{epoch} {start}' for epoch, start in held.epochs)}"
        meaning = (
            f"the batch at offset {batch.base} has leader epoch {batch.epoch} ({batch.file}), but the checkpoint {says}: if this "
            "broker leads, it tells returning followers to truncate at the wrong offset"
        )
        yield Finding(EPOCHS_CONTRADICT, "", partition, held.broker, f"{held.directory}/{EPOCHS}", 0, line, meaning)
        return


def _holes(partition: str, held: Held, replicas: Sequence[Held]) -> Iterator[Finding]:
    """Offsets between two batches that another replica has."""
    if held.compacted:
        return
    for before, after in pairwise(held.batches):
        if after.base <= before.end:
            continue
        others = [
            other
            for other in replicas
            if other is not held
            and not other.compacted
            and any(batch.base < after.base and batch.end > before.end for batch in other.batches)
        ]
        if others:
            gap = f"{before.end} to {after.base - 1}"
            meaning = (
                f"this replica lacks offsets {gap}, and broker {others[0].broker} has records there: a truncation inside a batch "
                "removed the whole batch. Unless these records were deleted, consumers miss them if this broker leads"
            )
            line = f"{after.file}: batches end at {before.end} and go on at {after.base}"
            yield Finding(HOLE, "", partition, held.broker, after.file, 0, line, meaning)


def _difference(partition: str, first: Held, second: Held) -> Iterator[Finding]:
    """The first offset below both high watermarks, from both log starts on, where two replicas hold other records."""
    begin, end = max(first.log_start, second.log_start), min(first.hw, second.hw)
    mine, theirs = iter(first.batches), iter(second.batches)
    one, other = next(mine, None), next(theirs, None)
    while one is not None and other is not None:
        low, high = max(one.base, other.base, begin), min(one.end, other.end, end)
        differs = one.epoch != other.epoch or (
            one[:2] == other[:2] and one.records == other.records and one.crc != other.crc
        )
        if low < high and differs and min(one.epoch, other.epoch) >= 0:
            line = (
                f"offset {low}: broker {first.broker} has epoch {one.epoch}, checksum {one.crc:08x}; "
                f"broker {second.broker} has epoch {other.epoch}, checksum {other.crc:08x}"
            )
            meaning = (
                f"below both high watermarks ({first.hw} and {second.hw}) brokers {first.broker} and {second.broker} have "
                "different records: which of them consumers get depends on the leader"
            )
            yield Finding(REPLICAS_DIFFER, "", partition, first.broker, one.file, 0, line, meaning)
            return
        if one.end <= other.end:
            one = next(mine, None)
        else:
            other = next(theirs, None)
