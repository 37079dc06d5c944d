"""The short way through a line says what the long one says, or nothing."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers.history.line_shapes import ShapeError, op_of
from tidemark.checkers.history.plain_ops import plain_op

NUMBERS = st.one_of(
    st.integers(-2, 3), st.sampled_from([1 << 63, (1 << 63) - 1, -1 << 63, 1 << 64, 0.5, True, None, "x"])
)
RECORD = st.one_of(st.lists(NUMBERS, min_size=1, max_size=3), NUMBERS)
KEY = st.sampled_from(["t-0", "t-1", 3, None])
MICRO = st.one_of(
    st.tuples(st.sampled_from(["send", "poll"]), KEY, RECORD).map(list),
    st.tuples(st.just("poll"), st.dictionaries(st.sampled_from(["t-0", "t-1"]), st.lists(RECORD, max_size=3))).map(
        list
    ),
    NUMBERS,
)
HALF = st.fixed_dictionaries(
    {
        "time": NUMBERS,
        "process": st.sampled_from(["p1", 7, None]),
        "type": st.sampled_from(["invoke", "ok", "fail", "info", "no", 3, ["ok"]]),
        "f": st.sampled_from(["send", "poll", "txn", "delete", None]),
        "value": st.one_of(st.lists(MICRO, max_size=2), NUMBERS),
    },
    optional={"error": st.just("E"), "acks": st.just("1"), "final": st.booleans()},
)
USUAL = st.one_of(
    st.builds(lambda key, value: ("send", [["send", key, value]]), st.just("t-0"), st.integers(0, 9)),
    st.builds(lambda record: ("send", [["send", "t-0", record]]), st.lists(st.integers(0, 9), min_size=2, max_size=2)),
    st.builds(
        lambda records: ("poll", [["poll", {"t-0": records}]]),
        st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=3),
    ),
)


@given(HALF)
def test_as_the_long_way_or_not_at_all(entry):
    short = plain_op(entry)
    if short is not None:
        long = op_of(entry)
        assert short == long
        assert repr(short) == repr(long)


@given(USUAL, st.sampled_from(["invoke", "ok", "info", "fail"]))
def test_what_files_are_full_of_goes_the_short_way(what, type_):
    f, value = what
    entry = {"time": 5, "process": "p1", "type": type_, "f": f, "value": value}

    assert plain_op(entry) == op_of(entry)


@given(HALF)
def test_what_is_refused_is_refused(entry):
    try:
        op_of(entry)
    except ShapeError:
        assert plain_op(entry) is None
