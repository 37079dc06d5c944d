"""A run as a sequence of moments: what was done, and what came of it, each in a script's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Append,
    Nodes,
    Recovered,
    Start,
    TraceEvent,
    Truncate,
)
from tidemark.harness.search.script.moment import Moment, coalesced
from tidemark.harness.search.script.witness import Deed, Witnessed
from tidemark.nemesis.links import Link
from tidemark.nodes.core.messages import CONTROLLER

BY_HAND = {"forced": "elect {}", "unclean": "elect {} uncleanly", "preferred": "elect the preferred leader"}
"""How an operator has somebody elected; all other elections are the controller's own."""
UNASKED = ("to high watermark", "no epochs known")
"""Reasons of truncations for which nobody needs an answer."""


@dataclass(slots=True)
class _Broker:
    """What is known of a broker while the trace is read."""

    follows: int = 0
    leads: bool = False
    leo: int = 0
    hw: int = 0
    up: bool = True
    stopping: bool = False
    restarts: bool = False


@dataclass(slots=True)
class Story:
    """A run's moments, from the first deed or record on.

    Attributes:
        names: of the brokers, by id; in assignment order, first those with a replica.
        records: names by value, in the order in which they were written.
    """

    names: dict[int, str]
    moments: list[Moment] = field(default_factory=list)
    records: dict[int, str] = field(default_factory=dict)


def story_of(witnessed: Witnessed, partition: str, until_us: int) -> Story:
    """What matters of a run for one partition, up to a time."""
    first = witnessed.history.meta["replicas"][partition]
    others = sorted({start.node for start in Start.among(witnessed.history.trace)} - {CONTROLLER, *first})
    return _Reader(witnessed, partition, [*first, *others], until_us).read()


