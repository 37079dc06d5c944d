"""What the core does is worked out once for all processes, and states go to the process whose they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidemark.harness.search.explore.fingerprints import Fingerprints, Prints, PrintsOf
from tidemark.harness.search.explore.level import Levels
from tidemark.harness.search.explore.mesh import Mesh
from tidemark.harness.search.explore.table import Numbers, Table
from tidemark.harness.search.explore.vocabulary import Vocabulary

_MIX = np.uint64(0x9E3779B97F4A7C15)


class _Kind(NamedTuple):
    """Of one table: what its keys and its columns number; None: nothing, they are the same everywhere."""

    keys: tuple[Vocabulary | None, Vocabulary | None]
    columns: tuple[Vocabulary | None, ...]


class Sharing:
    """One process's side of it."""

    def __init__(self, levels: Levels, fingerprints: Fingerprints, mesh: Mesh) -> None:
        """See the class."""
        world = levels.world
        self._levels, self._mesh = levels, mesh
        commons, places, size = fingerprints.common_prints, fingerprints.place_prints, mesh.size
        self._commons = common = Vocabulary(world.commons.values, commons, world.numbered_common, size)
        self._places = place = Vocabulary(world.places.values, places, world.numbered_place, size)
        tells = Vocabulary(levels.tells.values, PrintsOf(levels.tells.values), levels.tells.number, size)
        self._kinds = (
            _Kind((place, None), (place, None)),
            _Kind((place, place), (place, place)),
            _Kind((common, place), (common, place, tells)),
            _Kind((common, place), (common, place, tells)),
            _Kind((common, None), (common, tells, None)),
        )
        """In the order of :meth:`Levels.needed`."""

    def work_out(self, rows: Numbers) -> None:
        """Have all that the rows of all processes need worked out, each by one of them. All processes have to."""
        mesh = self._mesh
        if mesh.size == 1:
            return
        wanted: list[list[tuple[Numbers, Numbers]]] = [[] for _ in range(mesh.size)]
        for kind, (table, keys) in zip(self._kinds, self._levels.needed(rows), strict=True):
            one, other = table.unknown(*keys)
            owner = (_mixed(kind.keys[0], one) * _MIX + _mixed(kind.keys[1], other)) * _MIX >> np.uint64(32)
            owner %= np.uint64(mesh.size)
            for process, asked in enumerate(wanted):
                those = owner == process
                asked.append((one[those], other[those]))
        asked_here = mesh.exchange([self._asks(asked, process) for process, asked in enumerate(wanted)])
        answers = mesh.exchange([self._answers(asks, process) for process, asks in enumerate(asked_here)])
        for process, answer in enumerate(answers):
            for kind, table, keys, (counts, columns) in zip(
                self._kinds, self._tables(), wanted[process], answer, strict=False
            ):
                heard = [_hear(words, column, process) for words, column in zip(kind.columns, columns, strict=True)]
                table.learn(*keys, counts, np.stack(heard, axis=1))

    def send(self, rows: Numbers, to: int) -> Any:  # noqa: ANN401 (what :meth:`receive` takes)
        """States as another process understands them."""
        if to == self._mesh.rank:
            return rows
        return self._commons.say(rows[:, 0], to), self._places.say(rows[:, 1:].ravel(), to)

    def receive(self, parcel: Any, of: int) -> Numbers:  # noqa: ANN401
        """The states in it."""
        if of == self._mesh.rank:
            own: Numbers = parcel
            return own
        commons, places = self._commons.hear(parcel[0], of), self._places.hear(parcel[1], of)
        return np.column_stack([commons, places.reshape(-1, self._levels.world.bounds.brokers)])

    def _tables(self) -> tuple[Table, ...]:
        levels = self._levels
        return levels.alone, levels.pairs, levels.decisions, levels.returns, levels.control

    def _asks(self, keys: list[tuple[Numbers, Numbers]], process: int) -> list[Any]:
        """What is this one's own is worked out when it is looked up."""
        if process == self._mesh.rank:
            return []
        return [
            (_say(kind.keys[0], one, process), _say(kind.keys[1], other, process))
            for kind, (one, other) in zip(self._kinds, keys, strict=True)
        ]

    def _answers(self, asks: list[Any], process: int) -> list[Any]:
        answers = []
        for kind, table, ask in zip(self._kinds, self._tables(), asks, strict=False):
            one, other = (_hear(words, spoken, process) for words, spoken in zip(kind.keys, ask, strict=True))
            columns = table.rows(one, other).values.T
            told = [_say(words, column, process) for words, column in zip(kind.columns, columns, strict=True)]
            answers.append((table.counts(one, other), told))
        return answers


def _mixed(words: Vocabulary | None, numbers: Numbers) -> Prints:
    return numbers.astype(np.uint64) if words is None else words.prints()[numbers]


def _say(words: Vocabulary | None, numbers: Numbers, to: int) -> Any:  # noqa: ANN401
    return numbers if words is None else words.say(numbers, to)


def _hear(words: Vocabulary | None, spoken: Any, of: int) -> Numbers:  # noqa: ANN401
    heard: Numbers = spoken if words is None else words.hear(spoken, of)
    return heard
