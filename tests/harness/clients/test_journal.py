"""Operations as docs/history.md has them."""

import threading

from tidemark.checkers import History, Op, check
from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.journal import Journal, PollRecorder, SendRecorder
from tidemark.harness.clients.outcomes import Report

T = "t-0"


class Book:
    """A journal whose clock ticks with every look."""

    def __init__(self, acks="all", counters=None):
        self.ops, self.now = [], 0
        self.journal = Journal(self.clock, self.ops.append, acks, counters)
        self.sends = SendRecorder(self.journal, "p1")
        self.polls = PollRecorder(self.journal, "c1")

    def clock(self):
        self.now += 1
        return self.now


def test_a_send_that_went_well():
    book = Book()
    book.sends.invoke(T, (1, 2))
    book.sends.complete(T, (1, 2), {1: Report("ok", 10), 2: Report("ok", 11)})
    assert book.ops == [
        Op(1, "p1", "invoke", "send", (("send", T, 1), ("send", T, 2)), None, "all"),
        Op(2, "p1", "ok", "send", (("send", T, (10, 1)), ("send", T, (11, 2))), None, "all"),
    ]


def test_a_send_without_offsets():
    book = Book(acks="0")
    book.sends.complete(T, (1,), {1: Report("ok")})
    assert book.ops == [Op(1, "p1", "ok", "send", (("send", T, (None, 1)),), None, "0")]


def test_a_send_that_failed_as_a_whole():
    book = Book()
    book.sends.complete(T, (1, 2), dict.fromkeys((1, 2), Report("fail", error="NOT_ENOUGH_REPLICAS")))
    assert book.ops == [Op(1, "p1", "fail", "send", (("send", T, 1), ("send", T, 2)), "NOT_ENOUGH_REPLICAS", "all")]


def test_records_with_different_fates_become_operations_of_their_own():
    book = Book()
    book.sends.invoke(T, (1, 2, 3, 4))
    reports = {
        1: Report("fail", error="_QUEUE_FULL"),
        2: Report("ok", 7),
        3: Report("info", error="_MSG_TIMED_OUT"),
        4: Report("ok", 8),
    }
    book.sends.complete(T, (1, 2, 3, 4), reports)
    assert [op[1:6] for op in book.ops[1:]] == [
        ("p1", "ok", "send", (("send", T, (7, 2)), ("send", T, (8, 4))), None),
        ("p1.1", "invoke", "send", (("send", T, 3),), None),
        ("p1.1", "info", "send", (("send", T, 3),), "_MSG_TIMED_OUT"),
        ("p1.2", "invoke", "send", (("send", T, 1),), None),
        ("p1.2", "fail", "send", (("send", T, 1),), "_QUEUE_FULL"),
    ]


def test_every_process_has_one_operation_at_a_time_even_then():
    book = Book()
    for values in ((1, 2), (3, 4)):
        book.sends.invoke(T, values)
        book.sends.complete(T, values, {values[0]: Report("ok", 1), values[1]: Report("info", error="X")})
    for process in ("p1", "p1.1"):
        kinds = [op.type for op in book.ops if op.process == process]
        assert [kind == "invoke" for kind in kinds] == [True, False, True, False]


def test_an_acknowledged_part_is_still_evidence_of_a_lost_write():
    book = Book()
    book.sends.invoke(T, (1, 2))
    book.sends.complete(T, (1, 2), {1: Report("ok", 0), 2: Report("info", error="_MSG_TIMED_OUT")})
    book.polls.ok({T: [(1, 2)]})
    verdict = check(History.of(ops=book.ops))
    assert [(one.name, one.evidence["value"]) for one in verdict.anomalies] == [("lost-write", 1)]


def test_the_part_in_doubt_owes_nothing():
    book = Book()
    book.sends.invoke(T, (1, 2))
    book.sends.complete(T, (1, 2), {1: Report("ok", 0), 2: Report("info", error="_MSG_TIMED_OUT")})
    book.polls.ok({T: [(0, 1), (1, 3)]})
    assert not check(History.of(ops=book.ops)).named("lost-write")


def test_polls_and_assigns():
    book = Book()
    book.polls.invoke()
    book.polls.ok({T: [(0, 1)]})
    book.polls.invoke()
    book.polls.fail("UNKNOWN_SERVER_ERROR")
    book.polls.assign(("t-1",))
    assert [op[1:] for op in book.ops] == [
        ("c1", "invoke", "poll", (("poll", {}),), None, None, False),
        ("c1", "ok", "poll", (("poll", {T: [(0, 1)]}),), None, None, False),
        ("c1", "invoke", "poll", (("poll", {}),), None, None, False),
        ("c1", "fail", "poll", (("poll", {}),), "UNKNOWN_SERVER_ERROR", None, False),
        ("c1", "invoke", "assign", ("t-1",), None, None, False),
        ("c1", "ok", "assign", ("t-1",), None, None, False),
    ]


def test_final_reads_are_marked():
    book = Book()
    polls = PollRecorder(book.journal, "final", final=True)
    polls.invoke()
    polls.ok({})
    assert [op.final for op in book.ops] == [True, True]


def test_counts():
    counters = Counters()
    book = Book(counters=counters)
    book.sends.invoke(T, (1, 2))
    book.sends.complete(T, (1, 2), dict.fromkeys((1, 2), Report("info", error="X")))
    book.polls.invoke()
    book.polls.ok({T: [(0, 1), (1, 2)]})
    assert book.journal.counters is counters
    assert counters.snapshot() == {"invoked": 1, "ok": 0, "fail": 0, "info": 1, "polled": 2}


def test_times_never_go_back_whoever_writes():
    ops, now = [], iter(range(1_000_000))
    journal = Journal(lambda: next(now), ops.append, "all")

    def write(process):
        for _ in range(300):
            journal.add(process, "invoke", "poll", ())

    threads = [threading.Thread(target=write, args=(f"c{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [op.time for op in ops] == list(range(1200))
