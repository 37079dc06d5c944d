"""Correct histories show nothing; one anomaly planted in one shows exactly that."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers import History, Op, check, polled, sent
from tidemark.checkers.clients.nothing_to_find import nothing_to_find
from tidemark.checkers.history.client_view import ClientView

KEYS = ("t-0", "t-1")


class Log:
    """A correct system: records get offsets with gaps, as transactions leave them, and readers get what there is."""

    def __init__(self, draw):
        self.draw = draw
        self.time = 0
        self.ops = []
        self.records = {key: [] for key in KEYS}
        self.at = {}
        self.left = dict.fromkeys(KEYS, 0)
        self.deletions = []
        self.value = 0

    def add(self, process, type_, f, value, **more):
        self.time += self.draw(st.integers(0, 3))
        self.ops.append(Op(self.time, process, type_, f, value, **more))

    def send(self, process, outcome, several=False):
        key = self.draw(st.sampled_from(KEYS))
        values = [self.value + n for n in range(2 if several else 1)]
        self.value += len(values)
        asked = tuple(("send", key, value) for value in values)
        self.add(process, "invoke", "send", asked)
        offsets = []
        if outcome != "fail":
            for value in values:
                last = self.records[key][-1][0] if self.records[key] else self.draw(st.sampled_from((-1, 10**12)))
                offsets.append(last + self.draw(st.integers(1, 3)))
                self.records[key].append((offsets[-1], value))
        if outcome == "ok":
            told = self.draw(st.booleans())
            asked = tuple(
                ("send", key, (offset if told else None, value)) for offset, value in zip(offsets, values, strict=True)
            )
        self.add(process, outcome, "send", asked)

    def poll(self, process, outcome="ok", final=False):
        self.add(process, "invoke", "poll", (("poll", {}),), final=final)
        answer = {}
        for key in KEYS:
            begin = max(self.at.get((process, key), 0), self.left[key])
            end = begin + self.draw(st.integers(0, 3)) if not final else len(self.records[key])
            found = self.records[key][begin:end]
            if found:
                answer[key] = found
            if outcome == "ok":
                self.at[process, key] = begin + len(found)
        self.add(process, outcome, "poll", (("poll", answer),), final=final)

    def assign(self, process):
        kept = self.draw(st.sets(st.sampled_from(KEYS)))
        self.add(process, "invoke", "assign", tuple(sorted(kept)))
        self.add(process, "ok", "assign", tuple(sorted(kept)))
        for key in set(KEYS) - kept:
            self.at[process, key] = 0

    def delete(self):
        """Is asked for, and happens then or when it is answered, or never; and another time is answered, or never."""
        if self.deletions and self.draw(st.booleans()):
            process, key, offset, count, outcome = self.deletions.pop()
            if outcome == "ok":
                self.left[key] = max(self.left[key], count)
            self.add(process, outcome, "delete", (("delete", key, offset),))
            return
        key = self.draw(st.sampled_from(KEYS))
        there = len(self.records[key])
        count = self.draw(st.sampled_from((there, there, max(0, there - 1), there // 2)))
        offset = self.records[key][count - 1][0] + 1 if count else 0
        outcome = self.draw(st.sampled_from(("ok", "info", "fail")))
        process = f"d{len(self.ops)}"
        self.add(process, "invoke", "delete", (("delete", key, offset),))
        self.deletions.append((process, key, offset, count, outcome))
        if outcome != "fail" and self.draw(st.booleans()):
            self.left[key] = max(self.left[key], count)

    def step(self):
        what = self.draw(st.integers(0, 6))
        if what < 3:
            self.send(f"p{what}", self.draw(st.sampled_from(("ok", "ok", "info", "fail"))), self.draw(st.booleans()))
        elif what < 6:
            self.poll(f"c{what}", self.draw(st.sampled_from(("ok", "ok", "info", "fail"))))
        else:
            self.assign(f"c{self.draw(st.integers(3, 5))}")


@st.composite
def logs(draw, deletes=False):
    log = Log(draw)
    log.send("p0", "ok")
    for _ in range(draw(st.integers(15, 40) if deletes else st.integers(0, 25))):
        log.delete() if deletes and draw(st.integers(0, 3)) == 0 else log.step()
    log.poll("c9", final=True)
    return log


def found(history):
    return {anomaly.name for anomaly in check(history).anomalies}


@given(logs())
@settings(max_examples=100)
def test_a_correct_history_shows_nothing(log):
    history = History.of(ops=log.ops)

    assert check(history).anomalies == ()


@given(logs(deletes=True))
def test_a_correct_history_of_which_clients_deleted_shows_nothing(log):
    assert check(History.of(ops=log.ops)).anomalies == ()


@given(logs())
@settings(max_examples=15)
def test_the_quick_look_says_no_only_where_the_long_one_finds_nothing(log):
    """In correct histories with gaps, and in the same with any one operation taken away or done twice."""
    for one in range(len(log.ops)):
        for ops in (log.ops[:one] + log.ops[one + 1 :], [*log.ops[: one + 1], *log.ops[one:]]):
            if nothing_to_find(ClientView(ops)):
                assert found(History.of(ops=ops)) == set()


def _plants(log):
    """Anomaly → what to add behind the history."""
    time, new = log.time + 1, log.value
    key = next(key for key in KEYS if log.records[key])
    records = log.records[key]
    (first, value), (last, _) = records[0], records[-1]
    return {
        "phantom": [polled(time, "x", key, (last + 1, new))],
        "G1a": [
            Op(time, "y", "fail", "send", (("send", key, new),)),
            polled(time, "x", key, (last + 1, new)),
        ],
        "duplicate": [polled(time, "x", key, (last + 1, value))],
        "inconsistent-offsets": [
            Op(time, "y", "invoke", "send", (("send", key, new),)),
            polled(time, "x", key, (first, new)),
        ],
        "nonmonotonic-poll": [polled(time, "x", key, (first, value)), polled(time, "x", key, (first, value))],
        "int-nonmonotonic-poll": [polled(time, "x", key, (first, value), (first, value))],
        "precommitted-read": [
            Op(time, "y", "ok", "txn", (("send", key, (last + 1, new)), ("poll", {key: [(last + 1, new)]})))
        ],
        "nonmonotonic-send": [
            sent(time, "y", key, new, last + 2),
            sent(time, "y", key, new + 1, last + 1),
            polled(time, "x", key, (last + 1, new + 1), (last + 2, new)),
        ],
        "int-nonmonotonic-send": [
            Op(time, "y", "ok", "send", (("send", key, (last + 2, new)), ("send", key, (last + 1, new + 1)))),
            polled(time, "x", key, (last + 1, new + 1), (last + 2, new)),
        ],
        "int-send-skip": [
            Op(time, "y", "ok", "send", (("send", key, (last + 1, new)), ("send", key, (last + 3, new + 1)))),
            sent(time, "z", key, new + 2, last + 2),
            polled(time, "x", key, (last + 1, new), (last + 2, new + 2), (last + 3, new + 1)),
        ],
        "lost-write": [
            sent(time, "y", key, new, last + 1),
            sent(time, "y", key, new + 1, last + 2),
            polled(time, "x", key, (last + 2, new + 1)),
        ],
        "poll-skip": [
            *(sent(time, "y", key, new + n, last + 1 + n) for n in range(3)),
            polled(time, "x", key, (last + 1, new)),
            polled(time, "x", key, (last + 3, new + 2)),
            polled(time, "z", key, (last + 2, new + 1)),
        ],
        "int-poll-skip": [
            *(sent(time, "y", key, new + n, last + 1 + n) for n in range(3)),
            polled(time, "x", key, (last + 1, new), (last + 3, new + 2)),
            polled(time, "z", key, (last + 2, new + 1)),
        ],
        "unseen": [sent(time, "y", key, new, last + 1)],
    }


_AS_CYCLES = {"nonmonotonic-send": {"G0-process"}, "int-send-skip": {"G0"}}
"""What else the same shows: a process's operations, or two whose records interleave, of which each wrote before the other."""


@pytest.mark.parametrize("name", sorted(_plants(type("L", (), {"time": 0, "value": 1, "records": {"t-0": [(0, 0)]}}))))
@given(log=logs())
@settings(max_examples=6)
def test_what_is_planted_is_found_and_nothing_else(name, log):
    ops = log.ops + _plants(log)[name]

    assert found(History.of(ops=ops)) == {name} | _AS_CYCLES.get(name, set())
    assert not nothing_to_find(ClientView(ops))
