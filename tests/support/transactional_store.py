"""A store of keys that keeps its isolation level, clients that overlap, and anomalies to put into what they saw."""

from collections.abc import Iterator
from random import Random
from typing import Any

from tidemark.checkers import Op

Micro = list[Any]
LEVELS = ("strict-serializable", "serializable", "strong-snapshot-isolation", "snapshot-isolation")


class TransactionalStore:
    """Transactions over lists or registers with many versions; each reads one snapshot, and commits if nobody was in its way.

    Clients overlap. Some transactions are aborted (`fail`), of some the outcome is unknown (`info`) or never told; these commit at
    any time after, or never, and their client may go on under the same name.

    Args:
        seed: of everything.
        level: one of `LEVELS`. The strong ones read the newest snapshot; serializable readers that write nothing, and everybody
            under snapshot isolation, any one since the store was made.
        lists: append to lists, else write registers.
        keys, processes: how many at a time.
        longest: how many reads and writes a transaction may have.
        writes: of a key, before another takes its place.
    """

    def __init__(
        self,
        seed: int,
        level: str = "strict-serializable",
        *,
        lists: bool = True,
        keys: int = 4,
        processes: int = 6,
        longest: int = 4,
        writes: int = 12,
    ) -> None:
        self._random = Random(f"{seed}/{level}/{lists}")
        self._level = level
        self._lists = lists
        self._active = list(range(keys))
        self._next_key = keys
        self._processes = processes
        self._longest = longest
        self._writes = writes
        self._written: dict[int, int] = {}
        self._versions: dict[int, list[tuple[int, Any]]] = {}
        self._clock = 0
        self._time = 0
        self._late: list[Iterator[Any]] = []
        self.ops: list[Op] = []

    def play(self, transactions: int) -> list[Op]:
        """So many; the history."""
        running: dict[str, Iterator[Any]] = {}
        names = [f"p{number}" for number in range(self._processes)]
        while transactions or running:
            self._time += self._random.randrange(3)
            if self._late and self._random.random() < 0.05:
                next(self._late.pop(self._random.randrange(len(self._late))), None)
            name = self._random.choice(names if transactions else sorted(running))
            if name not in running:
                running[name] = self._transaction(name)
                transactions -= 1
            if next(running[name], None) is None:
                del running[name]
                if self._random.random() < 0.002:
                    names[names.index(name)] = f"{name}'"
        return self.ops

    def _transaction(self, name: str) -> Iterator[Any]:
        random = self._random
        asked = [self._asked() for _ in range(random.randint(1, self._longest))]
        self._tell(name, "invoke", asked)
        yield True
        wrote = {key for f, key, _ in asked if f != "r"}
        newest = self._level.startswith("str") or (self._level == "serializable" and bool(wrote))
        oldest = max(0, self._clock - 20)
        snapshot = self._clock if newest else random.randint(oldest, self._clock)
        mine: dict[int, Any] = {}
        answered: list[Micro] = []
        for f, key, value in asked:
            state = mine[key] if key in mine else self._state(key, snapshot)
            if f == "r":
                answered.append([f, key, list(state) if self._lists and state is not None else state])
            else:
                mine[key] = (*(state or ()), value) if self._lists else value
                answered.append([f, key, value])
            if random.random() < 0.5:
                yield True
        luck = random.random()
        if luck < 0.03:
            self._late.append(self._commit(asked, mine, snapshot))
            if luck < 0.02:
                self._tell(name, "info", asked)
            else:
                self._abandon(name)
            return
        done = next(self._commit(asked, mine, snapshot), None) is not None
        if random.random() < 0.5:
            yield True
        lost = random.random() < 0.02
        self._tell(name, "info" if lost else "ok" if done else "fail", answered if done and not lost else asked)

    def _abandon(self, name: str) -> None:
        """The operation never ends; its process is never heard of again."""
        for place in range(len(self.ops) - 1, -1, -1):
            if self.ops[place].process == name:
                self.ops[place] = self.ops[place]._replace(process=f"{name}-gone-{place}")
                return

    def _asked(self) -> Micro:
        place = self._random.randrange(len(self._active))
        key = self._active[place]
        if self._random.random() < 0.5:
            return ["r", key, None]
        self._written[key] = self._written.get(key, 0) + 1
        if self._written[key] >= self._writes:
            self._active[place] = self._next_key
            self._next_key += 1
        return ["append" if self._lists else "w", key, self._written[key]]

    def _state(self, key: int, snapshot: int) -> Any:
        for at, state in reversed(self._versions.get(key, ())):
            if at <= snapshot:
                return state
        return None

    def _commit(self, asked: list[Micro], mine: dict[int, Any], snapshot: int) -> Iterator[Any]:
        serializable = "serializable" in self._level
        in_the_way = mine.keys() | ({key for _, key, _ in asked} if serializable and mine else set())
        if any(versions[-1][0] > snapshot for key in in_the_way if (versions := self._versions.get(key))):
            return
        if mine:
            self._clock += 1
            for key, state in mine.items():
                self._versions.setdefault(key, []).append((self._clock, state))
        yield True

    def _tell(self, name: str, type_: str, value: list[Micro]) -> None:
        self.ops.append(Op(self._time, name, type_, "txn", [list(micro) for micro in value]))


