"""A reader of ledgers: reads from the bookies what is confirmed, ledger after ledger, so that a node has the log before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.bookkeeper.ledger import NO_ENTRY, ensemble_at
from tidemark.nodes.families.bookkeeper.messages import ReadEntries, ReadEntriesResponse

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch
    from tidemark.nodes.families.bookkeeper.ledger import Ledger
    from tidemark.nodes.families.bookkeeper.log_keeper import LogKeeper


class Reader:
    """Where it is.

    Attributes:
        ledger, entry: the next one to read. lac: what is known to be confirmed of that ledger.
    """

    def __init__(self, member: LogKeeper) -> None:
        """At the beginning of the first ledger."""
        self._member = member
        self.ledger, self.entry, self.lac = 1, 0, NO_ENTRY
        self._recovered_to: dict[int, int] = {}
        self._waiting: dict[int, Batch] = {}
        self._asked_us = -(1 << 62)

    def current(self) -> Ledger | None:
        """The ledger's metadata, if there is such a ledger."""
        ledgers = self._member.ledgers
        return ledgers[self.ledger - 1] if self.ledger <= len(ledgers) else None

    def move_to(self, ledger: int, entry: int, lac: int) -> None:
        """Go on from here."""
        self.ledger, self.entry, self.lac = ledger, entry, lac
        self._waiting.clear()

    def confirmed(self, now: int, lac: int) -> None:
        """More of the ledger is known to be confirmed."""
        self.lac = max(self.lac, lac)
        self.advance(now)

    def recovering(self, now: int, ledger: int, lac: int) -> None:
        """Recovery of a ledger has learned what is surely confirmed of it."""
        self._recovered_to[ledger] = max(lac, self._recovered_to.get(ledger, NO_ENTRY))
        self.advance(now)

    def limit(self, ledger: Ledger) -> int:
        """The last entry that may be read."""
        return ledger.last if ledger.closed else max(self.lac, self._recovered_to.get(ledger.number, NO_ENTRY))

    def advance(self, now: int) -> None:
        """Take what is confirmed and here, in order."""
        member = self._member
        while (ledger := self.current()) is not None:
            limit = self.limit(ledger)
            if ledger.closed and self.entry > limit + 1:
                member.cut(now, ledger.end, f"ledger {ledger.number} was closed at entry {limit}")
                self.entry = limit + 1
            if self.entry <= limit and self.entry in self._waiting:
                member.take(now, self._waiting.pop(self.entry))
                self.entry += 1
            elif ledger.closed and self.entry > limit and self.ledger < len(member.ledgers):
                self.move_to(self.ledger + 1, 0, NO_ENTRY)
            else:
                return

    def tick(self, now: int) -> None:
        """Ask now and then."""
        if now - self._asked_us >= self._member.settings.heartbeat_us:
            self.ask(now)

    def ask(self, now: int) -> None:
        """Ask all who may have the next entry."""
        ledger = self.current()
        if ledger is None or (ledger.closed and self.entry > ledger.last):
            return
        self._asked_us = now
        member = self._member
        request = ReadEntries(member.node_id, member.name, self.ledger, self.entry)
        member.out += [Send(bookie, request) for bookie in ensemble_at(ledger.fragments, self.entry)]

    def on_entries(self, now: int, m: ReadEntriesResponse) -> None:
        """Take what fits, and ask again at once if there is more."""
        if m.ledger != self.ledger:
            return
        before = self.ledger, self.entry
        for entry, batch in m.entries.items():
            if entry >= self.entry:
                self._waiting.setdefault(entry, batch)
        self.confirmed(now, m.lac)
        ledger = self.current()
        if ledger is not None and before != (self.ledger, self.entry):
            limit = self.limit(ledger)
            if self.entry <= limit and self.entry not in self._waiting:
                self.ask(now)
