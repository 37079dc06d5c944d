"""What bookies' journals hold is held against what the bookies told."""

import pytest

from harness.evidence.journals import agreement_of_journals, entries_of, has_journals, without_journals
from harness.evidence.replica_evidence import ReplicaEvidence
from harness.systems.tidemark import TidemarkSystem
from nodes.formats.bad_batch import BadBatchError
from nodes.formats.journal import COOKIE, ENTRY, FENCE, encode
from nodes.formats.record_batch import Records, build, place

ONE, TWO = (0, 1, (5, 6)), (2, 1, (7,))


def stored(at, entry, node=1):
    return (at, node, "stored", "t-0", *entry)


def found(events, entries, directory="journal.t-0"):
    return ReplicaEvidence({1: events, 0: []}, {1: {directory: list(entries)}, 0: {}})


def test_the_entries_of_a_journal_are_read_in_order_and_a_torn_end_is_left_out():
    batches = [place(build(values), base, ledger) for base, ledger, values in (ONE, TWO)]
    records = [
        (COOKIE, 0),
        (ENTRY, 1, 0, -1, 0, Records(batches[0])),
        (FENCE, 1),
        (ENTRY, 1, 1, 0, 2, Records(batches[1])),
    ]
    content = b"".join(place(encode(record), at, 0) for at, record in enumerate(records))

    assert entries_of(content) == [ONE, TWO]
    assert entries_of(content[:-3]) == [ONE]
    with pytest.raises(BadBatchError):
        entries_of(content + place(build([1]), len(records), 0))


def test_a_journal_that_is_what_was_told_is_believed():
    assert agreement_of_journals(found([stored(1, ONE), stored(2, TWO)], [ONE, TWO])) == {}


def test_what_was_told_and_is_not_there_is_said():
    differ = agreement_of_journals(found([stored(1, ONE), stored(2, TWO)], [ONE]))
    assert differ == {
        1: ["Broker 1, t-0: a line tells of an entry of ledger 1 at offset 2 that is not in its journal."]
    }


@pytest.mark.parametrize(("how", "lost"), [("power", True), ("disk", True), ("container", True), ("crash", False)])
def test_what_a_lost_power_took_may_be_missing(how, lost):
    events = [stored(1, ONE), stored(2, TWO), (3, 1, "stop", "", how), (4, 1, "start", "", 2)]
    assert agreement_of_journals(found(events, [ONE])).keys() == (set() if lost else {1})
    assert agreement_of_journals(found([*events, stored(5, (3, 2, (8,)))], [ONE])).keys() == {1}


@pytest.mark.parametrize(("killed", "differs"), [(1, False), (0, True)])
def test_a_process_that_was_killed_may_have_written_what_it_could_not_tell(killed, differs):
    events = [stored(1, ONE), *[(3, 1, "stop", "", "crash")] * killed]
    assert bool(agreement_of_journals(found(events, [ONE, TWO]))) is differs


def test_only_bookies_are_judged_by_their_journals_and_their_logs_are_in_no_file():
    evidence = found([stored(1, ONE), (2, 1, "append", "t-0", *ONE)], [ONE])
    assert has_journals(evidence)
    assert without_journals(evidence.segments) == {1: {}, 0: {}}
    seen = TidemarkSystem().interpret(evidence)
    assert (seen.doubted, seen.segments) == ({}, {1: {}, 0: {}})
    others = found([(2, 1, "append", "t-0", *ONE)], [ONE], "t-0")
    assert not has_journals(others)
    assert TidemarkSystem().interpret(others).doubted == {}
