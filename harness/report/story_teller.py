"""What a run's history tells of one record, or of a partition: its events around one offset as sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.trace_events import PARTITION
from tidemark.checkers.share_group import ACKNOWLEDGE, FETCH
from tidemark.harness.report.fault_words import as_struck
from tidemark.harness.report.lanes import Lane
from tidemark.harness.report.moments import CLIENTS, CONTROLLER, SAID_BEFORE, Moment
from tidemark.harness.report.words import seconds
from tidemark.nemesis import KINDS
from tidemark.nemesis.kind import Part

STOPPED = {
    "clean": "shuts down cleanly",
    "crash": "is killed; what it wrote survives in the page cache",
    "power": "loses power; what it had not synced may be gone",
    "disk": "loses its disk and everything on it",
    "damage": "is killed, and its files are damaged",
    "fatal": "gives up",
}
HOW_ELECTED = {
    "initial election": "the first leader is chosen",
    "online election": "the leader before can lead no longer, or there was none",
    "preferred election": "the first of the replicas is to lead again",
    "forced election": "somebody asked for this leader, here the nemesis",
    "unclean election": "somebody asked for this leader, in sync or not",
    "last-known election": "the last leader that is known is there again, and nobody else may lead",
}
"""Why the controller chooses a leader (docs/history.md, `elect`)."""
NOT_ELECTED = {
    "offline": "nobody who may lead is alive",
    "shrunk": "the ISR shrank, and the leader stays in a new epoch",
    "resumed": "the leader stays in a new epoch",
    "reassigning": "as a reassignment begins",
    "reassigned": "as a reassignment ends",
}
"""Why it raises the leader epoch otherwise."""


class StoryTeller:
    """Turns the history's events around one offset of one partition into sentences."""

    def __init__(
        self,
        history: History,
        partition: str,
        offset: int | None,
        value: object,
        lanes: list[Lane],
        pair: list[object],
        deciding: Collection[int] = (),
    ) -> None:
        self._history = history
        self._partition = partition
        self._offset = offset
        self._value = value
        self._lanes = {lane.node: lane for lane in lanes}
        self._pair = pair
        self._deciding = deciding
        self._asked: dict[int, tuple[int, int]] = {}
        self._gave_up: dict[int, int] = {}
        self._down: dict[int, int] = {}
        self._committed = False
        self._taken_over_without = False
        self._seen_to_end: dict[int, int] = {}
        self._seen_to_lead: set[tuple[int, int]] = set()

    def moments(self) -> Iterator[Moment]:
        """All moments, not yet in order."""
        yield from self._client_moments()
        yield from self._nemesis_moments()
        for event in self._history.trace:
            if event[PARTITION] in {self._partition, ""}:
                yield from self._trace_moments(*event)

    def _client_moments(self) -> Iterator[Moment]:
        read = False
        for op in self._history.ops:
            if op.f == "send" and self._sends_it(op.value):
                acks = f" with acks={op.acks}" if op.acks else ""
                words = {
                    "invoke": f"Client {op.process} sends record {self._value} to {self._partition}{acks}.",
                    "ok": f"{op.process} is told that record {self._value} is written (acknowledged).",
                    "info": f"{op.process} gets no clear answer for record {self._value} ({op.error}).",
                    "fail": f"{op.process} is told that record {self._value} was not written ({op.error}).",
                }[op.type]
                yield Moment(op.time, CLIENTS, {"invoke": "send", "ok": "ack"}.get(op.type, "answer"), words)
            elif op.f == "txn" and self._sends_it(micro for micro in op.value or () if micro[0] == "send"):
                yield self._of_a_transaction(op)
            elif op.f in ("enqueue", "dequeue") and self._value is not None and op.value == self._value:
                yield self._of_a_queue(op)
            elif op.f in (FETCH, ACKNOWLEDGE) and op.type != "invoke":
                yield from self._of_a_share_group(op)
            elif op.f == "delete" and self._deletes_it(op.value):
                words = {
                    "invoke": f"Client {op.process} asks for the deletion of {self._partition} before offset {op.value[0][2]}.",
                    "ok": f"{op.process} is told that everything before offset {op.value[0][2]} is deleted.",
                    "info": f"{op.process} gets no clear answer to its deletion ({op.error}).",
                    "fail": f"{op.process} is told that nothing was deleted ({op.error}).",
                }[op.type]
                yield Moment(op.time, CLIENTS, {"invoke": "send", "ok": "ack"}.get(op.type, "answer"), words, 1)
            elif op.f == "poll" and op.type == "ok" and not read and self._reads_it(op.value):
                read = True
                yield Moment(op.time, CLIENTS, "read", f"Client {op.process} reads record {self._value}.", 2)

    def _of_a_transaction(self, op: Op) -> Moment:
        """Of the one that sends the record."""
        words = {
            "invoke": f"Client {op.process} begins a transaction in which it sends record {self._value} to {self._partition}.",
            "ok": f"{op.process} is told that its transaction with record {self._value} is committed.",
            "info": f"{op.process} does not know whether its transaction with record {self._value} is committed ({op.error}).",
            "fail": f"The transaction of {op.process} with record {self._value} is over, and not committed ({op.error}).",
        }[op.type]
        return Moment(op.time, CLIENTS, {"invoke": "send", "ok": "ack"}.get(op.type, "answer"), words)

    def _of_a_share_group(self, op: Op) -> Iterator[Moment]:
        """Of a member that was given the record, or said what became of it."""
        for _, broker, told in op.value:
            for offset, *rest in told.get(self._partition, ()):
                if offset != self._offset:
                    continue
                if op.f == FETCH:
                    what = "nothing at its offset" if rest[0] is None else f"record {rest[0]}"
                    words = (
                        f"Broker {broker} gives {op.process}, a member of the share group, {what} (delivery {rest[1]})."
                    )
                    yield Moment(op.time, CLIENTS, "read", words)
                    continue
                said = f"{op.process} says of it: {rest[0]}"
                words = {
                    "ok": f"{said}, and broker {broker} confirms that.",
                    "info": f"{said}, and gets no clear answer ({op.error}).",
                    "fail": f"{said}, and broker {broker} refuses that ({op.error}).",
                }[op.type]
                yield Moment(op.time, CLIENTS, "ack" if op.type == "ok" else "answer", words)

    def _of_a_queue(self, op: Op) -> Moment:
        """Of its element: who asks for nothing is asked nothing, so that a dequeue is told when it is answered."""
        if op.f == "dequeue":
            return Moment(op.time, CLIENTS, "read", f"Client {op.process} takes element {self._value}, for good.")
        words = {
            "invoke": f"Client {op.process} enqueues element {self._value}.",
            "ok": f"{op.process} is told that element {self._value} is in the queue (acknowledged).",
            "info": f"{op.process} gets no clear answer for element {self._value} ({op.error}).",
            "fail": f"{op.process} is told that element {self._value} is not in the queue ({op.error}).",
        }[op.type]
        return Moment(op.time, CLIENTS, {"invoke": "send", "ok": "ack"}.get(op.type, "answer"), words)

    def _sends_it(self, value: Iterable[tuple[str, str, object]]) -> bool:
        return any(
            key == self._partition and (sent[1] if isinstance(sent, (tuple, list)) else sent) == self._value
            for _, key, sent in value
        )

    def _reads_it(self, value: Iterable[tuple[str, dict[str, list[tuple[int, object]]]]]) -> bool:
        return any(
            [self._offset, self._value] == list(r) for _, by_key in value for r in by_key.get(self._partition, ())
        )

    def _deletes_it(self, value: Iterable[tuple[str, str, int]]) -> bool:
        return self._offset is not None and any(
            key == self._partition and self._offset < before for _, key, before in value
        )

    def _nemesis_moments(self) -> Iterator[Moment]:
        struck = {}
        for time, action, index, kind, detail in self._history.nemesis:
            at = detail.get("node", CONTROLLER)
            node = at if at in self._lanes else CONTROLLER
            decided = index in self._deciding
            on = KINDS[kind].on if kind in KINDS else None
            told = on is Part.CONTROLLER or (on in (Part.LINKS, Part.TALK) and node == at)
            if not decided and not told:
                continue
            if action == "strike":
                struck[index] = at
                if decided:
                    what = as_struck(kind, detail)
                    words = f"Decisive: fault {index + 1} of the plan strikes {_called(at)}: {kind} ({what})."
                else:
                    words = f"A fault strikes {_called(at)}: {kind}."
                terms = () if decided else (kind,)
                yield Moment(time, node, "fault", words, 0 if decided else 1, decided=decided, terms=terms)
            elif index in struck and (on is Part.CONTROLLER or kind not in KINDS or not KINDS[kind].doing.traced):
                words = f"The fault {kind} on {_called(struck[index])} ends."
                yield Moment(time, node, "heal", words, 2)

    def _trace_moments(self, time: int, node: int, event: str, _partition: str, *fields: object) -> Iterator[Moment]:
        handler = getattr(self, f"_{event.replace('-', '_')}", None)
        if handler is not None and (node in self._lanes or node == CONTROLLER):
            rank_and_words = handler(time, node, *fields)
            if rank_and_words is not None:
                terms = (_how_elected(str(fields[4])),) if event == "elect" else ()
                yield Moment(time, node, event, rank_and_words[1], rank_and_words[0], terms=terms)

    def _seen(
        self, time: int, node: int, leads: bool, epoch: int, end: int, committed: int, leader: int
    ) -> tuple[int, str] | None:
        """Of a system that traces nothing: who takes over, and whose log is cut."""
        before = self._seen_to_end.get(node, 0)
        was_there = self._offset is not None and max(self._seen_to_end.values(), default=0) > self._offset
        self._seen_to_end[node] = end
        if leads and (node, epoch) not in self._seen_to_lead:
            self._seen_to_lead.add((node, epoch))
            lacks = self._offset is not None and was_there and end <= self._offset
            ending = f", before offset {self._offset}, which another's log had reached" if lacks else ""
            return (
                0 if lacks else 1
            ), f"Broker {node} is seen to lead in epoch {epoch}; its log ends at {end}{ending}."
        if end < before and self._offset is not None and end <= self._offset < before:
            return 0, f"The log of broker {node}, which ended at {before}, is seen to end at {end}."
        return None

    def _append(self, time: int, node: int, base: int, epoch: int, values: tuple[Any, ...]) -> tuple[int, str] | None:
        if self._offset is None or not base <= self._offset < base + len(values):
            return None
        value = values[self._offset - base]
        leads = self._leads(node, time)
        if value == self._value:
            how = f", leader of epoch {epoch}, writes" if leads else " copies"
            again = any(life.value == value and life.start < time for life in self._lanes[node].lives)
            return (2 if again else 0), f"Broker {node}{how} record {value}{' again' * again} at offset {self._offset}."
        born = any(
            life.value == self._value and life.start <= time for lane in self._lanes.values() for life in lane.lives
        )
        words = f"Broker {node} {'writes' if leads else 'copies'} another record, {value}, at offset {self._offset}."
        return (0 if value in self._pair or (born and leads) else 2 if born else 1), words

    def _truncate(self, time: int, node: int, to: int, old: int, reason: str, epoch: int) -> tuple[int, str]:
        lost = self._lost_here(time, node)
        gone = f": record {lost} is gone from this replica" if lost is not None else ""
        words = f"Broker {node} cuts its log from {old} to {to} in epoch {epoch} ({reason}){gone}."
        return (0 if lost == self._value and lost is not None else 1 if lost is not None else 2), words

    def _log_start(self, time: int, node: int, start: int, _before: int, how: str) -> tuple[int, str]:
        lost = self._lost_here(time, node)
        words = f"The log of broker {node} " + {
            "begin-anew": f"begins anew at offset {start}",
            "leader": f"starts at {start}, as its leader's does",
            "recovered": f"starts at {start}, as it remembers",
        }.get(how, f"starts at {start} ({how})")
        words += f": record {lost} is gone from this replica." if lost is not None else "."
        return (0 if lost == self._value and lost is not None else 2), words

    def _recovered(self, time: int, node: int, leo: int, hw: int, lost: int) -> tuple[int, str] | None:
        gone = self._lost_here(time, node)
        words = f"Broker {node} recovers its log: it ends at {leo}, the high watermark it remembers is {hw}"
        words += f", and {lost} records are lost" if lost else ""
        words += f", record {gone} among them." if gone is not None else "."
        return (0 if gone == self._value and gone is not None else 2), words

    def _removed(self, time: int, node: int, leo: int, *_: object) -> tuple[int, str]:
        lost = self._lost_here(time, node)
        gone = f", record {lost} in it" if lost is not None else ""
        words = f"Broker {node} has no replica any more: its log, which ended at {leo}, is deleted{gone}."
        return (0 if lost == self._value and lost is not None else 1), words

    def _reassign(
        self, _time: int, _node: int, replicas: Iterable[int], adding: Iterable[int], removing: Iterable[int]
    ) -> tuple[int, str]:
        moves = [f"{what} {_brokers(nodes)}" for what, nodes in (("adding", adding), ("removing", removing)) if nodes]
        words = f"The controller has the replicas {_brokers(replicas)}"
        return 1, f"{words}, {' and '.join(moves)}." if moves else f"{words}: no reassignment is under way."

    def _lost_here(self, time: int, node: int) -> object:
        lives = self._lanes[node].lives
        return next((life.value for life in lives if life.end == time and life.ended_by is not None), None)

    def _hw(self, _time: int, node: int, hw: int, epoch: int, leads: bool) -> tuple[int, str] | None:
        life = self._lanes[node].life_at(_time)
        if self._offset is None or self._committed or not leads or hw <= self._offset:
            return None
        if life is None or life.value != self._value:
            return None
        self._committed = True
        others = [
            lane.node
            for lane in self._lanes.values()
            if (there := lane.life_at(_time)) is not None and there.value not in {None, self._value}
        ]
        though = (
            f", although broker {' and broker '.join(map(str, others))} holds another record there" if others else ""
        )
        what = "all in sync have it" if self._history.meta.get("transactions") else "it is committed"
        return 0, f"The high watermark of leader {node} (epoch {epoch}) moves to {hw}, past the record: {what}{though}."

    def _stop(self, time: int, node: int, how: str) -> tuple[int, str] | None:
        self._down[node] = time
        if how == "fatal" and self._gave_up.get(node) == time:
            return None  # it has been told why
        return 1, f"{_capital(_called(node))} {STOPPED.get(how, f'stops ({how})')}."

    def _start(self, time: int, node: int, *_: object) -> tuple[int, str]:
        since = self._down.pop(node, None)
        if node == CONTROLLER:
            return 1, "The controller starts again, or another takes its place."
        if since is None:
            return 2, f"Broker {node} starts."
        return 1, f"Broker {node} comes back: it starts again, after {seconds(time - since, 3)}."

    def _controls(self, _time: int, node: int, epoch: int) -> tuple[int, str]:
        return 1, f"Node {node} is the active controller from now on, in controller epoch {epoch}."

    def _pause(self, _time: int, node: int) -> tuple[int, str]:
        return 1, f"Broker {node} is frozen (SIGSTOP)."

    def _resume(self, _time: int, node: int) -> tuple[int, str]:
        return 2, f"Broker {node} goes on (SIGCONT)."

    def _fatal(self, time: int, node: int, words: str) -> tuple[int, str]:
        self._gave_up[node] = time
        return 0, f"Broker {node} gives up: {words}."

    def _ask(self, _time: int, node: int, leader: int, epoch: int) -> tuple[int, str]:
        again = self._asked.get(node) == (leader, epoch)
        self._asked[node] = leader, epoch
        return SAID_BEFORE if again else 2, f"Broker {node} asks leader {leader} where epoch {epoch} ended."

    def _lead(self, time: int, node: int, epoch: int, leo: int, *_: object) -> tuple[int, str]:
        words = f"Broker {node} takes over as leader of epoch {epoch}; its log ends at {leo}"
        life = self._lanes[node].life_at(time)
        lives = [one for lane in self._lanes.values() for one in lane.lives]
        born = any(one.value == self._value and one.start <= time for one in lives)
        if not born or self._value is None:
            return 2, f"{words}."
        if life is not None and life.value == self._value:
            return 2, f"{words}, with record {self._value}."
        first = not self._taken_over_without
        self._taken_over_without = True
        return (0 if first else 1), f"{words}, without record {self._value}."

    def _follow(self, _time: int, node: int, epoch: int, leader: int, leo: int, hw: int) -> tuple[int, str]:
        whom = f"follows broker {leader}" if leader > 0 else "has no leader to follow"
        return 2, f"Broker {node} {whom} in epoch {epoch}; its log ends at {leo}, its high watermark is {hw}."

    def _elect(
        self,
        _time: int,
        _node: int,
        leader: int,
        epoch: int,
        isr: Iterable[int],
        elr: Iterable[int],
        how: str,
        clean: bool,
        *_: object,
    ) -> tuple[int, str]:
        whom = f"makes broker {leader} leader" if leader > 0 else "has no leader to offer"
        words = f"The controller {whom} in epoch {epoch} ({_how_elected(how)}{'' if clean else ', unclean'})"
        return 1, f"{words}; in sync: {_brokers(isr)}."

    def _isr_change(self, _time: int, _node: int, isr: Iterable[int], *_: object) -> tuple[int, str]:
        return 2, f"The controller commits a new set of in-sync replicas: {_brokers(isr)}."

    def _leads(self, node: int, time: int) -> bool:
        return any(term.leads and term.start <= time < term.end for term in self._lanes[node].terms)


def _brokers(nodes: Iterable[int]) -> str:
    return ", ".join(str(node) for node in nodes) or "none"


def _how_elected(how: str) -> str:
    return NOT_ELECTED.get(how) or f"{how} election"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _called(node: int) -> str:
    return "the controller" if node == CONTROLLER else f"broker {node}"
