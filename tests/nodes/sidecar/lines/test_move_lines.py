"""Lines about replicas that move between log directories: worded as LogManager words them in 2.8, 3.9 and 4.3."""

import pytest

from tidemark.nodes.sidecar.line_events import Appended, HighWatermark, Loaded, Truncated
from tidemark.nodes.sidecar.lines import LineReader
from tidemark.nodes.sidecar.lines.reasons import PROMOTED

T = "t-0"
FUTURE = "/d/second/t-0.0123456789abcdef-future"
CREATED_FUTURE = f"INFO kafka.log.LogManager - Created log for partition t-0 in {FUTURE} with properties {{}}"
DELETED_FUTURE = (
    "INFO kafka.log.LogManager - Log for partition t-0 is renamed to /d/second/t-0.0123456789abcdef-delete and is scheduled for "
    "deletion"
)


@pytest.fixture(params=["", "topicId=s5l3PGJLTvmwyEENHddrpA, "])
def log(request):
    """As a log is named, with and without its topic's id."""

    def named(directory, leo):
        return (
            f"Log(dir={directory}, {request.param}topic=t, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, "
            f"logEndOffset={leo})"
        )

    return named


def manager(words):
    return f"INFO kafka.log.LogManager - {words}"


def loaded(log):
    return manager(f"Completed load of {log} with 1 segments in 9ms (1/2 completed in /d)")


def appended(directory, first, end):
    return (
        f"TRACE kafka.log.UnifiedLog - [UnifiedLog partition=t-0, dir={directory}] Appended message set with last offset: "
        f"{end - 1}, first offset: {first}, next offset: {end}, and messages: []"
    )


def high_watermark(directory, offset):
    return (
        f"TRACE kafka.log.UnifiedLog - [UnifiedLog partition=t-0, dir={directory}] Setting high watermark (offset={offset}, "
        "segment=[0:0])"
    )


def read(*lines):
    reader = LineReader()
    stamped = [f"2026-11-28T15:00:00.000 {line}" for line in lines]
    return [event for line in stamped for event in reader.read(line)] + reader.end()


def test_what_a_future_log_copies_is_not_appended_to_the_replica(log):
    assert read(
        loaded(log("/d/first/t-0", 5)),
        CREATED_FUTURE,
        appended("/d/second", 0, 5),
        high_watermark("/d/second", 5),
        appended("/d/first", 5, 6),
    ) == [Loaded(T, 5), Appended(T, 5, 6)]


def test_once_it_has_taken_its_place_its_lines_are_the_replicas(log):
    swapped = manager(f"Attempting to replace current log {log('/d/first/t-0', 5)} with {log(FUTURE, 5)} for t-0")

    assert read(
        loaded(log("/d/first/t-0", 5)),
        CREATED_FUTURE,
        swapped,
        high_watermark("/d/second", 5),
        appended("/d/second", 5, 7),
        appended("/d/first", 5, 9),
    ) == [Loaded(T, 5), HighWatermark(T, 5, None), Appended(T, 5, 7)]


def test_a_future_log_that_is_given_up_takes_no_replica_away(log):
    assert read(loaded(log("/d/first/t-0", 5)), CREATED_FUTURE, DELETED_FUTURE, appended("/d/first", 5, 6)) == [
        Loaded(T, 5),
        Appended(T, 5, 6),
    ]


def test_one_that_was_left_is_loaded_and_is_no_replicas_log(log):
    assert read(loaded(log(FUTURE, 3)), loaded(log("/d/first/t-0", 5)), appended("/d/second", 3, 5)) == [Loaded(T, 5)]


def promoted(future, current=None):
    rest = "" if current is None else f" and removing {current}"
    return manager(f"Attempting to recover abandoned future log for t-0 at {future}{rest}")


def test_a_future_log_that_is_made_the_replicas_when_a_broker_starts_may_end_before_it(log):
    current, future = log("/d/first/t-0", 5), log(FUTURE, 3)

    assert read(loaded(current), loaded(future), promoted(future, current), appended("/d/second", 3, 4)) == [
        Loaded(T, 5),
        Truncated(T, 3, PROMOTED),
        Appended(T, 3, 4),
    ]


def test_one_that_has_all_cuts_nothing(log):
    current, future = log("/d/first/t-0", 5), log(FUTURE, 5)

    assert read(loaded(current), loaded(future), promoted(future, current)) == [Loaded(T, 5)]


def test_one_beside_which_there_is_no_log_is_what_the_broker_begins_with(log):
    assert read(loaded(log(FUTURE, 3)), promoted(log(FUTURE, 3))) == [Loaded(T, 3)]
