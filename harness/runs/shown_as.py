"""What a run is called where a person reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_as(meta: Mapping[str, Any]) -> str:
    """By a history's meta line: a release of Kafka by its number, and its protocol if it is another's; all else by its variant."""
    kafka, is_kafka, name = str(meta.get("system", "")).partition("kafka:")
    if kafka or not is_kafka:
        return str(meta.get("variant", "?"))
    version, _, protocol = name.partition("@")
    own = not protocol or f"{version}.".startswith(f"{protocol}.")
    return f"Apache Kafka {version}" + ("" if own else f" under protocol {protocol}")
