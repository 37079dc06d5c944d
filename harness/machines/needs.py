"""What a node of a system needs of the machine it runs on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MachineNeeds:
    """What a node of a system needs of its container.

    Attributes:
        memory: what it may use beside its tmpfs, bytes. usual_memory: what it does use, tmpfs included.
        volatile_size: of the tmpfs that stands for the page cache, such as ``256m``.
        data_size: if set, the data volume is a tmpfs of this size: a disk that can be filled, and that survives the end of
            every process and the container's kill.
    """

    memory: int = 512 << 20
    volatile_size: str = "256m"
    data_size: str | None = None
    usual_memory: int = 128 << 20
