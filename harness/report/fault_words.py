"""What a kind of fault does, in words without the names of a plan's fields: as a plan has it, or in general."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.harness.report.words import milliseconds
from tidemark.nemesis import KINDS


def in_general(kind: str) -> str:
    """What a kind does, or nothing of a kind that is not ours.

    >>> in_general("slow")
    'messages between the target and other brokers take up to a given time longer'
    """
    return KINDS[kind].sentence.in_general if kind in KINDS else ""


def as_planned(fault: Mapping[str, Any]) -> str:
    """What a fault of a plan does, its measures filled in.

    >>> as_planned({"kind": "slow-controller", "amount": 30000, "pick": 1})
    'messages between the target and the controller take up to 30.0 ms longer (on the way to the controller only)'
    """
    kind, pick, amount = str(fault["kind"]), int(fault.get("pick", 0)), int(fault.get("amount", 0))
    return KINDS[kind].sentence.as_planned(pick, milliseconds(amount), f"{amount} ‰", f"{amount}")


def as_struck(kind: str, detail: Mapping[str, Any]) -> str:
    """What a strike did, as far as the nemesis noted it (docs/history.md).

    >>> as_struck("fast-failover", {"node": 3, "then": 2, "deaf": 1})
    'elect broker 3 and, shortly after, broker 2; broker 1 is deaf to the controller meanwhile'
    """
    if kind == "fast-failover" and "then" in detail:
        deaf = f"; broker {detail['deaf']} is deaf to the controller meanwhile" if "deaf" in detail else ""
        return f"elect broker {detail.get('node', '?')} and, shortly after, broker {detail['then']}{deaf}"
    return in_general(kind)
