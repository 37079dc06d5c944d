"""The notation of records and logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.harness.scenario.records import Names, compact, expand, expand_list, flatten, parse_batches


def test_a_range_stands_for_all_its_names():
    assert expand("a9..a11") == ("a9", "a10", "a11")


def test_a_list_may_mix_names_and_ranges():
    assert expand_list("m, a1..a2 z") == ("m", "a1", "a2", "z")


def test_batches_keep_their_borders():
    assert parse_batches("1:a0..a1 1:a2 3:z") == ((1, ("a0", "a1")), (1, ("a2",)), (3, ("z",)))


def test_an_empty_log_has_a_word():
    assert parse_batches("empty") == ()
    assert compact(()) == "empty"


@pytest.mark.parametrize("text", ["1:", "a:b", "m1", "1:a1..b2"])
def test_what_is_no_batch_is_refused(text):
    with pytest.raises(ValueError, match="is n"):
        parse_batches(text)


def test_the_high_watermark_splits_a_run_of_records():
    log = flatten(parse_batches("0:m1..m4"))

    assert compact(log, mark=3) == "0:m1..m3 │ 0:m4"
    assert compact(log, mark=0) == "│ 0:m1..m4"
    assert compact(log, mark=4) == "0:m1..m4 │"


def test_an_epoch_or_a_jump_in_the_numbers_begins_a_new_run():
    assert compact([(0, "m1"), (1, "m2"), (1, "m4"), (1, "x")]) == "0:m1 1:m2 1:m4 1:x"


def test_numbers_for_names_are_given_in_order_and_kept():
    names = Names()

    assert [names.number(name) for name in ("x", "m1", "x")] == [1, 2, 1]
    assert [names.name(number) for number in (1, 2, 3)] == ["x", "m1", "3"]


logs = st.lists(st.tuples(st.integers(0, 3), st.from_regex(r"[a-c][0-9]?", fullmatch=True)), max_size=12)


@given(logs)
def test_the_notation_can_be_read_back(log):
    assert flatten(parse_batches(compact(log))) == tuple(log)
