"""A correct object with concurrent clients: each operation takes effect at one moment between its two halves."""

from dataclasses import dataclass
from random import Random

from tidemark.checkers.history.history import Op

NOTHING = object()


@dataclass
class Call:
    """One operation of one client, and when things happen to it; `effect` is None if it never takes effect."""

    process: str
    f: str
    asked: object
    begin: float
    effect: float | None
    end: float | None
    outcome: str
    answered: object = None


class Cell:
    """A register; answers as the models' operations have it."""

    def __init__(self, initial=None):
        self.value = initial

    def do(self, f, asked):
        if f in ("read", "get"):
            return self.value
        if f in ("write", "put"):
            self.value = asked
        elif f == "cas":
            old, new = asked
            if self.value != old:
                return NOTHING
            self.value = new
        elif f == "append":
            self.value = (self.value or "") + asked
        return asked


class Log:
    """An append-only log, whose appends are told their offsets or not."""

    def __init__(self, offsets):
        self.elements = []
        self.offsets = offsets

    def do(self, f, asked):
        if f == "read":
            return list(self.elements)
        self.elements.append(asked)
        return (asked, len(self.elements) - 1) if self.offsets else asked


def histories(seed, request, new, *, calls, clients, keys=None, info=0.1, fail=0.1, spread=1.0):
    """The halves of `calls` operations on a correct object.

    `request` gives (f, asked) for a random source; `new` makes an object; with `keys`, each operation is about one of them. Some
    operations end `info` (whether they took effect, and when, is chance), some `fail` (they did not), some never.
    """
    random = Random(seed)
    made = _calls(random, request, calls, clients, info, fail, spread)
    objects = {}
    named = [(call, random.choice(keys) if keys else None) for call in made]
    for call, key in sorted((one for one in named if one[0].effect is not None), key=lambda one: one[0].effect):
        call.answered = objects.setdefault(key, new()).do(call.f, call.asked)
        if call.answered is NOTHING and call.outcome == "ok":
            call.outcome = "fail"
    halves = []
    for call, key in named:
        asked = None if call.f in ("read", "get") else call.asked
        halves.append((call.begin, call, "invoke", [key, asked] if keys else asked))
        if call.end is not None:
            value = call.answered if call.outcome == "ok" else asked
            pair = [key, *value] if isinstance(value, tuple) else [key, value]
            halves.append((call.end, call, call.outcome, pair if keys else value))
    halves.sort(key=lambda half: half[0])
    return [
        Op(time, call.process, type_, call.f, value) for time, (_, call, type_, value) in enumerate(halves, start=1)
    ]


def _calls(random, request, calls, clients, info, fail, spread):
    made = []
    ready = {f"c{number}": random.random() for number in range(clients)}
    fresh = clients
    while len(made) < calls:
        process = min(ready, key=ready.get)
        begin = ready.pop(process)
        f, asked = request(random)
        effect = begin + spread * random.expovariate(1)
        end = effect + spread * random.expovariate(1)
        chance = random.random()
        call = Call(process, f, asked, begin, effect, end, "ok")
        if chance < info:
            call.outcome = "info"
            call.effect = random.choice([None, effect, begin + 20 * spread * random.random()])
            call.end = random.choice([None, end])
            process, fresh = f"c{fresh}", fresh + 1
        elif chance < info + fail:
            call.outcome, call.effect = "fail", None
        made.append(call)
        ready[process] = end + spread * random.random()
    return made
