"""What was found, in words: a cycle as that of logs are told, and everything else in a sentence of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from tidemark.checkers.graphs.sentence import MOST_EVIDENCE, sentence
from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.transactions.columns import NEVER, NIL, Transactions
from tidemark.checkers.objects.transactions.cycles import Found
from tidemark.checkers.objects.transactions.dependencies import KINDS, PROCESS, RW, WR, WW
from tidemark.checkers.objects.transactions.internal import Answer, Contradiction
from tidemark.checkers.objects.transactions.lists import Lists
from tidemark.checkers.objects.transactions.registers import Registers
from tidemark.checkers.objects.transactions.writers import Sight
from tidemark.checkers.verdict.verdict import INFORMATIONAL, VIOLATION, Anomaly, Json, seconds

MOST_SHOWN = 12
"""So many elements of a list are in a sentence."""


class Words:
    """Tells what was found in a history; `forbidden` are the names of those anomalies that are violations."""

    def __init__(self, found: Transactions, versions: Lists | Registers, forbidden: frozenset[str]) -> None:
        self._found = found
        self._versions = versions
        self._forbidden = forbidden
        self._writes_by = _By(found.write_of)
        self._reads_by = _By(found.read_of)

    def of_cycle(self, found: Found) -> Anomaly:
        """An anomaly for a cycle."""
        cycle = found.cycle
        if cycle is None:
            message = f"There is a cycle among {found.size} operations of another component."
            return self._anomaly(found.name, 0, "", message, {"component": found.size})
        names = {node: f"T{number}" for number, node in enumerate(cycle.nodes, start=1)}
        following = (*cycle.nodes[1:], cycle.nodes[0])
        told = [
            self._step(kind, one, after, names)
            for kind, one, after in zip(cycle.kinds, cycle.nodes, following, strict=True)
        ]
        evidence = {
            "length": len(cycle.nodes),
            "operations": [{"name": names[one], **self.operation(one)} for one in cycle.nodes[:MOST_EVIDENCE]],
            "steps": [step for step, _ in told[:MOST_EVIDENCE]],
            "shortest": cycle.shortest,
            "component": found.size,
        }
        key = next((step["key"] for step, _ in told if "key" in step), "")
        who = [f"{names[one]} ({self._who(one)})" for one in cycle.nodes]
        time = max(self._half(one).time for one in cycle.nodes)
        return self._anomaly(found.name, time, key, sentence(who, [words for _, words in told]), evidence)

    def of_sight(self, sight: Sight) -> Anomaly:
        """An anomaly for something that a version, or a row of reads, shows."""
        key, words = getattr(self, "_" + sight.name.replace("-", "_").lower())(sight)
        shown = [one for one in (sight.reader, *sight.others) if one >= 0]
        evidence = {"count": sight.times, "operations": [self.operation(one) for one in dict.fromkeys(shown)]}
        time = max((self._half(one).time for one in shown), default=0)
        return self._anomaly(sight.name, time, str(self._found.keys[key]), words, evidence)

    def of_contradiction(self, one: Contradiction) -> Anomaly:
        """An anomaly for a transaction that contradicts itself."""
        micro = self._half(one.transaction).value[one.place]
        who = f"{self._who(one.transaction)}, "
        if one.name == "future-read":
            message = f"{who}read {micro[2]!r} of {micro[1]} before it wrote that."
        else:
            expected = self._answer(one.expected)
            message = f"{who}read {_shown(micro[2])} of {micro[1]}, and had to see {expected} from what it did before."
        evidence = {"place": one.place, "operations": [self.operation(one.transaction)]}
        time = self._half(one.transaction).time
        return self._anomaly(one.name, time, str(micro[1]), message, evidence)

    def operation(self, number: int) -> dict[str, Json]:
        """A transaction as evidence; times in µs, None for what nobody knows."""
        found = self._found
        begin, end, half = int(found.begin[number]), int(found.end[number]), self._half(number)
        return {
            "process": half.process,
            "f": half.f,
            "value": half.value,
            "type": found.halves[end].type if end != NEVER else None,
            "began": found.halves[begin].time if begin != NEVER else None,
            "ended": found.halves[end].time if end != NEVER else None,
        }

    def _anomaly(self, name: str, time: int, key: str, message: str, evidence: dict[str, Any]) -> Anomaly:
        return Anomaly(
            name, VIOLATION if name in self._forbidden else INFORMATIONAL, time, str(key), message, evidence=evidence
        )

    def _half(self, number: int) -> Op:
        end = int(self._found.end[number])
        return self._found.halves[end if end != NEVER else int(self._found.begin[number])]

    def _who(self, number: int) -> str:
        one = self.operation(number)
        if one["ended"] is None:
            when = f"begun at {seconds(one['began'])}, never over"
        elif one["began"] is None:
            when = f"over at {seconds(one['ended'])}"
        else:
            when = f"{seconds(one['began'])} to {seconds(one['ended'])}"
        return f"{one['f']} of {one['process']}, {when}"

    def _step(self, kind: int, before: int, after: int, names: dict[int, str]) -> tuple[dict[str, Any], str]:
        one, other = names[before], names[after]
        step: dict[str, Any] = {"kind": KINDS[kind], "before": one, "after": other}
        if kind in (WW, WR, RW):
            key, first, then, how = next(self._because(kind, before, after))
            name = self._found.keys[key]
            step |= {"key": str(name), "version": first, "then": then, "because": how}
            read = "nothing" if first is None else _shown(first)
            words = {
                WW: f"{one} wrote {_shown(first)} to {name}, before {other} wrote {_shown(then)}",
                WR: f"{one} wrote {_shown(first)} to {name}, which {other} read",
                RW: f"{one} read {name} with {read} as its last, and not {_shown(then)}, which {other} wrote",
            }
            return step, words[kind]
        begun, ended = self.operation(after)["began"], self.operation(before)["ended"]
        if kind == PROCESS:
            process = self._half(before).process
            return step | {"process": process}, f"{process} did {one} before {other}"
        return step | {"ended": ended, "began": begun}, (
            f"{one} was over at {seconds(ended)}, before {other} began at {seconds(begun)}"
        )

    def _because(self, kind: int, before: int, after: int) -> Iterator[tuple[int, Any, Any, str]]:
        """What a dependency rests on: the key, a version, the one that followed (of `wr` itself), and how that is known."""
        found = self._found
        wrote = found.wrote[self._writes_by[after]].tolist()
        if kind == WR:
            mine = set(found.wrote[self._writes_by[before]].tolist())
            for row in self._reads_by[after].tolist():
                version = self._read(row)
                if version in mine:
                    yield int(found.read_key[row]), found.values[version], found.values[version], "it was read"
            return
        pairs = []
        if kind == WW:
            pairs = [
                (int(found.version_key[version]), version) for version in found.wrote[self._writes_by[before]].tolist()
            ]
        else:
            pairs = [(int(found.read_key[row]), self._read(row)) for row in self._reads_by[before].tolist()]
        for key, version in pairs:
            for later in wrote:
                if int(found.version_key[later]) == key:
                    how = self._came_before(key, version, later, kind)
                    if how:
                        yield key, None if version == NIL else found.values[version], found.values[later], how

    def _read(self, row: int) -> int:
        """The version that a read ended with."""
        if isinstance(self._versions, Registers):
            return int(self._found.starts[row])
        elements = self._versions.elements_of(row)
        there = elements[self._versions.writers.there[elements]]
        return int(there[-1]) if len(there) else NIL

    def _came_before(self, key: int, version: int, later: int, kind: int) -> str:
        """How it is known that a version came before another; empty if it is not."""
        versions = self._versions
        if version == later:
            return ""
        if isinstance(versions, Lists):
            if version != NIL and versions.place[version] < 0:
                return ""
            if versions.place[later] < 0:
                return "no read has it"
            return "" if version != NIL and versions.place[version] > versions.place[later] else "a read has both"
        at = len(self._found.version_key) + key if version == NIL else version
        if version == NIL:
            return "nothing was written before"
        if kind == RW and bool(((versions.follows.tail == at) & (versions.follows.head == later)).any()):
            return "who wrote it had read the other"
        for name, edges in versions.pairs.items():
            if bool(((edges.tail == at) & (edges.head == later)).any()):
                return f"keys are {name}"
        return ""

    def _answer(self, answer: Answer) -> str:
        values = self._found.values
        if isinstance(answer, list):
            return _shown([values[version] for version in answer])
        return "nothing" if answer == NIL else _shown(values[answer])

    def _version(self, sight: Sight) -> tuple[int, str, str]:
        found = self._found
        if sight.version >= len(found.values):
            return sight.version - len(found.values), "", "nothing"
        key = int(found.version_key[sight.version])
        return key, f"{found.keys[key]}", _shown(found.values[sight.version])

    def _g1a(self, sight: Sight) -> tuple[int, str]:
        key, name, value = self._version(sight)
        return (
            key,
            f"{self._who(sight.reader)}, read {value} of {name}, which {self._who(sight.others[0])}, wrote, and which failed.",
        )

    def _g1b(self, sight: Sight) -> tuple[int, str]:
        key, name, value = self._version(sight)
        reader, writer = self._who(sight.reader), self._who(sight.others[0])
        return key, f"{reader}, read {name} as it was after {value}, and {writer}, wrote {name} again after that."

    def _phantom(self, sight: Sight) -> tuple[int, str]:
        key, name, value = self._version(sight)
        return key, f"{self._who(sight.reader)}, read {value} of {name}, which nobody wrote."

    def _duplicate_elements(self, sight: Sight) -> tuple[int, str]:
        key, name, value = self._version(sight)
        return key, f"{self._who(sight.reader)}, read {value} twice in {name}, and it was written once."

    def _dirty_update(self, sight: Sight) -> tuple[int, str]:
        key, name, value = self._version(sight)
        first, then = sight.others
        return (
            key,
            f"{self._who(then)}, wrote to {name} after {value}, which {self._who(first)}, wrote, and which failed.",
        )

    def _cyclic_versions(self, sight: Sight) -> tuple[int, str]:
        key = self._version(sight)[0]
        values = [None if one >= len(self._found.values) else self._found.values[one] for one in sight.others]
        return (
            key,
            (
                f"Each of {sight.times} values of {self._found.keys[key]} came before the next, and the last before the first: "
                f"{_shown(values)}."
            ),
        )

    def _incompatible_order(self, sight: Sight) -> tuple[int, str]:
        found, key = self._found, int(self._found.read_key[sight.version])
        versions = cast("Lists", self._versions)
        mine = [found.values[one] for one in versions.elements_of(sight.version).tolist()]
        return key, (
            f"{self._who(sight.reader)}, read {_shown(mine)} of {found.keys[key]}, which is not how the longest read of it begins, "
            f"by {self._who(sight.others[0])}: {_shown(versions.longest(key))}."
        )

    def _lost_update(self, sight: Sight) -> tuple[int, str]:
        found, row = self._found, sight.version
        key, version = int(found.read_key[row]), self._read(row)
        read = "nothing" if version == NIL else f"{_shown(found.values[version])} as its last"
        others = " and ".join(self._who(one) for one in sight.others[:1])
        more = f", and {sight.times - 2} more" if sight.times > 2 else ""
        return (
            key,
            f"{self._who(sight.reader)}, and {others}{more}, all read {found.keys[key]} with {read}, and then wrote it.",
        )


class _By:
    """The rows of each transaction."""

    def __init__(self, of: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        self._of = of

    def __getitem__(self, number: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        begin, end = np.searchsorted(self._of, [number, number + 1])
        return np.arange(begin, end)


def _shown(value: Json) -> str:
    """A value as far as a sentence has room for it."""
    if isinstance(value, (list, tuple)):
        if len(value) > MOST_SHOWN:
            return f"[{', '.join(map(_shown, value[:3]))}, … {len(value) - 6} more …, {', '.join(map(_shown, value[-3:]))}]"
        return f"[{', '.join(map(_shown, value))}]"
    if value is None:
        return "nothing"
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
