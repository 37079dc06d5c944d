"""Searches that end before they know, and verdicts that are the same everywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

from concurrent_object import Cell, histories

from tidemark.checkers.objects.linearizability import KeyValue, Register, linearizable

ROOT = Path(__file__).parents[4]


def concurrent_writes(history, last):
    """Ten writes at once, and meanwhile three reads."""
    begun = [(str(value), "invoke", "write", value) for value in range(10)]
    reads = [half for value in (3, 4, last) for half in (("r", "invoke", "read", None), ("r", "ok", "read", value))]
    ended = [(str(value), "ok", "write", value) for value in range(10)]
    return history(*begun, *reads, *ended)


def test_a_search_that_has_no_steps_left_is_unknown_and_says_so(history):
    result = linearizable(concurrent_writes(history, 5), Register(), max_steps=3)

    assert result.valid == "unknown"
    assert result.unknown_because.startswith("the search ended after ")


def test_a_search_that_runs_out_of_time_is_unknown_and_says_so(history):
    result = linearizable(concurrent_writes(history, 5), Register(), timeout=0)

    assert (result.valid, result.unknown_because) == ("unknown", "the search ran out of time (time-out 0 s)")


def test_with_steps_enough_it_is_known(history):
    assert linearizable(concurrent_writes(history, 5), Register(), max_steps=1000).valid == "valid"
    assert linearizable(concurrent_writes(history, 11), Register(), max_steps=1000).valid == "invalid"


def test_one_key_that_is_wrong_counts_though_another_is_not_known(history):
    hard = [half._replace(value=["hard", half.value]) for half in concurrent_writes(history, 5)]
    wrong = history(("w", "invoke", "read", ["wrong", None]), ("w", "ok", "read", ["wrong", 1]))
    late = [half._replace(time=half.time + 1_000_000) for half in wrong]

    result = linearizable([*hard, *late], KeyValue(), max_steps=3)

    assert (result.valid, result.evidence["invalid_keys"], result.evidence["unknown_keys"]) == (
        "invalid",
        ["wrong"],
        ["hard"],
    )


def test_many_unknown_writes_that_nobody_saw_cost_nothing(history):
    """Without foresight each could have happened at any time: 2 to the power of 200 cases."""
    lost = [
        half
        for value in range(200)
        for half in ((f"c{value}", "invoke", "write", value), (f"c{value}", "info", "write", value))
    ]
    reads = [half for _ in range(20) for half in (("r", "invoke", "read", None), ("r", "ok", "read", None))]

    assert linearizable(history(*lost, *reads), Register()).evidence["steps"] == 0


def test_fifty_clients_on_one_key_with_values_of_their_own_are_judged(history):
    """Fifty writes are open at once; the reads say in which order they took effect, and the last contradicts them."""
    begun = [(f"c{value}", "invoke", "write", value) for value in range(50)]
    reads = [half for value in range(50) for half in (("r", "invoke", "read", None), ("r", "ok", "read", value))]
    ended = [(f"c{value}", "ok", "write", value) for value in range(50)]
    right = history(*begun, *reads, *ended)
    wrong = history(*begun, *reads, ("r", "invoke", "read", None), ("r", "ok", "read", 7), *ended)

    assert linearizable(right, Register()).valid == "valid"
    result = linearizable(wrong, Register())
    assert result.valid == "invalid"
    assert result.evidence["failures"][0]["operation"]["completed"] == 151


def told(seed):
    """What is said of a history with strings in all places, one answer of which is made up."""

    def request(random):
        f = random.choice(["get", "put", "cas"])
        value = random.choice("abc")
        return f, {"get": None, "put": value, "cas": [random.choice("abc"), value]}[f]

    ops = histories(seed, request, Cell, calls=60, clients=6, keys=["x", "y", "z"])
    place = max(place for place, op in enumerate(ops) if op.f == "get" and op.type == "ok")
    ops[place] = ops[place]._replace(value=[ops[place].value[0], "made up"])
    return json.dumps(linearizable(ops, KeyValue()).to_json())


def test_the_result_has_the_same_bytes_in_every_process():
    script = f"import sys; sys.path[:0] = {[str(ROOT / 'tests/support'), str(Path(__file__).parent)]!r}\n"
    script += "from test_limits import told; print(told(3))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert outputs == {told(3) + "\n"}
