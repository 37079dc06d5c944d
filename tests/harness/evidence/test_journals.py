"""What bookies' journals hold is held against what the bookies told."""

import pytest

from tidemark.harness.evidence.journals import NO_ENTRY, agreement_of_journals, has_journals, records_of
from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.journal import COOKIE, ENTRY, FENCE, encode
from tidemark.nodes.formats.record_batch import Records, build, place

ONE, TWO, THREE = (0, 1, (5, 6)), (2, 1, (7,)), (3, 2, (8,))


def stored(*entries):
    return [(1, 1, "stored", "t-0", *entry) for entry in entries]


def life(began, *entries):
    """A process that found so many records in its journal."""
    found = [(1, 1, "recovered", "t-0/journal", began, 0, 0)] if began else []
    return [(1, 1, "start", "", 1), *found, *stored(*entries)]


def differences(events, records, down=False):
    segments = {1: {"journal.t-0": [NO_ENTRY, *records]}, 0: {}}
    nodes = frozenset({1} if down else ())
    return agreement_of_journals(ReplicaEvidence({1: events, 0: []}, segments, down=nodes)).get(1, [])


def test_the_records_of_a_journal_are_read_in_order_and_a_torn_end_is_left_out():
    batches = [place(build(values), base, ledger) for base, ledger, values in (ONE, TWO)]
    said = [
        (COOKIE, 0),
        (ENTRY, 1, 0, -1, 0, Records(batches[0])),
        (FENCE, 1),
        (ENTRY, 1, 1, 0, 2, Records(batches[1])),
    ]
    content = b"".join(place(encode(record), at, 0) for at, record in enumerate(said))

    assert records_of(content) == [NO_ENTRY, ONE, NO_ENTRY, TWO]
    assert records_of(content[:-3]) == [NO_ENTRY, ONE, NO_ENTRY]
    with pytest.raises(BadBatchError):
        records_of(content + place(build([1]), len(said), 0))


def test_a_journal_that_is_what_was_told_is_believed():
    assert differences(life(0, ONE, TWO), [ONE, NO_ENTRY, TWO]) == []
    assert differences([*life(0, ONE), *life(2, TWO)], [ONE, TWO]) == []


def test_what_was_told_and_is_not_there_is_said_and_the_other_way_round():
    assert differences(life(0, ONE, TWO), [ONE]) == [
        "Broker 1, t-0: a line tells of an entry of ledger 1 at offset 2 that is not in its journal."
    ]
    assert differences(life(0, ONE), [ONE, TWO]) == [
        "Broker 1, t-0: its journal has an entry of ledger 1 at offset 2 that no line tells of."
    ]
    assert differences(life(0, ONE, THREE), [ONE, TWO]) == [
        "Broker 1, t-0: its journal has an entry of ledger 1 at offset 2 where its lines tell of an entry of ledger 2 at offset 3."
    ]


def test_what_a_lost_power_or_disk_took_is_not_missed_and_what_came_after_is():
    power = [*life(0, ONE, TWO), *life(2, THREE)]
    assert differences(power, [ONE, THREE]) == []
    assert len(differences(power, [ONE])) == 1
    assert differences([*life(0, ONE, TWO), *life(0, THREE)], [THREE]) == []


def test_a_process_that_was_killed_may_have_written_one_entry_that_it_could_not_tell():
    assert differences([*life(0, ONE), *life(3, THREE)], [ONE, TWO, THREE]) == []
    assert len(differences([*life(0), *life(3, THREE)], [ONE, TWO, THREE])) == 1
    assert differences(life(0, ONE), [ONE, TWO], down=True) == []


def test_only_bookies_are_judged_by_their_journals_and_their_logs_are_in_no_file():
    evidence = ReplicaEvidence({1: life(0, ONE)}, {1: {"journal.t-0": [NO_ENTRY, ONE], "t-0": []}})
    assert has_journals(evidence)
    seen = TidemarkSystem().interpret(evidence)
    assert (seen.doubted, seen.segments) == ({}, {})
    others = ReplicaEvidence({1: [(2, 1, "append", "t-0", *ONE)]}, {1: {"t-0": [ONE]}})
    assert not has_journals(others)
    assert TidemarkSystem().interpret(others).segments == {1: {"t-0": [ONE]}}
