"""Bookies, the metadata store and who is enough, message by message (BookKeeper's documentation, "The protocol")."""

import pytest

from tidemark.nodes.core.actions import Journal, Send, Sync
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import CONTROLLER, Heartbeat
from tidemark.nodes.core.recovery import Recovered, RecoveredPartition
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import parse_variant
from tidemark.nodes.families.bookkeeper.bookie import Bookie
from tidemark.nodes.families.bookkeeper.ledger import Fragment, Ledger, covers, ensemble_at
from tidemark.nodes.families.bookkeeper.member import LedgerMember
from tidemark.nodes.families.bookkeeper.messages import (
    OK,
    Acquire,
    AddEntry,
    AddResponse,
    BookieRegistered,
    Metadata,
    ReadLac,
    RecoveryRead,
    RegisterBookie,
    Update,
    Updated,
    WriteLac,
)
from tidemark.nodes.families.bookkeeper.store import MetadataStore
from tidemark.nodes.families.bookkeeper.writer import Writer
from tidemark.nodes.families.voting.host import Seat

P = "t-0"


class Host:
    """The process that a bookie lives in."""

    def __init__(self, variant):
        self.node_id, self.incarnation = 1, 1
        self.variant = parse_variant(variant)
        self.settings = Settings()
        self.out = []


class Shelf:
    """A bookie on its own, and what it has written."""

    def __init__(self, variant="bookkeeper", journal=(), limbo=0):
        self.host = Host(variant)
        self.bookie = Bookie(self.host, P, RecoveredPartition(list(journal), (), 0))
        self.journal = list(journal)
        if self.bookie.limbo is None:
            self.do(self.bookie.take_cookie, limbo)

    def do(self, what, *arguments):
        self.host.out.clear()
        what(*arguments)
        self.journal += [action.batch for action in self.host.out if isinstance(action, Journal)]
        return [action.message for action in self.host.out if isinstance(action, Send)]

    def add(self, entry=0, *, ledger=1, recovery=False):
        request = AddEntry(2, P, ledger, entry, entry - 1, Batch(entry, ledger, (7,)), recovery)
        (answer,) = self.do(self.bookie.add, 0, request)
        return answer.status

    def fence(self, ledger=1):
        (answer,) = self.do(self.bookie.read_lac, 0, ReadLac(3, P, ledger, 1))
        return answer.lac if answer.status == OK else answer.status

    def read(self, entry=0, *, ledger=1, fence=True):
        (answer,) = self.do(self.bookie.recovery_read, 0, RecoveryRead(3, P, ledger, entry, fence, 1))
        return answer.status

    def restarted(self):
        return Shelf(self.host.variant.name, self.journal)


def test_an_entry_is_on_disk_before_it_is_confirmed():
    shelf = Shelf()
    shelf.add()

    kinds = [type(action) for action in shelf.host.out if isinstance(action, Journal | Sync | Send)]
    assert kinds == [Journal, Sync, Send]


def test_a_fence_keeps_the_writer_out_and_recovery_not():
    shelf = Shelf()
    shelf.add(0)
    shelf.fence()

    assert shelf.add(1) == "fenced"
    assert shelf.add(1, recovery=True) == "ok"
    assert shelf.add(0, ledger=2) == "ok", "another ledger is not concerned"


@pytest.mark.parametrize(("variant", "status"), [("bookkeeper", "fenced"), ("bookkeeper+forget-fences", "ok")])
def test_a_fence_outlives_a_restart(variant, status):
    shelf = Shelf(variant)
    shelf.fence()

    assert shelf.restarted().add() == status


def test_without_fencing_there_is_no_fence():
    shelf = Shelf("bookkeeper+no-fencing")
    shelf.fence()

    assert shelf.add() == "ok"


def test_a_read_of_recovery_fences_if_it_says_so():
    shelf = Shelf()
    assert shelf.read(fence=False) == "no-such-entry"
    assert shelf.add() == "ok"
    assert shelf.read(1) == "no-such-entry"
    assert shelf.add(1) == "fenced"


def test_what_is_confirmed_comes_with_the_next_entry():
    shelf = Shelf()
    shelf.add(0)
    shelf.add(1)

    assert shelf.fence() == 0
    assert shelf.restarted().fence() == 0


def test_a_bookie_that_has_lost_its_disk_does_not_know():
    shelf = Shelf(limbo=2)

    assert shelf.fence(ledger=2) == "unknown"
    assert shelf.fence(ledger=3) == -1
    assert shelf.read(ledger=2) == "unknown"
    assert shelf.add(ledger=2) == "fenced"
    assert shelf.read(ledger=3) == "no-such-entry"
    assert shelf.restarted().read(ledger=2) == "unknown"


def ledger(write, ack, ensemble):
    return Ledger(1, 1, 0, write, ack, (Fragment(0, ensemble),))


@pytest.mark.parametrize(
    ("write", "ack", "answered", "enough"),
    [
        (3, 2, {1}, False),
        (3, 2, {1, 2}, True),
        (2, 2, {1}, True),
        (3, 3, {1}, True),
        (3, 1, {1, 2}, False),
    ],
)
def test_the_others_must_be_no_ack_quorum(write, ack, answered, enough):
    ensemble = tuple(range(1, write + 1))

    assert covers(ledger(write, ack, ensemble), ensemble, answered) is enough


def test_every_write_set_of_a_striped_ledger_must_be_covered():
    striped = ledger(2, 2, (1, 2, 3, 4))

    assert not covers(striped, (1, 2, 3, 4), {1, 2})
    assert covers(striped, (1, 2, 3, 4), {1, 3})


