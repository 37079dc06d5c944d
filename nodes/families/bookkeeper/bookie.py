"""A bookie: stores entries of ledgers in a journal, in the order in which they come, and fences ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import Journal, Send, Sync
from tidemark.nodes.core.log import Batch
from tidemark.nodes.families.bookkeeper.ledger import NO_ENTRY
from tidemark.nodes.families.bookkeeper.messages import (
    FENCED,
    NO_SUCH_ENTRY,
    OK,
    UNKNOWN,
    AddEntry,
    AddResponse,
    ReadEntries,
    ReadEntriesResponse,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
    WriteLac,
)

if TYPE_CHECKING:
    from tidemark.nodes.core.recovery import RecoveredPartition
    from tidemark.nodes.families.bookkeeper.variant import BookKeeperVariant
    from tidemark.nodes.families.voting.host import Host

COOKIE, FENCE, ENTRY = "cookie", "fence", "entry"
"""What records of a journal are: (cookie, limbo), (fence, ledger), (entry, ledger, entry, lac, base, values)."""


def journal_of(partition: str) -> str:
    """The file in which a bookie keeps what it has of a partition."""
    return f"{partition}/journal"


class Bookie:
    """What one node stores of one partition's ledgers.

    Attributes:
        limbo: of ledgers up to this one it may have lost entries with its disk; None: it has no cookie yet, and serves nobody.
    """

    def __init__(self, host: Host, partition: str, found: RecoveredPartition | None) -> None:
        """With what the journal holds."""
        self._host = host
        self._variant: BookKeeperVariant = host.variant
        self._partition = partition
        self._journal = journal_of(partition)
        self.limbo: int | None = None
        self._entries: dict[int, dict[int, Batch]] = {}
        self._lacs: dict[int, int] = {}
        self._fenced: set[int] = set()
        self._position = 0
        records: list[Any] = [batch.values[0] for batch in found.batches] if found is not None else []
        for kind, *rest in records:
            self._position += 1
            if kind == COOKIE:
                self.limbo = rest[0]
            elif kind == FENCE:
                self._fenced.add(rest[0])
            else:
                ledger, entry, lac, base, values = rest
                self._keep(ledger, entry, lac, Batch(base, ledger, values))

    def _keep(self, ledger: int, entry: int, lac: int, batch: Batch) -> None:
        self._entries.setdefault(ledger, {})[entry] = batch
        self._confirmed(ledger, lac)

    def _confirmed(self, ledger: int, lac: int) -> None:
        self._lacs[ledger] = max(lac, self._lac(ledger))

    def _lac(self, ledger: int) -> int:
        return self._lacs.get(ledger, NO_ENTRY)

    def _write(self, *record: object) -> None:
        found: Any = (record,)
        self._host.out.append(Journal(self._journal, Batch(self._position, 0, found)))
        self._position += 1

    def _sync(self) -> None:
        if self._variant.syncs:
            self._host.out.append(Sync(self._journal))

    def take_cookie(self, limbo: int) -> None:
        """From now on it serves."""
        self.limbo = limbo
        self._write(COOKIE, limbo)
        self._host.out.append(Sync(self._journal))

    def _in_limbo(self, ledger: int) -> bool:
        return self.limbo is None or ledger <= self.limbo

    def _fence(self, ledger: int) -> None:
        if not self._variant.fences or ledger in self._fenced:
            return
        self._fenced.add(ledger)
        if self._variant.remembers_fences:
            self._write(FENCE, ledger)
            self._sync()

    def add(self, now: int, m: AddEntry) -> None:
        """Store an entry, unless the ledger is fenced; a bookie in limbo cannot know, and takes it for fenced."""
        status = OK
        if not m.recovery and (m.ledger in self._fenced or self._in_limbo(m.ledger)):
            status = FENCED
        elif m.entry not in self._entries.get(m.ledger, ()):
            self._keep(m.ledger, m.entry, m.lac, m.batch)
            self._write(ENTRY, m.ledger, m.entry, m.lac, m.batch.base, m.batch.values)
            self._sync()
            stored = (m.batch.base, m.ledger, m.batch.values)
            self._host.out.append((now, self._host.node_id, "stored", self._partition, *stored))
        self._answer(m.source, AddResponse, m.ledger, m.entry, status, m.recovery)

    def write_lac(self, _now: int, m: WriteLac) -> None:
        """Know what is confirmed; no promise rests on it, and it is not written."""
        self._confirmed(m.ledger, m.lac)

    def read_lac(self, _now: int, m: ReadLac) -> None:
        """Fence, and say what is confirmed, or that it cannot be known here."""
        self._fence(m.ledger)
        status = UNKNOWN if self._in_limbo(m.ledger) else OK
        self._answer(m.source, ReadLacResponse, m.ledger, status, self._lac(m.ledger), m.correlation)

    def recovery_read(self, _now: int, m: RecoveryRead) -> None:
        """Say whether the entry is here."""
        if m.fence:
            self._fence(m.ledger)
        batch = self._entries.get(m.ledger, {}).get(m.entry)
        status = OK if batch is not None else UNKNOWN if self._in_limbo(m.ledger) else NO_SUCH_ENTRY
        self._answer(m.source, RecoveryReadResponse, m.ledger, m.entry, status, batch, m.correlation)

    def read_entries(self, _now: int, m: ReadEntries) -> None:
        """Give what there is."""
        kept = self._entries.get(m.ledger, {})
        first = sorted(entry for entry in kept if entry >= m.first)[: self._host.settings.max_fetch_batches]
        entries = {entry: kept[entry] for entry in first}
        self._answer(m.source, ReadEntriesResponse, m.ledger, entries, self._lac(m.ledger))

    def _answer(self, to: int, kind: Any, *fields: object) -> None:  # noqa: ANN401 (the class of the answer)
        if self.limbo is not None:
            self._host.out.append(Send(to, kind(self._host.node_id, self._partition, *fields)))
