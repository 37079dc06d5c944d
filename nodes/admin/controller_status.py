"""What the status of a controller's node says of partitions and brokers, whoever holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_PARTITIONS = (
    *("leader", "last_leader", "leader_epoch", "partition_epoch"),
    *("isr", "elr", "replicas", "adding", "removing"),
)
_OF_SESSIONS = ("live", "incarnation", "broker_epoch")


def partitions_told(states: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Partition → what the controller holds of it, as plain values."""
    return {name: {field: getattr(state, field) for field in _OF_PARTITIONS} for name, state in states.items()}


def sessions_told(sessions: Mapping[int, object]) -> dict[str, dict[str, Any]]:
    """Broker, as a text → its session."""
    return {str(broker): {field: getattr(one, field) for field in _OF_SESSIONS} for broker, one in sessions.items()}
