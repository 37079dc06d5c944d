"""How long a hunt takes to find what Kafka's protocols had, and have, beside random plans: CPU seconds, in one process."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.harness.search.hunt.trial import attempt
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

if TYPE_CHECKING:
    from tidemark.harness.search.hunt.hunt import Found

SEEDS = 10
LIMIT_S = 120.0
"""CPU seconds after which a hunt, or random plans, are given up."""


class Bug(NamedTuple):
    """What is hunted: its name, a variant that has it, the anomaly by which it shows, its repair, and the bar in CPU seconds."""

    name: str
    variant: str
    anomaly: str
    repaired: str
    bar_s: float


BUGS = (
    Bug("KIP-101, loss", "kafka-0.10", "lost-committed-write", "kafka-0.11", 1),
    Bug("KIP-101, divergence", "kafka-0.10", "divergence", "kafka-2.1", 2),
    Bug("KIP-279, divergence", "kafka-0.11", "divergence", "kafka-2.1", 5),
    Bug("KAFKA-6880", "kafka-2.0", "divergence", "kafka-2.1", 10),
    Bug("missed reign", "kafka-4.0", "lost-committed-write", "kafka-4.0+forget-log-ends", 60),
)


def main() -> None:
    """Print a row for each bug."""
    table = Table("bug", "variant", "bar", "hunt: median", "each seed", "plans", "random: median", "repaired")
    for bug in BUGS:
        hunted = [_hunt(bug, seed) for seed in range(SEEDS)]
        drawn = [_random(bug, seed) for seed in range(3)]
        seconds = sorted(one[0] for one in hunted)
        plans = int(statistics.median(one[1] for one in hunted))
        quiet = sum(_quiet(bug, found) for _, _, found in hunted if found is not None)
        table.add_row(
            bug.name,
            bug.variant,
            f"{bug.bar_s:g} s",
            f"{statistics.median(seconds):.1f} s",
            " ".join(f"{one:.1f}" for one in seconds),
            f"{plans:,}",
            _median(drawn),
            f"{quiet} of {sum(found is not None for _, _, found in hunted)} valid",
        )
    Console(width=170).print(table)


def _hunt(bug: Bug, seed: int) -> tuple[float, int, Found | None]:
    began = time.process_time()
    hunt = Hunt(Attempt(bug.variant, Quarry((bug.anomaly,))), "intact", ClusterSpec(), seed, free=True)
    for progress in hunt.rounds():
        spent = time.process_time() - began
        if progress.found:
            return spent, progress.found[0].number, progress.found[0]
        if spent > LIMIT_S:
            break
    return spent, progress.tries, None


def _random(bug: Bug, seed: int) -> float | None:
    """CPU seconds until a random plan shows it."""
    variant, quarry = parse_variant(bug.variant), Quarry((bug.anomaly,))
    began = time.process_time()
    index = 0
    while time.process_time() - began < LIMIT_S:
        if attempt(generate_plan(seed, index, "intact", ClusterSpec()), variant, quarry).caught is not None:
            return time.process_time() - began
        index += 1
    return None


def _median(drawn: list[float | None]) -> str:
    found = sorted(one for one in drawn if one is not None)
    if len(found) <= len(drawn) // 2:
        return f"> {LIMIT_S:g} s"
    return f"{found[len(drawn) // 2]:.1f} s"


def _quiet(bug: Bug, found: Found) -> bool:
    """Whether the repair shows nothing under the plan that found it."""
    trial = attempt(found.plan, parse_variant(bug.repaired), Quarry((bug.anomaly,)))
    return trial.caught is None
