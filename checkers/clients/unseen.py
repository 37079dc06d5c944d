"""`unseen`: acknowledged records that nobody had polled in the end, and of which nothing says that they are lost or deleted.

Informational, and the run is `unknown` unless something in it is a violation. Jepsen calls it an error, but the polls may just
have ended too early.
With a `final_read` that came to its end such a record is a `lost-write`.

>>> from tidemark.checkers import History, check, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0)]))
>>> print(verdict.valid, verdict.anomalies[0].message, sep=": ")
unknown: 1 acknowledged record of t-0 was never read: 7.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.verdict.verdict import INFORMATIONAL, Anomaly

NAME = "unseen"
MOST_NAMED = 32
"""So many of the values are named, the first that were acknowledged, as Jepsen does."""


def unseen_anomaly(key: str, acks: Sequence[Ack]) -> Anomaly:
    """The unseen records of a key by their acknowledgements, in order of time."""
    some = [ack.value for ack in acks[:MOST_NAMED]]
    more = len(acks) - len(some)
    records = "1 acknowledged record" if len(acks) == 1 else f"{len(acks)} acknowledged records"
    named = ", ".join(map(str, some)) + (f" and {more} more" if more else "")
    message = f"{records} of {key} {'was' if len(acks) == 1 else 'were'} never read: {named}."
    return Anomaly(NAME, INFORMATIONAL, acks[0].time, key, message, evidence={"count": len(acks), "values": some})
