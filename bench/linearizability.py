"""Linearizability: many short histories of a register, and long ones of a key-value store with many clients; CPU time, one core."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability import CasRegister, KeyValue, Model, linearizable

INFO = 0.03
"""The share of operations whose outcome nobody knows."""


def main() -> None:
    """Print the seconds for each set of histories, correct ones and ones with a wrong read, beside the bar."""
    short = [_history(seed, 75, 5, None, 5) for seed in range(100)]
    _measure("100 cas-registers, 150 events, 5 processes", short, CasRegister())
    for keys in (10, 1):
        long = [_history(seed, 2000, 50, keys, 5) for seed in range(5)]
        _measure(f"key-value, 2,000 operations, 50 clients, {keys} key{'s' * (keys > 1)}", long, KeyValue(), each=True)
    fresh = [_history(seed, 2000, 50, 10, None) for seed in range(5)]
    _measure("the same, 10 keys, every value written once", fresh, KeyValue(), each=True)


def _measure(name: str, histories: list[list[Op]], model: Model, *, each: bool = False) -> None:
    wrong = [_with_a_wrong_read(seed, ops) for seed, ops in enumerate(histories)]
    for kind, those in (("correct", histories), ("a wrong read", wrong)):
        seconds, steps, verdicts = [], [], []
        for ops in those:
            start = process_time()
            result = linearizable(ops, model)
            seconds.append(process_time() - start)
            steps.append(result.evidence["steps"])
            verdicts.append(result.valid)
        told = ", ".join(f"{verdicts.count(valid)} {valid}" for valid in sorted(set(verdicts)))
        took = f"{max(seconds):5.2f} s the slowest" if each else f"{sum(seconds):5.2f} s in all"
        print(f"{name:<58}{kind:<14}{took} (bar: 5), {max(steps):>9,} steps the most, {told}")


def _history(seed: int, calls: int, clients: int, keys: int | None, values: int | None) -> list[Op]:
    """The halves of operations on a correct object: reads, writes and, of few values, compare-and-sets."""
    random = Random(seed)
    ready = dict.fromkeys(range(clients), 0.0)
    made: list[dict[str, Any]] = []
    for number in range(calls):
        process = min(ready, key=lambda one: ready[one])
        begin = ready.pop(process) + random.random()
        effect = begin + random.expovariate(1)
        end = effect + random.expovariate(1)
        f = random.choice(["read", "write"] if values is None else ["read", "write", "cas"])
        new = number if values is None else random.randrange(values)
        asked = {"read": None, "write": new, "cas": [random.randrange(values or 1), new]}[f]
        unsure = random.random() < INFO
        happens = not unsure or random.random() < 0.5
        call = {"process": f"c{process}", "f": f, "asked": asked, "begin": begin, "end": None if unsure else end}
        made.append(call | {"effect": effect if happens else None, "key": random.randrange(keys) if keys else None})
        ready[process + clients if unsure else process] = end
    _answer(made)
    halves = []
    for call in made:
        halves.append((call["begin"], call, "invoke", call["asked"]))
        if call["end"] is not None:
            halves.append((call["end"], call, call["type"], call["answered"]))
    halves.sort(key=lambda half: half[0])
    return [
        Op(time, call["process"], kind, call["f"], value if call["key"] is None else [call["key"], value])
        for time, (_, call, kind, value) in enumerate(halves)
    ]


def _answer(made: list[dict[str, Any]]) -> None:
    """Let the operations take effect, each at its time."""
    cells: dict[int | None, Any] = {}
    for call in sorted((call for call in made if call["effect"] is not None), key=lambda call: call["effect"]):
        value, asked = cells.get(call["key"]), call["asked"]
        call["type"], call["answered"] = "ok", value if call["f"] == "read" else asked
        if call["f"] == "write":
            cells[call["key"]] = asked
        elif call["f"] == "cas" and value == asked[0]:
            cells[call["key"]] = asked[1]
        elif call["f"] == "cas":
            call["type"] = "fail"


def _with_a_wrong_read(seed: int, ops: list[Op]) -> list[Op]:
    """The same with one read, in the later half, of a value that another read in the earlier half returned, and it did not."""
    random = Random(seed)
    reads = [place for place, op in enumerate(ops) if op.type == "ok" and op.f == "read"]
    while True:
        old, place = random.choice(reads[: len(reads) // 2]), random.choice(reads[len(reads) // 2 :])
        same_key = not isinstance(ops[old].value, list) or ops[old].value[0] == ops[place].value[0]
        changed = [*ops[:place], ops[place]._replace(value=ops[old].value), *ops[place + 1 :]]
        if same_key and ops[old].value != ops[place].value:
            return changed
