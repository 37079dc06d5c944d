"""Histories of correct objects are never found wrong, and one wrong read in them always is."""

from itertools import count

import pytest
from concurrent_object import Cell, Log, histories
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checkers.objects.linearizability import AppendLog, CasRegister, KeyValue, Register, linearizable

SEEDS = st.integers(0, 2**32)


def few_values(random):
    """Reads, writes and compare-and-sets of five values, as Jepsen's tests of registers have them."""
    f = random.choice(["read", "write", "cas"])
    value = random.randrange(5)
    return f, {"read": None, "write": value, "cas": [random.randrange(5), value]}[f]


def fresh_values(f_write, share):
    """Reads, and writes of values that are never written twice."""
    numbers = count(1)

    def request(random):
        return (f_write, next(numbers)) if random.random() < share else ("read", None)

    return request


def strings(random):
    f = random.choice(["get", "put", "append", "append"])
    return f, None if f == "get" else f"{random.randrange(1000)},"


def correct(kind, seed, calls=60, clients=6):
    """Model and history of a correct object of a kind."""
    if kind == "cas-register":
        return CasRegister(), histories(seed, few_values, Cell, calls=calls, clients=clients)
    if kind == "register":
        return Register(), histories(seed, fresh_values("write", 0.5), Cell, calls=calls, clients=clients)
    keys = ["x", "y", "z"]
    if kind == "key-value":
        return KeyValue(), histories(seed, few_values, Cell, calls=calls, clients=clients, keys=keys)
    if kind == "strings":
        return KeyValue(), histories(seed, strings, Cell, calls=calls, clients=clients, keys=keys)
    request = fresh_values("append", 0.6)
    offsets = kind == "log with offsets"
    return AppendLog(), histories(seed, request, lambda: Log(offsets), calls=calls, clients=clients, keys=keys)


KINDS = ["register", "cas-register", "key-value", "strings", "log", "log with offsets"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, clients=st.integers(1, 12))
def test_a_correct_object_is_never_found_wrong(kind, seed, clients):
    model, ops = correct(kind, seed, clients=clients)

    result = linearizable(ops, model)

    assert result.valid == "valid" or result.unknown_because == "no operation succeeded"


@pytest.mark.parametrize("kind", ["register", "key-value", "log"])
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, choice=st.integers(0, 10**6))
def test_a_read_of_what_was_never_written_is_the_one_operation_without_a_place(kind, seed, choice):
    model, ops = correct(kind, seed)
    reads = [place for place, op in enumerate(ops) if op.type == "ok" and op.f == "read"]
    if not reads:
        return
    place = reads[choice % len(reads)]
    value = {"register": -1, "key-value": lambda old: [old[0], -1], "log": lambda old: [old[0], [*old[1], -1]]}[kind]
    ops[place] = ops[place]._replace(value=value(ops[place].value) if callable(value) else value)

    result = linearizable(ops, model)

    assert result.valid == "invalid"
    (failure,) = result.evidence["failures"]
    assert failure["operation"]["completed"] == place


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, choice=st.integers(0, 10**6))
def test_a_stale_read_is_the_one_operation_without_a_place(seed, choice):
    """Of a value that was overwritten for sure: its only write, and a later one, had ended before the read began."""
    ops = histories(seed, fresh_values("write", 0.5), Cell, calls=40, clients=4, info=0, fail=0)
    begun = begins(ops)
    writes = [place for place, op in enumerate(ops) if op.f == "write" and op.type == "ok"]
    stale = [
        (read, ops[old].value)
        for read, op in enumerate(ops)
        if op.f == "read" and op.type == "ok"
        for old in writes
        if any(old < begun[new] and new < begun[read] for new in writes)
    ]
    if not stale:
        return
    place, value = stale[choice % len(stale)]
    ops[place] = ops[place]._replace(value=value)

    result = linearizable(ops, Register())

    assert result.valid == "invalid"
    (failure,) = result.evidence["failures"]
    assert failure["operation"]["completed"] == place


def begins(ops):
    """Completion → invocation."""
    open_, found = {}, {}
    for place, op in enumerate(ops):
        if op.type == "invoke":
            open_[op.process] = place
        else:
            found[place] = open_[op.process]
    return found


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_same_history_gives_the_same_result(seed):
    model, ops = correct("cas-register", seed, calls=30)
    for place, op in enumerate(ops):
        if op.type == "ok" and op.f == "read":
            ops[place] = op._replace(value=9)

    assert linearizable(ops, model).to_json() == linearizable(ops, model).to_json()
