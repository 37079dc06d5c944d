"""Which code made a result: the commit of the checkout that it runs from."""

from __future__ import annotations

import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
CODE = ("nodes", "nemesis", "checkers", "harness", "tidemark", "docker")
UNKNOWN = "unknown"
"""Outside of a checkout, as from a wheel."""


def commit_of_code(checkout: Path = CHECKOUT) -> str:
    """The commit, twelve characters of it; ``+`` behind it if the code is not as it was committed; `UNKNOWN` without git."""
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    if not commit or not (checkout / ".git").exists():
        return UNKNOWN
    return f"{commit}+" if _git(checkout, "status", "--porcelain", "--", *CODE) else commit


def _git(checkout: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
