"""Whom a fault of the nemesis holds back: whoever it does is not judged, until a while after it was healed.

The history's meta line says it of each kind (`holds_back`, docs/history.md). Of a kind of which nobody says it, everyone is held
back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidemark.checkers.history.history import NemesisOp

NODE, CUT_OFF, LATE, NOBODY, DEAF = "node", "cut-off", "late", "nobody", "deaf"
"""The nodes that a strike names; these, and they cannot fetch, for either their requests or the answers are lost; these, and for as
long again as its `amount` says, for so long what was sent before it was healed may still be under way; nobody, and it is never
healed; the broker that it says is deaf. Any other word is everyone.
"""
_UNTOLD = {
    **dict.fromkeys(("isolate", "from-peers", "one-way-in", "one-way-out", "disconnect"), CUT_OFF),
    **dict.fromkeys(("slow", "slow-controller", "late-leadership", "late-isr-changes"), LATE),
    **dict.fromkeys(("late-heartbeats", "late-registrations"), LATE),
    **dict.fromkeys(("from-controller", "lossy", "lossy-controller", "lost-leadership", "lost-isr-changes"), NODE),
    **dict.fromkeys(("lost-heartbeats", "lost-registrations"), NODE),
    **dict.fromkeys(("crash", "restart", "pause", "power", "power-metadata", "disk", "container-kill"), NODE),
    **dict.fromkeys(("disk-full", "slow-disk", "clock-jump"), NODE),
    **dict.fromkeys(("preferred-election", "forced-election", "unclean-election", "reassignment"), NOBODY),
    **dict.fromkeys(("delete-records", "retention"), NOBODY),
    "fast-failover": DEAF,
}
"""What is meant by histories that do not say it: ours did not until November 2026, and of late messages no more than `node` for
some days after. No kind comes to these any more.
"""


def _whom(kind: str, holds_back: Mapping[str, str]) -> str:
    told = holds_back.get(kind, "")
    return _UNTOLD.get(kind, told) if told in ("", NODE) else told


def until_all_has_arrived(
    nemesis: Iterable[NemesisOp], holds_back: Mapping[str, str] | None = None
) -> Iterator[NemesisOp]:
    """The operations of a nemesis, where a fault that makes messages late is healed when the last of these has arrived.

    Of one operation that heals everything comes one for each fault. They are not in order of time any more.

    >>> list(until_all_has_arrived([(5, "strike", 0, "slow", {"node": 2, "amount": 30}), (9, "heal", -1, "all", {})]))
    [(5, 'strike', 0, 'slow', {'node': 2, 'amount': 30}), (39, 'heal', 0, 'all', {})]
    """
    under_way: dict[int, int] = {}
    for op in nemesis:
        time, what, index, kind, detail = op
        if what == "strike":
            late = _whom(kind, holds_back or {}) == LATE
            under_way[index] = int(detail.get("amount", 0)) if late else 0
        if what != "heal":
            yield op
            continue
        for healed in [index] if index >= 0 else [*under_way]:
            yield time + under_way.pop(healed, 0), what, healed, kind, detail


class FaultsInForce:
    """Which are, as the nemesis operations go.

    >>> now = FaultsInForce()
    >>> now.step((5, "strike", 0, "isolate", {"node": 2}))
    >>> now.touches(2), now.touches(1), now.cuts(2)
    (True, False, True)
    >>> now.step((9, "heal", 0, "isolate", {}))
    >>> now.touches(2)
    False
    """

    def __init__(self, holds_back: Mapping[str, str] | None = None) -> None:
        """None are; ``holds_back`` is the meta line's."""
        self._holds_back = holds_back or {}
        self._faults: dict[int, tuple[str, frozenset[int] | None]] = {}
        """Fault → what its kind does, and whom it touches; `None`: everyone."""
        self._everyone = False
        self._touched: set[int] = set()
        self._cut: set[int] = set()
        self._late: set[int] = set()

    def step(self, op: NemesisOp) -> None:
        """Take an operation in."""
        _, what, index, kind, detail = op
        if what == "strike":
            whom = _whom(kind, self._holds_back)
            nodes = _touched(whom, detail)
            if nodes is None or nodes:
                self._faults[index] = whom, nodes
        elif what == "heal":
            for healed in [index] if index >= 0 else [*self._faults]:
                self._faults.pop(healed, None)
        self._everyone, self._touched, self._cut, self._late = False, set(), set(), set()
        for whom, nodes in self._faults.values():
            if nodes is None:
                self._everyone = True
            else:
                self._touched |= nodes
                if whom == CUT_OFF:
                    self._cut |= nodes
                elif whom == LATE:
                    self._late |= nodes

    def touches(self, node: int) -> bool:
        """Whether some fault holds a broker (or the controller, 0) back."""
        return self._everyone or node in self._touched

    def delays(self, node: int) -> bool:
        """Whether others may still hear of a broker what it said long before."""
        return node in self._late

    def cuts(self, node: int) -> bool:
        """Whether a broker cannot fetch from any other."""
        return node in self._cut


def _touched(whom: str, detail: Mapping[str, Any]) -> frozenset[int] | None:
    if whom == NOBODY:
        return frozenset()
    if whom == DEAF:
        return frozenset(detail[name] for name in ("deaf",) if name in detail)
    nodes = frozenset(
        node for node in (detail.get("node"), *(detail.get("nodes") or ())) if isinstance(node, int) and node > 0
    )
    return nodes if whom in (NODE, CUT_OFF, LATE) and nodes else None
