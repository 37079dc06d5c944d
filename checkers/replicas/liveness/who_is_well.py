"""Who is well, who leads and who is in the ISR, from moment to moment: nemesis and trace side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, TraceEvent
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.liveness.faults_in_force import FaultsInForce, until_all_has_arrived

CONTROLLER = 0
_KINDS = frozenset(
    {"elect", "isr-change", "stop", "start", "register", "pause", "resume", "fence", "unfence", "reassign", "log-lost"}
)

_SHUTS_DOWN = ("strike", "restart")


class Elected(NamedTuple):
    """A partition's leader by the controller, −1 for none."""

    leader: int
    epoch: int


class WhoIsWell:
    """The state; `moments` takes it through the run. Of the trace only the turning points matter.

    A broker is well while its process runs and does not shut down, the controller has accepted it in this life and not fenced
    it, it is not paused, and no fault touches it. Where a trace does not tell who is unfenced, who is accepted counts as unfenced.
    """

    def __init__(
        self,
        trace: Sequence[TraceEvent],
        nemesis: Sequence[NemesisOp],
        brokers: Sequence[int],
        holds_back: Mapping[str, str] | None = None,
        assignment: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.brokers = brokers
        self._known = {*brokers}
        self._assignment = {**(assignment or {})}
        self.life = IsrLife(trace)
        self.faults = FaultsInForce(holds_back)
        self.elected: dict[str, Elected] = {}
        self._without_log: set[tuple[int, str]] = set()
        """Brokers whose disk was lost, with no partition, and those that lost the log of one."""
        self.down: set[int] = set()
        """Brokers without a process."""
        self._away: dict[int, int] = {}
        """Broker that cannot fetch → since when."""
        self._paused: set[int] = set()
        self._stopping: set[int] = set()
        """Brokers that shut down: for as long as the controller wants, however soon the fault is over."""
        self.silent_since: dict[int, int] = {}
        """Broker that tells nobody anything, for it has no process, or a paused one → since when."""
        self.well: set[int] = set()
        """The brokers that are, at this moment."""
        self._fenced: set[int] = set()
        self._registrations: dict[int, int] = {}
        """Broker → how many of its registrations no clean stop and no fence have ended."""
        end = max((*(op[0] for op in nemesis), *(event[TIME] for event in trace[-1:])), default=0)
        self._steps = sorted(
            [
                *((op[0], 0, op) for op in until_all_has_arrived(nemesis, holds_back) if op[0] <= end),
                *((event[TIME], 1, event) for event in trace if event[KIND] in _KINDS),
            ],
            key=itemgetter(0, 1),
        )
        self._tells_unfenced = "unfence" in {event[KIND] for event in trace}

    def moments(self) -> Iterator[int]:
        """Each time at which something has changed, in µs, after all that happened then; the last state lasts."""
        for place, (time, of_trace, entry) in enumerate(self._steps):
            if of_trace:
                self._step(entry)
            else:
                self.faults.step(entry)
                if entry[1:4:2] == _SHUTS_DOWN:
                    self._stopping.update({*entry[4].get("nodes", ())} - self.down)
                elif entry[1] == "heal":
                    self._stopping.update({*entry[4].get("restarts", ())} - self.down)
            if place + 1 == len(self._steps) or self._steps[place + 1][0] != time:
                self._look(time)
                yield time

    def _look(self, time: int) -> None:
        held = {*self._paused, *self._fenced, *self._stopping}
        well, away, alive = self.well, self._away, self.life.alive
        well.clear()
        for broker in self._known:
            if broker not in held and not self.faults.touches(broker) and alive(broker):
                well.add(broker)
            if self.fetches_nothing(broker):
                away.setdefault(broker, time)
            else:
                away.pop(broker, None)

    def _step(self, event: TraceEvent) -> None:
        node = event[NODE]
        self.life.step(event)
        match event[KIND]:
            case "elect":
                elect = trace_events.Elect(event)
                self.elected[elect.partition] = Elected(elect.leader, elect.leader_epoch)
                self._known.update(elect.isr, [elect.leader] if elect.leader >= 0 else [])
            case "isr-change":
                self._known.update(self.life.isrs[event[PARTITION]])
            case "stop":
                self.down.add(node)
                self.silent_since.setdefault(node, event[TIME])
                self._paused.discard(node)
                self._stopping.discard(node)
                how = trace_events.Stop(event).how
                if how == "disk":
                    self._without_log.add((node, ""))
                elif how == "clean":
                    self._registrations[node] = 0
            case "log-lost":
                self._without_log.add((node, event[PARTITION]))
            case "start":
                self.down.discard(node)
                self.silent_since.pop(node, None)
            case "fence":
                self._fence(trace_events.Fence(event).broker)
            case "register":
                self._register(trace_events.Register(event).broker)
            case "unfence":
                self._fenced.discard(trace_events.Unfence(event).broker)
            case "pause":
                self._paused.add(node)
                self.silent_since.setdefault(node, event[TIME])
            case "resume" if node not in self.down:
                self._paused.discard(node)
                self.silent_since.pop(node, None)
            case "reassign":
                self._assignment[event[PARTITION]] = trace_events.Reassign(event).replicas

    def _fence(self, broker: int) -> None:
        """With ZooKeeper a controller may see only now that a broker was gone that has registered again since."""
        left = self._registrations[broker] = max(0, self._registrations.get(broker, 1) - 1)
        if self._tells_unfenced or not left:
            self._fenced.add(broker)

    def _register(self, broker: int) -> None:
        self._registrations[broker] = self._registrations.get(broker, 0) + 1
        if self._tells_unfenced:
            self._fenced.add(broker)
        else:
            self._fenced.discard(broker)

    def staying(self) -> list[int]:
        """The brokers that the controller has no reason to take out of an ISR: they run, and neither shut down nor are fenced."""
        return [
            one
            for one in self.brokers
            if one not in self.down and one not in self._stopping and one not in self._fenced
        ]

    def controller_well(self) -> bool:
        """Whether no fault holds the controller back."""
        return not self.faults.touches(CONTROLLER)

    def assigned(self) -> Sequence[str]:
        """The partitions whose replicas are known."""
        return [*self._assignment]

    def replicas(self, partition: str) -> Sequence[int]:
        """A partition's, those that go or come included."""
        return self._assignment.get(partition, ())

    def lost_its_log(self, broker: int, partition: str) -> bool:
        """Whether a broker has ever lost its log: nobody should want it to lead."""
        return not self._without_log.isdisjoint([(broker, ""), (broker, partition)])

    def away_since(self, broker: int) -> int:
        """Since when a broker that cannot fetch could not."""
        return self._away[broker]

    def fetches_nothing(self, broker: int) -> bool:
        """Whether a broker cannot fetch: no process, a paused one, or one that is cut off."""
        return broker in self.silent_since or self.faults.cuts(broker)
