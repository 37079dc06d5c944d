"""The fields of trace events have names, and docs/history.md tells what they are."""

import re
from pathlib import Path

import pytest

from tidemark.checkers import TRACE_FIELDS
from tidemark.checkers.history.trace_events import Elect, Event, LogStart, Stop

DOCS = Path(__file__).parents[3] / "docs" / "history.md"
ELECTION = (10, 0, "elect", "t-0", 2, 7, (1, 2), (), "initial", True, 0)


def fields_of_docs():
    table = DOCS.read_text(encoding="utf-8").partition("## Replica trace")[2]
    rows = re.findall(r"^\| (`[a-z, `-]+`) \| ([a-z_, ]*?) ?\|", table, re.MULTILINE)
    return {
        name: tuple(filter(None, fields.split(", "))) for names, fields in rows for name in re.findall("[a-z-]+", names)
    }


def test_the_fields_are_those_of_the_docs():
    assert fields_of_docs() == TRACE_FIELDS


@pytest.mark.parametrize("kind", Event.__subclasses__(), ids=lambda kind: kind.kind)
def test_each_field_is_read_at_its_place(kind):
    event = kind((10, 3, kind.kind, "t-0", *range(100, 100 + len(TRACE_FIELDS[kind.kind]))))

    assert (event.time, event.node, event.partition) == (10, 3, "t-0")
    assert [getattr(event, name) for name in TRACE_FIELDS[kind.kind]] == list(event[4:])


def test_an_event_that_is_read_by_name_is_the_same_tuple():
    assert Elect(ELECTION) == ELECTION
    assert hash(Elect(ELECTION)) == hash(ELECTION)


def test_those_of_a_kind_are_found_and_of_a_partition():
    stop, moved = (20, 1, "stop", "", "crash"), (30, 1, "log-start", "t-1", 5, 0, "retention")
    trace = [ELECTION, stop, moved]

    assert [one.how for one in Stop.among(trace)] == ["crash"]
    assert [one.start for one in LogStart.among(trace, "t-1")] == [5]
    assert list(LogStart.among(trace, "t-0")) == []
