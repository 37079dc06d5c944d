"""ELR as a history has it: it is on where the variant has it, until the nemesis switches it off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History

KIND = "elr-off"
"""The kind of fault."""


def was_off(history: History) -> bool:
    """Whether an operator switched it off at any time, or wanted to.

    >>> from tidemark.checkers import History
    >>> was_off(History.of(nemesis=[(5, "strike", 0, "elr-off", {})]))
    True
    """
    return any(op[3] == KIND for op in history.nemesis)
