"""What a kind of fault does, in words without the names of a plan's fields: as a plan has it, or in general."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tidemark.harness.report.words import milliseconds
from tidemark.nemesis.fault import CONTROLLER_LINKS, KINDS, PER_MILLE

_PICKED: Final = re.compile(r" \(`pick`[^)]*\)|, or back for an odd `pick`,|[;,] by `pick`,.*$")
"""What the number `pick` settles; for nothing in general."""
_WAYS: Final = ("both ways", "on the way to the controller only", "on the way from the controller only")
_TAKEN_BACK: Final = ("both", "truncations only", "files only")


def in_general(kind: str) -> str:
    """What a kind does, or nothing of a kind that is not ours.

    >>> in_general("slow")
    'messages between the target and other brokers take up to a given time longer'
    """
    return _PICKED.sub("", _measured(kind, "a given time", "a given share"))


def as_planned(fault: Mapping[str, Any]) -> str:
    """What a fault of a plan does, its measures filled in.

    >>> as_planned({"kind": "slow-controller", "amount": 30000, "pick": 1})
    'messages between the target and the controller take up to 30.0 ms longer (on the way to the controller only)'
    """
    kind, pick, amount = str(fault["kind"]), int(fault.get("pick", 0)), int(fault.get("amount", 0))
    words = _measured(kind, milliseconds(amount), f"{amount} ‰")
    if kind in CONTROLLER_LINKS:
        return f"{_PICKED.sub('', words)} ({_WAYS[pick % 3]})"
    if kind == "power-metadata":
        return f"{_PICKED.sub('', words)} ({_TAKEN_BACK[pick % 3]})"
    if kind == "clock-jump":
        way = "back" if pick % 2 else "ahead"
        return f"the target's wall clock jumps {milliseconds(amount)} {way}, and returns at the end"
    return _PICKED.sub("", words)


def as_struck(kind: str, detail: Mapping[str, Any]) -> str:
    """What a strike did, as far as the nemesis noted it (docs/history.md).

    >>> as_struck("fast-failover", {"node": 3, "then": 2, "deaf": 1})
    'elect broker 3 and, shortly after, broker 2; broker 1 is deaf to the controller meanwhile'
    """
    if kind == "fast-failover" and "then" in detail:
        deaf = f"; broker {detail['deaf']} is deaf to the controller meanwhile" if "deaf" in detail else ""
        return f"elect broker {detail.get('node', '?')} and, shortly after, broker {detail['then']}{deaf}"
    return in_general(kind)


def _measured(kind: str, time: str, share: str) -> str:
    """What a kind does, with `amount` as a time or as a share."""
    words = KINDS.get(kind, "")
    if words.startswith("these "):  # those of the kind before it
        words = KINDS[kind.replace("lost-", "late-")].partition(", or the answers")[0] + words[words.index(", or") :]
    words = words.replace("of the last `amount` µs", f"of {time} before").replace(
        "with `amount` per mille", f"({share})"
    )
    words = words.replace("`amount` µs", time).replace("`amount` per mille", share)
    return words.replace("`amount`", share if kind in PER_MILLE else time)
