"""Writing client operations down in the shapes of ``docs/history.md``, from any thread, in order of time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from tidemark.checkers.history.history import Op, Value
from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.outcomes import FAIL, INFO, OK, Report

Records = dict[str, list[tuple[int, Value]]]
"""Partition → ``(offset, value)`` pairs, as a poll returns them."""

_EMPTY_POLL: tuple[object, ...] = (("poll", {}),)
_FIRST_TOLD = (OK, INFO, FAIL)


class Journal:
    """Where all clients of a workload write; reading the clock and recording are one step, so times never go back."""

    def __init__(
        self, clock: Callable[[], int], record: Callable[[Op], None], acks: str, counters: Counters | None = None
    ) -> None:
        """``clock`` gives µs since the run began; ``acks`` is what the sends ask for."""
        self.clock = clock
        self.counters = counters or Counters()
        self._record = record
        self._acks = acks
        self._lock = threading.Lock()

    def add(
        self, process: str, kind: str, f: str, value: object, error: str | None = None, *, final: bool = False
    ) -> None:
        """Record one half of an operation, now."""
        acks = self._acks if f == "send" else None
        with self._lock:
            self._record(Op(self.clock(), process, kind, f, value, error, acks, final))
        if f in ("send", "txn"):
            self.counters.add("invoked" if kind == "invoke" else kind)


class SendRecorder:
    """Writes down the sends of one producer."""

    def __init__(self, journal: Journal, process: str) -> None:
        """``process`` is the producer's name in the history."""
        self._journal = journal
        self.process = process

    def invoke(self, key: str, values: Sequence[int]) -> None:
        """A batch is about to be handed to the client library."""
        self._add(self.process, "invoke", tuple(("send", key, value) for value in values))

    def complete(self, key: str, values: Sequence[int], reports: Mapping[int, Report]) -> None:
        """Every record's fate is known, as far as it ever will be.

        If they differ, the operation is split (docs/clients.md): this process completes with the records that fared best, and
        the others become operations of their own, of processes such as ``p1.1``, invoked and completed now. So every
        acknowledgement stays evidence, and no record's doubt is taken for another's.
        """
        groups: dict[tuple[str, str | None], list[int]] = {}
        for value in values:
            groups.setdefault((reports[value].outcome, reports[value].error), []).append(value)
        ordered = sorted(groups, key=lambda fate: _FIRST_TOLD.index(fate[0]))
        for number, (outcome, error) in enumerate(ordered):
            part = groups[outcome, error]
            process = f"{self.process}.{number}" if number else self.process
            unplaced = tuple(("send", key, value) for value in part)
            if number:
                self._add(process, "invoke", unplaced)
            if outcome == OK:
                self._add(process, OK, tuple(("send", key, (reports[value].offset, value)) for value in part))
            else:
                self._add(process, outcome, unplaced, error)

    def _add(self, process: str, kind: str, value: object, error: str | None = None) -> None:
        self._journal.add(process, kind, "send", value, error)


class TransactionRecorder:
    """Writes down the transactions of one producer."""

    def __init__(self, journal: Journal, process: str) -> None:
        """``process`` is the producer's name in the history, until nobody knows what became of a transaction."""
        self._journal = journal
        self._name = process
        self._lives = 0

    @property
    def process(self) -> str:
        """The process of the next operation: one whose outcome is unknown may still be carried out, and was another's."""
        return f"{self._name}.{self._lives}" if self._lives else self._name

    def invoke(self, sends: Sequence[tuple[str, Sequence[int]]]) -> None:
        """A transaction is about to begin: partitions, and the values that go there."""
        self._add("invoke", sends, None, {})

    def complete(
        self, sends: Sequence[tuple[str, Sequence[int]]], outcome: str, error: str | None, offsets: Mapping[int, int]
    ) -> None:
        """It has come to its end; ``offsets`` are those of the values that were acknowledged one by one."""
        self._add(outcome, sends, error, {} if outcome == FAIL else offsets)
        self._lives += outcome == INFO

    def _add(
        self, kind: str, sends: Sequence[tuple[str, Sequence[int]]], error: str | None, offsets: Mapping[int, int]
    ) -> None:
        value = tuple(
            ("send", key, (offsets[value], value) if value in offsets else value)
            for key, values in sends
            for value in values
        )
        self._journal.add(self.process, kind, "txn", value, error)


class PollRecorder:
    """Writes down the polls of one consumer."""

    def __init__(self, journal: Journal, process: str, *, final: bool = False) -> None:
        """``final`` marks the reads from the start after convergence."""
        self._journal = journal
        self.process = process
        self._final = final

    def invoke(self) -> None:
        """A poll begins."""
        self._add("invoke", "poll", _EMPTY_POLL)

    def ok(self, records: Records) -> None:
        """The poll returned these records, perhaps none."""
        self._add("ok", "poll", (("poll", records),))
        self._journal.counters.add("polled", sum(map(len, records.values())))

    def fail(self, error: str) -> None:
        """The poll returned nothing but an error."""
        self._add("fail", "poll", _EMPTY_POLL, error)

    def assign(self, kept: tuple[str, ...]) -> None:
        """The position moved back in every partition but these."""
        self._add("invoke", "assign", kept)
        self._add("ok", "assign", kept)

    def _add(self, kind: str, f: str, value: object, error: str | None = None) -> None:
        self._journal.add(self.process, kind, f, value, error, final=self._final)
