"""Of each component one cycle is told, and none is shorter; large components cost no more than is allowed; always the same."""

import json
import os
import subprocess
import sys

import numpy as np
from dependent import cycles_in, is_circle, listed, operation, read, told, wrote
from transactional_log import TransactionalLog

from tidemark.checkers import History
from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.cycles import checker
from tidemark.checkers.clients.cycles.components import components
from tidemark.checkers.clients.cycles.dependencies import Dependencies
from tidemark.checkers.clients.cycles.operations import Operations
from tidemark.checkers.clients.cycles.shortest import Budget, shortest_cycle
from tidemark.checkers.clients.cycles.suspects import suspects
from tidemark.checkers.graphs.connected import connected
from tidemark.checkers.graphs.edges import Edges


def ring(size, key="r", at=0):
    """Each reads what the one before it wrote, the first what the last wrote."""
    return [
        operation(
            f"{key}{n}", at, at + 1, wrote(f"{key}{n}", 0, n), read(f"{key}{(n - 1) % size}", (0, (n - 1) % size))
        )
        for n in range(size)
    ]


def test_a_ring_is_one_cycle():
    (anomaly,) = cycles_in(listed(*ring(5)))

    assert is_circle(anomaly)
    assert [step["key"] for step in anomaly.evidence["steps"]] == ["r0", "r1", "r2", "r3", "r4"]


def test_a_long_one_is_told_as_its_beginning():
    (anomaly,) = cycles_in(listed(*ring(100)))

    assert (anomaly.evidence["length"], len(anomaly.evidence["steps"]), anomaly.evidence["shortest"]) == (100, 64, True)
    assert anomaly.message.startswith(
        "Each of 100 operations came before the next, and the last before the first: T1 (txn of r0,"
    )
    assert anomaly.message.endswith("which T7 read at offset 0; and 94 more steps lead back to T1.")


def test_the_shorter_of_two_that_share_an_operation():
    first, *rest = ring(5)
    first[1] = first[1]._replace(value=(*first[1].value, wrote("s", 0, 7), read("t", (0, 8))))
    short = operation("short", 0, 1, wrote("t", 0, 8), read("s", (0, 7)))
    (anomaly,) = cycles_in(listed(first, *rest, short))

    assert [one["process"] for one in anomaly.evidence["operations"]] == ["r0", "short"]
    assert anomaly.evidence["component"] == 6


def test_each_component_is_told_once():
    assert told(*ring(3, "r"), *ring(4, "s"), *ring(2, "q")) == [
        ("G1c", "violation", 3),
        ("G1c", "violation", 4),
        ("G1c", "violation", 2),
    ]


def test_a_harmless_cycle_hides_no_violation():
    a = operation("a", 1, 3, wrote("x", 0, 1), wrote("y", 1, 1), read("y", (0, 2)))
    b = operation("b", 2, 4, wrote("x", 1, 2), wrote("y", 0, 2), read("x", (0, 1)))

    assert told(a, b) == [("G0", "informational", 2), ("G1c", "violation", 2)]


def test_a_cycle_in_a_component_of_a_weaker_class_is_told_and_the_weaker_is_not():
    """Time leads from all of it back to the beginning."""
    late = operation("late", 8, 9, wrote("x", 0, 1), f="send")
    early = operation("early", 0, 1, wrote("x", 1, 2), f="send")

    assert told(late, early) == [("G0-realtime", "informational", 2)]
    assert told(late, *ring(3, at=2), early) == [("G1c", "violation", 3)]


def test_an_operation_that_only_hands_on_is_left_out():
    """Ninety records lie between the two."""
    first = operation("a", 1, 2, wrote("x", 99, 99), f="send")
    between = [operation(f"b{n}", 0, 9, wrote("x", n, n), f="send") for n in range(1, 91)]
    then = operation("c", 3, 4, wrote("x", 0, 0), f="send")

    assert told(first, *between, then) == [("G0-realtime", "informational", 2)]


def test_more_than_twenty_are_a_number(monkeypatch):
    rings = [one for n in range(23) for one in ring(2, f"k{n}-")]
    anomalies = cycles_in(listed(*rings))

    assert len(anomalies) == 21
    assert anomalies[-1].message == "There are 3 more of G1c."
    assert (anomalies[-1].verdict, anomalies[-1].evidence) == ("violation", {"count": 3, "violations": 3})


def interleaved(size):
    clients = clients_of(History(ops=TransactionalLog(3, isolated=False, processes=40, keys=2).play(size)))
    dependencies = Dependencies(Operations(clients.columns), clients.versions)
    graph = dependencies.among(suspects(dependencies))
    kinds = frozenset({"ww", "wr"})
    return graph, kinds, components(graph, kinds, np.zeros_like(graph.operation))


def test_steps_are_kept_to_and_the_cycle_says_that_it_may_not_be_the_shortest():
    """A triangle reached first, and a pair hidden behind it."""
    operations = ring(3)
    operations[2][1] = operations[2][1]._replace(value=(*operations[2][1].value, wrote("s", 0, 7), read("t", (0, 8))))
    operations.append(operation("short", 0, 1, wrote("t", 0, 8), read("s", (0, 7))))
    clients = clients_of(History(ops=listed(*operations)))
    dependencies = Dependencies(Operations(clients.columns), clients.versions)
    graph = dependencies.among(suspects(dependencies))
    kinds = frozenset({"wr"})
    (component,) = components(graph, kinds, np.zeros(4, int))
    hurried, thorough = (shortest_cycle(graph, component, kinds, Budget(steps)) for steps in (0, 100))

    assert (len(hurried.edges), hurried.shortest) == (3, False)
    assert (len(thorough.edges), thorough.shortest) == (2, True)


def test_a_search_costs_no_more_than_the_component_has():
    graph, kinds, found = interleaved(2_000)
    component = max(found, key=len)
    budget = Budget(0)
    shortest_cycle(graph, component, kinds, budget)
    inside = graph.within(component)
    size = inside.sum() + inside[graph.write].sum() + (inside[graph.read.tail] & inside[graph.read.head]).sum()

    assert len(component) > 50
    assert 0 < -budget.steps <= size


def test_a_deep_path_needs_no_recursion():
    count = 100_000
    tail, head = np.arange(count), (np.arange(count) + 1) % count
    backwards = connected(Edges(tail, head), count)

    assert [len(component) for component in backwards] == [count]


def test_two_processes_with_different_hashes_say_the_same():
    program = (
        "import json; from dependent import cycles_in; from transactional_log import TransactionalLog\n"
        "print(json.dumps([a.to_json() for a in cycles_in(TransactionalLog(5, isolated=False).play(300))]))"
    )
    told_by = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert told_by[0] == told_by[1]
    assert len(json.loads(told_by[0])) > 5


def test_the_classes_are_told_in_the_order_of_their_strength():
    names = [one.name for one in checker.CLASSES]

    assert list(dict.fromkeys(names)) == ["G0", "G1c", "G0-process", "G1c-process", "G0-realtime", "G1c-realtime"]
