"""The shape of a cluster: brokers, partitions and where they lie, settings, acks."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from tidemark.nodes.core.settings import ClusterSpecError, Settings

ACKS = ("all", "1", "0")
MOST_BROKERS = 1_000
MOST_PARTITIONS = 10_000


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """What a run's cluster looks like; the same for every variant of a comparison."""

    brokers: int = 3
    replication_factor: int = 3
    partitions: int = 1
    acks: str = "all"
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        """Refuse what no Kafka cluster could be."""
        if self.brokers < 1 or self.partitions < 1 or self.replication_factor < 1:
            msg = "brokers, partitions and replication factor must each be at least 1"
            raise ClusterSpecError(msg)
        if self.brokers > MOST_BROKERS or self.partitions > MOST_PARTITIONS:
            msg = f"at most {MOST_BROKERS} brokers and {MOST_PARTITIONS} partitions"
            raise ClusterSpecError(msg)
        if self.replication_factor > self.brokers:
            msg = f"replication factor {self.replication_factor} is larger than the number of brokers {self.brokers}"
            raise ClusterSpecError(msg)
        if not 1 <= self.settings.min_isr <= self.replication_factor:
            msg = f"min ISR {self.settings.min_isr} must lie between 1 and the replication factor {self.replication_factor}"
            raise ClusterSpecError(msg)
        self.settings.refuse_impossible()
        if self.acks not in ACKS:
            msg = f"acks {self.acks!r} must be one of {', '.join(ACKS)}"
            raise ClusterSpecError(msg)

    def broker_ids(self) -> tuple[int, ...]:
        """1, 2, 3 …"""
        return tuple(range(1, self.brokers + 1))

    def assignment(self) -> dict[str, tuple[int, ...]]:
        """Partition → replicas; preferred leaders are spread round-robin over the brokers."""
        ids = self.broker_ids()
        return {
            f"t-{p}": tuple(ids[(p + r) % self.brokers] for r in range(self.replication_factor))
            for p in range(self.partitions)
        }

    def min_isr_of(self, order: int | None) -> int:
        """Min ISR after an operator's order, at least 1 and at most the replication factor; without one, what it was at first."""
        return self.settings.min_isr if order is None else max(1, min(order, self.replication_factor))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        told = {name: getattr(self, name) for name in _ENTRIES}
        return told | {"settings": {name: getattr(self.settings, name) for name in _SETTINGS}}

    @staticmethod
    def from_json(data: dict[str, Any]) -> ClusterSpec:
        """The reverse of :meth:`to_json`; missing entries keep their defaults.

        Raises:
            ClusterSpecError: unknown entry, wrong type, or an impossible cluster.
        """
        data = dict(data)
        settings = data.pop("settings", {})
        _check_entries(Settings, settings, "settings")
        _check_entries(ClusterSpec, data, "cluster")
        return ClusterSpec(**data, settings=Settings(**settings))


_ENTRIES = tuple(f.name for f in fields(ClusterSpec))
_SETTINGS = tuple(f.name for f in fields(Settings))


def _check_entries(kind: type[Settings | ClusterSpec], data: object, what: str) -> None:
    """Refuse unknown entries and values of another type than the default's."""
    known = {f.name: f.default for f in fields(kind)}
    if not isinstance(data, dict):
        msg = f"{what} must be an object"
        raise ClusterSpecError(msg)
    for name, value in data.items():
        if name not in known:
            msg = f"{what}: unknown entry {name!r}"
            raise ClusterSpecError(msg)
        if type(value) is not type(known[name]):
            msg = f"{what}.{name} must be {type(known[name]).__name__}, not {value!r}"
            raise ClusterSpecError(msg)
