"""Lines about logs of replicas that are no more: worded as LogManager words them in 2.8, 3.6, 3.7, 3.9 and trunk of late 2024."""

import pytest

from tidemark.nodes.sidecar.line_events import Appended, Loaded, LogDirOffline, Removed
from tidemark.nodes.sidecar.lines import LineReader, disagreement

T = "t-0"
DELETED = (
    "INFO kafka.log.LogManager - Log for partition t-0 is renamed to /d/t-0.0123456789abcdef-delete and is scheduled for "
    "deletion"
)
CREATED = "INFO kafka.log.LogManager - Created log for partition t-0 in /d/t-0 with properties {}"
APPENDED = (
    "TRACE kafka.log.UnifiedLog - [UnifiedLog partition=t-0, dir=/d] Appended message set with last offset: 1, first offset: 0, "
    "next offset: 2, and messages: []"
)
ASTRAY = "WARN kafka.log.LogManager - Log in /d/t-0 marked stray and renamed to /d/t-0.0123456789abcdef-stray"


def loaded(directory, leo, *, topic_id="topicId=s5l3PGJLTvmwyEENHddrpA, "):
    return (
        f"INFO kafka.log.LogManager - Completed load of Log(dir={directory}, {topic_id}topic=t, partition=0, highWatermark=0, "
        f"lastStableOffset=0, logStartOffset=0, logEndOffset={leo}) with 1 segments in 9ms (1/2 completed in /d)"
    )


def read(*lines):
    reader = LineReader()
    stamped = [f"2026-11-21T15:00:00.000 {line}" for line in lines]
    return [event for line in stamped for event in reader.read(line)] + reader.end()


def test_a_log_directory_is_taken_offline():
    """Worded so in 4.3.1."""
    assert read("WARN kafka.log.LogManager - Stopping serving logs in dir /d/first") == [LogDirOffline("/d/first")]


def test_a_replica_that_moves_away_loses_its_log_and_begins_anew_when_it_comes_back():
    assert read(loaded("/d/t-0", 5), DELETED, CREATED, APPENDED) == [
        Loaded(T, 5),
        Removed(T),
        Loaded(T, 0),
        Appended(T, 0, 2),
    ]


def test_a_log_that_is_found_astray_is_loaded_and_removed():
    """Since 3.7, with KRaft: the broker was down when its replica was."""
    assert read(ASTRAY, loaded("/d/t-0.0123456789abcdef-stray", 5)) == [Loaded(T, 5), Removed(T)]


def test_until_3_6_it_is_loaded_as_any_other_and_then_deleted():
    assert read(loaded("/d/t-0", 5), DELETED) == [Loaded(T, 5), Removed(T)]


@pytest.mark.parametrize("topic_id", ["", "topicId=s5l3PGJLTvmwyEENHddrpA, "])
@pytest.mark.parametrize("name", ["t-0.0123456789abcdef-delete", "t-0.0123456789abcdef-stray"])
def test_what_was_set_aside_in_an_earlier_life_is_no_log_of_a_replica(name, topic_id):
    assert read(loaded(f"/d/{name}", 5, topic_id=topic_id), loaded("/d/t-0", 2)) == [Loaded(T, 2)]


def test_one_that_went_astray_now_is_not_taken_for_an_older_one():
    older = loaded("/d/t-0.fedcba9876543210-stray", 9)

    assert read(older, ASTRAY, older, loaded("/d/t-0.0123456789abcdef-stray", 5)) == [Loaded(T, 5), Removed(T)]


def test_a_removed_replica_has_no_files():
    events = read(loaded("/d/t-0", 0), APPENDED, DELETED)

    assert disagreement(T, events, []) is None
    assert disagreement(T, events, [(0, 2, 1)]) == "the lines say that t-0 ends at 0, its files end at 2"
