"""What a run is called where a person reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_as(meta: Mapping[str, Any]) -> str:
    """By a history's meta line: a release of Kafka by its number, its protocol if it is another's, and its controllers if they are
    several; all else by its variant.
    """
    kafka, is_kafka, name = str(meta.get("system", "")).partition("kafka:")
    if kafka or not is_kafka:
        return str(meta.get("variant", "?"))
    name, _, controllers = name.partition("@3-")
    version, _, protocol = name.partition("@")
    own = not protocol or f"{version}.".startswith(f"{protocol}.")
    return (
        f"Apache Kafka {version}"
        + ("" if own else f" under protocol {protocol}")
        + (f" with 3 {controllers}" if controllers else "")
    )
