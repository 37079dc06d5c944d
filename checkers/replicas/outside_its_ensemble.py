"""`outside-its-ensemble`: an entry was confirmed, and fewer bookies of its own ensemble had ever had it than an ack quorum.

Readers and recovery ask the bookies that the metadata store names for an entry, and nobody else: a copy that lies elsewhere, be it
on a bookie that was replaced, counts for nothing (BookKeeper's documentation, "The BookKeeper protocol"). A bookie that had the
entry and lost it counts: that was not the writer's to know. Looked at when an entry is confirmed, and again when the store has
another ensemble for it. Once per partition.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, votes=False, min_isr=2, contract="ack-quorum", trace=[
...     (5, 0, "ensemble", "t-0", 1, 0, (2, 3)),
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 2, "stored", "t-0", 0, 1, (7,)), (21, 3, "stored", "t-0", 0, 1, (7,)),
...     (30, 0, "ensemble", "t-0", 1, 0, (2, 4)),
...     (40, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> print(verdict.named("outside-its-ensemble")[0].message)
Entry 0 of ledger 1 of t-0 (offset 0) was confirmed at 0.000040 s, and of its ensemble [2, 4] only [2] had ever had it: an ack \
quorum is 2.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.checkers.history.trace_events import KIND, PARTITION, Ensemble, Hw, Stored, TraceEvent
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "outside-its-ensemble"


@dataclass(slots=True)
class _Ledger:
    """Where its entries begin, who has ever had each, and from which entry on they belong to which bookies."""

    number: int
    bases: list[int] = field(default_factory=list)
    holders: dict[int, set[int]] = field(default_factory=dict)
    fragments: list[tuple[int, Sequence[int]]] = field(default_factory=list)

    def ensemble_of(self, entry: int) -> Sequence[int]:
        """The bookies of an entry by its number; none, if nobody has told."""
        return next((bookies for first, bookies in reversed(self.fragments) if first <= entry), ())


def outside_their_ensembles(trace: Sequence[TraceEvent], ack_quorum: int) -> list[Anomaly]:
    """The first of each partition."""
    ledgers: defaultdict[str, dict[int, _Ledger]] = defaultdict(dict)
    confirmed: defaultdict[str, dict[int, int]] = defaultdict(dict)
    """Partition → epoch of a leader → up to where it confirmed."""
    found: dict[str, Anomaly] = {}
    for index, event in enumerate(trace):
        kind, partition = event[KIND], event[PARTITION]
        if kind == "stored":
            stored = Stored(event)
            ledger = ledgers[partition].setdefault(stored.epoch, _Ledger(stored.epoch))
            if stored.base_offset not in ledger.holders:
                insort(ledger.bases, stored.base_offset)
            ledger.holders.setdefault(stored.base_offset, set()).add(stored.node)
            continue
        if partition in found:
            continue
        if kind == "ensemble":
            told = Ensemble(event)
            ledger = ledgers[partition].setdefault(told.ledger, _Ledger(told.ledger))
            ledger.fragments[:] = [
                *(one for one in ledger.fragments if one[0] < told.first),
                (told.first, told.bookies),
            ]
            # What somebody confirmed who knew nothing of this ledger was an entry of another.
            end = max((hw for epoch, hw in confirmed[partition].items() if epoch >= told.ledger), default=0)
            begins = ledger.bases[told.first] if told.first < len(ledger.bases) else end
        elif kind == "hw":
            known, hw = confirmed[partition], Hw(event)
            begins, end = known.get(hw.leader_epoch, 0), hw.hw
            known[hw.leader_epoch] = max(end, known.get(hw.leader_epoch, 0))
        else:
            continue
        where = _where_few(ledgers[partition], begins, end, ack_quorum)
        if where is not None:
            found[partition] = _anomaly(event, index, *where, ack_quorum)
    return [*found.values()]


def _where_few(ledgers: dict[int, _Ledger], begin: int, end: int, enough: int) -> tuple[_Ledger, int] | None:
    """The first entry between two offsets that too few have: its ledger, and its number there. What an older ledger has from where
    a newer one begins is not in the log.
    """
    for number in sorted(ledgers, reverse=True):
        if end <= begin:
            break
        ledger = ledgers[number]
        bases = ledger.bases
        for entry in range(bisect(bases, begin - 1), bisect(bases, end - 1)):
            ensemble = ledger.ensemble_of(entry)
            if ensemble and len(ledger.holders[bases[entry]].intersection(ensemble)) < enough:
                return ledger, entry
        end = min([end, *bases[:1]])
    return None


def _anomaly(event: TraceEvent, index: int, ledger: _Ledger, entry: int, enough: int) -> Anomaly:
    time, partition = event[0], event[PARTITION]
    offset, ensemble = ledger.bases[entry], [*ledger.ensemble_of(entry)]
    had = sorted(ledger.holders[offset].intersection(ensemble))
    did = "was confirmed" if event[KIND] == "hw" else "belongs to other bookies"
    message = (
        f"Entry {entry} of ledger {ledger.number} of {partition} (offset {offset}) {did} at {seconds(time)}, and of its ensemble "
        f"{ensemble} only {had} had ever had it: an ack quorum is {enough}."
    )
    evidence = {
        "ledger": ledger.number, "entry": entry, "offset": offset, "ensemble": ensemble, "had": had, "ack_quorum": enough,
        "trace_index": index,
    }  # fmt: skip
    return Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence)
