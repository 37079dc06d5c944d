"""A node's part in a partition: it is a bookie, reads along, and writes while it owns the partition.

The log is that of all ledgers, one after the other, and a ledger's number is the generation of its records. The log that a node
has is what it has read, in memory; what lasts is in the bookies' journals. Who owns the partition recovers and closes the last
ledger, has all of the log, and opens a ledger of its own; clients write to it, and read from it what is confirmed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import CONTROLLER, Heartbeat
from tidemark.nodes.core.recovery import Recovered
from tidemark.nodes.families.bookkeeper.bookie import Bookie, journal_of
from tidemark.nodes.families.bookkeeper.ledger import OPEN, Fragment, Ledger
from tidemark.nodes.families.bookkeeper.messages import (
    Acquire,
    AddEntry,
    AddResponse,
    BookieRegistered,
    Metadata,
    ReadEntries,
    ReadEntriesResponse,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
    RegisterBookie,
    Update,
    Updated,
    WriteLac,
)
from tidemark.nodes.families.bookkeeper.reader import Reader
from tidemark.nodes.families.bookkeeper.recovery import Takeover
from tidemark.nodes.families.bookkeeper.writer import Writer
from tidemark.nodes.families.voting.member import NOBODY, Member

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.nodes.families.bookkeeper.variant import BookKeeperVariant
    from tidemark.nodes.families.voting.host import Seat


BOOKIE = {
    AddEntry: "add",
    WriteLac: "write_lac",
    ReadLac: "read_lac",
    RecoveryRead: "recovery_read",
    ReadEntries: "read_entries",
}


class LedgerMember(Member):
    """One replica.

    Attributes:
        ledgers: the newest metadata that it knows.
    """

    variant: BookKeeperVariant

    steps: ClassVar[Mapping[type, str]] = {
        **dict.fromkeys(BOOKIE, "on_bookie"),
        AddResponse: "on_added",
        ReadLacResponse: "on_lac",
        RecoveryReadResponse: "on_read",
        ReadEntriesResponse: "on_entries",
        BookieRegistered: "on_registered",
        Metadata: "on_metadata",
        Updated: "on_updated",
    }

    def __init__(self, seat: Seat) -> None:
        """With a journal, and nothing read yet."""
        super().__init__(seat._replace(recovered=Recovered({})))
        self.replicas = tuple(seat.replicas)
        self.bookie = Bookie(seat.host, self.name, seat.recovered.partitions.get(journal_of(self.name)))
        self.reader = Reader(self)
        self.ledgers: tuple[Ledger, ...] = ()
        self._version = 0
        self._known_metadata = Metadata(CONTROLLER, self.name, 0, NOBODY, 0, 0, (), ())
        self._writer: Writer | None = None
        self._takeover: Takeover | None = None
        self._owned = 0
        """As which owner it was told last that it owns the partition."""
        self._update: Update | None = None
        self._update_us = self._heartbeat_us = self._acquire_us = self._register_us = -(1 << 62)
        self._acquire_from_us = 0
        self._abandoned_us = 0
        self._stands = False

    def told(self) -> Mapping[str, Any]:
        """Its log is in no file."""
        return {"in_memory": True}

    # Time

    def start(self, now: int) -> None:
        """At the very first start the preferred replica is the first to want the partition."""
        if self.host.incarnation > 1:
            self.out.append((now, self.node_id, "recovered", self.name, 0, 0, 0))
        else:
            self._acquire_from_us = now + self.place * self.settings.session_us

    def tick(self, now: int) -> None:
        """Look at what is due."""
        self.expire(now)
        if self.bookie.limbo is None:
            if now - self._register_us >= self.settings.request_timeout_us:
                self._register_us = now
                self._tell_store(RegisterBookie(self.node_id, self.name, self.host.incarnation))
            return
        if now - self._heartbeat_us >= self.settings.heartbeat_us:
            self._heartbeat_us = now
            self._tell_store(Heartbeat(self.node_id, 0, {self.name: self._known_metadata.stamp}))
        self._maybe_stand(now)
        self._maybe_acquire(now)
        if self._update is not None and now - self._update_us >= self.settings.request_timeout_us:
            self._update_us = now
            self._tell_store(self._update)
        if self._writer is not None:
            self._writer.tick(now)
        elif self._takeover is not None:
            self._takeover.tick(now)
            self.reader.tick(now)
        else:
            self._maybe_take_over(now)
            self.reader.tick(now)

    def _tell_store(self, message: object) -> None:
        self.out.append(Send(CONTROLLER, message))

    def stop(self, now: int) -> None:
        """The process shuts down; the ledger is left for the next owner to close."""
        self._abandon(now)

    # The lock

    def _maybe_acquire(self, now: int) -> None:
        known = self._known_metadata
        due = now >= self._acquire_from_us and now - self._acquire_us >= self.settings.request_timeout_us
        if known.stamp and known.owner == NOBODY and due:
            self._acquire_us = now
            self._tell_store(Acquire(self.node_id, self.name, known.number, by_force=False))

    def on_stand(self, now: int, _m: object) -> None:
        """An operator wants this node to own the partition. It asks for it, and before it is a bookie, as soon as it is one."""
        self._stands = not self.leading
        self._maybe_stand(now)

    def _maybe_stand(self, now: int) -> None:
        known = self._known_metadata
        if self._stands and known.stamp and self.bookie.limbo is not None:
            self._stands = False
            self._acquire_us = now
            self._tell_store(Acquire(self.node_id, self.name, known.number, by_force=True))

    def on_metadata(self, now: int, m: Metadata) -> None:
        """Somebody owns the partition, or ledgers have changed."""
        if m.stamp <= self._known_metadata.stamp:
            return
        self._known_metadata = m
        self._learn(now, m.version, m.ledgers)
        if m.owner != self.node_id:
            if self._writer is not None or self._takeover is not None:
                self._abandon(now)
        elif m.number > self._owned:
            self._owned = m.number
            self._abandon(now)
            self._take_over(now)
        self._tell_leader(now)

    def _learn(self, now: int, version: int, ledgers: tuple[Ledger, ...]) -> None:
        """Of its own update it hears in the answer. Whoever else has changed something has the ledger now."""
        if version <= self._version or (self._update is not None and ledgers == self._update.ledgers):
            return
        self._version, self.ledgers = version, ledgers
        if self._writer is not None or self._takeover is not None:
            self._abandon(now)
        self.reader.advance(now)

    def _tell_leader(self, now: int) -> None:
        """Who writes the newest ledger, if it is open and the store says that it may."""
        if self._writer is not None or not self.ledgers:
            return
        last = self.ledgers[-1]
        leads = last.state == OPEN and last.writer == self._known_metadata.owner != self.node_id
        if last.number > self.generation:
            self._paired = False
        self.generation, self.leader = last.number, last.writer if leads else NOBODY
        self._trace_follow(now)

    # Taking over

    def _maybe_take_over(self, now: int) -> None:
        """Whoever still has the lock tries again."""
        if self._known_metadata.owner == self.node_id and now - self._abandoned_us >= self.settings.heartbeat_us:
            self._take_over(now)

    def _take_over(self, now: int) -> None:
        self._update = None
        self._takeover = Takeover(self, now)

    def _abandon(self, now: int) -> None:
        """Write and recover no more. What it wrote and nobody confirmed is not known to be in the log."""
        writer, self._writer, self._takeover, self._update = self._writer, None, None, None
        self._abandoned_us = now
        if writer is None:
            return
        self.leading, self.leader = False, NOBODY
        self._give_up()
        self._known = None
        self._trace_follow(now)
        self.cut(now, self.hw, "it does not write any more, and this was not confirmed")
        self.reader.move_to(writer.ledger.number, writer.lac + 1, writer.lac)
        self.reader.advance(now)

    def lose_ledger(self, now: int) -> None:
        """Somebody has fenced it."""
        self._abandon(now)
        self._tell_leader(now)

    @property
    def updating(self) -> bool:
        """Whether the store has not answered yet."""
        return self._update is not None

    def update(self, now: int, fragments: tuple[Fragment, ...]) -> None:
        """The open ledger has these fragments from now on."""
        if self._writer is not None:
            self.update_last(now, replace(self._writer.ledger, fragments=fragments))

    def update_last(self, now: int, ledger: Ledger) -> None:
        """The last ledger is this one from now on."""
        self._set(now, (*self.ledgers[:-1], ledger))

    def _set(self, now: int, ledgers: tuple[Ledger, ...]) -> None:
        self.correlation += 1
        self._update = Update(self.node_id, self.name, self._version, ledgers, self.correlation)
        self._update_us = now
        self._tell_store(self._update)

    def on_updated(self, now: int, m: Updated) -> None:
        """The store has done it, or somebody was quicker, who then has the ledger."""
        if self._update is None or m.correlation != self._update.correlation:
            return
        wanted, self._update = self._update, None
        if not m.done or m.ledgers != wanted.ledgers:
            self._abandon(now)
            self._learn(now, m.version, m.ledgers)
            return
        self._version, self.ledgers = m.version, m.ledgers
        if self._writer is not None:
            self._writer.changed(now, m.ledgers[-1])
        elif self._takeover is not None:
            self.reader.advance(now)
            self._takeover.updated(now)

    def create_ledger(self, now: int) -> None:
        """Open one, if there are enough bookies."""
        ensemble, write, ack = self.variant.sizes(len(self.replicas))
        number = len(self.ledgers) + 1
        turned = [self.replicas[(number + place) % len(self.replicas)] for place in range(len(self.replicas))]
        chosen = [bookie for bookie in turned if bookie in self._known_metadata.live][:ensemble]
        if len(chosen) >= write:
            base = self.log.leo
            fragments = (Fragment(0, tuple(chosen)),)
            self._set(now, (*self.ledgers, Ledger(number, self.node_id, base, write, ack, fragments)))

    def open(self, now: int, ledger: Ledger) -> None:
        """The ledger is there: lead."""
        self._takeover = None
        self._writer = Writer(self, ledger)
        self.generation, self.leader, self.leading = ledger.number, self.node_id, True
        self.out.append((now, self.node_id, "lead", self.name, self.generation, self.log.leo, self.hw, ()))

    def replaced(self, ensemble: Sequence[int], silent: Sequence[int]) -> tuple[int, ...]:
        """The ensemble with others in the places of those who do not answer, as far as there are others."""
        live = self._known_metadata.live
        spare = [bookie for bookie in self.replicas if bookie in live and bookie not in ensemble]
        return tuple(spare.pop(0) if bookie in silent and spare else bookie for bookie in ensemble)

    # The log

    def write(self, batch: Batch) -> None:
        """What a node has read or written is in memory."""
        self.log.append(batch)

    def take(self, now: int, batch: Batch) -> None:
        """An entry that is confirmed was read."""
        self._trace_append(now, batch)
        self.write(batch)
        self.learn_hw(now, batch.end)

    def _trace_append(self, now: int, batch: Batch) -> None:
        self.out.append((now, self.node_id, "append", self.name, batch.base, batch.epoch, batch.values))

    def shorten(self, offset: int) -> int:
        """Forget what is not in the log."""
        self.log.truncate(offset)
        return offset

    def _append_own(self, now: int, values: Sequence[int]) -> Batch:
        batch = Batch(self.log.leo, self.generation, values)
        self._trace_append(now, batch)
        self.write(batch)
        if self._writer is not None:
            self._writer.add(now, batch)
        return batch

    def replicate(self, now: int) -> None:
        """Entries are sent as they are added."""

    def commit(self, now: int) -> None:
        """They are confirmed as bookies answer."""

    # Messages

    def on_bookie(self, now: int, m: AddEntry | WriteLac | ReadLac | RecoveryRead | ReadEntries) -> None:
        """This node's bookie is meant; without a cookie it is none."""
        if self.bookie.limbo is not None:
            getattr(self.bookie, BOOKIE[type(m)])(now, m)

    def on_registered(self, now: int, m: BookieRegistered) -> None:
        """There is a cookie for it."""
        if self.bookie.limbo is None and m.incarnation == self.host.incarnation:
            self.bookie.take_cookie(m.limbo)
            self.tick(now)

    def on_added(self, now: int, m: AddResponse) -> None:
        """A bookie has an entry, or will not have it."""
        if m.recovery:
            if self._takeover is not None and m.ledger == self.ledgers[-1].number:
                self._takeover.on_added(now, m)
        elif self._writer is not None and m.ledger == self._writer.ledger.number:
            self._writer.on_added(now, m)

    def on_lac(self, now: int, m: ReadLacResponse) -> None:
        """A bookie is fenced."""
        if self._takeover is not None:
            self._takeover.on_lac(now, m)

    def on_read(self, now: int, m: RecoveryReadResponse) -> None:
        """A bookie has an entry or has not."""
        if self._takeover is not None:
            self._takeover.on_read(now, m)

    def on_entries(self, now: int, m: ReadEntriesResponse) -> None:
        """Entries that were asked for."""
        if self._writer is not None:
            return
        self.reader.on_entries(now, m)
        if self.following and m.ledger == self.generation:
            self.pair(now)
        if self._takeover is not None:
            self._takeover.progressed(now)
