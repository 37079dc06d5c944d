"""The cases of Porcupine's own tests of a register that holds 0 at first (`porcupine_test.go` of anishathalye/porcupine, which has
the first two from the MIT's course 6.824), and histories with many operations of unknown outcome.
"""

import pytest
from concurrent_object import Cell, histories

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability import CasRegister, Register, linearizable

CASES = {
    "reads around the moment of a write": ([("put", 100, 0, 100), ("get", 100, 25, 75), ("get", 0, 30, 60)], "valid"),
    "the old value after the new one": ([("put", 200, 0, 100), ("get", 200, 10, 30), ("get", 0, 40, 90)], "invalid"),
    "reads that take no time": (
        [("put", 100, 0, 100), ("get", 100, 25, 75), ("get", 0, 30, 30), ("get", 0, 30, 30)],
        "valid",
    ),
    "reads that take no time, and the old value after them": (
        [("put", 200, 0, 100), ("get", 200, 10, 10), ("get", 200, 10, 10), ("get", 0, 40, 90)],
        "invalid",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_porcupines_cases(name):
    calls, expected = CASES[name]
    halves = []
    for process, (what, value, begin, end) in enumerate(calls):
        f = {"put": "write", "get": "read"}[what]
        halves.append(Op(begin, f"c{process}", "invoke", f, value if f == "write" else None))
        halves.append(Op(end, f"c{process}", "ok", f, value))
    halves.sort(key=lambda half: half.time)

    assert linearizable(halves, Register(initial=0)).valid == expected


def unsure(calls, values):
    """A register's history, in which one operation of six has no known outcome."""

    def request(random):
        f = random.choice(["read", "write", "cas"])
        value = random.randrange(values)
        return f, {"read": None, "write": value, "cas": [random.randrange(values), value]}[f]

    return histories(3, request, Cell, calls=calls, clients=5)


def test_steps_grow_as_operations_do_though_open_ones_pile_up():
    few, many = (linearizable(unsure(calls, 4), CasRegister()) for calls in (500, 4_000))

    assert (few.valid, many.valid) == ("valid", "valid")
    assert many.evidence["steps"] < 12 * few.evidence["steps"]


def test_values_of_their_own_are_looked_up_and_not_compared_with_each_other():
    """With a comparison of each two, 20,000 values take minutes."""
    halves = [
        half
        for value in range(20_000)
        for half in (
            Op(4 * value, "w", "invoke", "write", value),
            Op(4 * value + 1, "w", "ok", "write", value),
            Op(4 * value + 2, "r", "invoke", "read", None),
            Op(4 * value + 3, "r", "ok", "read", value),
        )
    ]

    assert linearizable(halves, Register()).valid == "valid"
