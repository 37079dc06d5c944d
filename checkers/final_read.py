"""The final read of a key: who read all there was in the end, so that what it did not return is not there.

A client reads a key from the start to its end in polls that say that they are ``final``. Nobody can see from a poll alone whether
another would have returned more, so a final read has come to its end where

- the run says so (`read_back` in the meta line), or
- a later poll of the same client returned nothing any more of the key, or
- it was one poll, and the client's last operation.

>>> from checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(9, "c1", "t-0")._replace(final=True)]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was never read, although c1 had read all of t-0 by 0.000009 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from checkers.client_view import Placed
from checkers.history import Op


class FinalRead(NamedTuple):
    """Everything in a key was read by `process` between two times; what was acknowledged later could not have been."""

    process: str
    began: int
    ended: int


def final_reads(ops: Sequence[Op], keys: Sequence[str], *, read_back: bool | None) -> dict[str, FinalRead]:
    """The final read of each key that came to its end, the latest of several.

    Args:
        ops: the run's.
        keys: those asked about.
        read_back: whether the run says that its final reads came to an end; None if it does not say.
    """
    readers: dict[str, list[Op]] = {}
    for op in ops:
        if op.final and op.f == "poll":
            readers.setdefault(op.process, []).append(op)
    if not readers or read_back is False:
        return {}
    found: dict[str, FinalRead] = {}
    for process, polls in readers.items():
        if polls[-1].type != "ok":
            continue
        answers = [micro[1] for op in polls if op.type == "ok" for micro in op.value or ()]
        for key in keys:
            if read_back or _ended(answers, key):
                read = FinalRead(process, polls[0].time, polls[-1].time)
                found[key] = max(read, found.get(key, read), key=lambda one: one.ended)
    return found


def _ended(answers: list[dict[str, list[Placed]]], key: str) -> bool:
    """Whether a client's answers show that it has read all of a key. One that returned nothing at all tells of every key."""
    returned = [answer.get(key, []) for answer in answers if key in answer or not any(answer.values())]
    return bool(returned) and (not returned[-1] or len(returned) == 1)
