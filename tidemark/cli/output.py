"""Where commands print: on a terminal within its width, into a file or a pipe in lines of whatever length."""

from __future__ import annotations

import os
import sys
from typing import Final

from rich.console import Console

ENDLESS: Final = 100_000
"""Columns of what is no terminal: nothing is wrapped or cut for whoever reads it, unless ``COLUMNS`` says how wide that is."""


def output(*, highlight: bool = True, soft_wrap: bool = False, stderr: bool = False) -> Console:
    """Standard output, or standard error; the arguments are rich's."""
    stream = sys.stderr if stderr else sys.stdout
    wide = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=highlight, soft_wrap=soft_wrap, stderr=stderr, width=ENDLESS if wide else None)
