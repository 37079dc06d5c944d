"""Why Spark gave up, in the one line that says so: its own errors are pages of Java and Python."""

from __future__ import annotations

import re

FULL = re.compile(r"No space left on device|Errno 28\b|Disk quota exceeded")


def reason(error: BaseException) -> str:
    """The line of a failure that says why: that of our own code, if it is there."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("\t", " "))]
    python = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception", "Interrupt"))]
    ours = [line for line in python if not line.startswith(("org.", "java.", "py4j."))]
    return next(iter(ours[-1:] or python[:1] or lines[:1]), "it did not say why")


def is_full_disk(error: BaseException) -> bool:
    """Whether a disk was full."""
    return FULL.search(str(error)) is not None
