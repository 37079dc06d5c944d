"""How many clusters a computer bears side by side."""

from __future__ import annotations

import os
from pathlib import Path

from tidemark.harness.machines.needs import MachineNeeds

CLUSTERS_PER_CORE = 1.5
"""A run waits for more than half of its time. An estimate: other numbers were not measured."""
SPARE = 1 << 30
"""Bytes that are left to everybody else."""


def jobs_that_fit(nodes: int, needs: MachineNeeds, *, cores: int | None = None, memory: int | None = None) -> int:
    """As many clusters as cores and free memory bear; at least one.

    Args:
        nodes: of a cluster, the controller's included.
        needs: of each.
        cores: this computer's, unless told.
        memory: what is free, bytes; this computer's, unless told.
    """
    cores = len(os.sched_getaffinity(0)) if cores is None else cores
    memory = _free_memory() if memory is None else memory
    return max(1, min(int(cores * CLUSTERS_PER_CORE), (memory - SPARE) // (nodes * needs.usual_memory)))


def _free_memory() -> int:
    """What programs can still have, bytes."""
    found = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    return int(found["MemAvailable"].split()[0]) << 10
