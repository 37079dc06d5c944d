"""Correct histories of objects other than logs, from a sequential object and clients that use it at once.

An operation takes effect at one moment while it is open, or later if nobody heard how it ended. Clients crash and come back, by
another number or by their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.forged.halves import Half

NO = object()
"""What an object answers to something that it refuses."""


@dataclass
class Call:
    """An operation: its halves, and when it took effect (a place in the order of effects), if it did."""

    begun: Half
    took: int | None = None
    answer: Any = None
    done: Half | None = None
    ghost: bool = False

    @property
    def ok(self) -> bool:
        """Its client was answered."""
        return self.done is not None and self.done.type == "ok"


class Registers:
    """A register, or one for each key; `of` few values, or of values that nothing else has."""

    def __init__(self, random: Random, model: str, *, fresh: bool) -> None:
        self.random, self.model, self.fresh = random, model, fresh
        self.keys = random.sample(["x", "y", 1, "1"], 2) if model == "key-value" else [None]
        self.held: dict[Any, Any] = {}
        self.values = 0

    def ask(self) -> tuple[str, Any]:
        """An operation."""
        what = {"register": ["read", "write"], "cas-register": ["read", "write", "cas"]}
        f = self.random.choice(what.get(self.model, ["read", "write", "cas", "get", "put", "delete"]))
        key = self.random.choice(self.keys)
        asked: Any = None
        if f == "cas":
            held = self.held.get(key)
            asked = [held if self.random.random() < 0.6 else self._value(), self._value()]
        elif f in ("write", "put"):
            asked = self._value()
        return f, asked if self.model != "key-value" else [key, asked]

    def _value(self) -> Any:
        self.values += 1
        if self.fresh:
            return self.values
        return self.random.choice([0, 1, "a", "0", [1, 2], None, True])

    def do(self, f: str, asked: Any) -> Any:
        """What it answers, in its own words."""
        keyed = self.model == "key-value"
        key, asked = asked if keyed else (None, asked)
        held = self.held.get(key)
        answer = asked
        if f in ("read", "get"):
            answer = held
        elif f == "cas" and repr(held) != repr(asked[0]):
            if self.random.random() < 0.5:
                return NO
            answer = [*asked, False]
        elif f == "cas":
            self.held[key] = asked[1]
        else:
            self.held[key] = asked
        return [key, answer] if keyed else answer


class AppendLog:
    """Logs by key, read whole."""

    def __init__(self, random: Random, *, fresh: bool) -> None:
        self.random, self.fresh = random, fresh
        self.held: dict[Any, list[Any]] = {"x": [], "y": []}
        self.values = 0

    def ask(self) -> tuple[str, Any]:
        """An operation."""
        self.values += 1
        value = self.values if self.fresh else self.random.choice([0, 1, "a"])
        key = self.random.choice(list(self.held))
        return self.random.choice([("read", [key, None]), ("append", [key, value])])

    def do(self, f: str, asked: Any) -> Any:
        """What it answers."""
        log = self.held[asked[0]]
        if f == "read":
            return [asked[0], list(log)]
        log.append(asked[1])
        return [*asked, len(log) - 1] if self.random.random() < 0.5 else asked


class Collection:
    """A set, a counter, a source of ids, or a queue."""

    def __init__(self, random: Random, model: str) -> None:
        self.random, self.model = random, model
        self.held: list[Any] = []
        self.sum = 0
        self.values = 0

    def ask(self) -> tuple[str, Any]:
        """An operation."""
        self.values += 1
        number = self.values
        if self.model in ("set", "set-full"):
            return self.random.choice([("add", number), ("read", None)])
        if self.model == "counter":
            return self.random.choice([("add", self.random.randint(0, 5)), ("read", None)])
        if self.model == "unique-ids":
            return "generate", None
        return self.random.choice([("enqueue", number), ("enqueue", number), ("dequeue", None)])

    def do(self, f: str, asked: Any) -> Any:
        """What it answers."""
        if f == "generate":
            self.sum += 1
            return self.sum
        if f == "dequeue":
            return self.held.pop(0) if self.held else NO
        if f == "drain":
            out, self.held = self.held, []
            return out
        if f == "read":
            return self.sum if self.model == "counter" else list(self.held)
        if self.model == "counter":
            self.sum += asked
        else:
            self.held.append(asked)
        return asked


class Use:
    """A history of one object: `halves` in order of time, and `calls` with what is known of them."""

    def __init__(self, random: Random, model: str, *, fresh: bool, calls: int = 40) -> None:
        """Let it happen; `fresh` values are written once only."""
        self.random, self.model = random, model
        registers = ("register", "cas-register", "key-value")
        self.object: Any = (
            Registers(random, model, fresh=fresh)
            if model in registers
            else AppendLog(random, fresh=fresh)
            if model == "append-log"
            else Collection(random, model)
        )
        self.calls: list[Call] = []
        self.halves: list[Half] = []
        self.time = 0
        self.effects = 0
        self.processes = 0
        self._happen(calls, random.randint(1, 6), random.choice([0.0, 0.05, 0.2]))
        self._end()
        if random.random() < 0.3:
            self._happen(5, 2, 0.2)

    def note(self, process: int, type_: str, f: str, value: Any) -> Half:
        """Write a half down."""
        self.time += self.random.choice([1, 1, 9])
        half = Half(self.time, process, type_, f, value, error="timed-out" if type_ in ("fail", "info") else None)
        self.halves.append(half)
        return half

    def _take(self, call: Call) -> None:
        self.effects += 1
        call.took = self.effects
        call.answer = self.object.do(call.begun.f, call.begun.value)

    def _happen(self, calls: int, clients: int, unsure: float) -> None:
        random = self.random
        open_: dict[int, Call | None] = dict.fromkeys(range(self.processes, self.processes + clients))
        ghosts: list[Call] = []
        self.processes += clients
        while calls or any(open_.values()):
            process = random.choice(list(open_))
            call = open_[process]
            if ghosts and random.random() < 0.1:
                self._take(ghosts.pop(random.randrange(len(ghosts))))
            if call is None:
                if calls:
                    calls -= 1
                    call = open_[process] = Call(self.note(process, "invoke", *self.object.ask()))
                    self.calls.append(call)
            elif random.random() < unsure:
                if call.took is None and random.random() < 0.5:
                    ghosts.append(call)
                call.ghost = True
                open_[process] = None
                if random.random() < 0.5:
                    call.done = self.note(process, "info", call.begun.f, call.begun.value)
                if call.done is None or random.random() < 0.5:
                    del open_[process]
                    open_[self.processes] = None
                    self.processes += 1
            elif call.took is None:
                if random.random() < 0.03 and call.begun.f not in ("read", "get"):
                    call.done = self.note(process, "fail", call.begun.f, call.begun.value)
                    open_[process] = None
                else:
                    self._take(call)
            else:
                refused = call.answer is NO
                value = call.begun.value if refused else call.answer
                call.done = self.note(process, "fail" if refused else "ok", call.begun.f, value)
                open_[process] = None
        for call in ghosts:
            self._take(call)

    def _end(self) -> None:
        """A last look at all that is there, with nobody else about."""
        last = {"total-queue": "drain", "queue": None, "unique-ids": None}.get(self.model, "read")
        keys = self.object.keys if isinstance(self.object, Registers) else list(self.object.held)
        for key in (keys if self.model in ("key-value", "append-log") else [None]) if last else []:
            call = Call(self.note(999, "invoke", str(last), [key, None] if key is not None else None))
            self._take(call)
            call.done = self.note(999, "ok", str(last), call.answer)
            self.calls.append(call)


Maker = Callable[[Random], Use]
MODELS = (
    "register",
    "cas-register",
    "key-value",
    "append-log",
    "set",
    "set-full",
    "counter",
    "unique-ids",
    "total-queue",
    "queue",
)
