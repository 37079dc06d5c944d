"""The story of a record as far as the clients know it: who sent it, what was answered, who read it, who read past it.

For histories without a trace of the replicas; where there is one, `story` tells more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.columns import (
    DELETION,
    FAIL,
    FIRST_NUMBERED,
    INFO,
    INVOKE,
    NOTHING,
    OK,
    READ,
    SEND,
    UNKNOWN,
    Columns,
    Ints,
)
from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.verdict import GRAVITY, Anomaly, Verdict, at_offset

MOST_STORIES: Final = 5
MOST_READS: Final = 3
"""So many reads of one record are told, and the last."""

MOST_MOMENTS: Final = 14
"""So many moments of a story are told; of more, the first and the last."""


@dataclass(frozen=True, slots=True)
class ClientMoment:
    """One thing that a client did or saw; the time in µs. `key` moments are the story itself."""

    time: int
    sentence: str
    key: bool = True


@dataclass(frozen=True, slots=True)
class RecordStory:
    """An anomaly, and what the clients knew of its record."""

    anomaly: Anomaly
    records: tuple[Any, ...]
    moments: tuple[ClientMoment, ...]
    left_out: int


def record_stories(history: History, verdict: Verdict) -> list[RecordStory]:
    """The stories of the gravest anomalies: first one of each kind, then the earliest; only of those that are about records."""
    about = [anomaly for anomaly in verdict.anomalies if anomaly.partition and records_of(anomaly)]
    if not about:
        return []
    about.sort(key=lambda anomaly: (GRAVITY.index(anomaly.verdict), anomaly.time, anomaly.name))
    first = {anomaly.name: anomaly for anomaly in reversed(about)}
    chosen = [anomaly for anomaly in about if first[anomaly.name] is anomaly]
    chosen += [anomaly for anomaly in about if first[anomaly.name] is not anomaly]
    teller = _Teller(columns_of(history.ops) if history.columns is None else history.columns)
    return [teller.story(anomaly) for anomaly in chosen[:MOST_STORIES]]


def records_of(anomaly: Anomaly) -> tuple[Any, ...]:
    """The values of the records that an anomaly is about."""
    evidence = anomaly.evidence
    if "value" in evidence:
        return (evidence["value"],)
    if isinstance(evidence.get("values"), list | tuple):
        found = [one["value"] if isinstance(one, dict) else one for one in evidence["values"]]
        return tuple(dict.fromkeys(found))[:4]
    return tuple(evidence[name]["value"] for name in ("before", "after") if isinstance(evidence.get(name), dict))


class _Teller:
    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._keys = {name: number for number, name in enumerate(columns.keys)}
        self._values = {(value.__class__, value): number for number, value in enumerate(columns.values)}

    def story(self, anomaly: Anomaly) -> RecordStory:
        records = records_of(anomaly)
        key = self._keys.get(anomaly.partition)
        moments = [] if key is None else self._moments(key, anomaly, records)
        left_out = max(len(moments) - MOST_MOMENTS, 0)
        if left_out:
            moments = self._most_telling(moments)
        return RecordStory(anomaly, records, tuple(moments), left_out)

    @staticmethod
    def _most_telling(moments: list[ClientMoment]) -> list[ClientMoment]:
        """The story before its surroundings, and of either the first half and the last."""
        chosen: list[int] = []
        for wanted in (True, False):
            places = [place for place, moment in enumerate(moments) if moment.key is wanted]
            room = MOST_MOMENTS - len(chosen)
            if len(places) > room:
                places = places[: (room + 1) // 2] + places[len(places) - room // 2 :] if room else []
            chosen += places
        return [moments[place] for place in sorted(chosen)]

    def _moments(self, key: int, anomaly: Anomaly, records: tuple[Any, ...]) -> list[ClientMoment]:
        columns = self._columns
        mine = np.flatnonzero(columns.row_key == key)
        numbers = [self._number(value) for value in records]
        of_records = mine[
            np.isin(columns.row_value[mine], [number for number in numbers if number is not None])
            & np.isin(columns.row_kind[mine], (SEND, READ))
        ]
        offsets = np.unique(columns.row_offset[of_records])
        offsets = offsets[offsets > UNKNOWN]
        if "offset" in anomaly.evidence and anomaly.evidence["offset"] is not None:
            offsets = np.union1d(offsets, [anomaly.evidence["offset"]])
        there = mine[
            np.isin(columns.row_offset[mine], offsets)
            & np.isin(columns.row_kind[mine], (SEND, READ))
            & ~np.isin(mine, of_records)
        ]
        moments = self._told(of_records, other=False) + self._told(there, other=True)
        deletions = mine[columns.row_kind[mine] == DELETION]
        if len(offsets):
            deletions = deletions[columns.row_offset[deletions] > offsets.min()]
        moments += [self._deletion(int(row)) for row in deletions]
        moments += self._final_polls(mine, of_records)
        beyond = anomaly.evidence.get("read_beyond")
        if isinstance(beyond, dict) and beyond["offset"] not in offsets:
            words = f"{beyond['process']} reads record {beyond['value']} {at_offset(beyond['offset'])}, past it."
            moments.append(ClientMoment(beyond["time"], words))
        return [moment for _, moment in sorted(enumerate(moments), key=lambda one: (one[1].time, one[0]))]

    def _told(self, rows: Ints, *, other: bool) -> list[ClientMoment]:
        """Each of some rows as a moment, of the reads of a record only the first few, and in one sentence how many more."""
        columns = self._columns
        moments: list[ClientMoment] = []
        reads: dict[int, list[int]] = {}
        for row in rows.tolist():
            if columns.row_kind[row] == READ:
                mine = reads.setdefault(int(columns.row_value[row]), [])
                mine.append(row)
                if len(mine) > MOST_READS:
                    continue
            moments.append(self._of_row(row, other=other))
        for number, mine in reads.items():
            if len(mine) > MOST_READS:
                half = columns.row_half[mine[-1]]
                last, more = columns.processes[columns.process[half]], len(mine) - MOST_READS
                words = f"{last} reads record {columns.value(number)}, as {more - 1} did before that are not listed."
                words = f"{last} reads record {columns.value(number)} as well." if more == 1 else words
                moments.append(ClientMoment(int(columns.time[half]), words, key=False))
        return moments

    def _number(self, value: object) -> int | None:
        """The number that stands for a value in the columns."""
        if value.__class__ is int and -FIRST_NUMBERED < value < FIRST_NUMBERED:
            return value
        place = self._values.get((value.__class__, value))
        return None if place is None else FIRST_NUMBERED + place

    def _of_row(self, row: int, *, other: bool = False) -> ClientMoment:
        columns = self._columns
        half = int(columns.row_half[row])
        process, ended = columns.processes[columns.process[half]], int(columns.type[half])
        value = columns.value(int(columns.row_value[row]))
        key = columns.keys[columns.row_key[row]]
        offset = int(columns.row_offset[row])
        where = f" {at_offset(offset)}" if offset > UNKNOWN else ""
        record = f"another record, {value}," if other else f"record {value}"
        if columns.row_kind[row] == READ:
            final = " in a final read" if columns.final[half] else ""
            doubt = {INFO: ", in a poll that did not end ok", FAIL: ", in a poll that failed"}.get(ended, "")
            return ClientMoment(int(columns.time[half]), f"{process} reads {record}{where}{final}{doubt}.")
        error = columns.errors[columns.error[half]]
        because = f" ({error})" if error else ""
        words = {
            INVOKE: f"{process} sends {record.rstrip(',')} to {key}.",
            OK: f"{process} is told that {record} is written{where} (acknowledged).",
            INFO: f"{process} gets no clear answer for {record.rstrip(',')}{because}.",
            FAIL: f"{process} is told that {record} was not written{because}.",
        }[ended]
        return ClientMoment(int(columns.time[half]), words)

    def _deletion(self, row: int) -> ClientMoment:
        columns = self._columns
        half = int(columns.row_half[row])
        process, offset = columns.processes[columns.process[half]], int(columns.row_offset[row])
        words = {
            INVOKE: f"{process} asks for the deletion of what lies before offset {offset}.",
            OK: f"{process} is told that everything before offset {offset} is deleted.",
            INFO: f"{process} gets no clear answer to its deletion before offset {offset}.",
            FAIL: f"{process} is told that nothing was deleted.",
        }[int(columns.type[half])]
        return ClientMoment(int(columns.time[half]), words, key=False)

    def _final_polls(self, mine: Ints, of_records: Ints) -> list[ClientMoment]:
        """The final reads of the key in which the records are not: by process what they did return, at the time of the last."""
        columns = self._columns
        reads = mine[np.isin(columns.row_kind[mine], (READ, NOTHING)) & (columns.final[columns.row_half[mine]] != 0)]
        readers = columns.process[columns.row_half[reads]]
        seen = set(columns.process[columns.row_half[np.intersect1d(of_records, reads)]].tolist())
        found = []
        for process in dict.fromkeys(readers.tolist()):
            if process in seen:
                continue
            rows = reads[readers == process]
            records = rows[columns.row_kind[rows] == READ]
            last = int(columns.time[columns.row_half[rows[-1]]])
            name = columns.processes[process]
            key = columns.keys[columns.row_key[rows[0]]]
            if not len(records):
                found.append(ClientMoment(last, f"{name} has read {key} to its end (a final read): there is nothing."))
                continue
            low, high = int(columns.row_offset[records].min()), int(columns.row_offset[records].max())
            there = f"{len(records)} records at offsets {low} to {high}, without it"
            words = f"{name} has read {key} to its end (a final read): {there}."
            found.append(ClientMoment(last, words))
        return found
