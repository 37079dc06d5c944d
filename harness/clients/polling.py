"""A consumer's polls as operations: also when the library moved the position back under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Value
from tidemark.harness.clients.journal import PollRecorder, Records


class PolledRecord(NamedTuple):
    """A record that a poll returned."""

    key: str
    offset: int
    value: Value


class Trouble(NamedTuple):
    """An error that a poll returned or raised, by name."""

    error: str


class Polling:
    """The operations of one consumer, and where it is.

    Attributes:
        position: per partition, the offset after the last record that was returned.
    """

    def __init__(self, recorder: PollRecorder, keys: Sequence[str]) -> None:
        self._recorder = recorder
        self.position = dict.fromkeys(keys, 0)

    def at_end(self, key: str, offset: int) -> None:
        """There is nothing more before this offset; records that no client sees may be the last."""
        self.position[key] = max(self.position[key], offset)

    def begin(self) -> None:
        """The library is about to be asked."""
        self._recorder.invoke()

    def end(self, events: Iterable[PolledRecord | Trouble]) -> None:
        """The library has answered.

        A record below the position tells that the library reset it: after a truncation it detected, or because its offset was
        out of range. Then what came before ends the poll, an ``assign`` operation says that the position moved, and what comes
        after it belongs to a poll of its own. An error after records ends in a poll of its own, too.
        """
        records: Records = {}
        open_poll = True
        for event in events:
            if not open_poll:
                self._recorder.invoke()
                open_poll = True
            if isinstance(event, Trouble):
                if records:
                    self._recorder.ok(records)
                    self._recorder.invoke()
                    records = {}
                self._recorder.fail(event.error)
                open_poll = False
                continue
            if event.offset < self.position[event.key]:
                self._recorder.ok(records)
                self._recorder.assign(tuple(key for key in self.position if key != event.key))
                self._recorder.invoke()
                records = {}
            records.setdefault(event.key, []).append((event.offset, event.value))
            self.position[event.key] = event.offset + 1
        if open_poll:
            self._recorder.ok(records)


def value_of(raw: bytes | None) -> Value:
    """A record's value: the number its decimal text stands for; else the text, which nobody sent.

    >>> value_of(b"1000007"), value_of(b"1e6"), value_of(None)
    (1000007, '1e6', None)
    """
    if raw is None:
        return None
    return int(raw) if raw.isdigit() else raw.decode(errors="replace")
