"""What Spark costs a hunt, beside as many processes of this machine: plans a second and processor time, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.processor_time import ProcessorTime
from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import ROUND, Attempt
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.engines.spread import SparkSpread

VARIANT = "kafka-2.7"
CORES = 2
ROUNDS = (ROUND, 8 * ROUND)
TURN = 8 * ROUND
"""Plans that one tries before it is the other's turn."""
TURNS = 8


class Measured:
    """A hunt that is spread in one way, and what each of its turns took."""

    def __init__(self, plans_a_round: int, spread: Callable[..., Any], time_of_all: ProcessorTime) -> None:
        self.plans_a_round = plans_a_round
        self._time_of_all = time_of_all
        hunt = Hunt(Attempt(VARIANT, Quarry()), "intact", ClusterSpec(), 1, plans_a_round)
        self._rounds = hunt.rounds(spread)
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []

    def turn(self) -> None:
        """Try some more."""
        began, spent = time.monotonic(), self._time_of_all.spent()
        for _ in range(TURN // self.plans_a_round):
            next(self._rounds)
        self.seconds.append(time.monotonic() - began)
        self.cpu_seconds.append(self._time_of_all.spent().since(spent).total)


def main() -> None:
    """Print a row for each size of rounds and each way to spread them, and what a job costs that does nothing."""
    began = time.monotonic()
    with SparkSpread(f"local[{CORES}]") as spark, ProcessPoolExecutor(CORES) as pool, ProcessorTime() as time_of_all:
        start = time.monotonic() - began
        ways = {"processes": partial(pool.map, chunksize=4), "Spark": spark.together}
        all_ = {(way, size): Measured(size, spread, time_of_all) for size in ROUNDS for way, spread in ways.items()}
        for _ in range(1 + TURNS):
            for one in all_.values():
                one.turn()
        jobs = [_empty_job(spark) for _ in range(21)]
    table = Table("plans a round", "tried by", "plans a second", "beside processes", "CPU ms a plan")
    for (way, size), one in all_.items():
        seconds, cpu = statistics.median(one.seconds[1:]), statistics.median(one.cpu_seconds[1:])
        alone = all_["processes", size].seconds[1:]
        ratio = statistics.median(mine / other for mine, other in zip(one.seconds[1:], alone, strict=True))
        table.add_row(str(size), way, f"{TURN / seconds:.0f}", f"{ratio:.2f} × the time", f"{1e3 * cpu / TURN:.1f}")
    console = Console(width=120)
    console.print(table)
    console.print(f"{VARIANT}, {TURNS} turns of {TURN} plans each, the first one left out; {CORES} cores")
    console.print(
        f"Spark's start {start:.1f} s; a job of {ROUND} items that does nothing {1e3 * statistics.median(jobs):.0f} ms"
    )


def _empty_job(spark: SparkSpread) -> float:
    began = time.monotonic()
    spark.together(abs, range(ROUND))
    return time.monotonic() - began
