"""What is kept of a script's run: the script, the history, the verdict, what every step did; on machines the nodes' files too."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.checkers import write_history
from tidemark.harness.runs.folder import HISTORY, store_verdict

if TYPE_CHECKING:
    from tidemark.checkers import History, Verdict
    from tidemark.harness.scenario.model import Scenario
    from tidemark.nodes.families import AnyVariant

SCRIPT, OUTCOME = "script.scenario", "outcome.json"


class ScriptFolders:
    """A folder for each run of a command: ``SCRIPT-VARIANT`` with a suffix, and in it 1, 2, ….

    Args:
        root: where they are. suffix: what tells this system's from others.
        free: leave those alone that are there; else the same command again writes over them.
    """

    def __init__(self, root: Path, suffix: str = "", *, free: bool = False) -> None:
        self._root = root
        self._suffix = suffix
        self._free = free
        self._made: Counter[str] = Counter()

    def __call__(self, scenario: Scenario, variant: AnyVariant) -> Path:
        """The next one."""
        name = f"{scenario.name}-{variant.name}{self._suffix}"
        while True:
            self._made[name] += 1
            folder = self._root / name / str(self._made[name])
            if not (self._free and folder.exists()):
                return folder


def store_run(folder: Path, script: str, history: History, verdict: Verdict, digest: str, told: dict[str, Any]) -> None:
    """Write what came of a run; `told` is all else, of every step.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCRIPT).write_text(script, encoding="utf-8")
    write_history(history, folder / HISTORY)
    store_verdict(folder, verdict, digest)
    (folder / OUTCOME).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def read_outcome(folder: Path) -> dict[str, Any]:
    """What every step did, and how all replicas stood after it; empty if the run was of no script."""
    path = folder / OUTCOME
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found
