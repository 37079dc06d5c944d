"""Memory of a campaign's processes as it grows: the command, Spark's JVM, the largest of its Python workers; and bytes and files.

Each size is the command as a person gives it, in a process of its own, on two cores. Everything below it is looked at several
times a second (`VmRSS`), so a peak between two looks is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.processor_time import COMMAND_OF_JVM, below, memory_of, processes

VARIANTS = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7")
SIZES = (10_000, 200_000)
LOOK_EVERY_S = 0.25
ROLES = ("command", "JVM", "a worker")


def main(runs: str = "") -> None:
    """Print a row for each size, or for the one that is given."""
    table = Table(
        "runs", "seconds", *(f"{role}, MB at most" for role in ROLES), "MB a million runs", "files a million runs"
    )
    for size in (int(runs),) if runs else SIZES:
        with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
            folder = Path(name) / "campaign"
            began = time.monotonic()
            peaks = _watched([*_COMMAND, "--plans", str(size // len(VARIANTS)), "--out", str(folder)])
            seconds = time.monotonic() - began
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        table.add_row(
            f"{size:,}",
            f"{seconds:,.0f}",
            *(f"{peaks[role] / 1024:,.0f}" for role in ROLES),
            f"{sum(sizes) / size:,.0f}",
            f"{len(sizes) / size * 1e6:,.0f}",
        )
    Console(width=130).print(table)


_COMMAND = (
    sys.executable,
    "-c",
    "from tidemark.cli import main; main()",
    "compare",
    "--master",
    "local[2]",
    "--variants",
    ",".join(VARIANTS),
)


def _watched(command: list[str]) -> dict[str, int]:
    """Run it; kilobytes at most, by role."""
    peaks: dict[str, int] = defaultdict(int)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for role, kilobytes in _now(process.pid):
                peaks[role] = max(peaks[role], kilobytes)
            time.sleep(LOOK_EVERY_S)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return peaks


def _now(root: int) -> list[tuple[str, int]]:
    """Role and kilobytes of each process below, and of the root itself."""
    there = processes()
    roles = {root: "command"} | {pid: "JVM" for pid, process in there.items() if process.command == COMMAND_OF_JVM}
    return [(roles.get(pid, "a worker"), memory_of(pid, "VmRSS")) for pid in below(there, {root})]
