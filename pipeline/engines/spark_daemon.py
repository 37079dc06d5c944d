"""Spark's daemon of Python workers, without the stack trace that each idle worker prints when Spark lets it go.

After a minute without work Spark closes a worker's connection, and `pyspark.daemon` (4.3) tells of that as of any error. Workers of
a campaign idle while its report is made, so it would stand on everybody's terminal.
"""

from __future__ import annotations

import sys
import traceback
from types import SimpleNamespace

from pyspark import daemon


def print_error() -> None:
    """As `traceback.print_exc`, but for a connection that was closed."""
    if not isinstance(sys.exc_info()[1], BrokenPipeError):
        traceback.print_exc()


if __name__ == "__main__":
    daemon.traceback = SimpleNamespace(print_exc=print_error, format_exc=traceback.format_exc)  # type: ignore[assignment, attr-defined]
    daemon.manager()
