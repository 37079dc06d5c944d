"""`G0`, `G1c`, and their ``-process`` and ``-realtime`` kin: each operation came before the next, and the last before the first.

The name says what the cycle is made of, and the first name that fits is told (Elle's order, by what a database would have to
promise for it to be impossible):

=================  ==============================================
`G0`               `ww` only: writes that interleave
`G1c`              `ww` and `wr`: information that flows in a circle
`G0-process`       `ww` and `process`
`G1c-process`      `ww`, `wr` and `process`
`G0-realtime`      `ww` and `realtime` (and `process`)
`G1c-realtime`     `ww`, `wr` and `realtime` (and `process`)
=================  ==============================================

How they are judged is Jepsen's (``jepsen.tests.kafka``, ``allowed-error-types``). Kafka isolates no writes: transactions write to
their partitions when they come to it, and so interleave. What has a `ww` in it is therefore informational. A cycle without one,
by `wr` alone or with `process` and `realtime`, is a violation: somebody read what was written after they were over, or what was
not committed. Jepsen chooses by an option, ``:ww-deps``, whether it looks for the former or for the latter; here both are looked
for.

>>> from tidemark.checkers import History, Op, check
>>> def txn(time, process, *micros):
...     return Op(time, process, "ok", "txn", micros)
>>> verdict = check(History.of(ops=[
...     txn(1, "a", ("send", "x", (0, 1)), ("send", "y", (1, 2))),
...     txn(2, "b", ("send", "x", (1, 3)), ("send", "y", (0, 4))),
...     txn(3, "c", ("poll", {"x": [(0, 1), (1, 3)], "y": [(0, 4), (1, 2)]})),
... ]))
>>> [(anomaly.name, anomaly.verdict) for anomaly in verdict.anomalies]
[('G0', 'informational')]
>>> verdict = check(History.of(ops=[
...     txn(1, "a", ("send", "x", (0, 1)), ("poll", {"y": [(0, 2)]})),
...     txn(2, "b", ("send", "y", (0, 2)), ("poll", {"x": [(0, 1)]})),
... ]))
>>> [(anomaly.name, anomaly.verdict) for anomaly in verdict.anomalies]
[('G1c', 'violation')]
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from tidemark.checkers.clients.cycles.components import components
from tidemark.checkers.clients.cycles.dependencies import NOBODY, PROCESS, REALTIME, WR, WW, Dependencies, Graph, Kinds
from tidemark.checkers.clients.cycles.in_order import in_order
from tidemark.checkers.clients.cycles.operations import Operations
from tidemark.checkers.clients.cycles.shortest import Budget, shortest_cycle
from tidemark.checkers.clients.cycles.suspects import suspects
from tidemark.checkers.clients.cycles.words import anomaly
from tidemark.checkers.history.columns.columns import Ints, Value
from tidemark.checkers.history.columns.versions import Versions
from tidemark.checkers.verdict.shortened import more_of
from tidemark.checkers.verdict.verdict import INFORMS, VIOLATES, VIOLATION, Anomaly, Judgement

MOST_TOLD = 20
"""So many cycles of one name are told one by one."""

STEPS = 2_000_000
"""So many steps are made, in all, to find cycles that are shorter."""

_ALL = frozenset({WW, WR, PROCESS, REALTIME})


class _Class(NamedTuple):
    """Cycles of one name."""

    name: str
    kinds: Kinds
    judgement: Judgement


def _classes() -> list[_Class]:
    found = []
    for suffix, more in (("", ()), ("-process", (PROCESS,)), ("-realtime", (PROCESS, REALTIME))):
        found += [
            _Class(f"G0{suffix}", frozenset({WW, *more}), INFORMS),
            _Class(f"G1c{suffix}", frozenset({WR, *more}), VIOLATES),
            _Class(f"G1c{suffix}", frozenset({WW, WR, *more}), INFORMS),
        ]
    return found


CLASSES = _classes()
"""The strongest first. A component in which something was told tells no more, but that nothing hides a violation."""


def cycles(
    versions: Versions,
    *,
    acks: str = "all",
    lost: Collection[tuple[str, Value]] = (),
    listed: bool = False,
) -> list[Anomaly]:
    """The shortest cycle of every component of every class, unless a stronger one was told of an operation in it.

    Args:
        versions: the records.
        acks: of sends that do not say.
        lost: records, as ``(key, value)``, that are lost: they say nothing of an order.
        listed: whether halves of one time happened in the order in which they are listed.
    """
    if in_order(versions):
        return []
    dependencies = Dependencies(Operations(versions.columns, acks), versions, lost, listed=listed)
    suspect = suspects(dependencies)
    if not len(suspect):
        return []
    graph = dependencies.among(suspect)
    groups = np.full(len(suspect), NOBODY)
    for number, part in enumerate(components(graph, _ALL, np.zeros_like(groups))):
        groups[part] = number
    if (groups == NOBODY).all():
        return []
    told = np.zeros(len(suspect), np.bool_)
    violating = told.copy()
    budget = Budget(STEPS)
    anomalies: list[Anomaly] = []
    for one in CLASSES:
        before = violating if one.judgement.verdict == VIOLATION else told
        found = [part for part in components(graph, one.kinds, groups) if not before[part].any()]
        for part in found:
            told[part] = True
            if one.judgement.verdict == VIOLATION:
                violating[part] = True
        anomalies += _told(dependencies, graph, one, found, budget)
    return anomalies


def _told(dependencies: Dependencies, graph: Graph, one: _Class, found: list[Ints], budget: Budget) -> list[Anomaly]:
    """The first cycles of a class, and a number."""
    anomalies = []
    for part in found[:MOST_TOLD]:
        cycle = shortest_cycle(graph, part, one.kinds, budget)
        anomalies.append(anomaly(dependencies, graph, one.name, one.judgement, cycle, part))
    rest = found[MOST_TOLD:]
    if rest:
        last = max(anomalies, key=lambda one: (one.time, one.partition))
        anomalies.append(more_of(last, one.judgement, len(rest), where=""))
    return anomalies
