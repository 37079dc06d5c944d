"""Which code made a result: the commit of the checkout that it runs from, or that its wheel was built from.

`setup.py` runs this file by itself: it may import the standard library only.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""Or, as installed, the package."""
CODE = ("nodes", "nemesis", "checkers", "harness", "pipeline", "tidemark", "docker")
BUILT_FROM = "commit.txt"
"""In a wheel's package: the commit, as `setup.py` found it."""
UNKNOWN = "unknown"
"""Without git, and from a wheel that was built without it."""


def commit_of_code(checkout: Path = CHECKOUT) -> str:
    """The commit, twelve characters of it; ``+`` behind it if the code is not as it was committed; `UNKNOWN` if nobody knows."""
    if not (checkout / ".git").exists():
        return _built_from(checkout)
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return UNKNOWN
    return f"{commit}+" if _git(checkout, "status", "--porcelain", "--", *CODE) != "" else commit


def _built_from(package: Path) -> str:
    try:
        return (package / BUILT_FROM).read_text(encoding="ascii").strip() or UNKNOWN
    except (OSError, ValueError):
        return UNKNOWN


def _git(checkout: Path, *arguments: str) -> str | None:
    """What git says of this checkout, and of none that its environment names (a hook's has GIT_DIR); None if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=False, env=environment
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
