"""What clients do with an object that is no log (a register, lists, a queue …): the mix as data, and each operation.

The operations come in one order for all clients, and whoever is free does the next: the same plan gives the same operations in the
same order, whatever becomes of them. A key is used for some operations, and then another takes its place. So a key has a short
history, and whether it is linearizable is soon told.

>>> from itertools import islice
>>> operations = Operations(ObjectWorkload("cas-register", keys=1), seed=7)
>>> [tuple(one) for one in islice(operations, 3)]
[('cas', 'k1', (3, 4)), ('write', 'k1', 4), ('cas', 'k1', (3, 4))]
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from random import Random
from typing import Any, NamedTuple

REGISTER, CAS_REGISTER, LIST_APPEND, SET = "register", "cas-register", "list-append", "set"
QUEUE, COUNTER, UNIQUE_IDS = "queue", "counter", "unique-ids"
GROUP_OFFSETS = "group-offsets"
OBJECTS = (REGISTER, CAS_REGISTER, LIST_APPEND, SET, QUEUE, COUNTER, UNIQUE_IDS, GROUP_OFFSETS)
"""The workloads that there are beside the log."""
OF_KEYS = (REGISTER, CAS_REGISTER, LIST_APPEND, GROUP_OFFSETS)
"""Those that have keys; of any other there is one. Keys of `GROUP_OFFSETS` are consumer groups, whose offsets go up and are read in
the end only.
"""
READS_AND_WRITES = {SET: ("read", "add"), COUNTER: ("read", "add"), QUEUE: ("dequeue", "enqueue")}
"""What a read and a write of an object without keys are called."""
USUAL: dict[str, dict[str, int]] = {QUEUE: {"reads": 2, "writes": 3}, GROUP_OFFSETS: {"keys": 100, "operations": 2}}
"""The mix of a kind, where it is another than that of the others: of a queue that is never empty more can be lost."""
LARGE: dict[str, dict[str, int]] = {
    LIST_APPEND: {"keys": 2_000, "operations": 60, "reads": 1, "writes": 3, "longest": 100},
}
"""A mix whose every operation takes the servers a while, so that what happens to them happens in the midst of one."""
SHARE_OF_LARGE = 0.3
MOST = 100_000


class ObjectWorkloadError(ValueError):
    """No such workload; the message says what is wrong."""


class Intended(NamedTuple):
    """One operation, as it is meant.

    Attributes:
        f: ``read``, ``write``, ``cas``, ``txn``, ``add``, ``enqueue``, ``dequeue``, ``generate``.
        key: whose; of transactions, and of what has no keys, None.
        value: of ``write``, ``add`` and ``enqueue`` the value; of ``cas`` the old and the new one; of ``txn`` its micro-operations,
            ``("append", key, element)`` and ``("r", key, None)``; of any other None.
    """

    f: str
    key: str | None
    value: Any


@dataclass(frozen=True, slots=True)
class ObjectWorkload:
    """The object, and the mix of operations on it.

    Attributes:
        kind: one of `OBJECTS`.
        keys: so many are used at a time, by those `OF_KEYS`.
        operations: on a key, before another takes its place; of lists these are micro-operations.
        values: those of a register, and what is added to a counter, are 1 to this. Elements of lists, sets and queues are
            1, 2, 3 …
        reads, writes, compares: how often each is chosen, as weights. Appending, adding and enqueuing are writes, dequeuing
            is a read; only a `cas-register` compares.
        longest: the most micro-operations of a transaction.
    """

    kind: str
    keys: int = 2
    operations: int = 50
    values: int = 4
    reads: int = 2
    writes: int = 1
    compares: int = 2
    longest: int = 4

    def __post_init__(self) -> None:
        """Refuse what there is not.

        Raises:
            ObjectWorkloadError: what is wrong.
        """
        if self.kind not in OBJECTS:
            raise ObjectWorkloadError(f"there is no workload {self.kind!r}; there are {', '.join(OBJECTS)}")
        for one in fields(self):
            if one.name != "kind" and not 0 <= getattr(self, one.name) <= MOST:
                raise ObjectWorkloadError(f"{one.name} must be between 0 and {MOST}")
        if min(self.keys, self.operations, self.values, self.longest, self.reads, self.writes) < 1:
            raise ObjectWorkloadError("it needs keys, operations, values, reads, writes and a longest transaction")

    @classmethod
    def usual(cls, kind: str) -> ObjectWorkload:
        """With the mix that is usual for its kind."""
        return cls(kind, **USUAL.get(kind, {}))

    @classmethod
    def drawn(cls, kind: str, seed: int) -> ObjectWorkload:
        """With the usual mix, or by chance with the large one of its kind, if there is one."""
        is_large = kind in LARGE and Random(f"{seed}/mix").random() < SHARE_OF_LARGE
        return cls(kind, **LARGE[kind]) if is_large else cls.usual(kind)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_json(cls, data: object) -> ObjectWorkload:
        """The reverse of `to_json`; what is left out is as usual.

        Raises:
            ObjectWorkloadError: it is none.
        """
        if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
            raise ObjectWorkloadError(f'must be an object with a "kind", and is {data!r}')
        known = [one.name for one in fields(cls)]
        for name, value in data.items():
            if name not in known:
                raise ObjectWorkloadError(f"unknown entry {name!r}")
            if name != "kind" and type(value) is not int:
                raise ObjectWorkloadError(f"{name} must be an integer, not {value!r}")
        return cls(**{**USUAL.get(data["kind"], {}), **data})


class Operations:
    """What is to be done next, without end. Not for several threads at once.

    Args:
        work: the object and the mix.
        seed: of chance; the same gives the same operations.

    Attributes:
        used: all keys so far, in the order in which they came.
    """

    def __init__(self, work: ObjectWorkload, seed: int) -> None:
        self._work = work
        self._noise = Random(f"{seed}/operations")
        self.used: list[str] = []
        self._left: dict[str, int] = {}
        self._elements: dict[str | None, int] = {}
        if work.kind in OF_KEYS:
            for _ in range(work.keys):
                self._begin()

    def __iter__(self) -> Operations:
        return self

    def __next__(self) -> Intended:
        kind = self._work.kind
        if kind == LIST_APPEND:
            return Intended("txn", None, tuple(self._micro() for _ in range(1 + self._below(self._work.longest))))
        if kind == UNIQUE_IDS:
            return Intended("generate", None, None)
        if kind == GROUP_OFFSETS:
            group = self._key()
            return Intended("write", group, self._element(group))
        f = self._chosen()
        if kind in READS_AND_WRITES:
            read, write = READS_AND_WRITES[kind]
            if f == "read":
                return Intended(read, None, None)
            return Intended(write, None, self._value() if kind == COUNTER else self._element(None))
        key = self._key()
        if f == "cas":
            return Intended(f, key, (self._value(), self._value()))
        return Intended(f, key, self._value() if f == "write" else None)

    def final_reads(self) -> list[Intended]:
        """What reads everything once. A dequeue stands for as many as empty the queue, and of ids one more is asked for."""
        if self._work.kind == UNIQUE_IDS:
            return [next(self)]
        if self._work.kind in READS_AND_WRITES:
            return [Intended(READS_AND_WRITES[self._work.kind][0], None, None)]
        if self._work.kind == LIST_APPEND:
            some = (self.used[at : at + self._work.longest] for at in range(0, len(self.used), self._work.longest))
            return [Intended("txn", None, tuple(("r", key, None) for key in keys)) for keys in some]
        return [Intended("read", key, None) for key in self.used]

    def _micro(self) -> tuple[str, str, int | None]:
        f, key = self._chosen(), self._key()
        return ("r", key, None) if f == "read" else ("append", key, self._element(key))

    def _chosen(self) -> str:
        work = self._work
        compares = work.compares if work.kind == CAS_REGISTER else 0
        drawn = self._below(work.reads + work.writes + compares)
        if drawn < work.reads:
            return "read"
        return "write" if drawn < work.reads + work.writes else "cas"

    def _key(self) -> str:
        """One of those in use, which has an operation less to come."""
        key = list(self._left)[self._below(len(self._left))]
        self._left[key] -= 1
        if not self._left[key]:
            del self._left[key]
            self._begin()
        return key

    def _begin(self) -> None:
        key = f"k{len(self.used) + 1}"
        self.used.append(key)
        self._left[key] = self._work.operations

    def _element(self, key: str | None) -> int:
        self._elements[key] = self._elements.get(key, 0) + 1
        return self._elements[key]

    def _value(self) -> int:
        return 1 + self._below(self._work.values)

    def _below(self, most: int) -> int:
        return int(self._noise.random() * most)