TOGETHER, IN_TURN, BY_ONE = "together", "in turn", "by one process"
"""How the transactions of an anomaly stand to each other in time."""


def _a(key: str, value: int) -> Micro:
    return ["append", key, value]


def _r(key: str, *elements: int) -> Micro:
    return ["r", key, list(elements)]


def _w(key: str, value: int) -> Micro:
    return ["w", key, value]


def _v(key: str, value: int | None = None) -> Micro:
    return ["r", key, value]


IN_LISTS: dict[str, tuple[str, list[tuple[str, list[Micro]]]]] = {
    name: (how, [(txn[0], txn[1]) if isinstance(txn, tuple) else ("ok", txn) for txn in transactions])
    for name, (how, transactions) in {
        "G0": (TOGETHER, [[_a("x", 1), _a("y", 1)], [_a("x", 2), _a("y", 2)], [_r("x", 1, 2), _r("y", 2, 1)]]),
        "G1a": (TOGETHER, [("fail", [_a("x", 1)]), [_r("x", 1)]]),
        "G1b": (TOGETHER, [[_a("x", 1), _a("x", 2)], [_r("x", 1)]]),
        "G1c": (TOGETHER, [[_a("x", 1), _r("y", 1)], [_a("y", 1), _r("x", 1)]]),
        "G-single": (TOGETHER, [[_a("x", 1), _a("y", 1)], [_r("x"), _r("y", 1)]]),
        "G-nonadjacent": (TOGETHER, [[_a("x", 1)], [_r("x", 1), _r("y")], [_a("y", 1)], [_r("y", 1), _r("x")]]),
        "G2-item": (TOGETHER, [[_r("x"), _a("y", 1)], [_r("y"), _a("x", 1)]]),
        "lost-update": (TOGETHER, [[_r("x"), _a("x", 1)], [_r("x"), _a("x", 2)]]),
        "internal": (TOGETHER, [[_a("x", 1), _r("x")]]),
        "future-read": (TOGETHER, [[_r("x", 1), _a("x", 1)]]),
        "incompatible-order": (TOGETHER, [[_a("x", 1)], [_a("x", 2)], [_r("x", 1)], [_r("x", 2)]]),
        "duplicate-elements": (TOGETHER, [[_a("x", 1)], [_r("x", 1, 1)]]),
        "dirty-update": (TOGETHER, [("fail", [_a("x", 1)]), [_a("x", 2)], [_r("x", 1, 2)]]),
        "phantom": (TOGETHER, [[_r("x", 9)]]),
        "G0-process": (BY_ONE, [[_a("x", 1)], [_a("x", 2)], [_r("x", 2, 1)]]),
        "G1c-process": (BY_ONE, [[_r("x", 1)], [_a("x", 1)]]),
        "G-single-process": (BY_ONE, [[_a("x", 1)], [_r("x")]]),
        "G0-realtime": (IN_TURN, [[_a("x", 1)], [_a("x", 2)], [_r("x", 2, 1)]]),
        "G1c-realtime": (IN_TURN, [[_r("x", 1)], [_a("x", 1)]]),
        "G-single-realtime": (IN_TURN, [[_a("x", 1)], [_r("x")]]),
    }.items()
}
"""The fewest transactions that show each anomaly, in lists."""

