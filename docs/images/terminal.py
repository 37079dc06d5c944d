"""Draws ``terminal.svg``, the README's picture of a terminal, from what the command really prints: ``make pictures``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = ("tidemark", "run", "--variant", "kafka-0.10", "--index", "98")
COLUMNS = 118
LINES = 12
"""So many are shown: the verdict, what is gone, and the violations; the marks below them are for who searches."""
PICTURE = Path(__file__).with_suffix(".svg")


def printed() -> str:
    """The command's output, with its colours, from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tidemark.command", *COMMAND[1:]],
            cwd=folder,
            env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 1:  # an anomaly is found
        sys.exit(f"{' '.join(COMMAND)} exited with {done.returncode}: {done.stderr}")
    return done.stdout


def drawn(output: str) -> str:
    """The picture."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), " ".join(COMMAND)))
    lines = Text.from_ansi(output).wrap(console, COLUMNS)
    for line in lines[:LINES]:
        console.print(line)
    if len(lines) > LINES:
        console.print(Text("…", "dim"))
    picture = console.export_svg(title="tidemark", unique_id="terminal")
    return re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)  # those would come from the network


if __name__ == "__main__":
    PICTURE.write_text(drawn(printed()), encoding="utf-8")
