"""The events of the replicas' trace, and the names of their fields (docs/history.md tells what each means).

In a history an event is a plain tuple ``(time, node, event, partition, …)``. Who wants to read its fields by name reads it as what
it is; that is the same tuple, with names:

>>> event = (10, 0, "elect", "t-0", 2, 7, (1, 2), (), "initial", True, 0)
>>> Elect(event).leader_epoch, Elect(event) == event
(7, True)
>>> [elect.leader for elect in Elect.among([event, (20, 1, "stop", "", "crash")])]
[2]
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

TraceEvent = tuple[Any, ...]
"""``(time, node, event, partition, …)``; `TRACE_FIELDS` names what follows the partition."""

TIME, NODE, KIND, PARTITION = range(4)
"""Where every event has its time in µs, its node, what it is, and its partition, which is empty if it tells of a whole node."""

Nodes = tuple[int, ...]

TRACE_FIELDS: dict[str, tuple[str, ...]] = {}
"""The fields of every trace event after ``(time, node, event, partition)``, by event."""


_Places = namedtuple("_Places", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10")  # noqa: PYI024 - its fields have no types
_PLACES = [getattr(_Places, name) for name in _Places._fields]
"""What gives the first place of a tuple, the second …, when it is asked for by name: quicker than a property."""


class _WithoutDict(type):
    """Makes classes whose instances have no dict: those are made in less time."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **_: object) -> dict[str, object]:
        return {"__slots__": ()}


class Event(tuple[Any, ...], metaclass=_WithoutDict):
    """An event read by name. A subclass is a kind of event: its name says which, and its annotations are the fields, in order."""

    __slots__ = ()
    kind: ClassVar[str]
    time: int
    node: int
    partition: str

    def __init_subclass__(cls) -> None:
        """Give the fields their places."""
        fields = tuple(cls.__annotations__)
        cls.kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()
        TRACE_FIELDS[cls.kind] = fields
        for name, place in zip(("time", "node", "kind", "partition", *fields), _PLACES, strict=False):
            if name != "kind":
                setattr(cls, name, place)

    @classmethod
    def place(cls, field: str) -> int:
        """Where a field is in the plain tuple: for who wants that one of many events, and is in a hurry."""
        return PARTITION + 1 + TRACE_FIELDS[cls.kind].index(field)

    @classmethod
    def among(cls, events: Iterable[TraceEvent], partition: str | None = None) -> Iterator[Self]:
        """Those of this kind, and of a partition if one is given."""
        of_kind = (event for event in events if event[KIND] == cls.kind)
        return (cls(event) for event in of_kind if partition is None or event[PARTITION] == partition)


# A table, with one line between its rows:
# fmt: off
class Start(Event):
    incarnation: int

class Stop(Event):
    how: str

class Pause(Event): ...

class Resume(Event): ...

class Waited(Event):
    what: str
    time_us: int

class Fatal(Event):
    words: str

class Recovered(Event):
    leo: int
    hw: int
    lost: int

class Epochs(Event):
    cache: tuple[tuple[int, int], ...]

class Append(Event):
    base_offset: int
    epoch: int
    values: tuple[Any, ...]

    def wrote(self, offset: int, record: tuple[int, Any]) -> bool:
        """Whether it put a record, as ``(leader epoch, value)``, at an offset."""
        place = offset - self.base_offset
        return 0 <= place < len(self.values) and (self.epoch, self.values[place]) == record

class Stored(Event):
    base_offset: int
    epoch: int
    values: tuple[Any, ...]

class Ensemble(Event):
    ledger: int
    first: int
    bookies: Nodes

class OutOfOrder(Event):
    base_offset: int
    leo: int

class Truncate(Event):
    to: int
    old_leo: int
    reason: str
    leader_epoch: int

class Hole(Event):
    begin: int
    leo: int

class LogStart(Event):
    start: int
    before: int
    how: str

class LogDir(Event):
    directory: str
    how: str

class LogLost(Event):
    directory: str

class Removed(Event):
    leo: int
    leader_epoch: int

class Hw(Event):
    hw: int
    leader_epoch: int
    is_leader: bool

class Lead(Event):
    leader_epoch: int
    leo: int
    hw: int
    isr: Nodes

class Follow(Event):
    leader_epoch: int
    leader: int
    leo: int
    hw: int

class Fetched(Event):
    leader_epoch: int
    leader: int

class Ask(Event):
    leader: int
    epoch: int

class Isr(Event):
    isr: Nodes
    maximal: Nodes
    partition_epoch: int

class Elect(Event):
    leader: int
    leader_epoch: int
    isr: Nodes
    elr: Nodes
    how: str
    clean: bool
    partition_epoch: int

class IsrChange(Event):
    isr: Nodes
    elr: Nodes
    partition_epoch: int

class Register(Event):
    broker: int
    broker_epoch: int
    clean: bool

class Fence(Event):
    broker: int

class Unfence(Event):
    broker: int

class MinIsr(Event):
    min_isr: int

class Settings(Event):
    changes: int

class ElrSwitch(Event):
    on: bool

class Controls(Event):
    controller_epoch: int

class MetadataLog(Event):
    start: int
    hw: int
    snapshots: tuple[tuple[int, int], ...]
    entries: tuple[tuple[int, int, int, int], ...]

class CoordinatorLog(Event):
    start: int
    hw: int
    entries: tuple[tuple[int, int, int, int], ...]
    commits: tuple[tuple[int, str, int], ...]

class Voters(Event):
    offset: int
    voters: tuple[tuple[int, str], ...]

class VotersRead(Event):
    offset: int
    counted: Nodes

class VoterChanged(Event):
    how: str
    voter: int
    directory: str

class UncleanSwitch(Event):
    on: bool

class Ordered(Event):
    replicas: Nodes
    answered: bool

class Reassign(Event):
    replicas: Nodes
    adding: Nodes
    removing: Nodes

class Vote(Event):
    generation: int
    candidate: int

class PreVote(Event):
    generation: int
    candidate: int

class Members(Event):
    replicas: Nodes
    offset: int
    epoch: int
    committed: bool

class Seen(Event):
    is_leader: bool
    leader_epoch: int
    leo: int
    hw: int
    leader: int

class Restored(Event): ...

class Converged(Event):
    ok: bool
    waiting_for: str

class Final(Event):
    role: str
    leader_epoch: int
    leo: int
    hw: int
    cache: tuple[tuple[int, int], ...]
    batches: tuple[tuple[int, int, tuple[Any, ...]], ...]
