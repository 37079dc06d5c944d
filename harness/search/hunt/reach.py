"""What a hunt never came to, of all that its profiles and its variant let it come to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from tidemark.checkers.marks import by_mark
from tidemark.nemesis import KINDS
from tidemark.nemesis.kind import Stop
from tidemark.nemesis.kinds import DELETIONS, REASSIGNMENT, by_kind, kinds_that_need
from tidemark.nodes.families import Family

_LOSES = {word for word, kind in KINDS.items() if isinstance(kind.doing, Stop) and kind.doing.how in ("power", "disk")}
_ONLY_BY: Mapping[str, Collection[str]] = {
    "log-lost": _LOSES,
    "recovery-dropped-records": _LOSES,
    "recovery-dropped-an-epoch": _LOSES,
    "elected-from-outside": {"unclean-election", "unclean-allowed"},
    "reassigned": kinds_that_need(REASSIGNMENT),
    "deleted": DELETIONS,
    "began-anew": DELETIONS,
}
"""Mark → the kinds of fault without which no run comes to it."""


class NeverReached(NamedTuple):
    """Names: marks that no run came to, and kinds of fault that never struck."""

    marks: list[str]
    kinds: list[str]


def never_reached(
    seen: Mapping[str, int], struck: Collection[str], kinds: Collection[str], family: Family
) -> NeverReached:
    """What a hunt never came to.

    Args:
        seen: mark → how many tries reached it.
        struck: kinds of fault that struck.
        kinds: that its profiles have.
        family: of its variant.
    """
    borne = [kind for kind in KINDS if kind in kinds and kind not in by_kind(family.not_suffered)]
    marks = [
        name
        for name, runs in by_mark(seen, family.marks).items()
        if not runs and (name not in _ONLY_BY or any(kind in borne for kind in _ONLY_BY[name]))
    ]
    return NeverReached(marks, [kind for kind in borne if kind not in struck])
