from tidemark.checkers import History, polled, read_history, sent, write_history
from tidemark.checkers.history.history import Op
from tidemark.harness.report.record_fates import counted, fates_of


def ended(time, process, kind, *values, error=None):
    value = tuple(("send", "t-0", value) for value in values)
    return [
        Op(time, process, "invoke", "send", value, None, "all"),
        Op(time + 1, process, kind, "send", value, error, "all"),
    ]


OPS = [
    Op(1, "p1", "invoke", "send", (("send", "t-0", 10),), None, "all"),
    sent(2, "p1", "t-0", 10, 0),
    Op(3, "p1", "invoke", "send", (("send", "t-0", 11),), None, "all"),
    sent(4, "p1", "t-0", 11, 1),
    *ended(5, "p2", "info", 20, 21, error="_MSG_TIMED_OUT"),
    *ended(7, "p3", "fail", 30, error="NOT_ENOUGH_REPLICAS"),
    Op(9, "p4", "invoke", "send", (("send", "t-0", 40),), None, "all"),
    Op(10, "final", "invoke", "poll", (("poll", {}),), None, None, True),
    polled(11, "final", "t-0", (0, 10), (1, 20))._replace(final=True),
]


def told(history):
    return [(fate.told, fate.there, fate.count, fate.named) for fate in counted(fates_of(history))]


FATES = [
    ("acknowledged", "there", 1, ""),
    ("acknowledged", "not there", 1, "11 of t-0"),
    ("in doubt", "there", 1, "20 of t-0"),
    ("in doubt", "not there", 1, "21 of t-0"),
    ("refused", "not there", 1, "30 of t-0"),
    ("without an answer", "not there", 1, "40 of t-0"),
]


def test_each_record_has_a_fate():
    assert told(History({"read_back": True}, OPS)) == FATES


def test_of_a_file_as_of_memory(tmp_path):
    write_history(History({"read_back": True}, OPS), tmp_path / "history.jsonl")
    assert told(read_history(tmp_path / "history.jsonl")) == FATES


def test_offset_time_and_error():
    fates = {fate.value: fate for fate in fates_of(History({"read_back": True}, OPS))}
    assert fates[11][2:] == (1, 3, 4, "acknowledged", None, "not there")
    assert fates[20][2:] == (1, 5, 6, "in doubt", "_MSG_TIMED_OUT", "there")
    assert fates[40][2:] == (None, 9, None, "without an answer", None, "not there")


def test_a_last_read_that_did_not_end_says_nothing_of_what_it_lacks():
    (there, lacking, *_) = told(History({"read_back": False}, OPS))
    assert (there[:2], lacking[:2]) == (("acknowledged", "there"), ("acknowledged", "nobody can tell"))


def test_without_a_final_read_there_is_nothing_to_tell():
    assert fates_of(History({}, OPS[:4])) == []


def test_those_that_follow_each_other_are_a_stretch():
    ops = [*ended(1, "p1", "info", 5, 6, 7), *ended(3, "p1", "info", 9), OPS[-2], OPS[-1]]
    assert told(History({"read_back": True}, ops))[0] == ("in doubt", "not there", 4, "5–7 of t-0, 9 of t-0")
