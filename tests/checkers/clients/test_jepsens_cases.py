"""The cases of Jepsen's own tests of its kafka workload (`jepsen/tests/kafka_test.clj` of jepsen-io/jepsen), in a form of our own.

A line is an operation that ends: process, type, f, and what it did: ``>x@1=a`` sent a to x, at offset 1 if that was told; ``<``
polled, and ``x@1=a`` behind it is what came. Each is invoked just before. docs/checking-your-own-history.md has a table of where we
differ. Cycles are in `cycles/test_smallest.py`, lag is in `test_realtime_lag.py`.
"""

from collections import Counter

import pytest

from tidemark.checkers import History, Op, check

SIX = "0 ok send >x@0=0 >x@1=1 >x@2=2 >x@3=3 >x@4=4 >x@5=5"
POLLS = ["0 ok poll < x@1=a x@2=b", "1 ok poll < x@3=c"]
SKIPPED = [*POLLS, "0 ok poll < x@4=d", "2 ok send >x@6=f", "0 ok poll < x@7=g", "3 info send >x=a >x=b >x=c >x=d >x=g"]
BACK = ["1 ok send >x=a >x=b >x=c >x=d", "0 ok poll < x@1=a x@2=b x@3=c", "0 ok poll < x@2=b x@3=c x@4=d"]
SENT_BACK = ["0 ok send >x@3=c >x@4=d", "0 ok send >x@1=a >x@2=b"]
ATOMIC = ["0 info send >x=a >y@0=b", "1 info send >y=c", "3 ok poll < y@1=c"]


def among(lines, place, *more):
    """The lines with others between them."""
    return [*lines[:place], *more, *lines[place:]]


CASES = {
    "version orders: a conflict": (
        ["0 ok txn < x@0=a x@1=b", "1 info txn >x@1=c >x@3=b >x@4=d"],
        {"inconsistent-offsets": 1},
    ),
    "version orders: a real-world example": (
        ["379 ok send >11@537=641", "363 ok send >11@537=645"],
        {"inconsistent-offsets": 1},
    ),
    "offsets of an unknown send": (["0 info send >x@0=1 >y=1", "1 ok send >x@0=2"], {"inconsistent-offsets": 0}),
    "offsets of an unknown send that was read": (
        ["0 info send >x@0=1 >y=1", "1 ok send >x@0=2", "2 ok poll < y@5=1"],
        {"inconsistent-offsets": 1},
    ),
    "aborted read": (["0 fail send >x=2 >y=3", "1 ok poll < x@0=2"], {"G1a": 1}),
    "lost: consistent": (
        ["0 ok send >x@0=a", "0 ok send >x@1=b >x@3=d", "1 info send >x=c", "0 ok poll < x@2=c"],
        {"lost-write": 2},
    ),
    "lost: inconsistent": (
        ["0 ok send >x@0=a", "0 ok send >x@0=b >x@2=c", "0 ok poll < x@0=b x@2=c"],
        {"lost-write": 1},
    ),
    "lost: atomic, nothing read": (ATOMIC, {"lost-write": 0}),
    "lost: atomic": (among(ATOMIC, 2, "2 ok poll < x@0=a"), {"lost-write": 1}),
    "poll skip": (SKIPPED, {"poll-skip": 2}),
    "poll skip: other keys": (among(among(SKIPPED, 3, "0 info assign y"), 2, "0 ok subscribe y"), {"poll-skip": 0}),
    "poll skip: further keys": (
        among(among(SKIPPED, 3, "0 ok assign x y"), 2, "0 ok subscribe x y"),
        {"poll-skip": 2},
    ),
    "abort rolls back": (
        ["0 ok send >x@0=0 >x@1=1 >x@2=2", "1 ok txn < x@0=0"]
        + [f"1 {end} txn < x@1=1 x@2=2" for end in ("fail", "info", "ok")],
        {"poll-skip": 0},
    ),
    "abort does not roll back": (
        [SIX, "1 ok txn < x@0=0", "1 fail txn < x@1=1 x@2=2", "1 fail txn < x@3=3 x@4=4", "1 ok txn < x@5=5"],
        {"poll-skip": 2},
    ),
    "info can be a poll skip": (
        [SIX, "1 ok txn < x@0=0", "1 fail txn < x@1=1 x@2=2", "1 info txn < x@3=3 x@4=4"],
        {"poll-skip": 1},
    ),
    "nonmonotonic poll": (BACK, {"nonmonotonic-poll": 1}),
    "nonmonotonic poll: other keys subscribed": (among(BACK, 2, "0 ok subscribe y"), {"nonmonotonic-poll": 0}),
    "nonmonotonic poll: other keys assigned": (among(BACK, 2, "0 ok assign y"), {"nonmonotonic-poll": 0}),
    "nonmonotonic poll: further keys subscribed": (among(BACK, 2, "0 ok subscribe x y"), {"nonmonotonic-poll": 1}),
    "nonmonotonic poll: further keys assigned": (among(BACK, 2, "0 ok assign x y"), {"nonmonotonic-poll": 1}),
    "nonmonotonic send": (SENT_BACK, {"nonmonotonic-send": 1}),
    "nonmonotonic send: other keys subscribed": (among(SENT_BACK, 1, "0 ok subscribe y"), {"nonmonotonic-send": 0}),
    "nonmonotonic send: other keys assigned": (among(SENT_BACK, 1, "0 info assign y"), {"nonmonotonic-send": 0}),
    "nonmonotonic send: further keys subscribed": (among(SENT_BACK, 1, "0 ok subscribe x y"), {"nonmonotonic-send": 1}),
    "nonmonotonic send: further keys assigned": (among(SENT_BACK, 1, "0 ok assign x y"), {"nonmonotonic-send": 1}),
    "internal poll skip": (
        ["1 info send >x=a >x=b >x=d"]
        + [
            f"{process} ok poll {polled}"
            for process, polled in enumerate(("< x@1=a x@4=d", "< x@1=a < x@4=d", "< x@2=b"), 2)
        ],
        {"int-poll-skip": 2},
    ),
    "internal send skip": (
        ["0 ok send >x@1=a >x=c", "1 info send >x=b", "2 ok poll < x@2=b x@3=c"],
        {"int-send-skip": 1},
    ),
    "internal nonmonotonic poll": (
        ["1 info send >x=a >x=b >x=c", "2 ok poll < x@3=c x@1=a", "3 ok poll < x@2=b x@3=c < x@3=c"],
        {"int-nonmonotonic-poll": 2},
    ),
    "internal nonmonotonic send": (
        ["0 ok send >x@3=c >x@1=a", "2 info send >y=d >y=b", "1 info send >y=c", "3 ok poll < y@2=b y@3=c y@4=d"],
        {"int-nonmonotonic-send": 2},
    ),
    "duplicate": (["0 ok send >x@1=a", "1 info send >x=b", "2 ok poll < x@2=b x@3=a"], {"duplicate": 1}),
    "duplicate: ten values at two offsets": (
        [line for value in range(10) for line in (f"0 ok send >x@0={value}", f"1 ok poll < x@1={value}")],
        {"duplicate": 10, "inconsistent-offsets": 2},
    ),
    "duplicate: aborted": (
        ["0 ok send >x@1=0", "0 fail send >x@2=1", "1 fail poll < x@11=0 x@12=1"],
        {"duplicate": 1},
    ),
    "precommitted read": (["0 ok txn >x@0=a < x@0=a"], {"precommitted-read": 1}),
}
"""What happened, and how many of the errors in question Jepsen finds."""


