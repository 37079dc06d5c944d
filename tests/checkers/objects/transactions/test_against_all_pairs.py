"""The columns, hubs, colours and searches against a plain way: all pairs of transactions, and reachability.

Histories are nonsense: reads are any beginnings of one order for each key, so that all kinds of cycles come about.
"""

from random import Random

import pytest

from tidemark.checkers import Op
from tidemark.checkers.objects.transactions.check import list_append, rw_register
from tidemark.checkers.objects.transactions.consistency import CYCLES, SUFFIXES, refuted


def nonsense(seed):
    """Halves of ok transactions, and the order of each key's elements."""
    random = Random(seed)
    count, keys = random.randint(2, 9), random.randint(1, 3)
    plans = [[(random.choice("ar"), random.randrange(keys)) for _ in range(random.randint(1, 3))] for _ in range(count)]
    elements = {key: [] for key in range(keys)}
    written = [
        [
            ("append", key, elements[key].append((at, place)) or (at, place)) if f == "a" else ("r", key, None)
            for place, (f, key) in enumerate(plan)
        ]
        for at, plan in enumerate(plans)
    ]
    for order in elements.values():
        random.shuffle(order)
    shown = {key: random.randint(0, len(order)) for key, order in elements.items()}
    halves, open_ = [], []
    waiting = list(range(count))
    time = 0
    while waiting or open_:
        time += random.randrange(2)
        if waiting and (not open_ or random.random() < 0.5):
            at = waiting.pop(0)
            open_.append(at)
            halves.append((time, at, "invoke", [[f, key, value and list(value)] for f, key, value in written[at]]))
        else:
            at = open_.pop(random.randrange(len(open_)))
            value = [
                [f, key, list(value)]
                if f != "r"
                else [f, key, [list(one) for one in elements[key][: random.randint(0, shown[key])]]]
                for f, key, value in written[at]
            ]
            halves.append((time, at, "ok", value))
    free = []
    ops = []
    process = {}
    for time, at, type_, value in halves:
        if type_ == "invoke":
            process[at] = free.pop() if free and random.random() < 0.5 else f"p{at}"
        else:
            free.append(process[at])
        ops.append(Op(time, process[at], type_, "txn", value))
    return ops


def expected(ops):  # noqa: C901, PLR0912 - every pair in one place
    """The names of all cycles that there are, by what they refute: of each suffix the gravest of every kind."""
    txns, begun = [], {}
    for place, op in enumerate(ops):
        if op.type == "invoke":
            begun[op.process] = place
        else:
            txns.append((begun[op.process], place, op))
    longest = {}
    for _, _, op in txns:
        for f, key, value in op.value:
            if f == "r" and len(value) > len(longest.get(key, ())):
                longest[key] = [tuple(one) for one in value]

    def at(key, one):
        order = longest.get(key, [])
        return order.index(one) if one in order else len(order)

    one_time = len({op.time for op in ops}) == 1
    edges = set()
    for one, (begin_1, end_1, op_1) in enumerate(txns):
        for two, (begin_2, _, op_2) in enumerate(txns):
            if one == two:
                continue
            over = end_1 < begin_2 if one_time else ops[end_1].time < ops[begin_2].time
            if over:
                edges.add((one, two, "realtime"))
            if op_1.process == op_2.process and begin_1 < begin_2:
                edges.add((one, two, "process"))
            for f, key, value in op_1.value:
                for g, other, then in op_2.value:
                    if key != other:
                        continue
                    if f == g == "append" and at(key, tuple(value)) < at(key, tuple(then)):
                        edges.add((one, two, "ww"))
                    if f == "append" and g == "r" and then and tuple(then[-1]) == tuple(value):
                        edges.add((one, two, "wr"))
                    if f == "r" and g == "append" and at(key, tuple(then)) >= len(value):
                        edges.add((one, two, "rw"))
    names = set()
    for suffix, more in zip(SUFFIXES, ((), ("process",), ("process", "realtime")), strict=True):
        for name in CYCLES:
            if exists(edges, name, more, len(txns)):
                names.add(name + suffix)
    return names


def exists(edges, name, more, count):
    """Whether there is a cycle of a class."""
    plain = {"G0": {"ww"}}.get(name, {"ww", "wr"}) | set(more)
    beginning = {"G0": "ww", "G1c": "wr"}.get(name, "rw")
    for source, head, kind in edges:
        if kind != beginning:
            continue
        reached, todo = {(head, kind == "rw")}, [(head, kind == "rw")]
        while todo:
            node, after = todo.pop()
            for tail, then, other in edges:
                rw = other == "rw"
                if tail != node or (other not in plain and not rw):
                    continue
                if rw and (name in ("G0", "G1c", "G-single") or (name == "G-nonadjacent" and after)):
                    continue
                if then == source and (not rw or name == "G2-item"):
                    return True
                if then != source and (then, rw) not in reached:
                    reached.add((then, rw))
                    todo.append((then, rw))
    return False


@pytest.mark.parametrize("part", range(8))
def test_what_is_refuted_is_what_all_pairs_refute(part):
    seen = set()
    for seed in range(part * 100, part * 100 + 100):
        ops = nonsense(seed)
        result = list_append(ops)
        cycles = {name for name in result.evidence["anomaly_counts"] if name.startswith(CYCLES)}
        names = expected(ops)
        assert refuted(cycles) == refuted(names), (seed, cycles, names)
        for anomaly in result.evidence["anomalies"]:
            if anomaly["name"].startswith(CYCLES):
                steps = anomaly["evidence"]["steps"]
                assert anomaly["name"] in names, seed
                assert [one["after"] for one in steps] == [one["before"] for one in (*steps[1:], steps[0])]
        seen |= cycles
    assert len(seen) > 6


@pytest.mark.parametrize("part", range(4))
def test_versions_in_time_are_ordered_as_all_pairs_are(part):
    """Of one register, whose writes and reads are each a transaction: cyclic if and only if two values are."""
    outcomes = set()
    for seed in range(part * 200, part * 200 + 200):
        random = Random(seed)
        spans = sorted((random.randrange(30), random.randint(1, 8)) for _ in range(random.randint(2, 8)))
        values = [random.randrange(1, 5) for _ in spans]
        halves = []
        written = set()
        for number, ((begin, length), value) in enumerate(zip(spans, values, strict=True)):
            f = "r" if value in written else "w"
            written.add(value)
            asked = [[f, "x", None if f == "r" else value]]
            halves.append(Op(begin, f"p{number}", "invoke", "txn", asked))
            halves.append(Op(begin + length, f"p{number}", "ok", "txn", [[f, "x", value]]))
        halves.sort(key=lambda op: (op.time, op.type != "invoke"))
        before = {
            (one, other)
            for (begin, length), one in zip(spans, values, strict=True)
            for (later, _), other in zip(spans, values, strict=True)
            if begin + length < later and one != other
        }
        while True:
            more = {(a, d) for a, b in before for c, d in before if b == c} - before
            if not more:
                break
            before |= more
        cyclic = any((b, a) in before for a, b in before) or any(a == b for a, b in before)
        result = rw_register(halves, keys_are=["linearizable"])
        assert ("cyclic-versions" in result.parts) == cyclic, seed
        outcomes.add(cyclic)
    assert outcomes == {True, False}
