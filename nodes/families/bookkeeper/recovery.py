"""Taking a log over: recover the last ledger, close it, have all of the log, and open a new one.

Recovery fences the ledger at so many bookies that its writer can find no ack quorum any more, and learns what is surely confirmed.
What lies behind may be confirmed or not: entry by entry, what any bookie has is written again to an ack quorum, until of one entry
so many bookies say that they do not have it that no ack quorum can. There the ledger is closed, by compare-and-set.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.families.bookkeeper.ledger import (
    CLOSED,
    IN_RECOVERY,
    NO_ENTRY,
    Fragment,
    Ledger,
    covers,
    ensemble_at,
    write_set,
)
from tidemark.nodes.families.bookkeeper.messages import (
    NO_SUCH_ENTRY,
    OK,
    AddEntry,
    AddResponse,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
)

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch
    from tidemark.nodes.families.bookkeeper.log_keeper import LogKeeper

MARK, FENCE, READ, WRITE, CLOSE, FILL, CREATE = "mark", "fence", "read", "write", "close", "fill", "create"


class Takeover:
    """One attempt; whoever loses a compare-and-set against another gives up.

    Attributes:
        phase: what is going on.
    """

    def __init__(self, member: LogKeeper, now: int) -> None:
        """Begin."""
        self._member = member
        self._since = now
        self._answers: dict[int, str] = {}
        self._lac = NO_ENTRY
        self._entry = 0
        self._batch: Batch | None = None
        self._end = -1
        self._correlation = 0
        self._fragments: tuple[Fragment, ...] = ()
        """Where entries are written; they are read by the ledger's own."""
        last = member.ledgers[-1] if member.ledgers else None
        if last is None or last.closed:
            self._fill(now)
        else:
            self.phase = MARK
            self._fragments = last.fragments
            member.update_last(now, replace(last, state=IN_RECOVERY))

    @property
    def _ledger(self) -> Ledger:
        return self._member.ledgers[-1]

    def tick(self, now: int) -> None:
        """Go on where something else was waited for; ask again who has not answered."""
        if self.phase == CLOSE:
            self._close(now)
        elif self.phase == FILL:
            self._fill(now)
        elif self.phase == CREATE:
            self._create(now)
        elif self.phase != MARK and now - self._since >= self._member.settings.request_timeout_us:
            if self.phase == WRITE:
                self._replace(now)
            else:
                self._ask(now)

    def updated(self, now: int) -> None:
        """The store has taken what was wanted."""
        if self.phase == MARK:
            self._begin(now, FENCE)
        elif self.phase == CLOSE:
            self._fill(now)
        else:
            self._member.open(now, self._ledger)

    def _begin(self, now: int, phase: str) -> None:
        self.phase = phase
        self._answers.clear()
        self._member.correlation += 1
        self._correlation = self._member.correlation
        self._ask(now)

    def _asked(self) -> tuple[int, ...]:
        ledger = self._ledger
        if self.phase == FENCE:
            return ledger.fragments[-1].ensemble
        fragments = self._fragments if self.phase == WRITE else ledger.fragments
        return write_set(ensemble_at(fragments, self._entry), self._entry, ledger.write)

    def _ask(self, now: int) -> None:
        self._since = now
        for bookie in self._asked():
            if bookie not in self._answers:
                self._member.out.append(Send(bookie, self._question()))

    def _question(self) -> object:
        member, number = self._member, self._ledger.number
        if self.phase == FENCE:
            return ReadLac(member.node_id, member.name, number, self._correlation)
        if self._batch is None or self.phase == READ:
            fence = member.variant.recovery_reads_fence
            return RecoveryRead(member.node_id, member.name, number, self._entry, fence, self._correlation)
        return AddEntry(member.node_id, member.name, number, self._entry, self._lac, self._batch, recovery=True)

    # Fencing

    def on_lac(self, now: int, m: ReadLacResponse) -> None:
        """Enough have been fenced when nobody can find an ack quorum among the others.

        Who does not know what it had does not count (``RRQuorumCoverageSet``).
        """
        if self.phase != FENCE or m.correlation != self._correlation or m.status != OK:
            return
        self._answers[m.source] = OK
        self._lac = max(self._lac, m.lac)
        ledger = self._ledger
        if not covers(ledger, ledger.fragments[-1].ensemble, self._answers):
            return
        self._lac = max(self._lac, ledger.fragments[-1].first - 1)
        self._member.reader.recovering(now, ledger.number, self._lac)
        self._entry = self._lac + 1
        if self._member.variant.reads_forward:
            self._begin(now, READ)
        else:
            self._close(now)

    # Reading forward

    def on_read(self, now: int, m: RecoveryReadResponse) -> None:
        """Whoever has it settles it; so do enough who do not."""
        if self.phase != READ or m.correlation != self._correlation:
            return
        self._answers[m.source] = m.status
        if m.status == OK:
            self._batch = m.batch
            self._begin(now, WRITE)
        elif list(self._answers.values()).count(NO_SUCH_ENTRY) >= self._ledger.enough_without:
            self._close(now)

    def on_added(self, now: int, m: AddResponse) -> None:
        """An ack quorum has it (again): on to the next."""
        if self.phase != WRITE or m.entry != self._entry or m.source not in self._asked() or self._batch is None:
            return
        self._answers[m.source] = OK
        if len(self._answers) >= self._ledger.ack:
            self._end = self._batch.end
            self._entry += 1
            self._begin(now, READ)

    def _replace(self, now: int) -> None:
        """Write to others than those who do not answer; the store is told when the ledger is closed."""
        ensemble = ensemble_at(self._fragments, self._entry)
        silent = [bookie for bookie in self._asked() if bookie not in self._answers]
        wanted = self._member.replaced(ensemble, silent)
        if wanted != ensemble:
            kept = [one for one in self._fragments if one.first < self._entry]
            self._fragments = (*kept, Fragment(self._entry, wanted))
            asked = self._asked()
            self._answers = {bookie: OK for bookie in self._answers if bookie in asked}
        self._ask(now)

    # Closing, and a new ledger

    def _close(self, now: int) -> None:
        """Where the log ends there is known from the last entry that was read, or else from the log before it."""
        self.phase = CLOSE
        member, ledger = self._member, self._ledger
        if member.updating:
            return
        end = self._end if self._end >= 0 else self._end_of_confirmed()
        if end is None:
            return
        closed = replace(ledger, state=CLOSED, last=self._entry - 1, end=end, fragments=self._fragments)
        member.update_last(now, closed)

    def _end_of_confirmed(self) -> int | None:
        """Where what is surely confirmed ends; None while it has not been read."""
        ledger = self._ledger
        if self._lac == NO_ENTRY:
            return ledger.base
        read = [batch.end for batch in self._member.log.batches if batch.epoch == ledger.number]
        return read[self._lac] if self._lac < len(read) else None

    def progressed(self, now: int) -> None:
        """More of the log has been read."""
        if self.phase == CLOSE:
            self._close(now)
        elif self.phase == FILL:
            self._fill(now)

    def _fill(self, now: int) -> None:
        """All of the log is to be here before there is more."""
        self.phase = FILL
        member = self._member
        member.reader.advance(now)
        if not member.ledgers or member.log.leo >= member.ledgers[-1].end:
            self._create(now)
        else:
            member.reader.tick(now)

    def _create(self, now: int) -> None:
        self.phase = CREATE
        if not self._member.updating:
            self._member.create_ledger(now)
