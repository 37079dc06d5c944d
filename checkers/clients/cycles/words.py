"""A cycle in words: who came before whom, and how that is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.checkers.clients.cycles.dependencies import PROCESS, WR, WW, Dependencies, Graph
from tidemark.checkers.clients.cycles.operations import NEVER
from tidemark.checkers.clients.cycles.shortest import Cycle, Edge
from tidemark.checkers.graphs.sentence import MOST_EVIDENCE, sentence
from tidemark.checkers.history.columns.columns import TYPES, Ints
from tidemark.checkers.verdict.verdict import Anomaly, Judgement, at_offset, seconds


def anomaly(
    dependencies: Dependencies, graph: Graph, name: str, judgement: Judgement, cycle: Cycle, component: Ints
) -> Anomaly:
    """What is told of a cycle of a component."""
    told = _Told(dependencies, graph, cycle)
    steps = [told.step(edge) for edge in cycle.edges[:MOST_EVIDENCE]]
    evidence = {
        "length": len(cycle.edges),
        "operations": [told.operation(edge.tail) for edge in cycle.edges[:MOST_EVIDENCE]],
        "steps": [step for step, _ in steps],
        "shortest": cycle.shortest,
        "component": len(component),
    }
    key = next(step["key"] for step, _ in steps if "key" in step)
    return Anomaly(
        name,
        judgement.verdict,
        told.time,
        key,
        told.message([words for _, words in steps]),
        judgement.clause,
        judgement.breaks,
        evidence,
    )


class _Told:
    """The operations of a cycle, T1 and so on.

    Attributes:
        time: when all of them had begun or ended, µs.
    """

    def __init__(self, dependencies: Dependencies, graph: Graph, cycle: Cycle) -> None:
        self._dependencies = dependencies
        self._versions = dependencies.versions
        self._columns = dependencies.operations.columns
        self._graph = graph
        self._order = [edge.tail for edge in cycle.edges]
        self._names = {operation: f"T{number}" for number, operation in enumerate(self._order, start=1)}
        last = dependencies.operations.last[graph.operation[self._order]]
        self.time = int(self._columns.time[last].max())

    def operation(self, operation: int) -> dict[str, Any]:
        """An operation as evidence; times in µs, None for what nobody knows."""
        operations, columns = self._dependencies.operations, self._columns
        number = self._graph.operation[operation]
        begin, end = int(operations.begin[number]), int(operations.end[number])
        return {
            "name": self._names[operation],
            "process": columns.processes[operations.process[number]],
            "f": columns.fs[columns.f[operations.last[number]]],
            "type": TYPES[columns.type[end]] if end != NEVER else None,
            "began": int(columns.time[begin]) if begin != NEVER else None,
            "ended": int(columns.time[end]) if end != NEVER else None,
        }

    def step(self, edge: Edge) -> tuple[dict[str, Any], str]:
        """A dependency as evidence, and in words."""
        tail, head = self._names[edge.tail], self._names[edge.head]
        step: dict[str, Any] = {"kind": edge.kind, "before": tail, "after": head}
        if edge.kind == WW:
            key, before, after = self._writes(edge)
            words = (
                f"{tail} wrote record {before['value']} of {key} {at_offset(before['offset'])}, before {head} wrote record "
                f"{after['value']} {at_offset(after['offset'])}"
            )
            return step | {"key": key, "wrote": before, "then": after}, words
        if edge.kind == WR:
            key, record = self._read(edge)
            words = f"{tail} wrote record {record['value']} of {key}, which {head} read {at_offset(record['offset'])}"
            return step | {"key": key, "record": record}, words
        before, after = self.operation(edge.tail), self.operation(edge.head)
        if edge.kind == PROCESS:
            return step | {"process": before["process"]}, f"{before['process']} did {tail} before {head}"
        words = f"{tail} was over at {seconds(before['ended'])}, before {head} began at {seconds(after['began'])}"
        return step | {"ended": before["ended"], "began": after["began"]}, words

    def message(self, steps: list[str]) -> str:
        """One sentence."""
        return sentence([f"{self._names[one]} ({self._who(one)})" for one in self._order], steps)

    def _who(self, operation: int) -> str:
        one = self.operation(operation)
        if one["ended"] is None:
            when = f"begun at {seconds(one['began'])}, never over"
        elif one["began"] is None:
            when = f"over at {seconds(one['ended'])}"
        else:
            when = f"{seconds(one['began'])} to {seconds(one['ended'])}"
        return f"{one['f']} of {one['process']}, {when}"

    def _writes(self, edge: Edge) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The key, and the two writes that are nearest to each other."""
        graph = self._graph
        places = np.flatnonzero((graph.write == edge.tail) | (graph.write == edge.head))
        is_head, key = graph.write[places] == edge.head, graph.write_key[places]
        pairs = np.flatnonzero(~is_head[:-1] & is_head[1:] & (key[1:] == key[:-1]))
        nearest = pairs[np.argmin(places[pairs + 1] - places[pairs])]
        before, after = graph.write_value[places[nearest : nearest + 2]].tolist()
        return self._columns.keys[key[nearest]], self._record(before), self._record(after)

    def _record(self, value: int) -> dict[str, Any]:
        """A write, from the first row that tells its offset."""
        versions = self._versions
        rows = versions.sightings[versions.value[versions.sightings] == value]
        sighting = versions.sighting(int(rows[0]))
        return {"value": sighting.value, "offset": sighting.offset}

    def _read(self, edge: Edge) -> tuple[str, dict[str, Any]]:
        graph = self._graph
        (places,) = np.nonzero((graph.read.tail == edge.tail) & (graph.read.head == edge.head))
        row = int(graph.read_row[places[0]])
        sighting = self._versions.sighting(row)
        key = self._columns.keys[self._versions.key[row]]
        return key, {"value": sighting.value, "offset": sighting.offset}
