"""The final read of a key: who read all there was in the end, so that what it did not return is not there.

A client reads a key from the start to its end in polls that say that they are ``final``. Nobody can see from a poll alone whether
another would have returned more, so a final read has come to its end where

- the run says so (`read_back` in the meta line), or
- a later poll of the same client returned nothing any more of the key, or
- it was one poll, and the client's last operation.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(9, "c1", "t-0")._replace(final=True)]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was never read, although c1 had read all of t-0 by 0.000009 s.
"""

from __future__ import annotations

from typing import NamedTuple

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.history.columns.columns import OK


class FinalRead(NamedTuple):
    """Everything in a key was read by `process` between two times; what was acknowledged later could not have been."""

    process: str | int
    began: int
    ended: int


def final_reads(clients: Clients, *, read_back: bool | None) -> dict[str, FinalRead]:
    """The final read of each key that came to its end, the latest of several.

    Args:
        clients: the run's.
        read_back: whether the run says that its final reads came to an end; None if it does not say.
    """
    if read_back is False:
        return {}
    columns = clients.columns
    found: dict[str, FinalRead] = {}
    for process, polls in clients.final_polls():
        if columns.type[polls[-1]] != OK:
            continue
        answers = [clients.answer(half) for half in polls if columns.type[half] == OK]
        read = FinalRead(process, int(columns.time[polls[0]]), int(columns.time[polls[-1]]))
        for key in clients.keys:
            if read_back or _ended(answers, key):
                found[key] = max(read, found.get(key, read), key=lambda one: one.ended)
    return found


def _ended(answers: list[dict[str, int]], key: str) -> bool:
    """Whether a client's answers show that it has read all of a key. One that returned nothing at all tells of every key."""
    returned = [answer.get(key, 0) for answer in answers if key in answer or not any(answer.values())]
    return bool(returned) and (not returned[-1] or len(returned) == 1)
