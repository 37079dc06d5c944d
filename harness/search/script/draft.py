"""A draft of a script: its lines, and which of them go together; and ways to write one from a run.

In a run an order of events came about by the lengths of delays. A script must bring the same order about whatever the lengths:
nothing arrives before its time. So whatever may arrive too early has a *gate*, which is closed before it could, and opened when in
the run it did: what the controller tells a broker (``block leadership to A``), and what goes on between follower and leader
(``cut B from A``). Most gates turn out not to be needed; dropping them is the minimiser's work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidemark.harness.search.script.moment import Moment
from tidemark.harness.search.script.moments import Story
from tidemark.harness.search.script.order import coalesced, eased


class Line(NamedTuple):
    """A command.

    Attributes:
        command: in a script's words.
        unit: lines of one unit are dropped together, or none.
        step: which step it belongs to; steps are numbered anew when the script is written.
        words: what the step says of it.
        kind: ``deed``, ``gate`` or ``until``.
    """

    command: str
    unit: int
    step: int
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class Way:
    """How strictly a draft keeps to the order of a run.

    Attributes:
        leadership: gates between the controller and each broker.
        replication: gates between each follower and leader, in place of the cuts that the plan has.
        parked: what follower and leader are kept from is the follower's requests only, and no gate opens for a record that is sent:
            the fetch that waits at the leader is answered with it, and the leader does not hear that the follower has it.
        rests: a broker that is to start is away for a second at least.
        eased: in an order that is easier to bring about (`tidemark.harness.search.script.order`).
    """

    leadership: bool
    replication: bool
    parked: bool = False
    eased: bool = True
    rests: bool = False


WAYS = (
    Way(leadership=True, replication=True),
    Way(leadership=True, replication=True, eased=False),
    Way(leadership=True, replication=True, rests=True),
    Way(leadership=True, replication=True, parked=True),
    Way(leadership=True, replication=True, parked=True, eased=False),
    Way(leadership=True, replication=False),
    Way(leadership=False, replication=True),
    Way(leadership=False, replication=False),
)
"""In the order in which they are tried."""


def draft(story: Story, way: Way) -> list[Line]:
    """The lines for a run's story, all of them."""
    return list(_Drafter(story, way).lines())


class _Gate:
    """One gate: the commands that close and open it, and whether it is closed now."""

    def __init__(self, close: str, open_: str, words: str) -> None:
        self.close = close
        self.open = open_
        self.words = words
        self.unit: int | None = None


class _Drafter:
    def __init__(self, story: Story, way: Way) -> None:
        self._way = way
        self._names = story.names
        self._moments = coalesced(eased(story.moments)) if way.eased else story.moments
        self._units = 0
        self._step = -1
        self._keys: dict[object, int] = {}
        self._leadership = {
            broker: _Gate(
                f"block leadership to {name}", f"unblock leadership to {name}", f"{name} hears nothing of leaders."
            )
            for broker, name in story.names.items()
        }
        self._replication: dict[tuple[int, int], _Gate] = {}
        self._leaders = {next(iter(story.names))}

    def _unit(self) -> int:
        self._units += 1
        return self._units

    def lines(self) -> Iterator[Line]:
        for place, moment in enumerate(self._moments):
            if moment.does or moment.cuts or moment.joins:
                self._step = place
                yield from self._before(place)
                yield from self._deed(moment)
            else:
                yield from self._change(place, moment)

    def _window(self, place: int) -> Sequence[Moment]:
        """What came about from a deed on until the next one."""
        end = next((i for i in range(place + 1, len(self._moments)) if self._moments[i].does), len(self._moments))
        return self._moments[place:end]

    def _newest(self, place: int) -> int:
        """The newest leader epoch that was decided."""
        return max((one.epoch for one in self._moments[: place + 1] if one.elects), default=0)

    def _before(self, place: int) -> Iterator[Line]:
        moment, window = self._moments[place], self._window(place)
        starts = moment.does[:1] and moment.does[0].startswith("start ")
        if self._way.rests and starts:
            yield Line("run 1 s", self._unit(), self._step, "", "gate")
        if self._way.leadership:
            if any(one.elects for one in window):
                for gate in self._leadership.values():
                    yield from self._close(gate)
            elif starts:
                name = moment.does[0].removeprefix("start ")
                for broker, gate in self._leadership.items():
                    if self._names[broker] == name:
                        yield from self._close(gate)
        if self._way.replication and (not self._way.parked or (moment.does and moment.does[0].startswith("send "))):
            self._leaders |= {leader for one in self._moments[: place + len(window)] for _, leader in one.pairs}
            self._leaders |= {one.hears for one in self._moments[: place + len(window)] if " leads " in one.shows}
            for leader in sorted(self._leaders):
                for follower in self._names:
                    if follower != leader:
                        yield from self._close(self._between(follower, leader))

    def _between(self, follower: int, leader: int) -> _Gate:
        pair = (follower, leader) if self._way.parked else (min(follower, leader), max(follower, leader))
        if pair not in self._replication:
            a, b = self._names[pair[0]], self._names[pair[1]]
            if self._way.parked:
                link = f"fetch requests from {a} to {b}"
                gate = _Gate(f"block {link}", f"unblock {link}", f"{b} does not hear what {a} has.")
            else:
                gate = _Gate(f"cut {a} from {b}", f"join {a} and {b}", f"{a} and {b} do not reach each other.")
            self._replication[pair] = gate
        return self._replication[pair]

    def _is_parked(self, place: int) -> bool:
        """Whether a record that came about here was sent in this window, so that the fetch that waited had it."""
        begin = next(i for i in range(place, -1, -1) if self._moments[i].does)
        return (
            self._way.parked
            and self._moments[begin].does[0].startswith("send ")
            and " LEO " in self._moments[place].shows
        )

    def _close(self, gate: _Gate) -> Iterator[Line]:
        if gate.unit is None:
            gate.unit = self._unit()
            yield Line(gate.close, gate.unit, self._step, gate.words, "gate")

    def _open(self, gate: _Gate) -> Iterator[Line]:
        if gate.unit is not None:
            yield Line(gate.open, gate.unit, self._step, "", "gate")
            gate.unit = None

    def _deed(self, moment: Moment) -> Iterator[Line]:
        unit = self._unit() if moment.key is None else self._keys.setdefault(moment.key, self._unit())
        commands = list(moment.does)
        if not self._way.replication:
            commands += [f"cut {self._names[a]} from {self._names[b]}" for a, b in sorted(moment.cuts)]
            commands += [f"join {self._names[a]} and {self._names[b]}" for a, b in sorted(moment.joins)]
        for number, command in enumerate(commands):
            yield Line(command, unit, self._step, "" if number else moment.words, "deed")

    def _change(self, place: int, moment: Moment) -> Iterator[Line]:
        if moment.hears and self._way.leadership:
            yield from self._open(self._leadership[moment.hears])
        if self._way.replication and not self._is_parked(place):
            for follower, leader in sorted(moment.pairs):
                yield from self._open(self._between(follower, leader))
        yield Line(f"until {moment.shows}", self._unit(), self._step, moment.words, "until")
        if moment.hears and self._way.leadership and self._newest(place) > moment.epoch:
            yield from self._close(self._leadership[moment.hears])
        if self._way.replication:
            later = [one for one in self._window(place)[1:] if not one.does]
            for follower, leader in sorted(moment.pairs):
                if not any((follower, leader) in one.pairs for one in later):
                    yield from self._close(self._between(follower, leader))


def without(lines: Sequence[Line], units: set[int]) -> list[Line]:
    """The lines of all other units."""
    return [line for line in lines if line.unit not in units]
