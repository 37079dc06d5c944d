"""Consistency models: which implies which, and which anomalies each forbids.

The names are those of the literature where it has one, and Elle's where it has none. A row has only what a model forbids beyond
those that it implies. Sources: A. Adya, Weak Consistency (1999): PL-1 is `read-uncommitted`, PL-2 `read-committed`, PL-2+
`consistent-view`, PL-2.99 `repeatable-read`, PL-3 `serializable`, PL-SI `snapshot-isolation`; P. Bailis and others, Highly
Available Transactions (2013): `monotonic-atomic-view`, lost updates; A. Cerone, G. Bernardi, A. Gotsman, A Framework for
Transactional Consistency Models with Atomic Visibility (2015): `read-atomic`, `causal`, `prefix`, internal consistency; A. Cerone,
A. Gotsman, Analysing Snapshot Isolation (2016): no two `rw` that follow each other; K. Daudjee, K. Salem (2004, 2006): the strong
and strong session kinds; the whole as ``elle.consistency-model`` relates it.

>>> sorted(weakest(refuted(["G-single"])))
['consistent-view', 'repeatable-read']
>>> "G2-item" in forbidden("snapshot-isolation"), "G2-item" in forbidden("serializable")
(False, True)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple


class Model(NamedTuple):
    """The models that one implies, and the anomalies that it forbids besides."""

    implies: tuple[str, ...]
    forbids: tuple[str, ...]


MODELS = {
    "read-uncommitted": Model((), ("G0", "duplicate-elements", "cyclic-versions", "phantom")),
    "read-committed": Model(("read-uncommitted",), ("G1a", "G1b", "G1c")),
    "monotonic-view": Model(("read-committed",), ()),
    "monotonic-snapshot-read": Model(("read-committed",), ()),
    "monotonic-atomic-view": Model(("read-committed",), ()),
    "read-atomic": Model(("monotonic-atomic-view",), ("internal", "future-read")),
    "causal": Model(("read-atomic",), ()),
    "prefix": Model(("causal",), ()),
    "update-atomic": Model(("read-atomic",), ("lost-update",)),
    "parallel-snapshot-isolation": Model(("causal", "update-atomic"), ()),
    "cursor-stability": Model(("read-committed",), ("lost-update",)),
    "consistent-view": Model(("cursor-stability", "monotonic-view"), ("G-single",)),
    "forward-consistent-view": Model(("consistent-view",), ()),
    "update-serializable": Model(("forward-consistent-view",), ()),
    "snapshot-isolation": Model(
        (
            "forward-consistent-view",
            "monotonic-atomic-view",
            "monotonic-snapshot-read",
            "parallel-snapshot-isolation",
            "prefix",
        ),
        ("G-nonadjacent",),
    ),
    "repeatable-read": Model(("cursor-stability", "monotonic-atomic-view"), ("G2-item",)),
    "serializable": Model(("repeatable-read", "snapshot-isolation", "update-serializable"), ()),
    "strong-session-read-uncommitted": Model(("read-uncommitted",), ("G0-process",)),
    "strong-session-read-committed": Model(("read-committed", "strong-session-read-uncommitted"), ("G1c-process",)),
    "strong-session-snapshot-isolation": Model(
        ("snapshot-isolation", "strong-session-read-committed"), ("G-nonadjacent-process",)
    ),
    "strong-session-serializable": Model(("serializable", "strong-session-snapshot-isolation"), ("G2-item-process",)),
    "strong-read-uncommitted": Model(("strong-session-read-uncommitted",), ("G0-realtime",)),
    "strong-read-committed": Model(("strong-session-read-committed", "strong-read-uncommitted"), ("G1c-realtime",)),
    "strong-snapshot-isolation": Model(
        ("strong-session-snapshot-isolation", "strong-read-committed"), ("G-nonadjacent-realtime",)
    ),
    "strict-serializable": Model(("strong-session-serializable", "strong-snapshot-isolation"), ("G2-item-realtime",)),
}
"""Every model, none before those that it implies."""

CYCLES = ("G0", "G1c", "G-single", "G-nonadjacent", "G2-item")
SUFFIXES = ("", "-process", "-realtime")
_CYCLE_IS = {"G0": ("G1c",), "G-single": ("G-nonadjacent",), "G-nonadjacent": ("G2-item",)}
IS_ALSO = {
    "incompatible-order": ("G1a",),
    "dirty-update": ("G1a",),
    "future-read": ("G1c",),
    "lost-update": ("G2-item",),
    **{
        name + suffix: (
            *(other + suffix for other in _CYCLE_IS.get(name, ())),
            *(name + stronger for stronger in SUFFIXES[place + 1 : place + 2]),
        )
        for name in CYCLES
        for place, suffix in enumerate(SUFFIXES)
    },
}
"""What else an anomaly is, or stands for. What one process did one after the other it did so in real time."""


@cache
def also(anomaly: str) -> frozenset[str]:
    """The anomaly, and all that it is as well."""
    return frozenset({anomaly}).union(*map(also, IS_ALSO.get(anomaly, ())))


@cache
def forbidden(model: str) -> frozenset[str]:
    """All anomalies that a model forbids."""
    return frozenset(name for name in ANOMALIES if model in refuted([name]))


def refuted(anomalies: Iterable[str]) -> frozenset[str]:
    """The models that a history with these anomalies does not keep."""
    there = frozenset[str]().union(*map(also, anomalies))
    found: set[str] = set()
    for name, model in MODELS.items():
        if not there.isdisjoint(model.forbids) or not found.isdisjoint(model.implies):
            found.add(name)
    return frozenset(found)


def weakest(models: Iterable[str]) -> frozenset[str]:
    """Those of refuted models that imply no other of them: what is refuted already without these."""
    there = frozenset(models)
    return frozenset(name for name in there if there.isdisjoint(MODELS[name].implies))


ANOMALIES = sorted({name for model in MODELS.values() for name in model.forbids} | set(IS_ALSO))
