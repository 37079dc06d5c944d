"""What is confirmed is on an ack quorum of the bookies that the store names for it."""

from tidemark.checkers import History, check

P = "t-0"
META = {"isr": False, "votes": False, "contract": "ack-quorum", "min_isr": 2, "replicas": {P: [1, 2, 3, 4]}}


def ensemble(time, first, *bookies, ledger=1):
    return (time, 0, "ensemble", P, ledger, first, bookies)


def stored(time, base, *bookies, ledger=1):
    return [(time, bookie, "stored", P, base, ledger, (base + 100,)) for bookie in bookies]


def hw(time, offset, node=1):
    return (time, node, "hw", P, offset, 1, node == 1)


def told(*trace):
    found = check(History.of(trace=list(trace), **META)).named("outside-its-ensemble")
    return [(one.time, one.verdict, one.evidence["entry"], one.evidence["had"]) for one in found]


BEGUN = (ensemble(1, 0, 2, 3), *stored(2, 0, 2, 3))


def test_all_is_well_where_its_own_bookies_have_it():
    assert not told(*BEGUN, hw(3, 1), *stored(4, 1, 2, 3), hw(5, 2))
    assert not told(*BEGUN, ensemble(3, 0, 2, 4), *stored(4, 0, 4), hw(5, 1))


def test_a_bookie_that_was_replaced_does_not_count():
    assert told(*BEGUN, ensemble(3, 0, 2, 4), hw(5, 1)) == [(5, "violation", 0, [2])]


def test_nor_one_that_has_not_got_it_yet():
    assert told(*BEGUN, *stored(3, 1, 2), hw(4, 2), *stored(5, 1, 3)) == [(4, "violation", 1, [2])]


def test_a_new_ensemble_is_looked_at_for_what_is_confirmed_already():
    assert told(*BEGUN, hw(3, 1), ensemble(4, 0, 2, 4)) == [(4, "violation", 0, [2])]
    assert not told(*BEGUN, hw(3, 1), ensemble(4, 1, 2, 4))


def test_what_a_reader_takes_for_confirmed_counts_as_well():
    assert told(ensemble(1, 0, 2, 3), *stored(2, 0, 2), hw(3, 1, node=4)) == [(3, "violation", 0, [2])]


def test_what_an_older_ledger_has_behind_its_end_is_not_in_the_log():
    """Ledger 1 was closed behind its first entry; its second is on one bookie, and another lies there."""
    later = (ensemble(4, 0, 2, 4, ledger=2), *stored(5, 1, 2, 4, ledger=2))

    assert not told(*BEGUN, hw(3, 1), *stored(3, 1, 2), *later, hw(6, 2))


def test_what_another_ledger_had_there_is_confirmed_of_none_that_lies_there_later():
    lost = (*BEGUN, *stored(3, 1, 2, 3), hw(4, 2))
    later = (ensemble(5, 0, 2, 3, ledger=2), *stored(6, 1, 2, ledger=2), ensemble(7, 0, 2, 4, ledger=2))

    assert not told(*lost, *later)
    assert told(*lost, *later, (8, 4, "hw", P, 3, 2, True)) == [(8, "violation", 0, [2])]


def test_a_disk_that_was_lost_later_is_not_the_writers_fault():
    assert not told(*BEGUN, (3, 3, "stop", "", "disk"), hw(4, 1))