def test_an_entry_belongs_to_the_last_fragment_that_begins_before_it():
    fragments = (Fragment(0, (1, 2)), Fragment(5, (3, 2)))

    assert [ensemble_at(fragments, entry) for entry in (4, 5, 9)] == [(1, 2), (3, 2), (3, 2)]


class Zoo:
    """The metadata store, and three nodes that talk to it."""

    def __init__(self, variant="bookkeeper"):
        self.store = MetadataStore((1, 2, 3), {P: (1, 2, 3)}, parse_variant(variant), Settings())

    def tell(self, message, now=0):
        return [action.message for action in self.store.step(now, message) if isinstance(action, Send)]

    def one(self, message, kind):
        return next(answer for answer in self.tell(message) if isinstance(answer, kind))


def test_of_two_updates_of_one_version_one_is_done():
    zoo = Zoo()
    mine, theirs = (ledger(2, 2, (1, 2)),), (ledger(2, 2, (2, 3)),)

    assert zoo.one(Update(1, P, 0, mine, 1), Updated).done
    refused = zoo.one(Update(2, P, 0, theirs, 1), Updated)
    assert (refused.done, refused.version, refused.ledgers) == (False, 1, mine)


def test_an_update_that_is_sent_again_is_done_once():
    zoo = Zoo()
    again = Update(1, P, 0, (ledger(2, 2, (1, 2)),), 1)

    assert [zoo.one(again, Updated).version for _ in range(2)] == [1, 1]


def test_the_first_who_asks_has_the_lock_until_an_operator_gives_it_to_another():
    zoo = Zoo()
    assert zoo.one(Acquire(1, P, 0, by_force=False), Metadata).owner == 1
    assert zoo.tell(Acquire(2, P, 0, by_force=False)) == []
    assert zoo.one(Acquire(2, P, 1, by_force=True), Metadata).owner == 2


def test_a_session_ends_and_the_lock_with_it():
    zoo = Zoo()
    zoo.tell(Heartbeat(1, 0, {P: 0}))
    zoo.tell(Acquire(1, P, 0, by_force=False))
    (told, *_) = zoo.tell(TimerFired("tick"), now=Settings().session_us + 1)
    assert (told.owner, told.live) == (-1, ())


def test_who_comes_back_by_asking_for_a_lock_is_live_for_every_partition():
    store = MetadataStore((1, 2), {P: (1, 2), "t-9": (1, 2)}, parse_variant("bookkeeper"), Settings())
    sent = [action.message for action in store.step(0, Acquire(1, P, 0, by_force=True)) if isinstance(action, Send)]
    assert {told.partition: told.live for told in sent} == {P: (1,), "t-9": (1,)}


@pytest.mark.parametrize(("variant", "limbo"), [("bookkeeper", 1), ("bookkeeper+no-cookies", 0)])
def test_a_bookie_that_comes_back_without_a_cookie_is_in_limbo(variant, limbo):
    zoo = Zoo(variant)
    assert zoo.one(RegisterBookie(1, P, 1), BookieRegistered).limbo == 0
    zoo.tell(Update(1, P, 0, (ledger(2, 2, (1, 2)),), 1))

    assert zoo.one(RegisterBookie(1, P, 1), BookieRegistered).limbo == 0, "the same life asks again"
    assert zoo.one(RegisterBookie(1, P, 2), BookieRegistered).limbo == limbo


class Owner:
    """Of the ledger that is written: what its writer asks of it."""

    def __init__(self):
        self.node_id, self.name = 1, P
        self.variant, self.settings = parse_variant("bookkeeper"), Settings()
        self.out, self.committed = [], []

    def commit_to(self, _now, end):
        self.committed.append(end)


def test_an_idle_writer_says_again_what_is_confirmed():
    """Whoever lost the one message would never read the last entry."""
    owner = Owner()
    writer = Writer(owner, Ledger(1, 1, 0, 3, 2, (Fragment(0, (1, 2, 3)),)))
    again = owner.settings.request_timeout_us

    def told(now):
        owner.out.clear()
        writer.tick(now)
        return [(action.to, action.message.lac) for action in owner.out if isinstance(action.message, WriteLac)]

    assert told(again) == []
    writer.add(again, Batch(0, 1, (7,)))
    for bookie in (2, 3):
        writer.on_added(again, AddResponse(bookie, P, 1, 0, OK, recovery=False))
    assert owner.committed == [1]
    everybody = [(1, 0), (2, 0), (3, 0)]
    assert told(again) == everybody
    assert told(2 * again - 1) == []
    assert told(2 * again) == everybody


def test_whoever_is_no_bookie_yet_asks_for_the_partition_when_it_is_one():
    """An operator's word is not lost because the node has only just started."""
    host = Host("bookkeeper")
    node = LedgerMember(Seat(host, P, (1, 2, 3), Recovered({})))
    node.start(0)

    def asked(step, *told):
        host.out.clear()
        step(0, *told)
        return [
            action.message for action in host.out if isinstance(action, Send) and isinstance(action.message, Acquire)
        ]

    assert asked(node.on_metadata, Metadata(CONTROLLER, P, 5, 2, 4, 0, (), (2, 3))) == []
    assert asked(node.on_stand, None) == []
    assert asked(node.on_registered, BookieRegistered(CONTROLLER, P, 1, 0)) == [Acquire(1, P, 4, by_force=True)]
    assert asked(node.tick) == [], "once"


def test_what_is_no_message_of_a_stores_is_an_error_of_whoever_sent_it():
    store = MetadataStore((1,), {P: (1,)}, parse_variant("bookkeeper"), Settings())

    with pytest.raises(KeyError):
        store.step(0, None)
