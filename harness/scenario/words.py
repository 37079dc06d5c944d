"""Small words that all lines of a script share: brokers, times, epochs with their start offsets, a replica's state."""

from __future__ import annotations

import re

from tidemark.harness.scenario.model import ReplicaText
from tidemark.harness.scenario.records import Names, flatten, parse_batches
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.core.settings import LONGEST_US

_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000}


def duration_us(text: str) -> int:
    """``250 ms`` or ``5 s`` in µs.

    Raises:
        ValueError: with one sentence.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(us|ms|s)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time like 250 ms or 5 s")
    found = float(match[1]) * _UNITS[match[2]]
    if found > LONGEST_US:
        raise ValueError(f"{text!r} is longer than a day")
    return round(found)


class BrokerNames:
    """The brokers by name; ids are their places in assignment order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def broker(self, name: str) -> int:
        """A broker's id.

        Raises:
            ValueError: with one sentence.
        """
        if name not in self.names:
            raise ValueError(f"there is no broker {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name) + 1

    def brokers(self, text: str) -> tuple[int, ...]:
        """The ids in ``A, B``."""
        return tuple(self.broker(name.strip()) for name in text.split(","))

    def node(self, name: str) -> int:
        """A broker's id, or 0 for ``controller``."""
        return CONTROLLER if name == "controller" else self.broker(name)

    def nodes(self, text: str) -> tuple[int, ...]:
        """The ids in ``A, controller``."""
        return tuple(self.node(name.strip()) for name in text.split(","))

    def others(self, node: int) -> tuple[int, ...]:
        """All brokers and the controller, but for one node."""
        return tuple(n for n in range(len(self.names) + 1) if n != node)


def parse_cache(text: str) -> tuple[tuple[int, int], ...]:
    """``1@0 3@21``: epoch 1 begins at offset 0, epoch 3 at 21; ``none`` is an empty cache.

    Raises:
        ValueError: with one sentence.
    """
    if text.strip() == "none":
        return ()
    entries = []
    for token in text.split():
        match = re.fullmatch(r"(\d+)@(\d+)", token)
        if match is None:
            raise ValueError(f"{token!r} is not EPOCH@OFFSET, like 1@0")
        entries.append((int(match[1]), int(match[2])))
    return tuple(entries)


def parse_replica(cast: BrokerNames, records: Names, line: int, text: str) -> ReplicaText:
    """``A: leader | epoch 2 | 1:m1 1:m2 | LEO 2 | HW 1 | epochs 1@0``, any of the parts in any order.

    Raises:
        ValueError: with one sentence.
    """
    name, colon, parts = text.partition(":")
    broker = cast.broker(name.strip())
    if not colon or not parts.strip():
        raise ValueError(f"nothing is said about {name.strip()!r}")
    state: dict[str, object] = {}
    for part in (p.strip() for p in parts.split("|")):
        key, value = _replica_part(records, part)
        if key in state:
            raise ValueError(f"the {key} of {name.strip()} is given twice")
        state[key] = value
    return ReplicaText(line, broker, **state)  # type: ignore[arg-type]


def _replica_part(records: Names, part: str) -> tuple[str, object]:
    number = re.fullmatch(r"(LEO|HW|epoch) (\d+)", part)
    start = re.fullmatch(r"log start (\d+)", part)
    if start is not None:
        return "start", int(start[1])
    if part in ("leader", "follower", "down", "no replica"):
        return "role", part
    if number is not None:
        return number[1].lower(), int(number[2])
    if part.startswith("epochs "):
        return "cache", parse_cache(part.removeprefix("epochs "))
    if part == "empty" or ":" in part:
        batches = parse_batches(part)
        log = flatten(batches)
        unknown = [record for _, record in log if not records.knows(record)]
        if unknown:
            raise ValueError(f"no step writes record {unknown[0]}")
        return "log", log
    raise ValueError(
        f"{part!r} is none of: leader, follower, down, no replica, epoch N, EPOCH:RECORDS, empty, log start N, LEO N, HW N, "
        "epochs E@O"
    )
