"""The quick look at a simulator's run, which keeps the long one away, lets no cycle pass."""

import pytest
from dependent import cycles_in, listed, operation, read, wrote
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers.clients.nothing_to_find import nothing_to_find
from tidemark.checkers.history.client_view import ClientView
from tidemark.checkers.history.history import Op, polled, sent


@st.composite
def sends(draw):
    """Of three processes, with offsets in nearly the order in which they began; and in the end somebody reads all."""
    spans = []
    for process in ("a", "b", "c"):
        time = 0
        for _ in range(draw(st.integers(0, 3))):
            began = time + draw(st.integers(1, 3))
            time = began + draw(st.integers(1, 9))
            spans.append((began, time, process, draw(st.sampled_from(("ok", "ok", "info", None)))))
            if spans[-1][3] is None:
                break
    spans.sort(key=lambda span: span[0] + draw(st.integers(0, 4)))
    ends = {"x": 0, "y": 0}
    done, records = [], {"x": [], "y": []}
    for began, ended, process, type_ in spans:
        key = draw(st.sampled_from(("x", "x", "x", "y")))
        micros = []
        for _ in range(draw(st.integers(1, 2))):
            micros.append(wrote(key, ends[key], len(records["x"]) + 100 * len(records["y"])))
            records[key].append(micros[-1][2])
            ends[key] += 1
        done.append(operation(process, began, ended if type_ else None, *micros, f="send", type_=type_))
    return listed(*done, operation("z", 100, 101, read("x", *records["x"]), read("y", *records["y"]), f="poll"))


@given(sends())
@settings(max_examples=200)
def test_what_it_lets_pass_has_no_cycle(ops):
    if nothing_to_find(ClientView(ops)):
        assert cycles_in(ops) == []


def looks(*operations):
    return nothing_to_find(ClientView(listed(*operations)))


ALL = operation("z", 8, 9, read("x", (0, 1), (1, 2), (2, 3)), f="poll")


def test_sends_in_order_pass():
    a = operation("a", 1, 4, wrote("x", 0, 1), wrote("x", 1, 2), f="send")
    b = operation("b", 2, 3, wrote("x", 2, 3), f="send")

    assert looks(a, b, ALL)


@pytest.mark.parametrize("type_", ["ok", None])
def test_records_between_anothers_do_not(type_):
    a = operation("a", 1, 4 if type_ else None, wrote("x", 0, 1), wrote("x", 2, 3), f="send")
    b = operation("b", 2, 3, wrote("x", 1, 2), f="send")

    assert not looks(a, b, ALL)
    assert [one.name for one in cycles_in(listed(a, b, ALL))] == ["G0"]


def test_nor_does_one_that_began_when_what_lies_beyond_it_was_over():
    a = operation("a", 1, 2, wrote("x", 1, 2), wrote("x", 2, 3), f="send")
    b = operation("b", 3, 4, wrote("x", 0, 1), f="send")

    assert not looks(a, b, ALL)
    assert [one.name for one in cycles_in(listed(a, b, ALL))] == ["G0-realtime"]


def test_nor_one_that_began_when_it_was_read():
    a = operation("a", 1, 2, wrote("x", 0, 1), f="send")
    early = operation("c", 3, 4, read("x", (0, 1), (1, 2)), f="poll")
    b = operation("b", 5, 6, wrote("x", 1, 2), wrote("x", 2, 3), f="send")

    assert not looks(a, early, b, ALL)
    assert [one.name for one in cycles_in(listed(a, early, b, ALL))] == ["G1c-realtime"]


def test_nor_several_keys():
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 4), f="send")
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 5), f="send")
    everything = operation("z", 8, 9, read("x", (0, 1), (1, 2)), read("y", (0, 5), (1, 4)), f="poll")

    assert not looks(a, b, everything)
    assert [one.name for one in cycles_in(listed(a, b, everything))] == ["G0"]


def test_a_record_of_a_send_that_never_ended_was_sent():
    begun = Op(1, "p1", "invoke", "send", (("send", "t-0", 7),))

    assert nothing_to_find(ClientView([begun, polled(2, "c1", "t-0", (0, 7))]))


def test_a_record_that_nobody_sent_is_something_to_find():
    assert not nothing_to_find(ClientView([polled(2, "c1", "t-0", (0, 7))]))


def shows(*final_polls, assigned=()):
    sends = [sent(1, "p", "x", 1, 0), sent(2, "p", "x", 2, 1), polled(3, "r", "x", (0, 1), (1, 2))]
    return nothing_to_find(ClientView([*sends, *assigned, *(one._replace(final=True) for one in final_polls)]))


def test_final_reads_that_show_everything_pass():
    assert shows(polled(4, "c", "x", (0, 1), (1, 2)), polled(5, "d", "x", (0, 1), (1, 2)))


def test_a_final_read_that_shows_nothing_does_not():
    assert not shows(polled(4, "c", "x"))
    assert not shows(polled(4, "c", "x", (0, 1), (1, 2)), polled(5, "d", "x"))


def test_nor_one_that_names_nothing():
    nothing = polled(5, "d", "x")._replace(value=(("poll", {}),))

    assert not shows(nothing._replace(time=4))
    assert not shows(polled(4, "c", "x", (0, 1), (1, 2)), nothing)


def test_nor_one_that_does_not_name_all_that_it_was_assigned():
    assigned = Op(3, "d", "ok", "assign", ("x", "y"))
    whole = polled(4, "c", "x", (0, 1), (1, 2))

    assert not shows(whole, whole._replace(time=5, process="d"), assigned=[assigned])
