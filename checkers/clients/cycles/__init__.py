"""Dependency cycles between the operations of clients: each came before the next, and the last before the first.

`in_order` sees at once that most histories have none. `dependencies` says which operation came before which, and how that is known;
`suspects` sets aside those that lie on no cycle; `components` finds the groups in which everything comes before everything;
`shortest` the shortest cycle of such a group; `words` what to say of it; `checker` which cycles there are, and how they are judged.
"""

from __future__ import annotations

from tidemark.checkers.clients.cycles.checker import cycles

__all__ = ["cycles"]