IN_REGISTERS: dict[str, tuple[str, list[tuple[str, list[Micro]]]]] = {
    name: (how, [(txn[0], txn[1]) if isinstance(txn, tuple) else ("ok", txn) for txn in transactions])
    for name, (how, transactions) in {
        "G1a": (TOGETHER, [("fail", [_w("x", 1)]), [_v("x", 1)]]),
        "G1b": (TOGETHER, [[_w("x", 1), _w("x", 2)], [_v("x", 1)]]),
        "G1c": (TOGETHER, [[_w("x", 1), _v("y", 1)], [_w("y", 1), _v("x", 1)]]),
        "G-single": (TOGETHER, [[_w("x", 1), _w("y", 1)], [_v("x"), _v("y", 1)]]),
        "G-nonadjacent": (TOGETHER, [[_w("x", 1)], [_v("x", 1), _v("y")], [_w("y", 1)], [_v("y", 1), _v("x")]]),
        "G2-item": (TOGETHER, [[_v("x"), _w("y", 1)], [_v("y"), _w("x", 1)]]),
        "lost-update": (TOGETHER, [[_v("x"), _w("x", 1)], [_v("x"), _w("x", 2)]]),
        "internal": (TOGETHER, [[_w("x", 1), _v("x")]]),
        "future-read": (TOGETHER, [[_v("x", 1), _w("x", 1)]]),
        "phantom": (TOGETHER, [[_v("x", 9)]]),
        "G1c-process": (BY_ONE, [[_v("x", 1)], [_w("x", 1)]]),
        "G-single-process": (BY_ONE, [[_w("x", 1)], [_v("x")]]),
        "G1c-realtime": (IN_TURN, [[_v("x", 1)], [_w("x", 1)]]),
        "G-single-realtime": (IN_TURN, [[_w("x", 1)], [_v("x")]]),
    }.items()
}
"""The same in registers, without those that need an order that registers do not show."""


def injected(ops: list[Op], seed: int, anomaly: tuple[str, list[tuple[str, list[Micro]]]]) -> list[Op]:
    """The history with an anomaly in it, of keys and processes of its own, at a place that the seed says."""
    random = Random(seed)
    how, transactions = anomaly
    first = random.randrange(len(ops) + 1)
    made: list[tuple[str, str, list[Micro]]] = []
    for number, (type_, value) in enumerate(transactions):
        micros = [[f, f"{key}!{seed}", answer] for f, key, answer in value]
        process = f"q{seed}" if how == BY_ONE else f"q{seed}-{number}"
        asked = [[f, key, None if f == "r" else answer] for f, key, answer in micros]
        made += [(process, "invoke", asked), (process, type_, micros)]
    if how == TOGETHER:
        made = [one for one in made if one[1] == "invoke"] + [one for one in made if one[1] != "invoke"]
    found, place = ops[:first], first
    last = ops[first - 1].time if first else 0
    for process, type_, value in made:
        for _ in range(random.randrange(4)):
            if place < len(ops):
                found.append(ops[place])
                last = ops[place].time
                place += 1
        if how != TOGETHER and type_ == "invoke" and found:
            while place < len(ops) and ops[place].time <= last:
                found.append(ops[place])
                place += 1
            shift = 1
            ops = ops[:place] + [op._replace(time=op.time + shift) for op in ops[place:]]
            last += shift
        found.append(Op(last, process, type_, "txn", value))
    return [*found, *ops[place:]]