def halves(line, time):
    """The two of an operation."""
    process, type_, f, *words = line.split()
    if f in ("assign", "subscribe"):
        return [Op(time, process, "invoke", f, tuple(words)), Op(time + 1, process, type_, f, tuple(words))]
    asked, told = [], []
    for word in words:
        place, _, value = word.lstrip(">").partition("=")
        key, _, offset = place.partition("@")
        value = int(value) if value.isdigit() else value
        if word == "<":
            asked.append(("poll", {}))
            told.append(("poll", {}))
        elif word[0] == ">":
            asked.append(("send", key, value))
            told.append(("send", key, (int(offset), value) if offset else value if type_ == "fail" else (None, value)))
        else:
            told[-1][1].setdefault(key, []).append((int(offset), value))
    return [Op(time, process, "invoke", f, tuple(asked)), Op(time + 1, process, type_, f, tuple(told))]


def judged(lines):
    """The verdict on them, one after the other."""
    return check(History.of(ops=[half for time, line in enumerate(lines) for half in halves(line, 10 * time)]))


@pytest.mark.parametrize("name", CASES)
def test_what_jepsen_finds_is_found(name):
    lines, theirs = CASES[name]
    found = Counter(one.name for one in judged(lines).anomalies)

    assert {one: found[one] for one in theirs} == theirs


def test_a_history_without_an_error_is_valid():
    lines, _ = CASES["abort rolls back"]

    assert judged(lines).valid == "valid"


def test_a_history_of_nothing_is_unknown_where_jepsen_says_that_it_is_not_valid():
    assert judged(["0 ok assign x"]).valid == "unknown"


def test_what_is_read_in_the_end_is_not_unseen():
    """Jepsen's series of what is unseen ends with none."""
    verdict = judged(["0 ok poll <", "0 ok send >x@0=a >x@1=b", "0 ok poll < x@0=a", "0 ok poll < x@1=b"])

    assert (verdict.valid, verdict.anomalies) == ("valid", ())
