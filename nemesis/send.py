"""One send as a plain value: which producer sends how many records to which partition, and when."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


class SendError(ValueError):
    """A send that makes no sense; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Send:
    """A batch that a plan has a producer send, where it leaves nothing of the workload to chance.

    Attributes:
        at_us: when it is sent; a producer has one batch under way at a time, so later if the one before is not answered by then.
        producer: number of the producer, from 1.
        partition: number of the partition, modulo their number.
        records: how many records the batch holds.
    """

    at_us: int
    producer: int = 1
    partition: int = 0
    records: int = 1

    def __post_init__(self) -> None:
        """Refuse what nobody can send."""
        if min(self.at_us, self.partition) < 0 or min(self.producer, self.records) < 1:
            raise SendError("needs at_us and partition that are not negative, and at least producer 1 and one record")

    def to_json(self) -> dict[str, int]:
        """Plain values, defaults left out."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name == "at_us" or getattr(self, f.name) != f.default
        }

    @staticmethod
    def from_json(data: Any) -> Send:  # noqa: ANN401 - anything a file may hold
        """The reverse of :meth:`to_json`.

        Raises:
            SendError: missing, unknown or wrongly typed entries.
        """
        known = [f.name for f in fields(Send)]
        if not isinstance(data, dict) or "at_us" not in data or any(name not in known for name in data):
            raise SendError(f"is an object with at_us and, if wanted, {', '.join(known[1:])}")
        for name, value in data.items():
            if type(value) is not int:
                raise SendError(f"{name} must be int, not {value!r}")
        return Send(**data)
