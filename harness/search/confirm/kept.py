"""A confirmation in a folder: the shrunk plan, the script, what the model does, and a file for each try, so that it can go on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tidemark.checkers import History, write_history
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.search.confirm.tries import Confirmation, Modelled, Try
from tidemark.nemesis import Plan

MODEL, PLAN, SCRIPT, PAGE, SUMMARY = "model", "plan.json", "found.scenario", "confirmed.html", "confirmed.md"


class KeptConfirmation:
    """The folder of what was found once, and of its tries on one system.

    Args:
        folder: for this find.
        system: in the words of ``--confirm``.
    """

    def __init__(self, folder: Path, system: str) -> None:
        self.folder = folder
        self.system = system
        self._results = KeptResults(folder)
        self._of_system = re.sub(r"[^A-Za-z0-9.]+", "-", system).strip("-.")

    @property
    def script(self) -> Path:
        """The script's file."""
        return self.folder / SCRIPT

    @property
    def plan(self) -> Path:
        """The plan's file."""
        return self.folder / PLAN

    def of_try(self, number: int) -> Path:
        """A folder for what a try leaves."""
        return self.folder / self._of_system / f"try-{number}"

    @property
    def page(self) -> Path:
        """The page about this system's tries."""
        return self.folder / self._of_system / PAGE

    @property
    def summary(self) -> Path:
        """The same in Markdown."""
        return self.folder / self._of_system / SUMMARY

    def forget(self) -> None:
        """Delete what the folder has."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def modelled(self) -> Modelled | None:
        """What was found, if script and all are there."""
        data = self._results.read(MODEL)
        try:
            found = None if data is None else Modelled.from_json(data)
        except (TypeError, ValueError):
            return None
        if found is None:
            return None
        script = self.script.read_text(encoding="utf-8") if self.script.exists() else ""
        return found if script == found.script and self.plan.exists() else None

    def keep(self, modelled: Modelled, plan: Plan) -> None:
        """Write what was found; tries of another script are no tries of this one.

        Raises:
            OSError: it cannot be written.
        """
        self.forget()
        self.folder.mkdir(parents=True)
        self.plan.write_text(plan.to_text(), encoding="utf-8")
        if modelled.script:
            self.script.write_text(modelled.script, encoding="utf-8")
        self._results.write(MODEL, modelled.to_json())

    def take(self, one: Try, history: History | None) -> None:
        """Keep a try, and its history beside it.

        Raises:
            OSError: it cannot be written.
        """
        if history is not None:
            path = self.folder / self._of_system / f"try-{one.number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_history(history, path)
        self._results.write(f"{self._of_system}/try-{one.number}", one.to_json())

    def tried(self, number: int) -> Try | None:
        """A try that was made; one that could not be carried out is made again."""
        data = self._results.read(f"{self._of_system}/try-{number}")
        try:
            found = None if data is None else Try.from_json(data)
        except (TypeError, ValueError):
            return None
        return None if found is None or found.failure else found

    def confirmation(self, modelled: Modelled, wanted: int, failures: dict[int, Try]) -> Confirmation:
        """All tries so far, of so many that are wanted; `failures` are those of today that could not be carried out."""
        tries = [self.tried(number) or failures.get(number) for number in range(1, wanted + 1)]
        return Confirmation(modelled, self.system, tuple(one for one in tries if one is not None), wanted)
