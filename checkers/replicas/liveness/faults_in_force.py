"""Whom a fault of the nemesis touches: whoever it touches is not judged, until a while after it was healed.

A kind that is not known here touches everyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.checkers.history.history import NemesisOp

CUT = frozenset({"isolate", "from-peers", "one-way-in", "one-way-out", "disconnect"})
"""Whoever is touched by these cannot fetch: either its requests or the answers are lost."""
_OF_ONE = CUT | {
    *("from-controller", "slow", "lossy", "late-leadership", "lost-leadership", "slow-controller", "lossy-controller"),
    *(f"{how}-{what}" for how in ("late", "lost") for what in ("isr-changes", "heartbeats", "registrations")),
    *(
        "crash",
        "restart",
        "pause",
        "power",
        "power-metadata",
        "disk",
        "container-kill",
        "disk-full",
        "slow-disk",
        "clock-jump",
    ),
}
_OF_NOBODY = frozenset(
    {"preferred-election", "forced-election", "unclean-election", "reassignment", "delete-records", "retention"}
)
"""What is asked for at once, and holds nobody back; they are never healed."""
_FAST_FAILOVER = "fast-failover"
"""Two elections, and perhaps one broker that is deaf to the controller."""


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

    def __init__(self) -> None:
        self._faults: dict[int, tuple[str, frozenset[int] | None]] = {}
        """Fault → its kind, and whom it touches; `None`: everyone."""
        self._everyone = False
        self._touched: set[int] = set()
        self._cut: set[int] = set()

    def step(self, op: NemesisOp) -> None:
        """Take an operation in."""
        _, what, index, kind, detail = op
        if what == "strike":
            nodes = _touched(kind, detail)
            if nodes is None or nodes:
                self._faults[index] = kind, nodes
        elif what == "heal":
            for healed in [index] if index >= 0 else [*self._faults]:
                self._faults.pop(healed, None)
        self._everyone, self._touched, self._cut = False, set(), set()
        for kind, nodes in self._faults.values():
            if nodes is None:
                self._everyone = True
            else:
                self._touched |= nodes
                if kind in CUT:
                    self._cut |= nodes

    def in_force(self) -> bool:
        """Whether any is."""
        return bool(self._faults)

    def touches(self, node: int) -> bool:
        """Whether some fault holds a broker (or the controller, 0) back."""
        return self._everyone or node in self._touched

    def cuts(self, node: int) -> bool:
        """Whether a broker cannot fetch from any other."""
        return node in self._cut


def _touched(kind: str, detail: Mapping[str, Any]) -> frozenset[int] | None:
    if kind in _OF_NOBODY:
        return frozenset()
    if kind == _FAST_FAILOVER:
        return frozenset(detail[name] for name in ("deaf",) if name in detail)
    nodes = frozenset(
        node for node in (detail.get("node"), *(detail.get("nodes") or ())) if isinstance(node, int) and node > 0
    )
    return nodes if kind in _OF_ONE and nodes else None
