"""How many plans make a chunk: as many as keep a worker busy for a while, by what a few runs take here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tidemark.pipeline.chunks.chunk import KEPT_OF
from tidemark.pipeline.folder.manifest import DEFAULT_CHUNK_SIZE
from tidemark.pipeline.runs.guard import RunLimitError, RunLimits, apart

if TYPE_CHECKING:
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import Simulate

CHUNK_SECONDS = 10
"""A task costs some 0.1 s beside its runs; and what is stopped loses as much work as a chunk is."""
TASKS_A_CORE = 6
"""At least, so that all cores have ended at about the same time."""
MOST_CHUNKS = 1000
"""Of a variant: files that are many are slow to read."""
TRIED_SECONDS = 0.4
MOST_TRIED = 20


def chunk_size(seconds: float, plans: int, variants: int, cores: int) -> int:
    """Plans in a chunk, a multiple of ten where there are so many.

    Args:
        seconds: What one run takes.
        plans: New plans of each variant.
        variants: How many.
        cores: Among how many they are spread.
    """
    by_time = CHUNK_SECONDS / seconds
    by_cores = plans * variants / (cores * TASKS_A_CORE)
    size = max(min(by_time, by_cores), plans / MOST_CHUNKS, 1)
    return max(KEPT_OF, int(size // KEPT_OF) * KEPT_OF, -(-plans // MOST_CHUNKS))


def measured_chunk_size(spec: CampaignSpec, first: int, simulate: Simulate, cores: int, limits: RunLimits) -> int:
    """`chunk_size` by what the plans from `first` on take, tried in another process for a fraction of a second."""

    def tried() -> float:
        spent: list[float] = []
        while len(spent) < MOST_TRIED and sum(spent) < TRIED_SECONDS:
            index, which = divmod(len(spent), len(spec.variants))
            began = time.process_time()
            simulate(spec, spec.variants[which], min(first + index, spec.plans - 1))
            spent.append(time.process_time() - began)
        warm = spent[1:] or spent  # the first one loads what all need
        return sum(warm) / len(warm)

    try:
        seconds = max(apart(tried, limits), 1e-4)
    except RunLimitError:
        return DEFAULT_CHUNK_SIZE  # the campaign will say which plan it was
    return chunk_size(seconds, spec.plans - first, len(spec.variants), cores)
