"""A campaign with poisoned plans: one in a thousand hangs, takes 8 GB, raises, or ends its process. What becomes of all others?

The poison is injected here, into the function that runs a plan; nothing in the product knows of it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console
from rich.table import Table

from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.folder.run_list import Wanted, list_runs
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.guard import RunLimits
from tidemark.pipeline.runs.simulate import simulate

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan

VARIANTS = ("kafka-2.0", "kafka-2.7")
PLANS = 2000
ONE_IN = 1000
LIMITS = RunLimits(seconds=10, memory_mb=1024)
MEGABYTE = 1 << 20
TOO_MUCH = 8 << 10
"""Megabytes."""


def main(plans: str = "") -> None:
    """Run the same campaign (of so many plans) without and with poison, and print what became of both."""
    console, count = Console(width=160), int(plans or PLANS)
    table = Table("campaign", "runs", "judged", "time", "named as unknown")
    for poison in (False, True):
        with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
            folder = Path(name) / "poisoned"
            spec = CampaignSpec(folder.name, VARIANTS, count, 1)
            began = time.monotonic()
            outcome = run_campaign(
                spec, folder, master="local[2,3]", limits=LIMITS, simulate=Poisoned(count) if poison else simulate
            )
            seconds = time.monotonic() - began
            named = [
                f"{run.variant}, plan {run.plan}: {run.because}" for run in list_runs(folder, Wanted(unknown=True))
            ]
        judged = outcome.runs - outcome.unknown
        share = f"{judged:,} ({judged / outcome.expected:.2%})"
        table.add_row(
            "poisoned" if poison else "as it is", f"{outcome.runs:,}", share, f"{seconds:.0f} s", "\n".join(named)
        )
    console.print(table)
    console.print(
        f"limits of a run: {LIMITS.seconds:g} s, {LIMITS.memory_mb} MB; {ONE_IN} plans for each poisoned one, at least two"
    )


@dataclass(frozen=True)
class Poisoned:
    """Runs a plan, unless it is one of those that are poisoned."""

    plans: int

    def __call__(self, spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        """Simulate, or do harm."""
        poisoned = max(2, self.plans // ONE_IN)
        which = [self.plans * (1 + 2 * number) // (2 * poisoned) for number in range(poisoned)]
        if index in which:
            kind = (which.index(index) + 2 * VARIANTS.index(variant)) % len(POISONS)
            POISONS[kind]()
        return simulate(spec, variant, index)


def _hang() -> NoReturn:
    while True:
        pass


def _take_memory() -> NoReturn:
    taken = [b"x" * MEGABYTE for _ in range(TOO_MUCH)]
    raise AssertionError(f"{len(taken)} MB were to be had")


def _trip() -> NoReturn:
    raise RuntimeError("the simulator tripped")


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


POISONS: tuple[Callable[[], NoReturn], ...] = (_hang, _take_memory, _trip, _die)
