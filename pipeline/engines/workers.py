"""Whether the workers of a cluster can do our work: asked in tasks, before the first run, and answered in a sentence.

On a worker only the standard library is used here, so that it can say what is missing.
"""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

PATIENCE_SECONDS = 15
"""Without a worker for so long somebody is told."""
SAME = ("numpy", "msgspec", "pyarrow")
"""Whose versions must be the driver's: numpy decides about runs, the others about files."""
NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
QUESTIONS_A_CORE = 2
"""So that hardly a worker is left out, whichever gets how many."""


class WorkersUnfitError(RuntimeError):
    """A worker lacks what it needs, or there is none; the text is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a worker must have: the packages in these versions, and our code out of this zip."""

    packages: Mapping[str, str]
    code_archive: str


def check_workers(context: SparkContext, tell: Callable[[str], None]) -> None:
    """Ask the workers that are there; this machine's own processes need not be asked.

    Args:
        context: Spark.
        tell: Gets a sentence if nobody answers for a while.

    Raises:
        WorkersUnfitError: A worker is not fit.
    """
    from tidemark.pipeline.engines.code_archive import code_archive
    from tidemark.pipeline.engines.session import is_local

    if is_local(str(context.master)):
        return
    needs = Needs({name: version(name) for name in SAME}, code_archive()[0])

    def answer(_: Iterable[int]) -> Iterator[str]:
        yield found_wanting(needs)

    count = max(2, context.defaultParallelism * QUESTIONS_A_CORE)
    timer = threading.Timer(PATIENCE_SECONDS, _tell_of_waiting, (context, tell))
    timer.daemon = True
    timer.start()
    try:
        answers = context.parallelize(range(count), count).mapPartitions(answer).collect()
    except Exception as error:
        raise WorkersUnfitError(_why(error)) from error
    finally:
        timer.cancel()
    wanting = sorted({answer for answer in answers if answer})
    if wanting:
        more = f" (and {len(wanting) - 1} more like this)" if wanting[1:] else ""
        raise WorkersUnfitError(
            f"{wanting[0]}{more}: install that there, or send an environment along, as docs/cluster.md shows."
        )


def found_wanting(needs: Needs) -> str:
    """What this process lacks, as half a sentence; empty if nothing."""
    here = f"The worker on {socket.gethostname()}"
    for name, wanted in needs.packages.items():
        try:
            import_module(name)
            found = version(name)
        except (ImportError, PackageNotFoundError):
            return f"{here} lacks {name} (its Python is {sys.executable})"
        if found != wanted:
            return f"{here} has {name} {found}, and the driver {wanted}"
    if not any(part == needs.code_archive for part in Path(__file__).parts):
        return f"{here} takes Tidemark's code from {Path(__file__).parent}, not from the driver"
    return ""


def _tell_of_waiting(context: SparkContext, tell: Callable[[str], None]) -> None:
    tell(
        f"No worker of {context.master} has answered for {PATIENCE_SECONDS} s: they start, or are busy, or have less memory than "
        "an executor wants, or there is none. Ctrl-C gives up."
    )


def _why(error: Exception) -> str:
    from tidemark.pipeline.engines.reason import reason

    text = reason(error)
    if none_such := NO_PYTHON.search(str(error)):
        return (
            f"A worker has no Python {none_such[1]}: set PYSPARK_PYTHON to one that all workers have, or send an environment "
            "along, as docs/cluster.md shows."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return f"A worker's Python is not the driver's ({text}): set PYSPARK_PYTHON to one of the same version."
    return f"The workers cannot be asked: {text}"
