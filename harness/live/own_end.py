"""Processes that ended though nobody asked them to: a finding, if their protocol told them to; else the run proves nothing."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.checkers.replicas.broker_crashed import BROKEN_OFF

CLEAN = "clean"


def manner(account: str, words: str, is_halt: Callable[[str], bool]) -> str:
    """How a process ended that nobody asked to: as it says itself, if it shut down or gave up as its protocol wants; else
    ``broken-off``.

    Args:
        account: how it ended by its own account, ``clean`` or ``fatal``; empty if it gave none.
        words: the last lines it printed.
        is_halt: whether they are those of a process that its protocol told to give up.
    """
    return account if account and (account == CLEAN or is_halt(words)) else BROKEN_OFF
