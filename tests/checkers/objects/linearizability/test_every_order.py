"""The search against the definition, on small histories: valid and invalid, with operations of unknown outcome and open ones."""

import pytest
from every_order import final_states, log, register, text
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, linearizable

VALUES = st.integers(0, 2)
NIL_OR_VALUES = st.none() | VALUES


@st.composite
def small_histories(draw, request, answer, most=6):
    """Up to `most` operations of up to four processes; `answer(f, asked)` gives a strategy for what an ok operation is answered."""
    ops, open_, begun = [], {}, 0
    for time in range(1, draw(st.integers(1, 3 * most))):
        process = draw(st.sampled_from("abcd"))
        if process in open_:
            f, asked = open_.pop(process)
            type_ = draw(st.sampled_from(["ok", "ok", "ok", "ok", "info"]))
            ops.append(Op(time, process, type_, f, draw(answer(f, asked)) if type_ == "ok" else asked))
        elif begun < most:
            begun += 1
            open_[process] = draw(request)
            ops.append(Op(time, process, "invoke", *open_[process]))
    return ops


REGISTER = st.one_of(
    st.just(("read", None)),
    VALUES.map(lambda value: ("write", value)),
    st.tuples(VALUES, VALUES).map(lambda pair: ("cas", list(pair))),
)
TEXT = st.one_of(
    st.just(("get", ["k", None])),
    st.sampled_from("xy").map(lambda value: ("put", ["k", value])),
    st.sampled_from("xy").map(lambda value: ("append", ["k", value])),
)
LOG = st.one_of(st.just(("read", ["k", None])), VALUES.map(lambda value: ("append", ["k", value])))


def register_answer(f, asked):
    if f == "read":
        return NIL_OR_VALUES
    return st.sampled_from([asked, [*asked, False]]) if f == "cas" else st.just(asked)


def text_answer(f, asked):
    strings = st.none() | st.text("xy", min_size=1, max_size=3)
    return strings.map(lambda value: ["k", value]) if f == "get" else st.just(asked)


def log_answer(f, asked):
    if f == "read":
        return st.lists(VALUES, max_size=3).map(lambda elements: ["k", elements])
    return st.one_of(st.just(asked), st.integers(0, 3).map(lambda offset: [*asked, offset]))


OBJECTS = {
    "register": (small_histories(REGISTER, register_answer), CasRegister(), None, register),
    "text": (small_histories(TEXT, text_answer), KeyValue(), None, text),
    "log": (small_histories(LOG, log_answer), AppendLog(), [], log),
}


@pytest.mark.parametrize("kind", OBJECTS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_search_agrees_with_the_definition(kind, data):
    histories, model, initial, step = OBJECTS[kind]
    ops = data.draw(histories)

    result = linearizable(ops, model)

    legal = bool(final_states(ops, initial, step))
    assert (result.valid != "invalid") == legal


@pytest.mark.parametrize("kind", OBJECTS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_has_no_place_ends_the_shortest_beginning_without_an_order_and_the_states_before_it_are_all(kind, data):
    histories, model, initial, step = OBJECTS[kind]
    ops = data.draw(histories)
    result = linearizable(ops, model)
    if result.valid != "invalid":
        return
    (failure,) = result.evidence["failures"]
    end = failure["operation"]["completed"]

    assert not final_states(ops[: end + 1], initial, step)
    states = final_states(without(ops[:end], failure["operation"]), initial, step) or final_states(
        ops[:end], initial, step
    )
    assert len(failure["states"]) + failure["further_states"] == len(states)
    assert all(state in states for state in failure["states"])
    assert failure["all_states"]


@pytest.mark.parametrize("kind", OBJECTS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_order_that_is_shown_is_legal_and_has_all_that_ended_before(kind, data):
    histories, model, initial, step = OBJECTS[kind]
    ops = data.draw(histories)
    result = linearizable(ops, model)
    if result.valid != "invalid":
        return
    (failure,) = result.evidence["failures"]
    state = initial
    for one in failure["linearization"]:
        answered = (one["value"],) if one["type"] == "ok" else None
        (state,) = step(state, one["f"], ops[one["invoked"]].value, answered)
        assert state == one["state"]
    placed = [one["invoked"] for one in failure["linearization"]]
    ended = [begin for begin, end in enders(ops) if end < failure["operation"]["completed"]]

    assert set(ended) <= set(placed)
    assert len(placed) == len(set(placed))
    times = dict(enders(ops))
    assert not any(
        times.get(later, len(ops)) < earlier for i, earlier in enumerate(placed) for later in placed[i + 1 :]
    )


def without(ops, operation):
    """The beginning without the operation that got stuck."""
    return [op for place, op in enumerate(ops) if place not in (operation["invoked"], operation["completed"])]


def enders(ops):
    """Invocation and completion of each operation that is ok."""
    open_ = {}
    for place, op in enumerate(ops):
        if op.type == "invoke":
            open_[op.process] = place
        elif op.type == "ok":
            yield open_[op.process], place
