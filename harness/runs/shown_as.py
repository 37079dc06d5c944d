"""What a run is called where a person reads of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_QUORUM = re.compile(r"(.*)@(\d+)-(controllers?)")


def shown_as(meta: Mapping[str, Any]) -> str:
    """By a history's meta line: a release of Kafka by its number, its protocol if it is another's, and its controllers if they are
    several; all else by its variant.
    """
    kafka, is_kafka, name = str(meta.get("system", "")).partition("kafka:")
    if kafka or not is_kafka:
        return str(meta.get("variant", "?"))
    name, controllers = without_quorum(name)
    version, _, protocol = name.partition("@")
    own = not protocol or f"{version}.".startswith(f"{protocol}.")
    return (
        f"Apache Kafka {version}"
        + ("" if own else f" under protocol {protocol}")
        + (f" with {controllers}" if controllers else "")
    )


def without_quorum(name: str) -> tuple[str, str]:
    """A system's name without what it says of its controllers; and that in words, such as ``3 controllers``, or nothing."""
    found = _QUORUM.fullmatch(name)
    return (found[1], f"{found[2]} {found[3]}") if found else (name, "")