class _Reader:
    """Reads trace and deeds side by side."""

    def __init__(self, witnessed: Witnessed, partition: str, order: list[int], until_us: int) -> None:
        self._trace = witnessed.history.trace
        self._deeds = witnessed.deeds
        self._partition = partition
        self._until = until_us
        self._story = Story({broker: chr(ord("A") + place) for place, broker in enumerate(order)})
        self._brokers = {broker: _Broker() for broker in order}
        self._links: dict[int, frozenset[tuple[int, int]]] = {}
        self._lives: dict[int, int] = dict.fromkeys(self._brokers, 0)
        self._acks = _acks(witnessed.history, partition)
        self._leader = 0
        self._tellers: dict[str, Callable[..., Iterator[Moment]]] = {
            "elect": self._elect,
            "isr-change": self._isr_change,
            "lead": self._lead,
            "follow": self._follow,
            "append": self._append,
            "truncate": self._truncate,
            "hw": self._hw,
            "log-start": self._log_start,
        }
        self._isr: frozenset[int] = frozenset(self._brokers)

    def read(self) -> Story:
        begun = False
        for moment in coalesced(self._all()):
            begun = begun or bool(moment.does)
            if begun and moment.time <= self._until:
                self._story.moments.append(moment)
        return self._story

    def _all(self) -> Iterator[Moment]:
        deeds = list(self._deeds)
        acks = list(self._acks)
        for place, event in enumerate(self._trace):
            while deeds and deeds[0].place <= place:
                yield from self._deed(deeds.pop(0), place)
            while acks and acks[0][0] < event[TIME]:
                yield from self._ack(*acks.pop(0))
            yield from self._event(place, event)
        for deed in deeds:
            yield from self._deed(deed, len(self._trace))

    def _name(self, node: int) -> str:
        return "controller" if node == CONTROLLER else self._story.names[node]

    def _named(self, nodes: Iterable[int]) -> str:
        return ", ".join(sorted(map(self._name, nodes)))

    # What was done

    def _deed(self, deed: Deed, place: int) -> Iterator[Moment]:
        what = deed.what
        if deed.verb == "links":
            yield from self._cut(deed)
        elif deed.verb == "mend":
            pairs = self._links.pop(what[0], frozenset()) - frozenset().union(*self._links.values())
            if pairs:
                yield self._links_moment(deed.time, "join", pairs, what[0])
        elif deed.verb in ("reassign", "delete", "retain"):
            if what[0] == self._partition:
                yield from self._operation(deed)
        elif deed.verb == "min-isr":
            yield Moment(deed.time, (f"set min ISR to {what[0]}",), words=f"Min ISR is set to {what[0]}.")
        elif deed.verb == "unclean":
            verb, way = ("allow", "allowed") if what[0] else ("forbid", "forbidden")
            yield Moment(deed.time, (f"{verb} unclean elections",), words=f"Unclean elections are {way}.")
        elif deed.verb == "elr":
            way = "on" if what[0] else "off"
            yield Moment(deed.time, (f"switch ELR {way}",), words=f"ELR is switched {way}.")
        elif what[0] == CONTROLLER:
            verb = {"stop": "crash", "start": "start"}[deed.verb]
            yield Moment(deed.time, (f"{verb} the controller",), words=f"The controller {verb}s.", key="controller")
        elif what[0] in self._brokers:
            yield from self._life(deed, place)

    def _life(self, deed: Deed, place: int) -> Iterator[Moment]:
        broker = deed.what[0]
        name = self._name(broker)
        key = (broker, self._lives[broker])
        if deed.verb in ("pause", "resume"):
            words = f"{name} sleeps." if deed.verb == "pause" else f"{name} wakes."
            yield Moment(deed.time, (f"{deed.verb} {name}",), words=words, key=("sleep", *key))
        elif deed.verb == "start":
            if self._brokers[broker].up:
                return
            self._brokers[broker].up = True
            self._brokers[broker].restarts = self._brokers[broker].stopping
            yield Moment(deed.time, (f"start {name}",), words=f"{name} starts.", key=("life", *key))
            self._lives[broker] += 1
        else:
            how = deed.what[1]
            self._brokers[broker].up, self._brokers[broker].stopping = False, how == "clean"
            found = self._recovered(broker, place)
            if found is not None and found[1] and found[1] == self._brokers[broker].hw and how != "clean":
                yield Moment(deed.time, shows=f"{name} has HW {found[1]} on disk", words="")
            verbs = {"crash": f"crash {name}", "clean": f"stop {name}", "disk": f"wipe {name}"}
            words = {
                "crash": "crashes",
                "clean": "is shut down",
                "disk": "loses its disk",
                "damage": "loses the end of its log",
            }.get(how, "loses power")
            kept = self._batches_kept(broker, place, found)
            command = verbs.get(how, f"power off {name} keeping {kept} batches")
            yield Moment(deed.time, (command,), words=f"{name} {words}.", key=("life", *key))

    def _recovered(self, broker: int, place: int) -> tuple[int, int] | None:
        """LEO and HW that the broker's next process found."""
        found = Recovered.among(self._trace[place:], self._partition)
        return next(((one.leo, one.hw) for one in found if one.node == broker), None)

    def _batches_kept(self, broker: int, place: int, found: tuple[int, int] | None) -> int:
        ends: list[int] = []
        for event in self._trace[:place]:
            if event[NODE] != broker or event[PARTITION] != self._partition:
                continue
            if event[KIND] == "append":
                ends.append(Append(event).base_offset + len(Append(event).values))
            elif event[KIND] in ("truncate", "recovered"):
                leo = Truncate(event).to if event[KIND] == "truncate" else Recovered(event).leo
                ends = [end for end in ends if end <= leo]
        return sum(found is None or end <= found[0] for end in ends)

    def _cut(self, deed: Deed) -> Iterator[Moment]:
        key, links, effect = deed.what
        if effect != "cut":
            return
        before = frozenset().union(*self._links.values())
        pairs = frozenset(link for link in links if min(link) >= 0)
        self._links[key] = pairs
        if pairs - before:
            yield self._links_moment(deed.time, "cut", pairs - before, key)

    def _links_moment(self, time: int, verb: str, links: frozenset[Link], key: int) -> Moment:
        both = frozenset((min(a, b), max(a, b)) for a, b in links if (b, a) in links)
        one_way = sorted(link for link in links if (link[1], link[0]) not in links)
        commands = [
            f"{'block' if verb == 'cut' else 'unblock'} {kind} from {self._name(a)} to {self._name(b)}"
            for a, b in one_way
            for kind in _kinds(a, b)
        ]
        commands += [self._of_controller(verb, pair) for pair in sorted(both) if CONTROLLER in pair]
        brokers = frozenset(pair for pair in both if CONTROLLER not in pair)
        words = " ".join(self._of_link(verb, a, b) for a, b in sorted(both))
        words += "".join(f" Nothing from {self._name(a)} reaches {self._name(b)}." for a, b in one_way if verb == "cut")
        if verb == "cut":
            return Moment(time, tuple(commands), words=words.strip(), cuts=brokers, key=("links", key))
        return Moment(time, tuple(commands), words=words.strip(), joins=brokers, key=("links", key))

    def _of_link(self, verb: str, a: int, b: int) -> str:
        if a == CONTROLLER:
            return f"{self._name(b)} {'is cut off from' if verb == 'cut' else 'reaches'} the controller."
        return f"{self._name(a)} and {self._name(b)} {'do not reach each other' if verb == 'cut' else 'reach each other again'}."

    def _of_controller(self, verb: str, pair: tuple[int, int]) -> str:
        between = "from" if verb == "cut" else "and"
        return f"{verb} {self._name(pair[1])} {between} controller"

    def _operation(self, deed: Deed) -> Iterator[Moment]:
        what = deed.what
        if deed.verb == "reassign":
            replicas = ", ".join(map(self._name, what[1]))
            yield Moment(deed.time, (f"reassign to {replicas}",), words=f"The replicas are to be {replicas}.")
        elif deed.verb == "delete" and what[1] > 0:
            words = f"A client deletes what lies before {what[1]}."
            yield Moment(deed.time, (f"delete records before {what[1]} at {self._name(what[2])}",), words=words)
        elif deed.verb == "retain" and what[2] > 0:
            name = self._name(what[1])
            words = f"{name}'s retention drops what is oldest."
            yield Moment(deed.time, (f"retention on {name} drops {what[2]} batches",), words=words)

    # What came about

    def _ack(self, time: int, values: tuple[int, ...]) -> Iterator[Moment]:
        names = [self._story.records[value] for value in values if value in self._story.records]
        if names:
            yield Moment(time, shows=f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} acked")

    def _event(self, place: int, event: TraceEvent) -> Iterator[Moment]:
        time, node, kind, partition, *fields = event
        if kind == "stop" and node in self._brokers:
            broker = self._brokers[node]
            broker.up = broker.restarts
            broker.leads = broker.stopping = broker.restarts = False
            broker.follows = 0
        tell: Callable[..., Iterator[Moment]] | None = self._tellers.get(kind)
        if tell is not None and partition == self._partition:
            yield from tell(time, node, place, *fields)

    def _elect(
        self,
        time: int,
        _node: int,
        _place: int,
        leader: int,
        epoch: int,
        isr: Nodes,
        _elr: Nodes,
        how: str,
        *_: Any,  # noqa: ANN401
    ) -> Iterator[Moment]:
        self._isr = frozenset(isr)
        if how in BY_HAND:
            name = self._name(leader)
            yield Moment(time, (BY_HAND[how].format(name),), words=f"{name} is elected.", elects=True, epoch=epoch)
        elif how != "initial" and leader != self._leader:
            name = self._name(leader) if leader > 0 else "none"
            words = f"{name} is elected." if leader > 0 else "Nobody leads."
            yield Moment(time, shows=f"the leader is {name}", words=words, elects=True, epoch=epoch)
        elif how != "initial":
            yield Moment(time, shows=f"the ISR is {self._named(isr)}", elects=True, epoch=epoch)
        self._leader = leader

    def _isr_change(self, time: int, _node: int, _place: int, isr: Nodes, *_: Any) -> Iterator[Moment]:  # noqa: ANN401
        now = frozenset(isr)
        pairs = frozenset((b, self._leader) for b in now - self._isr if b != self._leader)
        self._isr = now
        yield Moment(time, shows=f"the ISR is {self._named(now)}", words=f"The ISR is {self._named(now)}.", pairs=pairs)

    def _lead(self, time: int, node: int, _place: int, epoch: int, leo: int, hw: int, *_: Any) -> Iterator[Moment]:  # noqa: ANN401
        broker = self._brokers[node]
        broker.leads, broker.follows, broker.leo, broker.hw = True, 0, leo, hw
        name = self._name(node)
        yield Moment(
            time,
            shows=f"{name} leads epoch {epoch}",
            words=f"{name} leads in epoch {epoch}.",
            node=node,
            hears=node,
            epoch=epoch,
        )

    def _follow(
        self, time: int, node: int, _place: int, epoch: int, leader: int, leo: int, hw: int
    ) -> Iterator[Moment]:
        broker = self._brokers[node]
        broker.leads, broker.follows, broker.leo, broker.hw = False, max(leader, 0), leo, hw
        if leader > 0:
            shows = f"{self._name(node)} follows {self._name(leader)} in epoch {epoch}"
            yield Moment(time, shows=shows, words=f"{shows}.", node=node, hears=node, epoch=epoch)

    def _append(
        self, time: int, node: int, _place: int, base: int, epoch: int, values: tuple[int, ...]
    ) -> Iterator[Moment]:
        broker, name = self._brokers[node], self._name(node)
        broker.leo = base + len(values)
        records = self._story.records
        new = [value for value in values if value not in records]
        for value in new:
            records[value] = f"m{len(records) + 1}"
        if new:
            told = records[new[0]] if len(new) == 1 else f"{records[new[0]]}..{records[new[-1]]}"
            yield Moment(time, (f"send {told} to {name}",), words=f"{told} is sent to {name}.")
            yield Moment(time, shows=f"{name} has LEO {broker.leo}", node=node)
        else:
            told = ", ".join(records[value] for value in values)
            words = f"{name} fetches {told}." if broker.follows else f"{told} is sent to {name} again."
            yield Moment(
                time,
                shows=f"{name} has LEO {broker.leo}",
                words=words,
                node=node,
                fetches=bool(broker.follows),
                pairs=self._fetching(node),
            )

    def _fetching(self, node: int) -> frozenset[tuple[int, int]]:
        leader = self._brokers[node].follows
        return frozenset({(node, leader)} if leader else ())

    def _truncate(
        self, time: int, node: int, _place: int, to: int, _old: int, reason: str, _epoch: int
    ) -> Iterator[Moment]:
        self._brokers[node].leo = to
        pairs = frozenset() if reason.startswith(UNASKED) else self._fetching(node)
        words = f"{self._name(node)} cuts its log to {to}."
        yield Moment(time, shows=f"{self._name(node)} has LEO {to}", words=words, node=node, pairs=pairs)

    def _hw(self, time: int, node: int, _place: int, hw: int, *_: Any) -> Iterator[Moment]:  # noqa: ANN401
        broker = self._brokers[node]
        broker.hw = hw
        if broker.leads:
            pairs = frozenset((b, node) for b, one in self._brokers.items() if one.follows == node and one.leo >= hw)
        else:
            pairs = self._fetching(node)
        yield Moment(time, shows=f"{self._name(node)} has HW {hw}", node=node, pairs=pairs)

    def _log_start(self, time: int, node: int, _place: int, start: int, _before: int, how: str) -> Iterator[Moment]:
        if how != "recovered":
            yield Moment(time, shows=f"{self._name(node)} has log start {start}", node=node, pairs=self._fetching(node))


def _kinds(source: int, to: int) -> tuple[str, ...]:
    """The kinds of message that go from one node to another."""
    if source == CONTROLLER:
        return ("leadership",)
    if to == CONTROLLER:
        return ("ISR changes", "heartbeats")
    return ("fetch requests", "fetch responses", "epoch requests", "epoch responses")


def _acks(history: History, partition: str) -> list[tuple[int, tuple[int, ...]]]:
    """When which records of a partition were acknowledged."""
    found = []
    for op in history.ops:
        if op.type == "ok" and op.f == "send":
            values = tuple(one[2][1] for one in op.value if one[1] == partition)
            if values:
                found.append((op.time, values))
    return found
