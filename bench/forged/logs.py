"""Correct histories of replicated logs, from a small world that keeps its own truth.

There are logs with gaps, and clients: producers, consumers, and such that do both in transactions. Sends take effect while they are
open, or later if nobody heard of them; consumers go on where they were, and see what is committed before the first open one.
Clients crash and come back, by another number or by their own. In the end somebody reads all that is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench.forged.halves import At, Half, Name

STRINGS = ("t-0", "t-1", "u-0", "1", ":k")
OTHERS = (*STRINGS, 1, Name("k"), 0, Name("t-0"), ("t", 0))


@dataclass
class Record:
    """A value that somebody sent. `fate` is ``in``, ``out``, or ``open`` while its transaction is; `offset` is None if it was never
    appended, and `done` the half that completed its send.
    """

    key: Any
    value: Any
    begun: Half
    fate: str = "open"
    offset: int | None = None
    done: Half | None = None


@dataclass
class Client:
    """A client: what it is, what it does just now, and where it reads."""

    process: int
    kind: str
    begun: Half | None = None
    sent: list[Record] = field(default_factory=list)
    assigned: list[Any] = field(default_factory=list)
    at: dict[Any, int] = field(default_factory=dict)
    began_at: dict[Any, int] = field(default_factory=dict)
    did: list[Any] = field(default_factory=list)
    steps: int = 0


class World:
    """What there is, and what was told; `halves` is the history, in order of time."""

    def __init__(self, random: Random, *, edn: bool, odd: bool = True, calls: int = 60) -> None:
        """Let it happen: `calls` operations; with `odd`, keys and values that are no strings and integers."""
        self.random = random
        self.edn, self.odd = edn, odd
        self.keys = random.sample(OTHERS if edn and odd else STRINGS, random.randint(1, 3))
        self.log: dict[Any, list[Record]] = {key: [] for key in self.keys}
        self.next: dict[Any, int] = {key: random.choice([0, 0, 5]) for key in self.keys}
        self.records: list[Record] = []
        self.halves: list[Half] = []
        self.late: list[tuple[list[Record], str]] = []
        self.time = 0
        self.values = 0
        self.subscribes = random.random() < 0.15
        kinds = ["producer"] * random.randint(1, 3) + ["consumer"] * random.randint(1, 3)
        kinds += ["transactor"] * random.randint(0, 3)
        self.clients = [Client(process, kind) for process, kind in enumerate(kinds)]
        self.processes = len(kinds)
        self._happen(calls)
        self._end()

    def polls(self) -> Iterator[tuple[Half, Any, list[At]]]:
        """Each ok completion that polled, with a key and the records that it polled of it."""
        for half in self.halves:
            if half.type == "ok" and half.f in ("poll", "txn"):
                for micro in half.value:
                    if micro[0] == "poll":
                        for key, records in micro[1]:
                            yield half, key, records

    def tick(self) -> int:
        """Time goes on, or stands still."""
        self.time += self.random.choice([0, 1, 1, 7])
        return self.time

    def fresh(self) -> Any:
        """A value that nothing else has."""
        self.values += 1
        number = self.values
        kinds: list[Any] = [number, number, f"v{number}", str(number)]
        if self.odd:
            kinds += [number + 0.5] + ([Name(f"v{number}")] if self.edn else [])
        return self.random.choice(kinds)

    def note(self, client: Client, type_: str, f: str, value: Any, *, final: bool = False) -> Half:
        """Write a half down."""
        half = Half(self.tick(), client.process, type_, f, value, final)
        if type_ in ("fail", "info"):
            half.error = "timed-out"
        self.halves.append(half)
        return half

    def _happen(self, calls: int) -> None:
        while calls or any(client.begun for client in self.clients):
            client = self.random.choice(self.clients)
            if client.begun is None:
                if calls:
                    calls -= 1
                    self._begin(client)
            elif client.steps:
                client.steps -= 1
                self._step(client)
            else:
                self._complete(client)
            if self.late and self.random.random() < 0.1:
                self._settle(*self.late.pop(self.random.randrange(len(self.late))))

    def _begin(self, client: Client) -> None:
        random = self.random
        if client.kind != "producer" and (not client.assigned or random.random() < 0.1):
            keys = random.sample(self.keys, random.randint(1, len(self.keys)))
            self._assign(client, keys)
            return
        sends = [] if client.kind == "consumer" else [["send", random.choice(self.keys), self.fresh()]]
        while sends and random.random() < 0.4:
            sends.append(["send", random.choice(self.keys), self.fresh()])
        polls = [] if client.kind == "producer" else [["poll", []] for _ in range(random.randint(1, 2))]
        asked = sends + polls
        random.shuffle(asked)
        f = {"producer": "send", "consumer": "poll", "transactor": "txn"}[client.kind]
        client.begun = self.note(client, "invoke", f, [list(one) for one in asked])
        client.sent = []
        client.did = []
        client.began_at = dict(client.at)
        client.steps = len(asked)

    def _assign(self, client: Client, keys: list[Any]) -> None:
        f = "subscribe" if self.subscribes and self.random.random() < 0.3 else "assign"
        self.note(client, "invoke", f, keys)
        self.note(client, "ok", f, keys)
        client.at = {key: client.at.get(key, 0) if key in client.assigned else 0 for key in keys}
        client.assigned = keys

    def _step(self, client: Client) -> None:
        """The next of the micro-operations takes effect."""
        assert client.begun is not None
        micro = client.begun.value[len(client.did)]
        if micro[0] == "poll":
            client.did.append(["poll", self._read(client)])
            return
        record = Record(micro[1], micro[2], client.begun)
        self.records.append(record)
        client.sent.append(record)
        if client.kind == "transactor":
            self._append(record)
        client.did.append(micro)

    def _read(self, client: Client, most: int = 4) -> list[Any]:
        found = []
        for key in client.assigned:
            end = next((one.offset for one in self.log[key] if one.fate == "open"), None)
            there = [
                one
                for one in self.log[key]
                if one.fate == "in" and one.offset >= client.at[key] and (end is None or one.offset < end)
            ][: self.random.randint(0, most)]
            if there:
                client.at[key] = there[-1].offset + 1
            if there or self.random.random() < 0.5:
                found.append([key, [At(one.offset, one.value) for one in there]])
        return found

    def _append(self, record: Record) -> None:
        record.offset = self.next[record.key]
        self.next[record.key] += self.random.choice([1, 1, 1, 2])
        self.log[record.key].append(record)

    def _settle(self, records: list[Record], fate: str) -> None:
        """What was sent is committed or aborted; what was not appended yet is, if it is to be there."""
        for record in records:
            if fate == "in" and record.offset is None:
                self._append(record)
            record.fate = fate
        for key in {repr(one.key): one.key for one in records if one.begun.f == "txn"}.values():
            self.next[key] += 1

    def _complete(self, client: Client) -> None:
        assert client.begun is not None
        begun, random = client.begun, self.random
        end = random.choices(["ok", "fail", "info", "never"], [85, 7, 6, 2])[0]
        fate = {"ok": "in", "fail": "out"}.get(end) or random.choice(["in", "out"])
        late = end in ("info", "never") and random.random() < 0.5
        if late:
            self.late.append((client.sent, fate))
        else:
            self._settle(client.sent, fate)
        if end != "ok":
            client.at = client.began_at
        client.begun = None
        told = [list(one) for one in begun.value]
        if end == "ok":
            told = self._told(client)
        elif end == "fail" and begun.f == "txn" and random.random() < 0.5:
            told = self._told(client, offsets=False)
        if end != "never":
            done = self.note(client, end, begun.f, told)
            for record in client.sent:
                record.done = done
        if end in ("info", "never"):
            self._crash(client, again=end == "info" and not late)

    def _told(self, client: Client, *, offsets: bool = True) -> list[Any]:
        records = iter(client.sent)
        told = []
        for micro in client.did:
            if micro[0] == "poll":
                told.append(micro)
                continue
            record = next(records)
            known = offsets and self.random.random() < 0.95
            told.append(["send", record.key, At(record.offset if known else None, record.value)] if offsets else micro)
        return told

    def _crash(self, client: Client, *, again: bool) -> None:
        """It comes back under its own number, and begins anew; or under another."""
        if again and self.random.random() < 0.5:
            if client.kind != "producer":
                self._assign(client, [])
            return
        self.clients.remove(client)
        self.clients.append(Client(self.processes, client.kind))
        self.processes += 1

    def _end(self) -> None:
        """All that is undecided is decided; then somebody reads all, and somebody else perhaps."""
        for late in self.late:
            self._settle(*late)
        self.time += 10
        for _ in range(self.random.choice([1, 1, 2])):
            reader = Client(self.processes, "consumer")
            self.processes += 1
            self._assign(reader, list(self.keys))
            more = True
            while more:
                reader.begun = self.note(reader, "invoke", "poll", [["poll", []]], final=True)
                before = dict(reader.at)
                found = [[key, records] for key, records in self._read(reader, most=9)]
                more = (
                    any(
                        one.fate == "in" and one.offset >= reader.at[one.key]
                        for log in self.log.values()
                        for one in log
                    )
                    or before != reader.at
                )
                for key in self.keys if not more else ():
                    if not any(key == one and type(key) is type(one) for one, _ in found):
                        found.append([key, []])
                self.note(reader, "ok", "poll", [["poll", found]], final=True)
