"""The one writer of an open ledger: adds entries, confirms them in order, and replaces bookies that do not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.bookkeeper.ledger import NO_ENTRY, Fragment, Ledger, write_set
from tidemark.nodes.families.bookkeeper.messages import FENCED, AddEntry, AddResponse, WriteLac

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch
    from tidemark.nodes.families.bookkeeper.log_keeper import LogKeeper


class _Pending:
    """An entry that is not confirmed: its batch, who has it, and when it was sent last."""

    __slots__ = ("acks", "batch", "sent_us")

    def __init__(self, batch: Batch, now: int) -> None:
        self.batch = batch
        self.acks: set[int] = set()
        self.sent_us = now


class Writer:
    """Of one ledger.

    Attributes:
        lac: the last entry that an ack quorum has, as all before it.
    """

    def __init__(self, member: LogKeeper, ledger: Ledger) -> None:
        """It is empty."""
        self._member = member
        self.ledger = ledger
        self.lac = NO_ENTRY
        self._next = 0
        self._told = NO_ENTRY
        self._told_us = 0
        self._pending: dict[int, _Pending] = {}
        self._changing = False
        """While the ensemble is being changed nothing is confirmed: who counts is about to be another."""

    @property
    def _ensemble(self) -> tuple[int, ...]:
        return self.ledger.fragments[-1].ensemble

    def add(self, now: int, batch: Batch) -> None:
        """Send an entry to its write set."""
        entry, self._next = self._next, self._next + 1
        self._pending[entry] = _Pending(batch, now)
        for bookie in write_set(self._ensemble, entry, self.ledger.write):
            self._send(bookie, entry)

    def _send(self, bookie: int, entry: int) -> None:
        member, self._told = self._member, self.lac
        batch = self._pending[entry].batch
        request = AddEntry(member.node_id, member.name, self.ledger.number, entry, self.lac, batch, recovery=False)
        member.out.append(Send(bookie, request))

    def on_added(self, now: int, m: AddResponse) -> None:
        """Count it; a fence ends it all."""
        if m.status == FENCED:
            self._member.lose_ledger(now)
            return
        pending = self._pending.get(m.entry)
        if pending is not None and m.source in write_set(self._ensemble, m.entry, self.ledger.write):
            pending.acks.add(m.source)
            self._confirm(now)

    def _confirm(self, now: int) -> None:
        enough = self.ledger.ack if self._member.variant.waits_for_quorum else 1
        end = -1
        while not self._changing and (first := self._pending.get(self.lac + 1)) and len(first.acks) >= enough:
            self.lac += 1
            end = self._pending.pop(self.lac).batch.end
        if end >= 0:
            self._member.commit_to(now, end)

    def tick(self, now: int) -> None:
        """Say what is confirmed if no entry does, and again while none does; replace who does not answer, or else ask again."""
        member = self._member
        is_idle = self.lac > NO_ENTRY and not self._pending
        if self._told < self.lac or (is_idle and now - self._told_us >= member.settings.request_timeout_us):
            self._told, self._told_us = self.lac, now
            request = WriteLac(member.node_id, member.name, self.ledger.number, self.lac)
            member.out += [Send(bookie, request) for bookie in self._ensemble]
        first = self._pending.get(self.lac + 1)
        if first is None or self._changing or now - first.sent_us < member.settings.request_timeout_us:
            return
        silent = [b for b in write_set(self._ensemble, self.lac + 1, self.ledger.write) if b not in first.acks]
        ensemble = member.replaced(self._ensemble, silent)
        if ensemble == self._ensemble:
            self._send_again(now)
            return
        kept = [one for one in self.ledger.fragments if one.first <= self.lac]
        self._changing = True
        member.update(now, (*kept, Fragment(self.lac + 1, ensemble)))

    def _send_again(self, now: int) -> None:
        for entry, pending in self._pending.items():
            pending.sent_us = now
            for bookie in write_set(self._ensemble, entry, self.ledger.write):
                if bookie not in pending.acks:
                    self._send(bookie, entry)

    def changed(self, now: int, ledger: Ledger) -> None:
        """The store has taken the new ensemble: only its members count, and the new ones get what is pending."""
        self.ledger = ledger
        self._changing = False
        for entry, pending in self._pending.items():
            pending.acks &= set(write_set(self._ensemble, entry, ledger.write))
        self._send_again(now)
        self._confirm(now)
